package facts

import (
	"testing"

	"loupe/format/profile"
	"loupe/value/stack"
)

// TestInObjects: the objects of one size among those that a line allocates, at whatever
// address of the program.
func TestInObjects(t *testing.T) {
	line := func(address uint64, n int) stack.Frame {
		return stack.Frame{Func: "main.fill", File: "/src/main.go", Line: n, Address: address}
	}
	table := &stack.Table{}
	at := func(f stack.Frame) stack.ID { return table.Intern([]stack.FrameID{table.InternFrame(f)}) }
	k := &InUse{index: 1, scope: stack.Scope{Modules: []string{"main"}}, profile: &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"}},
		Stacks:      table, StackIDs: []stack.ID{at(line(1, 5)), at(line(2, 5)), at(line(3, 6)), at(line(4, 5))},
		Values: [][]int64{{1, 100, 100, 0}, {9000, 4800, 4800, 0}},
	}}
	if got := k.InObjects(line(1, 5), 48); got != 4800 {
		t.Errorf("%d bytes in objects of 48, want 4800", got)
	}
	if got := k.InObjects(line(1, 5), 64); got != 0 {
		t.Errorf("%d bytes in objects of 64, want 0", got)
	}
}
