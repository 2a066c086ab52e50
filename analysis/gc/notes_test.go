package gc

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/format/godebug"
)

// said is the text of a note of a summary, "" without it.
func said(s *Summary, id NoteID) string {
	for _, n := range s.Notes {
		if n.ID == id {
			return n.Text
		}
	}
	return ""
}

// TestNotesOfLog: whose figures they are, that the log was cut, and that another window
// gives another share, is said beside the figures.
func TestNotesOfLog(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		for _, name := range []string{"web_1  | ", "db_1   | "} {
			if i > 20 && name[0] == 'd' {
				continue
			}
			fmt.Fprintf(&b, "%sgc %d @%d.%03ds 20%%: 0.010+100+0.020 ms clock, 0.020+0/200/0+0.040 ms cpu, 4->4->2 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 2 P\n", name, i+1, i/2, i%2*500)
		}
	}
	log := godebug.Parse([]byte(b.String() + "web_1  | gc 31 @15."))
	s := Analyse(log.Cycles, Options{Names: log.Names, Ends: log.Ends != nil})
	if s.Derived.Collections != 30 || len(s.Runs) != 2 || s.Runs[0].Name != "web_1" || s.Runs[1].Name != "db_1" || s.Runs[1].Derived.Collections != 21 {
		t.Errorf("%d collections in %d runs: %+v", s.Derived.Collections, len(s.Runs), s.Runs)
	}
	if text := said(s, NoteRuns); !strings.Contains(text, "2 runs") || !strings.Contains(text, "web_1") {
		t.Errorf("of several runs it says %q", text)
	}
	if text := said(s, NoteEnds); !strings.HasPrefix(text, "incomplete") {
		t.Errorf("of a log that was cut it says %q", text)
	}
	one := godebug.ByRun(log.Cycles, func(y *godebug.Cycle) int { return y.Run })[0]
	if text := said(Analyse(one, Options{Duration: 20 * time.Second}), NoteWindow); !strings.Contains(text, "20.0 s") || !strings.Contains(text, "14.6 s") {
		t.Errorf("of another window it says %q", text)
	}
	for _, d := range []time.Duration{0, 14600 * time.Millisecond} {
		if text := said(Analyse(one, Options{Duration: d}), NoteWindow); text != "" {
			t.Errorf("of the same window it says %q", text)
		}
	}
}
