package insight

import (
	"testing"
	"time"

	"loupe/analysis/facts"
)

// TestWaitsForHolder: waits of units for a lock stand under the finding that begins with who holds it, and not under one that names only who waits.
func TestWaitsForHolder(t *testing.T) {
	row := &facts.UnitRow{Time: time.Second}
	for _, c := range []struct {
		name  string
		wants bool
		edit  func(wait, lock *Finding)
	}{
		{"the holder comes first", true, func(_, _ *Finding) {}},
		{"it begins with who waits", false, func(_, lock *Finding) { lock.Evidence = lock.Evidence[1:] }},
		{"nobody is known to hold it", false, func(_, lock *Finding) { lock.holder = false }},
		{"the holder waits for a peer", false, func(wait, _ *Finding) { wait.waitsFor = "network" }},
		{"other waits", false, func(_, lock *Finding) { lock.waits = nil }},
		{"a remark", false, func(_, lock *Finding) { lock.Severity = Info }},
	} {
		wait, lock := seenAt("WT01", Warning, 90, "/src/get.go", 3), seenAt("LK01", Warning, 50, "/src/sweep.go", 9)
		wait.waitsFor, wait.waits = "running", []*facts.UnitRow{row}
		lock.holder, lock.waits = true, wait.waits
		lock.Evidence[0].Function = "main.sweep"
		lock.Evidence = append(lock.Evidence, Evidence{File: "/src/get.go", Line: 3, Function: "main.get", waits: true})
		c.edit(&wait, &lock)
		if got := waitsForHolder(two{a: &wait, b: &lock}); got != c.wants {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
