package account

import (
	"cmp"
	"slices"
	"time"

	"loupe/value/stack"
	"loupe/value/timeline"
)

// Tries are connections that one way through the user's code tries to make again and again,
// on the same goroutine and without anything being sent over one of them: they fail. A peer
// that refuses ends a call at once, so that no wait tells of it.
type Tries struct {
	// Path are the frames of the user's code, the one nearest to the call first. Stack is
	// one of those that have it.
	Path  []stack.Frame
	Stack stack.ID
	// Count is how many there are, in so many Rows of at least [leastTries]; Longest is the
	// longest row.
	Count, Longest, Rows int64
	// Pause is how long it was from the end of one try to the begin of the next one,
	// together; Took is how long from the begin of the first to the end of the last of
	// the rows.
	Pause, Took time.Duration
}

// leastTries is how many tries are made in a row, at least: a name may have several
// addresses, of which the last one answers.
const leastTries = 8

// trying is a row of tries on one goroutine.
type trying struct {
	path  pathID
	n     int64 // 0 is none
	from  timeline.Time
	last  timeline.Time // end of the last try
	pause timeline.Time
}

// triesTally are the rows of one way through the code.
type triesTally struct {
	stack                stack.ID
	count, longest, rows int64
	pause, took          timeline.Time
}

// tries counts a try of a goroutine to connect, which is over.
func (f *follower) tries(t *track, id stack.ID, at timeline.Time) {
	p, begin := f.w.out(id).path, t.history.end()
	x := &t.trying
	if x.n == 0 || x.path != p {
		*x = trying{path: p, n: 1, from: begin, last: at}
		return
	}
	pause, took := begin-x.last, at-x.last
	x.n++
	x.pause += pause
	x.last = at
	if x.n < leastTries {
		return
	}
	tally := f.tried[p]
	if tally == nil {
		if f.tried == nil {
			f.tried = map[pathID]*triesTally{}
		}
		tally = &triesTally{stack: id}
		f.tried[p] = tally
	}
	if x.n == leastTries {
		tally.rows++
		tally.count += leastTries
		tally.pause += x.pause
		tally.took += at - x.from
	} else {
		tally.count++
		tally.pause += pause
		tally.took += took
	}
	tally.longest = max(tally.longest, x.n)
}

// triesOf puts them in words, those first that are most.
func triesOf(w *words, tried map[pathID]*triesTally) (all []Tries) {
	for p, x := range tried {
		all = append(all, Tries{Path: w.framesOf(p), Stack: x.stack, Count: x.count, Longest: x.longest, Rows: x.rows, Pause: time.Duration(x.pause), Took: time.Duration(x.took)})
	}
	slices.SortFunc(all, func(a, b Tries) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), comparePaths(a.Path, b.Path))
	})
	return all
}
