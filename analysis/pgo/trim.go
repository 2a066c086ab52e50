package pgo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loupe/format/profile"
	"loupe/value/stack"
)

// Trim returns what the compiler reads of a CPU profile and nothing else: one sample type and
// of each stack the last two addresses with what was inlined there. The line within the
// innermost function, file names, addresses, mappings and labels go. The calls, their order
// and their weights are those of the whole profile, and so are the compiler's decisions; the
// sum of all samples stays, too.
//
// It fails for a profile that the compiler would refuse, or that would do nothing: see
// [CallsOf].
func Trim(p *profile.Profile) (*profile.Profile, error) {
	if _, err := CallsOf(p); err != nil {
		return nil, err
	}
	index, err := Index(p)
	if err != nil {
		return nil, err
	}
	b := newBuilder(p)
	b.out.SampleTypes = p.SampleTypes[index : index+1]
	for i, id := range p.StackIDs {
		if v := p.Values[index][i]; v != 0 && id != 0 {
			b.add(p.Stacks, id, v)
		}
	}
	return b.profile(), nil
}

// Keep returns a trimmed profile with those stacks alone that have one of the heaviest calls:
// of those that make up a share of the weight, or a bit more. That loses the others, and as
// the compiler takes 99% of what is left for hot, some calls at the end of those, too.
func Keep(p *profile.Profile, share float64) (*profile.Profile, error) {
	p, err := Trim(p)
	if err != nil {
		return nil, err
	}
	calls, err := CallsOf(p)
	if err != nil {
		return nil, err
	}
	keep := map[Call]bool{}
	for _, c := range calls.Hot(share) {
		keep[c] = true
	}
	b := newBuilder(p)
	b.out.SampleTypes = p.SampleTypes
	r := reader{table: p.Stacks}
	for i, id := range p.StackIDs {
		if id == 0 {
			continue
		}
		if _, has := r.read(id); slices.ContainsFunc(has, func(c Call) bool { return keep[c] }) {
			b.add(p.Stacks, id, p.Values[0][i])
		}
	}
	return b.profile(), nil
}

// builder makes a trimmed profile.
type builder struct {
	out   *profile.Profile
	whole bool // stacks stay as they are
	row   map[stack.ID]int
	ids   []stack.FrameID
}

// newBuilder begins a profile with what a profile says of itself.
func newBuilder(of *profile.Profile) *builder {
	return &builder{row: map[stack.ID]int{}, out: &profile.Profile{
		PeriodType: of.PeriodType, Period: of.Period, Time: of.Time, Duration: of.Duration,
		Comments: slices.Clone(of.Comments), Stacks: new(stack.Table), Values: make([][]int64, 1),
	}}
}

// add adds a stack, or the end of it.
func (b *builder) add(t *stack.Table, id stack.ID, v int64) {
	b.ids = b.ids[:0]
	if b.whole {
		for _, f := range t.Frames(id) {
			b.ids = append(b.ids, b.out.Stacks.InternFrame(t.Frame(f)))
		}
	} else {
		b.end(t, t.Frames(id))
	}
	to := b.out.Stacks.Intern(b.ids)
	at, ok := b.row[to]
	if !ok {
		at = len(b.out.StackIDs)
		b.row[to] = at
		b.out.StackIDs = append(b.out.StackIDs, to)
		b.out.Values[0] = append(b.out.Values[0], 0)
	}
	b.out.Values[0][at] += v
}

// end makes ids of what the compiler reads of a stack.
func (b *builder) end(t *stack.Table, frames []stack.FrameID) {
	frames = frames[:last(t, frames)]
	apart := same(t, frames)
	for i, f := range frames {
		x := t.Frame(f)
		y := stack.Frame{Func: x.Func, Line: x.Line, StartLine: x.StartLine, Inlined: x.Inlined}
		if i == 0 && !apart {
			y.Line = 0 // nobody asks on which line the innermost function was
		}
		if apart { // the leaf's address, or that of its caller
			y.Address = 1
			if x.Address != t.Frame(frames[0]).Address {
				y.Address = 2
			}
		}
		b.ids = append(b.ids, b.out.Stacks.InternFrame(y))
	}
}

// same tells whether frames of a stack are the same line of the same function, as where a
// function calls itself, or would be without the line of the innermost. To the compiler their
// addresses tell them apart, or do not.
func same(t *stack.Table, frames []stack.FrameID) bool {
	for i, f := range frames {
		x := t.Frame(f)
		for n, g := range frames[:i] {
			if y := t.Frame(g); x.Func == y.Func && x.StartLine == y.StartLine && (x.Line == y.Line || n == 0 && x.Line == 0) {
				return true
			}
		}
	}
	return false
}

// profile is what was built, the heaviest stacks first, so that one content has one form.
func (b *builder) profile() *profile.Profile {
	p := b.out
	order := make([]int, len(p.StackIDs))
	names := make([]string, len(p.StackIDs))
	for i, id := range p.StackIDs {
		order[i] = i
		var text strings.Builder
		for _, f := range p.Stacks.Frames(id) {
			x := p.Stacks.Frame(f)
			text.WriteString(x.Func)
			text.WriteByte(0)
			fmt.Fprint(&text, x.Line, x.StartLine, x.Address, x.File)
			if x.Inlined {
				text.WriteByte(1)
			}
		}
		names[i] = text.String()
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(p.Values[0][y], p.Values[0][x]), strings.Compare(names[x], names[y]))
	})
	ids, values := make([]stack.ID, len(order)), make([]int64, len(order))
	for i, from := range order {
		ids[i], values[i] = p.StackIDs[from], p.Values[0][from]
	}
	p.StackIDs, p.Values[0] = ids, values
	return p
}
