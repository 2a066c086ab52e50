package pprof

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"loupe/format/profile"
	"loupe/value/stack"
)

// PGODepth is how many frames from the leaf [PGO] keeps unless told otherwise.
const PGODepth = 5

// PGO returns what profile-guided optimisation needs of a CPU profile and
// nothing else: one sample type, no labels, the last frames of every stack. The
// compiler looks at edges, a caller's line and the callee, and at the hottest of
// them only (cmd/internal/pgo), which lie near the leaves.
//
// It fails for a profile that the compiler would refuse.
func PGO(p *profile.Profile, depth int) (*profile.Profile, error) {
	index := slices.IndexFunc(p.SampleTypes, func(t profile.ValueType) bool {
		return t == profile.ValueType{Type: "samples", Unit: "count"}
	})
	if index < 0 {
		index = slices.IndexFunc(p.SampleTypes, func(t profile.ValueType) bool {
			return t == profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
		})
	}
	if index < 0 {
		return nil, errors.New("cannot make a profile for the compiler: it needs samples/count or cpu/nanoseconds, as a CPU profile has")
	}
	out := &profile.Profile{
		SampleTypes: p.SampleTypes[index : index+1], PeriodType: p.PeriodType, Period: p.Period,
		Time: p.Time, Duration: p.Duration, Comments: p.Comments, Stacks: new(stack.Table), Values: make([][]int64, 1),
	}
	row := map[stack.ID]int{}
	moved := make([]stack.ID, p.Stacks.Len())
	frames := make([]stack.FrameID, p.Stacks.NumFrames()) // +1
	var ids []stack.FrameID
	for i, id := range p.StackIDs {
		v := p.Values[index][i]
		if v == 0 || id == 0 {
			continue
		}
		if moved[id] == 0 {
			ids = ids[:0]
			for n, f := range p.Stacks.Frames(id) {
				if n >= depth && !p.Stacks.Frame(p.Stacks.Frames(id)[n-1]).Inlined {
					break
				}
				if frames[f] == 0 {
					x := p.Stacks.Frame(f)
					x.Module, x.Address = "", 0
					frames[f] = out.Stacks.InternFrame(x) + 1
				}
				ids = append(ids, frames[f]-1)
			}
			moved[id] = out.Stacks.Intern(ids)
		}
		to := moved[id]
		at, ok := row[to]
		if !ok {
			at = len(out.StackIDs)
			row[to] = at
			out.StackIDs = append(out.StackIDs, to)
			out.Values[0] = append(out.Values[0], 0)
		}
		out.Values[0][at] += v
	}
	return out, nil
}

// Call is what the compiler takes from a profile: who calls whom from which
// line, counted from the first line of the caller.
type Call struct {
	Caller, Callee string
	Offset         int
}

// PGOMatch says how much of an older profile for the compiler still holds.
type PGOMatch struct {
	Total int64 // weight of all calls of the older profile
	// Calls is the weight of the calls that the newer one has, too, at the same
	// line; Lines that of those at another line of the same caller, which the
	// compiler no longer finds; Functions that of those whose functions are
	// both there, but not as caller and callee. The rest is Gone.
	Calls, Lines, Functions, Gone int64
	// Lost are the heaviest calls that no longer match.
	Lost []LostCall
}

// LostCall is a call that a profile has and the program no longer makes in the
// same place.
type LostCall struct {
	Call
	Weight int64
	Why    string
}

// Match compares a profile that was made for the compiler with a newer CPU
// profile of the program. Only calls with a weight in the older one count.
func Match(older, newer *profile.Profile) (*PGOMatch, error) {
	was, err := calls(older)
	if err != nil {
		return nil, fmt.Errorf("the older profile: %w", err)
	}
	is, err := calls(newer)
	if err != nil {
		return nil, fmt.Errorf("the newer profile: %w", err)
	}
	functions, pairs := map[string]bool{}, map[[2]string]bool{}
	for c := range is {
		functions[c.Caller], functions[c.Callee] = true, true
		pairs[[2]string{c.Caller, c.Callee}] = true
	}
	m := &PGOMatch{}
	for c, v := range was {
		m.Total += v
		why := ""
		switch {
		case is[c] != 0:
			m.Calls += v
			continue
		case pairs[[2]string{c.Caller, c.Callee}]:
			m.Lines += v
			why = "it is on another line now"
		case functions[c.Caller] && functions[c.Callee]:
			m.Functions += v
			why = "the caller was not seen calling it"
		default:
			m.Gone += v
			missing := c.Callee
			if !functions[c.Caller] {
				missing = c.Caller
			}
			why = missing + " was not seen"
		}
		m.Lost = append(m.Lost, LostCall{c, v, why})
	}
	slices.SortFunc(m.Lost, func(a, b LostCall) int {
		if a.Weight != b.Weight {
			if a.Weight > b.Weight {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Caller+a.Callee+fmt.Sprint(a.Offset), b.Caller+b.Callee+fmt.Sprint(b.Offset))
	})
	return m, nil
}

// calls weighs the calls of a profile as the compiler does: once for each
// stack that has them.
func calls(p *profile.Profile) (map[Call]int64, error) {
	q, err := PGO(p, 1<<20)
	if err != nil {
		return nil, err
	}
	out := map[Call]int64{}
	seen := map[Call]bool{}
	for i, id := range q.StackIDs {
		frames := q.Stacks.Frames(id)
		clear(seen)
		for n := 1; n < len(frames); n++ {
			caller, callee := q.Stacks.Frame(frames[n]), q.Stacks.Frame(frames[n-1])
			c := Call{caller.Func, callee.Func, caller.Line - caller.StartLine}
			if !seen[c] {
				seen[c] = true
				out[c] += q.Values[0][i]
			}
		}
	}
	return out, nil
}
