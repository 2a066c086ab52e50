package account

import (
	"cmp"
	"slices"
	"time"

	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Peers are the connections over which one way through the user's code gets answers, by a
// client of net/http. Each is to one peer; to which one the trace does not tell.
type Peers struct {
	// Path are the frames of the user's code, the one nearest to the call first. Stack is
	// one of those that have it.
	Path        []stack.Frame
	Stack       stack.ID
	Connections []Connection // those whose answers take longest on average first
}

// Connection is what came over one.
type Connection struct {
	G     exectrace.GoID // that reads from it
	Count int64          // answers
	Time  time.Duration  // that was waited for them
	Least time.Duration  // the shortest wait
}

// The bounds of what is remembered of connections.
const (
	maxPeers       = 64
	maxConnections = 256
)

// peerTally are the connections of one way through the code.
type peerTally struct {
	stack stack.ID
	by    map[exectrace.GoID]*Connection
}

// answered counts an answer over a connection, which a goroutine reads from.
func answered(f *follower, t *track, by exectrace.GoID, where stack.ID, at timeline.Time) {
	p := f.w.out(where).path
	x := f.peers[p]
	if x == nil {
		if len(f.peers) >= maxPeers {
			return
		}
		if f.peers == nil {
			f.peers = map[pathID]*peerTally{}
		}
		x = &peerTally{stack: where, by: map[exectrace.GoID]*Connection{}}
		f.peers[p] = x
	}
	c := x.by[by]
	if c == nil {
		if len(x.by) >= maxConnections {
			return
		}
		c = &Connection{G: by}
		x.by[by] = c
	}
	d := time.Duration(at - t.history.end())
	if c.Count++; c.Count == 1 || d < c.Least {
		c.Least = d
	}
	c.Time += d
}

// peersOf puts them in words, those with the most waiting first.
func peersOf(w *words, peers map[pathID]*peerTally) (all []Peers) {
	sum := func(p *Peers) (d time.Duration) {
		for _, c := range p.Connections {
			d += c.Time
		}
		return d
	}
	for path, x := range peers {
		out := Peers{Path: w.framesOf(path), Stack: x.stack}
		for _, c := range x.by {
			out.Connections = append(out.Connections, *c)
		}
		slices.SortFunc(out.Connections, func(a, b Connection) int {
			return cmp.Or(cmp.Compare(b.Mean(), a.Mean()), cmp.Compare(a.G, b.G))
		})
		all = append(all, out)
	}
	slices.SortFunc(all, func(a, b Peers) int {
		return cmp.Or(cmp.Compare(sum(&b), sum(&a)), comparePaths(a.Path, b.Path))
	})
	return all
}

// Mean is how long one answer is waited for on average.
func (c Connection) Mean() time.Duration { return c.Time / time.Duration(max(1, c.Count)) }
