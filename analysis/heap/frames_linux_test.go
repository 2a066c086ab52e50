//go:build linux && (amd64 || arm64)

package heap

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"loupe/internal/long"
)

// TestHeld counts what variables on stacks alone hold, and asks which.
func TestHeld(t *testing.T) {
	checkHeld(t, buildHeld(t))
}

// TestHeldToolchains does the same with programs of other versions of Go, as they
// are, without optimization and as PIE: LOUPE_TOOLCHAINS=go1.21.13,go1.24.11.
func TestHeldToolchains(t *testing.T) {
	list := os.Getenv("LOUPE_TOOLCHAINS")
	if list == "" {
		t.Skip("LOUPE_TOOLCHAINS is not set")
	}
	for _, version := range strings.Split(list, ",") {
		for name, flag := range map[string]string{"": "-trimpath", " -N -l": "-gcflags=all=-N -l", " PIE": "-buildmode=pie"} {
			t.Run(version+name, func(t *testing.T) {
				t.Setenv("GOTOOLCHAIN", version)
				checkHeld(t, buildHeld(t, flag))
			})
		}
	}
}

// TestBusy reads a program of hundreds of goroutines in the standard library, with
// the frames of stacks and with all of their words: what the collector has kept is
// reached in both ways. Of what stacks alone hold, frames leave little unknown.
func TestBusy(t *testing.T) {
	long.Only(t, "it builds the standard library without optimization, and stops a program at work")
	source, err := os.ReadFile("heaptest/busy/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range toolchains() {
		for name, flag := range map[string]string{"": "-trimpath", " -N -l": "-gcflags=all=-N -l"} {
			t.Run(version+name, func(t *testing.T) {
				t.Setenv("GOTOOLCHAIN", version)
				mem, bin, bias := stopped(t, buildSource(t, "go", string(source), flag))
				h := openUnwound(t, mem, bin, bias)
				frames := h.Totals()
				h, err := Open(mem, bin, bias, Options{})
				if err != nil {
					t.Fatal(err)
				}
				words := h.Totals()
				t.Logf("frames: %+v", frames)
				t.Logf("words:  %+v", words)
				if lost := words.Reached.Count - frames.Reached.Count; lost > 20 || frames.Garbage.Bytes > 8<<10 {
					t.Errorf("%d objects that words lead to are not reached by frames, %d bytes are garbage", lost, frames.Garbage.Bytes)
				}
				if frames.Unknown.Bytes*4 > words.Unknown.Bytes {
					t.Errorf("%d bytes are unknown, %d without frames", frames.Unknown.Bytes, words.Unknown.Bytes)
				}
			})
		}
	}
}

func buildHeld(t *testing.T, flags ...string) string {
	t.Helper()
	source, err := os.ReadFile("heaptest/held/main.go")
	if err != nil {
		t.Fatal(err)
	}
	return buildSource(t, "go", string(source), flags...)
}

func checkHeld(t *testing.T, exe string) {
	mem, bin, bias := stopped(t, exe)
	h := openUnwound(t, mem, bin, bias)
	g, err := h.Graph()
	if err != nil {
		t.Fatal(err)
	}
	got := rows(h)
	want := map[string]int64{
		"main.parcel": 3, "main.box": 24, "main.cup": 1, "main.lid": 26, "main.kite": 2, "[N]*main.box": 1,
		"main.bean": 4, "main.ghost": 0,
	}
	if h.Version < 23 {
		// What closures have taken is not in the debug information.
		want["main.bean"] = 0
	}
	// The ghosts, and what was printed.
	if garbage := h.Totals().Garbage; garbage.Bytes > 1<<10 {
		t.Errorf("%+v is garbage", garbage)
	}
	for name, n := range want {
		if got[name].Count != n {
			t.Errorf("%d objects of type %s, want %d", got[name].Count, name, n)
		}
	}
	// What is held, the function and its variable.
	for typ, want := range map[string][2]string{
		"main.parcel": {"main.inParameter", "first"}, "main.box": {"main.inSlice", "boxes"}, "main.cup": {"main.inInterface", "s"},
	} {
		for _, way := range g.Ways(typ) {
			if way.Frame == "main.inArray" && way.Variable == "four" {
				continue
			}
			if way.Frame != want[0] || way.Variable != want[1] {
				t.Errorf("%s: held in %s by %q, want %s", typ, way.Frame, way.Variable, want)
			}
		}
	}
	if t.Failed() {
		for _, r := range h.Histogram() {
			t.Logf("%8d %10d %s", r.Count, r.Bytes, r.Type)
			if strings.HasPrefix(r.Type, "main.") || strings.HasPrefix(r.Type, "unknown") {
				for _, way := range g.Ways(r.Type) {
					t.Logf("   %d: %s %s, %s in %q", way.Count, way.Root.Name, way.Root.Func, way.Frame, way.Variable)
				}
			}
		}
		t.Log(h.Totals())
	}
}

// TestLeaves: what has no pointers and one holder is no node of the graph, and
// nothing that the graph tells is different for it.
func TestLeaves(t *testing.T) {
	for _, exe := range []string{build(t, "go"), buildHeld(t)} {
		mem, bin, bias := stopped(t, exe)
		h := openUnwound(t, mem, bin, bias)
		tell := func() (n int, text string) {
			g, err := h.Graph()
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			fmt.Fprintln(&b, g.Holders(false), g.Holders(true))
			largest := g.Largest("", 4000)
			fmt.Fprintln(&b, g.ByType(), largest)
			for _, o := range largest[:100] {
				p, err := g.Path(o.Addr)
				if err != nil {
					t.Fatal(err)
				}
				// Several ways may be equally short.
				fmt.Fprintln(&b, p.Retained, len(p.Steps), p.Root.Kind)
			}
			for _, typ := range []string{"string (text)", "[N]uint8", "main.leaf", "main.lid"} {
				for _, w := range g.Ways(typ) {
					fmt.Fprintln(&b, w.Count, w.Bytes, w.Retained)
				}
			}
			return len(g.idom), b.String()
		}
		n, got := tell()
		h.shared = h.marked
		all, want := tell()
		if n >= all {
			t.Errorf("%d nodes of %d: no leaf was found", n, all)
		}
		if got != want {
			t.Errorf("with leaves:\n%s\nwithout:\n%s", got, want)
		}
	}
}
