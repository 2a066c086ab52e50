package incident

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"loupe/value/unit"
)

// storms keeps what happens all at once within bounds.
type storms struct {
	mu     sync.Mutex
	pause  time.Duration        // between two incidents of one rule and target
	hourly int                  // recordings and calls of hooks
	last   map[string]*Incident // by rule and target
	taken  []time.Time          // when recordings were begun, within the last hour
	told   time.Time            // when it was told last that there are too many
	left   int                  // incidents since then that had neither recording nor hooks
}

// bound sets the bounds.
func (s *storms) bound(pause time.Duration, hourly int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pause, s.hourly = pause, hourly
}

// admit says what an incident is: one of a rule and target whose last one, before, is within the pause; or
// a new one, which is recorded where it is within what an hour may have.
func (s *storms) admit(in *Incident, target string) (before *Incident, within bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := in.Rule + "\xff" + target
	if last := s.last[key]; last != nil && in.At.Sub(last.At) < s.pause {
		return last, false
	}
	maps.DeleteFunc(s.last, func(_ string, o *Incident) bool { return in.At.Sub(o.At) >= s.pause })
	s.last[key] = in
	first := 0
	for first < len(s.taken) && in.At.Sub(s.taken[first]) >= time.Hour {
		first++
	}
	s.taken = s.taken[first:]
	if len(s.taken) >= s.hourly {
		s.left++
		return nil, false
	}
	s.taken = append(s.taken, in.At)
	return nil, true
}

// note says why an incident is not recorded.
func (s *storms) note() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("not recorded: limit of %d recordings an hour reached", s.hourly)
}

// tell says, once an hour, that there are more incidents than the hooks are told of.
func (s *storms) tell(in *Incident) (why string, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.told.IsZero() && in.At.Sub(s.told) < time.Hour {
		return "", false
	}
	why = fmt.Sprintf("more than %d alerts within an hour: %s not recorded so far, the last one of %s: %s", s.hourly, unit.Plural(s.left, "alert"), in.Service, in.Why)
	s.told, s.left = in.At, 0
	return why, true
}
