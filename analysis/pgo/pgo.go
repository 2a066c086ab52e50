// Package pgo makes and judges profiles for the Go compiler (default.pgo): which calls the
// compiler reads out of a CPU profile, how profiles become one, what may be left out of one
// without changing a decision, and how much of an older one still holds.
//
// It asks no compiler: what one has said comes in as values of package compiler.
//
// Source of what the compiler reads: cmd/internal/pgo and internal/profile in the Go source,
// the same since Go 1.21. A test holds the calls against go tool preprofile.
package pgo

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"loupe/format/profile"
	"loupe/value/stack"
)

// Call is what the compiler takes from a profile: who calls whom from which line, counted
// from the line of the caller's func keyword.
type Call struct {
	Caller, Callee string
	Offset         int
}

// compare orders calls as the compiler does where they weigh the same.
func (c Call) compare(d Call) int {
	return cmp.Or(strings.Compare(c.Caller, d.Caller), strings.Compare(c.Callee, d.Callee), cmp.Compare(c.Offset, d.Offset))
}

// Calls are the calls of a profile with their weights, in units of the column that the
// compiler reads.
type Calls struct {
	Weight map[Call]int64
	Total  int64
}

// Errors that say why a profile is no use to the compiler.
var (
	// ErrKind is that of a profile of something else than CPU time.
	ErrKind = errors.New("it is not a CPU profile: the compiler reads samples/count or cpu/nanoseconds")
	// ErrNoStart is that of a profile that does not say where functions begin.
	ErrNoStart = errors.New("it does not say on which lines functions start (Function.start_line), which CPU profiles of Go programs do since Go 1.20")
	// ErrNegative is that of a difference of two profiles.
	ErrNegative = errors.New("it has values below zero: it is a difference of two profiles")
	// ErrEmpty is that of a profile without a call.
	ErrEmpty = errors.New("it has no samples with a call in them")
)

// Index is the column that the compiler reads: the first that counts samples or CPU time. The
// error is [ErrKind].
func Index(p *profile.Profile) (int, error) {
	i := slices.IndexFunc(p.SampleTypes, func(t profile.ValueType) bool {
		return t == samples || t == nanoseconds
	})
	if i < 0 {
		var has []string
		for _, t := range p.SampleTypes {
			has = append(has, t.Type+"/"+t.Unit)
		}
		return 0, fmt.Errorf("%w; it has %s", ErrKind, cmp.Or(strings.Join(has, ", "), "none"))
	}
	return i, nil
}

var (
	samples     = profile.ValueType{Type: "samples", Unit: "count"}
	nanoseconds = profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
)

// CallsOf reads a profile as the compiler does. Errors are [ErrKind], [ErrNoStart],
// [ErrNegative] and [ErrEmpty]; the compiler takes an empty profile, and does nothing.
func CallsOf(p *profile.Profile) (*Calls, error) {
	index, err := Index(p)
	if err != nil {
		return nil, err
	}
	out := &Calls{Weight: map[Call]int64{}}
	r := reader{table: p.Stacks}
	started := false
	for i, id := range p.StackIDs {
		v := p.Values[index][i]
		if v == 0 || id == 0 {
			continue
		}
		if v < 0 {
			return nil, ErrNegative
		}
		nodes, calls := r.read(id)
		for _, n := range nodes {
			started = started || n.StartLine != 0
		}
		for _, c := range calls {
			if out.Total+v < out.Total {
				return nil, errors.New("the sum of its values exceeds 64 bits")
			}
			out.Weight[c] += v
			out.Total += v
		}
	}
	switch {
	case out.Total == 0:
		return nil, ErrEmpty
	case !started:
		return nil, ErrNoStart
	}
	return out, nil
}

// reader reads stacks. What it returns is valid until it reads the next.
type reader struct {
	table *stack.Table
	nodes []stack.Frame
	calls []Call
	seen  map[[2]stack.Frame]bool
}

// last is how many of the frames, from the leaf on, the compiler reads: those of the last two
// addresses, with what was inlined there.
func last(t *stack.Table, frames []stack.FrameID) int {
	addresses := 0
	for n, f := range frames {
		if !t.Frame(f).Inlined {
			if addresses++; addresses == 2 {
				return n + 1
			}
		}
	}
	return len(frames)
}

// read returns the nodes of the compiler's graph on a stack, from the caller to the leaf, and
// the calls between them. Each counts once.
func (r *reader) read(id stack.ID) ([]stack.Frame, []Call) {
	frames := r.table.Frames(id)
	frames = frames[:last(r.table, frames)]
	r.nodes, r.calls = r.nodes[:0], r.calls[:0]
	if r.seen == nil {
		r.seen = map[[2]stack.Frame]bool{}
	}
	clear(r.seen)
	for i := len(frames) - 1; i >= 0; i-- {
		n := node(r.table.Frame(frames[i]))
		if len(r.nodes) > 0 {
			parent := r.nodes[len(r.nodes)-1]
			if edge := [2]stack.Frame{parent, n}; n != parent && !r.seen[edge] {
				r.seen[edge] = true
				r.calls = append(r.calls, Call{parent.Func, n.Func, parent.Line - parent.StartLine})
			}
		}
		r.nodes = append(r.nodes, n)
	}
	return r.nodes, r.calls
}

// node is what tells nodes of the compiler's graph apart.
func node(f stack.Frame) stack.Frame {
	if f.Func == "" {
		return stack.Frame{Address: f.Address}
	}
	return stack.Frame{Func: f.Func, Address: f.Address, Line: f.Line, StartLine: f.StartLine}
}

// ByWeight are the calls from the heaviest on, as the compiler orders them.
func (c *Calls) ByWeight() []Call {
	out := make([]Call, 0, len(c.Weight))
	for one := range c.Weight {
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Call) int {
		return cmp.Or(cmp.Compare(c.Weight[b], c.Weight[a]), a.compare(b))
	})
	return out
}

// HotShare is the part of the weight whose calls the compiler takes for hot: it goes through
// them from the heaviest on until they make up that much (inlineCDFHotCallSiteThresholdPercent
// in cmd/compile/internal/inline).
const HotShare = 0.99

// Hot are the heaviest calls that make up more than a share of the weight; with [HotShare]
// those that the compiler takes for hot.
func (c *Calls) Hot(share float64) []Call {
	all := c.ByWeight()
	sum := int64(0)
	for i, one := range all {
		if sum += c.Weight[one]; float64(sum)/float64(c.Total)*100 > share*100 {
			return all[:i+1]
		}
	}
	return all
}

// WriteText writes the calls as go tool preprofile does, which is the form that the compiler
// reads in the end.
func (c *Calls) WriteText(w io.Writer) error {
	var b strings.Builder
	b.WriteString("GO PREPROFILE V1\n")
	for _, one := range c.ByWeight() {
		fmt.Fprintf(&b, "%s\n%s\n%d %d\n", one.Caller, one.Callee, one.Offset, c.Weight[one])
	}
	_, err := io.WriteString(w, b.String())
	return err
}
