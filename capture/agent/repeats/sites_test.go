package repeats

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestSites: calls of others are told at their lines to what is around them, by their arguments and results.
func TestSites(t *testing.T) {
	buffer := &bytes.Buffer{}
	for _, test := range []struct {
		name                    string
		do                      func(i int)
		calls, distinct, differ int64
		traits                  traits
	}{
		{"the same", func(int) { Returns1(At(1, func() Args { return Args{"x"} }), "y") }, 4, 1, 0, 0},
		{"other arguments", func(i int) { Returns1(At(1, func() Args { return Args{i} }), "y") }, 4, 4, 0, 0},
		{"other results", func(i int) { Returns1(At(1, func() Args { return Args{"x"} }), i) }, 4, 1, 3, Plain},
		{"two results", func(int) { s := At(1, func() Args { return Args{"x"} }); s.Returns("y", errors.New("no")) }, 4, 1, 0, Fails},
		{"it writes to what it is given", func(int) { s := At(1, func() Args { return Args{buffer} }); buffer.WriteString("a"); Returns1(s, "y") }, 4, 4, 0, Writes | Alters},
		{"it panics", func(int) { defer func() { recover() }(); At(1, func() Args { return Args{"x"} }); panic("no") }, 0, 0, 0, 0},
	} {
		reset()
		around(func() {
			for i := range 4 {
				test.do(i)
			}
		})
		s := pairs[pair{0, 1}]
		if s == nil {
			if test.calls > 0 {
				t.Errorf("%s: nothing was counted", test.name)
			}
			continue
		}
		if s.calls != test.calls || s.distinct != test.distinct || s.differ != test.differ || s.traits != test.traits {
			t.Errorf("%s: %d calls, %d distinct, %d differ, traits %010b", test.name, s.calls, s.distinct, s.differ, s.traits)
		}
	}
	reset()
	if At(1, func() Args { return Args{"x"} }) != nil {
		t.Error("a call outside of all others is counted")
	}
}

// TestSitesCut: what is too cheap is looked at no more, and the time that looking takes is none of what is around.
func TestSitesCut(t *testing.T) {
	reset()
	around(func() {
		for range 10 * fewAtSite {
			Returns1(At(1, func() Args { return Args{"x"} }), "y")
		}
	})
	if n := fns[1].calls.Load(); n != fewAtSite || fns[1].cut.Load() == 0 {
		t.Errorf("%d calls, cut at %d", n, fns[1].cut.Load())
	}
	reset()
	text := strings.Repeat("x", mostBytes)
	began := time.Now()
	around(func() {
		for range 20 {
			Returns1(At(1, func() Args { return Args{text} }), "y")
		}
	})
	all, spent := int64(time.Since(began)), fns[1].spent.Load()
	if s := pairs[pair{0, 1}]; s.scopeNS+spent > all || spent == 0 {
		t.Errorf("what is around took %d of %d ns, looking %d", s.scopeNS, all, spent)
	}
}
