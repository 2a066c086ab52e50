package account

import "loupe/value/timeline"

// Of very many requests and tasks not each is divided: the first ones are, and then those
// that begin in short stretches of the trace, one in ten. All are counted, named and
// measured, so that numbers, quantiles and ids are those of all.
//
// Which ones are divided depends on when they begin and on nothing else: one that goes on
// when its stretch is over is divided to its end. So a sample leaves out no long ones.
//
// Note: Dividing costs some 600 instructions an event for all goroutines, since any may
// be what a unit waits for. Between the stretches nothing is kept of them but which units
// they are in, which costs a tenth.
const (
	firstDivided = 20_000 // units
	// leastRequests is how many requests are among the first, where there are any: tasks
	// that are many more say less.
	leastRequests = 2_000
	stretchUnits  = 1_000
	betweenUnits  = 9 // times as many as in a stretch
	// stretchOpen is how many times as many as go on at once are in a stretch, so that
	// what goes on at its edges is little of it.
	stretchOpen = 20
)

// sampler says which units are divided.
type sampler struct {
	wanted bool
	// first, requests and stretch are [firstDivided], [leastRequests] and [stretchUnits].
	first, requests, stretch int64
	// resting tells that nothing is divided, closed that units that begin are not.
	resting, closed bool
	// divided is how many units are that go on, going how many go on in all.
	divided, going int64
	// ended and passed are the units that have ended since the last change of closed:
	// those that were divided, and the others.
	ended, passed int64
	asked         int64 // of ended: requests
	want          int64 // of ended, until it closes
	begun         bool  // it has closed once
	news          bool  // it has to look what to do
}

func newSampler(wanted bool) sampler {
	return sampler{wanted: wanted, first: firstDivided, requests: leastRequests, stretch: stretchUnits}
}

// opens counts a unit that begins, and tells whether it is not divided.
func (s *sampler) opens(u Unit) (undivided bool) {
	s.going++
	if undivided = s.closed || s.begun && !u.many(); !undivided {
		s.divided++
	}
	return undivided
}

// frees counts one that goes on no more.
func (s *sampler) frees(undivided bool) {
	s.going--
	s.news = s.wanted
	if !undivided {
		s.divided--
	}
}

// ends counts a unit that has come to its end.
func (s *sampler) ends(u *open) {
	switch {
	case !u.unit.many():
	case u.undivided:
		s.passed++
	default:
		if s.ended++; u.unit == Request {
			s.asked++
		}
	}
}

// sample opens and closes stretches behind an event.
func (b *Builder) sample(at timeline.Time) {
	s := &b.units.sampler
	s.news = false
	enough := s.ended >= s.want
	if !s.begun {
		enough = s.ended >= s.first && (s.asked == 0 || s.asked >= s.requests)
	}
	switch {
	case !s.closed && enough:
		if !s.begun { // what lasts as long as the trace would never let it rest
			s.begun = true
			neverMind(b)
		}
		s.closed, s.ended, s.passed = true, 0, 0
		s.want = max(s.stretch, stretchOpen*s.going)
	case s.closed && s.passed >= betweenUnits*s.want:
		s.closed, s.ended, s.passed = false, 0, 0
		if s.resting {
			wake(b, at)
		}
	}
	if s.closed && !s.resting && s.divided == 0 {
		s.resting = true
		for i := range b.tracks {
			b.leave(&b.tracks[i])
		}
	}
}

// neverMind lets the units go undivided that are no requests and no tasks.
func neverMind(b *Builder) {
	for i := range b.tracks {
		for u := b.tracks[i].units; u != nil; u = u.next {
			if !u.unit.many() && !u.undivided {
				u.undivided = true
				b.units.divided--
			}
		}
	}
}

// wake begins to divide again: what goroutines did before is not known, but no unit that
// is divided began before.
func wake(b *Builder, at timeline.Time) {
	b.units.resting = false
	for i := range b.tracks {
		t := &b.tracks[i]
		b.blocks -= len(t.history.blocks)
		t.history.reset(at)
		t.idle, t.gave, t.sent, t.asked = 0, 0, 0, 0
		t.trying, t.fans, t.fanned = trying{}, t.fans[:0], false
	}
}
