package session_test

import (
	"reflect"
	"testing"
	"testing/fstest"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/session"
)

// TestStrays: a profile of another build than the others is found, and one without
// a build id is not held against anything.
func TestStrays(t *testing.T) {
	of := func(id string) *fstest.MapFile {
		return &fstest.MapFile{Data: profiletest.Encode("main", profiletest.Options{BuildID: id})}
	}
	files := fstest.MapFS{"a": of("new"), "b": of("old"), "c": of(""), "d": of("old")}
	var m recording.Manifest
	for _, name := range []string{"a", "b", "c", "d"} {
		m.Entries = append(m.Entries, recording.Entry{Path: name, Kind: recording.Heap})
	}
	got, known := session.New(recording.Of(m, files)).Strays()
	if want := []session.Stray{{Path: "a", BuildID: "new", Others: "old"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if known != 3 {
		t.Errorf("%d profiles have a build id, want 3", known)
	}
}
