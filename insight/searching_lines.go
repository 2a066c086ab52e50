package insight

import (
	"loupe/analysis/facts"
	"loupe/value/stack"
)

// How far the callers of a line are followed: callersInLoop are asked for a loop around the
// search, a share of the CPU being asked for besides; the comparison may lie up to callersInMatch
// calls below the loop.
const (
	callersInLoop  = 4
	callersInMatch = 3
)

// searchLine is a line of a loop that searches.
type searchLine struct {
	at     stack.Frame
	loop   handLoop
	looped bool // the loop is in another one, or its function is called in one
	// turn is the line of a caller that is in the loop which repeats it, and direct tells that it is the one that calls the
	// function; there is none where the loop around is in the function itself.
	turn   stack.Frame
	direct bool
}

// searchLines are the lines of loops that search, with the CPU samples that are in them, or in
// the comparison that they call.
func searchLines(in *Input, w *facts.Weights) map[searchLine]int64 {
	s := &searchScan{in: in, v: in.view(w.Profile), known: map[searchAt]handLoop{}, inLoop: map[stack.FrameID]bool{}}
	lines := map[searchLine]int64{}
	for id, n := range w.Profile.Samples(w.Index) {
		if x, ok := s.search(s.v.t.Frames(id)); ok {
			lines[x] += n
		}
	}
	return lines
}

// searchScan finds searches on stacks, and remembers what the source says of their lines.
type searchScan struct {
	in     *Input
	v      *view
	known  map[searchAt]handLoop
	inLoop map[stack.FrameID]bool
}

// searchAt is a line with the one that calls its function, in another loop or not.
type searchAt struct {
	at, caller stack.Frame
	again      bool
}

// search finds the innermost search on a stack.
func (s *searchScan) search(frames []stack.FrameID) (x searchLine, ok bool) {
	for k, i := 0, nextUser(s.v, frames, 0); i >= 0 && k < callersInMatch; k, i = k+1, nextUser(s.v, frames, i+1) {
		if !s.loops(frames[i]) {
			continue
		}
		looped, caller, turn := s.looped(frames[i+1:])
		served := len(frames) > i+1 && repeatsAbove(s.in.code, s.v, frames[i+1:])
		at := s.v.t.Frame(frames[i])
		l := s.ask(searchAt{at, caller, looped || served})
		if l.kind == searchNone || (k > 0 || l.by > matchEqual || l.works) && !l.compares(at.Line) {
			continue // what else is done for each element is no comparison
		}
		if l.kind == searchOwners && !repeatsOwners(s, l, frames[i:]) {
			l.kind = searchEach
		}
		if looped = looped || len(loopsAround(s.in.code, at)) > 1; looped || served {
			return searchLine{at, l, looped, lineOnly(turn), turn == caller}, true
		}
	}
	return x, false
}

// looped tells whether one of the callers of a function is in a loop, which calls it, and which is in the loop.
func (s *searchScan) looped(frames []stack.FrameID) (looped bool, caller, turn stack.Frame) {
	for i, n := nextUser(s.v, frames, 0), 0; i >= 0 && n < callersInLoop && !looped; i, n = nextUser(s.v, frames, i+1), n+1 {
		if n == 0 {
			caller = s.v.t.Frame(frames[i])
		}
		if looped = s.loops(frames[i]); looped {
			turn = s.v.t.Frame(frames[i])
		}
	}
	return looped, caller, turn
}

func (s *searchScan) loops(id stack.FrameID) bool {
	in, ok := s.inLoop[id]
	if !ok {
		in = len(loopsAround(s.in.code, s.v.t.Frame(id))) > 0
		s.inLoop[id] = in
	}
	return in
}

func (s *searchScan) ask(x searchAt) handLoop {
	l, ok := s.known[x]
	if !ok {
		if l = searchByHand(s.in.code, x.at, x.caller, x.again); l.kind == searchNone {
			l = pairsByHand(s.in.code, x.at)
		}
		s.known[x] = l
	}
	return l
}

// repeatsOwners tells whether the loop through the elements that have the lists is run more than once, by the frames from the
// search on.
func repeatsOwners(s *searchScan, l handLoop, frames []stack.FrameID) bool {
	at := 0
	if l.owners.called {
		if at = nextUser(s.v, frames, 1); at < 0 {
			return false
		}
	}
	around := len(loopsAround(s.in.code, s.v.t.Frame(frames[at])))
	if around > 2 || l.owners.called && around > 1 {
		return true
	}
	above := frames[at+1:]
	looped, _, _ := s.looped(above)
	return looped || len(above) > 0 && repeatsAbove(s.in.code, s.v, above)
}
