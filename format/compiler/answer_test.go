package compiler

import (
	"bytes"
	"compress/gzip"
	"reflect"
	"testing"
)

func TestAnswer(t *testing.T) {
	a := &Answer{
		Package: "main", Dir: "/src", Lost: []string{"/src/sort.go"},
		JSON:  []byte(`{"version":0,"package":"main","goos":"linux","goarch":"amd64","gc_version":"go1.26.0","file":"/src/a.go"}` + "\n"),
		Text:  []byte("./a.go:3:4: make([]byte, n) does not escape\n./a.go:5:4: x escapes to heap\n"),
		Flows: []byte("./sort.go:9:2: y escapes to heap in F:\n./sort.go:9:2:   flow: {heap} ← &{storage for y}:\n./sort.go:9:2: y escapes to heap\n./a.go:5:4: x escapes to heap\n"),
	}
	var b bytes.Buffer
	if err := a.Encode(&b); err != nil {
		t.Fatal(err)
	}
	got, err := DecodeAnswer(b.Bytes(), 1<<20)
	if err != nil || !reflect.DeepEqual(got, a) {
		t.Errorf("decoded %+v, %v", got, err)
	}
	var s Set
	if err := got.AddTo(&s, nil); err != nil {
		t.Fatal(err)
	}
	// Of escapes the text is not read, but for those of lost files.
	if len(s.At("/src/a.go", 3)) != 1 || len(s.At("/src/a.go", 5)) != 0 || len(s.At("/src/sort.go", 9)) != 1 || s.Len() != 2 {
		t.Errorf("the set has %d diagnostics", s.Len())
	}
	if _, err := DecodeAnswer(b.Bytes(), 100); err == nil {
		t.Error("more than allowed was read")
	}
	if _, err := DecodeAnswer(b.Bytes()[:b.Len()/2], 1<<20); err == nil {
		t.Error("half an answer was read")
	}
	for _, head := range []string{`{"JSON":5}`, `{"JSON":-1,"Text":1}`, `{"JSON":9223372036854775807,"Text":9223372036854775807,"Flows":2}`, `[]`, ``} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(head + "\n"))
		z.Close()
		if _, err := DecodeAnswer(b.Bytes(), 1<<20); err == nil {
			t.Errorf("%s was read", head)
		}
	}
}
