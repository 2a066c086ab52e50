package insight

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// outward is what the units of a group do by one way through the user's code that is
// outside of the program: a call with all that belongs to it, such as making the
// connection (see [far]).
type outward struct {
	group facts.UnitGroup
	path  []stack.Frame // the frame nearest to the call first
	stack stack.ID
	kind  string // the key of what takes longest of it
	calls int64  // how often it is made
	units int64  // how many units make it
	most  int64  // how often one does
	time  time.Duration
	// slope is by how much each call more makes a unit longer, fit how well that explains
	// their lengths.
	slope  time.Duration
	fit    float64
	pieces int64
	// statement is its part in a query that package database/sql prepares by itself; none where it has several.
	statement facts.UnitStatement
	// parts are, of queries, the parts of the group's time that theirs is of.
	parts []*facts.UnitRow
	// reads are the waits in which the answers of its calls are read elsewhere, of which time has its part: see [answerReads].
	reads []*outward
}

// each is how often a unit makes it that does.
func (o *outward) each() float64 { return float64(o.calls) / float64(max(1, o.units)) }

// share is its part of the group's time.
func (o *outward) share() float64 { return o.group.All.Share(o.time) }

// one is how long one call takes.
func (o *outward) one() time.Duration { return o.time / time.Duration(max(1, o.calls)) }

// far is what a kind of waits is for: several of them may belong to one call of a peer, as making the connection does, but neither to
// one of files nor to a process. Those that go on below the same line are calls of their own.
type far uint8

const (
	farPeer far = iota
	farFiles
	farProcess
)

// farOf is that of the key of a kind.
func farOf(kind string) far {
	switch kind {
	case "file_call":
		return farFiles
	case "process":
		return farProcess
	}
	return farPeer
}

// outwards are the calls of a group, the longest together first.
func outwards(g facts.UnitGroup) (all []*outward) {
	by := map[string]*outward{}
	for i := range g.Calls {
		c := &g.Calls[i]
		key := fmt.Sprint(farOf(c.Kind.Key()), c.Path)
		o := by[key]
		if o == nil {
			o = &outward{group: g, path: c.Path, stack: c.Stack, kind: c.Kind.Key(), statement: c.Statement}
			by[key], all = o, append(all, o)
		}
		if c.Statement != o.statement {
			o.statement = facts.NoStatement
		}
		if c.Count > o.calls {
			o.calls, o.units, o.most, o.slope, o.fit = c.Count, c.Units, c.Most, c.Slope, c.Fit
		}
		o.time += c.Time
		o.pieces += c.Pieces
	}
	slices.SortStableFunc(all, func(a, b *outward) int { return cmp.Compare(b.time, a.time) })
	return all
}

// rows are the parts of a group's time that go into calls at some lines.
func (o *outward) rows() (rows []*facts.UnitRow) {
	for i := range o.group.All.Rows {
		if row := &o.group.All.Rows[i]; row.Kind.Outside() && row.Site.Frame == o.path[0] {
			rows = append(rows, row)
		}
	}
	return rows
}

// unitCount is how many units a group has.
func unitCount(g facts.UnitGroup) time.Duration { return time.Duration(max(1, g.Wall.Count)) }

// relays tells whether units write to their own clients about as often as they make a
// call: what they do may be to pass on what comes.
func relays(t *traced, g facts.UnitGroup, calls int64) bool {
	return 2*writesToClient(t, g) >= calls
}

// writesToClient is how often units write to their clients from code of the user: the
// write at the end of a response is the server's.
func writesToClient(t *traced, g facts.UnitGroup) (n int64) {
	for i := range g.All.Rows {
		if row := &g.All.Rows[i]; row.Kind.Key() == "socket_call" && row.Site.User && toClient(t, row.Site.Stack) {
			n += row.Count
		}
	}
	return n
}

// toClient tells whether a stack writes to the client of the request.
func toClient(t *traced, id stack.ID) bool {
	return slices.ContainsFunc(t.Frames(id), func(f stack.Frame) bool {
		return f.Func == "net/http.checkConnErrorWriter.Write" || f.Func == "net/http.(*response).Flush" || f.Func == "net/http.(*response).write"
	})
}

// relayDoubt is what speaks against calls of a unit that relays.
const relayDoubt = "it writes to its client about as often: if it relays what it receives, waiting is its job"

// timesOf is how often something is done, a whole number or one on average.
func timesOf(n float64) string {
	if n == math.Trunc(n) {
		return unit.Count(int64(n))
	}
	return unit.Number(n)
}

// plurals is a number on average with its noun.
func plurals(n float64, noun string) string {
	if n > 0 && n < 1.05 {
		return "one " + noun
	}
	return timesOf(n) + " " + noun + "s"
}
