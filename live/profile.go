package live

import (
	"fmt"
	"time"

	"loupe/profile"
)

// GoroutineProfile reads all goroutines as a profile of the form that Go itself
// writes; goroutines whose stacks could not be read are of their go statement.
func (p *Process) GoroutineProfile() (*profile.Profile, error) {
	f, err := p.Goroutines()
	if err != nil {
		return nil, err
	}
	out := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "goroutine", Unit: "count"}},
		PeriodType:  profile.ValueType{Type: "goroutine", Unit: "count"}, Period: 1,
		Time: time.Now(), Stacks: f.Stacks, Values: make([][]int64, 1),
	}
	if lost := len(f.IDs) - int(f.Goroutines()); lost > 0 {
		out.Comments = append(out.Comments, fmt.Sprintf("%d goroutines are not counted", lost))
	}
	for id, n := range f.Samples(nil) {
		out.StackIDs, out.Values[0] = append(out.StackIDs, id), append(out.Values[0], n)
	}
	return out, nil
}
