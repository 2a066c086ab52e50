package repetition

import (
	"testing"
	"time"

	"loupe/format/repeats"
)

// TestAgainIn: functions whose calls mostly repeat are told, those first that take longest, and which of them lies within another is known; what may have to be
// called each time is not told.
func TestAgainIn(t *testing.T) {
	calls := func(took time.Duration, traits repeats.Traits) *repeats.Counts {
		return &repeats.Counts{Calls: 600, Time: took, Distinct: 10, Again: 590, AgainTime: took / 2, Traits: traits}
	}
	s := counted(t, true, func(s *repeats.Set) {
		s.Functions[list].Everywhere = calls(700*time.Millisecond, repeats.Traits{})
		s.Functions[open].Everywhere = calls(600*time.Millisecond, repeats.Traits{})
		s.Functions[read].Everywhere = calls(500*time.Millisecond, repeats.Traits{Vague: true})
		s.Functions[handle].Everywhere = &repeats.Counts{Calls: 600, Time: time.Second, Distinct: 400, Again: 200, AgainTime: 300 * time.Millisecond}
		s.Within = []repeats.Within{but(again(list, open), func(w *repeats.Within) {
			w.Around = 600
			w.Distinct, w.Again, w.AgainTime, w.Most, w.MostOne = 600, 0, 0, 1, 1
		})}
	})
	all, err := AgainIn(s)
	if err != nil || len(all) != 2 || all[0].Func.Name != "main.list" || all[1].Func.Name != "main.open" {
		t.Fatalf("%+v %v", all, err)
	}
	if !all[1].PartOf(all[0]) || all[0].PartOf(all[1]) {
		t.Errorf("open lies within list: %v, and list within open: %v", all[1].PartOf(all[0]), all[0].PartOf(all[1]))
	}
}
