package profile_test

import (
	"strings"
	"testing"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

func TestCommensurate(t *testing.T) {
	decode := func(picture string, types ...string) *profile.Profile {
		t.Helper()
		p, err := profile.Decode(profiletest.Profile(picture, types...), profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	ms := decode("main.f\n= 1\n= 7", "samples/count", "time/milliseconds")
	ns := decode("main.f\n= 3000000", "time/nanoseconds")
	list, err := profile.Commensurate([]*profile.Profile{ms, ns}, calltree.ConvertUnit)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{7e6, 3e6} {
		p := list[i]
		if len(p.SampleTypes) != 1 || p.SampleTypes[0].String() != "time/nanoseconds" || p.Values[0][0] != want {
			t.Errorf("profile %d: %v %v, want %d nanoseconds alone", i, p.SampleTypes, p.Values, want)
		}
	}
	if ms.Values[1][0] != 7 {
		t.Error("the input was changed")
	}
	bytes := decode("main.f\n= 1", "time/bytes")
	if _, err := profile.Commensurate([]*profile.Profile{ns, bytes}, calltree.ConvertUnit); err == nil || !strings.Contains(err.Error(), "time/bytes") {
		t.Errorf("nanoseconds and bytes: error %v", err)
	}
}
