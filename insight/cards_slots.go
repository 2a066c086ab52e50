package insight

import "slices"

// slotForDial tells of a wait for a slot of a pool, and of connections that are made anew, that who has got the slot makes
// one, in the function that waits for it: then the queue is there because connections are slow to make, and a larger pool
// makes more of them at once.
func slotForDial(slot, dial *Finding) bool {
	if slot.Rule != wt04.ID || len(slot.Evidence) == 0 || !dial.Severity.AtLeast(Warning) || !dial.Severity.AtLeast(slot.Severity) {
		return false
	}
	at := slot.Evidence[0]
	if at.Function == "" {
		return false
	}
	return slices.ContainsFunc(dial.Evidence, func(e Evidence) bool {
		i := slices.IndexFunc(e.Stack, func(f Frame) bool { return f.Function == at.Function && f.File == at.File })
		return i >= 0 && e.Stack[i].Line > at.Line
	})
}
