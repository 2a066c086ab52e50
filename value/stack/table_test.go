package stack

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTable(t *testing.T) {
	var tab Table
	if tab.Len() != 1 || tab.Frames(0) != nil {
		t.Errorf("a zero table has %d stacks, want the empty one", tab.Len())
	}
	a := tab.InternFrame(Frame{Func: "main.a", Line: 1})
	b := tab.InternFrame(Frame{Func: "main.a", Line: 2})
	if a == b || tab.InternFrame(Frame{Func: "main.a", Line: 1}) != a {
		t.Error("frames are not interned")
	}
	ab, ba, empty := tab.Intern([]FrameID{a, b}), tab.Intern([]FrameID{b, a}), tab.Intern(nil)
	if ab == ba || empty != 0 || ab == 0 || tab.Intern([]FrameID{a, b}) != ab {
		t.Errorf("stacks are not interned: %d %d %d", ab, ba, empty)
	}
	if got := tab.Frames(ba); !slices.Equal(got, []FrameID{b, a}) {
		t.Errorf("Frames = %v", got)
	}
	if tab.Len() != 3 || tab.NumFrames() != 2 {
		t.Errorf("Len, NumFrames = %d, %d, want 3, 2", tab.Len(), tab.NumFrames())
	}
	if got := append(tab.Frames(ab), 99); tab.Frames(ba)[0] != b {
		t.Errorf("appending to %v writes into the table", got)
	}
}

func TestTableMany(t *testing.T) {
	var tab Table
	r := rand.New(rand.NewPCG(1, 2))
	want := map[string]ID{}
	tab.Grow(100, 1000) // less than what comes: it is a hint
	for range 20000 {
		s := make([]FrameID, r.IntN(4))
		for i := range s {
			s[i] = FrameID(r.IntN(12))
		}
		key := fmt.Sprint(s)
		id := tab.Intern(s)
		if old, ok := want[key]; ok && old != id {
			t.Fatalf("stack %s has the ids %d and %d", key, old, id)
		}
		want[key] = id
		if got := fmt.Sprint(tab.Frames(id)); got != key {
			t.Fatalf("stack %s comes back as %s", key, got)
		}
	}
	if tab.Len() != len(want) {
		t.Errorf("Len = %d, want %d", tab.Len(), len(want))
	}
}

func TestAllocations(t *testing.T) {
	var tab Table
	s := []FrameID{tab.InternFrame(Frame{Func: "a"}), tab.InternFrame(Frame{Func: "b"})}
	tab.Intern(s)
	f := func(what string, fn func()) {
		t.Helper()
		if n := testing.AllocsPerRun(100, fn); n != 0 {
			t.Errorf("%s allocates %v times, want 0", what, n)
		}
	}
	f("Intern of a known stack", func() { tab.Intern(s) })
	f("InternFrame of a known frame", func() { tab.InternFrame(Frame{Func: "a"}) })
	f("Package", func() { Package("github.com/a/b.(*T).M") })
	f("Origin", func() { Scope{}.Origin("github.com/a/b.(*T).M") })
}

func BenchmarkIntern(b *testing.B) {
	// 4,096 stacks of 30 frames that share their roots, as in a heap profile.
	r := rand.New(rand.NewPCG(1, 2))
	stacks := make([][]FrameID, 4096)
	for i := range stacks {
		stacks[i] = make([]FrameID, 30)
		for j := range stacks[i] {
			stacks[i][j] = FrameID(r.IntN(20000) >> (j / 3))
		}
	}
	b.SetBytes(4096 * 30 * 4)
	b.ReportAllocs()
	for b.Loop() {
		var tab Table
		tab.Grow(len(stacks), len(stacks)*30)
		for _, s := range stacks {
			tab.Intern(s)
		}
	}
}

func TestAppend(t *testing.T) {
	var table Table
	f := table.AppendFrame(Frame{Func: "f"})
	g := table.AppendFrame(Frame{Func: "g"})
	one := table.Append([]FrameID{f, g})
	if got := table.Intern([]FrameID{f, g}); got != one {
		t.Errorf("a stack that was appended is %d, interned again it is %d", one, got)
	}
	if got := table.InternFrame(Frame{Func: "g"}); got != g {
		t.Errorf("a frame that was appended is %d, interned again it is %d", g, got)
	}
	other := table.Intern([]FrameID{g})
	if two := table.Append([]FrameID{g, g}); two != other+1 || table.Intern([]FrameID{g, g}) != two || table.Len() != 4 {
		t.Errorf("stacks %d and %d of %d", other, two, table.Len())
	}
	if got := table.InternFrame(Frame{Func: "h"}); got != g+1 || table.NumFrames() != 3 {
		t.Errorf("frame %d of %d, want 2 of 3", got, table.NumFrames())
	}
}
