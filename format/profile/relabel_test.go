package profile_test

import (
	"bytes"
	"slices"
	"testing"

	"loupe/format/profile"
	"loupe/value/stack"
)

// TestWithLabels: samples get the labels that they are given, which are there
// again when the profile was written and read.
func TestWithLabels(t *testing.T) {
	p := &profile.Profile{SampleTypes: []profile.ValueType{{Type: "samples", Unit: "count"}}, Stacks: &stack.Table{}, Values: [][]int64{{1, 2, 3}}}
	for range 3 {
		p.StackIDs = append(p.StackIDs, p.Stacks.Intern([]stack.FrameID{p.Stacks.InternFrame(stack.Frame{Func: "main.f"})}))
	}
	want := [][]profile.Label{{{Key: "bytes", Num: 48, Numeric: true}}, nil, {{Key: "comm", Str: "web"}, {Key: "age", Num: -3, Unit: "seconds", Numeric: true}}}
	q := p.WithLabels(func(row int) []profile.Label { return want[row] })
	var b bytes.Buffer
	if err := q.Encode(&b); err != nil {
		t.Fatal(err)
	}
	again, err := profile.Decode(b.Bytes(), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for row := range want {
		for _, x := range []*profile.Profile{q, again} {
			if got := x.Labels(x.SetOf(row)); !slices.Equal(got, want[row]) {
				t.Errorf("sample %d has %v, want %v", row, got, want[row])
			}
		}
	}
	if p.LabelSets != nil || p.WithLabels(func(int) []profile.Label { return nil }).LabelSets != nil {
		t.Error("there are labels where nobody has put any")
	}
}
