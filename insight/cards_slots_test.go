package insight

import "testing"

// TestSlotForDial: who waits for a slot in the function that dials behind it waits for the dials; not where the dial comes
// before the slot, is made elsewhere, or is only a remark.
func TestSlotForDial(t *testing.T) {
	const get = "pool.(*Client).get"
	slot := Finding{Rule: "WT04", State: Found, Severity: Warning, Evidence: []Evidence{{Function: get, File: "pool.go", Line: 78}}}
	dial := func(s Severity, frames ...Frame) Finding {
		return Finding{Rule: "LD06", State: Found, Severity: s, Evidence: []Evidence{{Function: "pool.(*Client).newConn", File: "pool.go", Line: 49, Stack: frames}}}
	}
	at := func(function string, line int) Frame { return Frame{Function: function, File: "pool.go", Line: line} }
	inner, outer := at("pool.(*Client).newConn", 49), at("pool.(*Client).Do", 133)
	other := slot
	other.Rule = "LK06"
	for _, x := range []struct {
		name       string
		slot, dial Finding
		want       bool
	}{
		{"behind the slot", slot, dial(Warning, inner, at(get, 92), outer), true},
		{"before it", slot, dial(Warning, inner, at(get, 70), outer), false},
		{"by another function", slot, dial(Warning, inner, at("pool.(*Client).warm", 92), outer), false},
		{"a remark", slot, dial(Info, inner, at(get, 92), outer), false},
		{"without a stack", slot, dial(Warning), false},
		{"another rule", other, dial(Warning, inner, at(get, 92), outer), false},
	} {
		if got := slotForDial(&x.slot, &x.dial); got != x.want {
			t.Errorf("%s: %v", x.name, got)
		}
		if c := (&causal{all: []Finding{x.slot, x.dial}}); x.want && !c.follows(0, 1) {
			t.Errorf("%s: it does not go under it", x.name)
		}
	}
}
