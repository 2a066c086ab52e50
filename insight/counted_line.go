package insight

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
)

// A call of a library is counted at its line: there is no source of what it calls, and what it is called by the source is no symbol.

// newCountedLine looks for a call of a library at its line in the samples and in the waits of units.
func newCountedLine(in *Input, x repetition.Call) countedCall {
	f := x.Func
	c := countedCall{name: f.Name, in: f.Caller, at: stack.Frame{Func: f.Caller, File: f.File, Line: f.Line}}
	c.site = c.at
	if loops := loopsAround(in.code, c.site); len(loops) > 0 {
		c.loop, _ = loops[len(loops)-1].source.lines(loops[len(loops)-1].stmt)
	}
	method := lastName(f.Name)
	// from is the place of the line in a stack, -1 where it does not call the function there.
	from := func(frames []stack.Frame) int {
		at := slices.IndexFunc(frames, func(x stack.Frame) bool { return x.Line == f.Line && isCountedIn(x.Func, f.Caller) })
		if at < 1 || ownName(frames[at-1].Func) != method {
			return -1
		}
		return at
	}
	if cpu, err := in.Facts.Weights(facts.CPU, "samples"); err == nil {
		lines, most := map[cost]bool{}, int64(0)
		for id, w := range cpu.Profile.Samples(cpu.Index) {
			frames := facts.Frames(cpu.Profile.Stacks, id)
			at := from(frames)
			if w <= 0 || at < 0 {
				continue
			}
			lines[cost{file: frames[at].File, line: frames[at].Line}] = true
			if w > most {
				most, c.way = w, frames[at-1:]
			}
		}
		c.costs = slices.SortedFunc(maps.Keys(lines), func(a, b cost) int { return a.line - b.line })
	}
	t, u := in.trace(), in.Facts.Units()
	if t.Err != nil || u.Err != nil {
		return c
	}
	for _, g := range u.Groups {
		for i := range g.All.Rows {
			row := &g.All.Rows[i]
			frames := t.Frames(row.Site.Stack)
			if at := from(frames); at >= 0 {
				if c.rows = append(c.rows, row); c.way == nil {
					c.way = frames[at-1:]
				}
			}
		}
	}
	return c
}

// isCountedIn tells whether a function of a stack is a counted one, or a function without a name in it.
func isCountedIn(frame, counted string) bool {
	if isCounted(frame, counted) {
		return true
	}
	frame = bareGenerics(frame)
	for {
		at := strings.LastIndex(frame, ".func")
		if at <= 0 {
			return false
		}
		if frame = frame[:at]; isCounted(frame, counted) {
			return true
		}
	}
}

// called names what repeats.
func (r *repeatedCall) called() string {
	if r.Func.Caller != "" {
		return r.Func.Name
	}
	return stack.Short(r.Func.Name)
}

// unsteady are packages whose functions ask what is outside of the program, or change with what they have read.
var unsteady = []string{"os", "os/exec", "os/user", "net", "net/http", "net/rpc", "net/smtp", "database/sql", "syscall", "io", "io/fs", "io/ioutil", "bufio", "path/filepath", "crypto/rand", "crypto/tls", "math/rand", "math/rand/v2", "time", "plugin", "log", "log/slog", "runtime", "runtime/debug", "runtime/metrics", "runtime/pprof"}

// holdLine says what could make each call of a library necessary.
func (r *repeatedCall) holdLine(in *Input, f *Finding) {
	w := r.Inner
	remark := func(format string, args ...any) {
		f.Severity, f.saves = Info, false
		f.Doubts = append(f.Doubts, fmt.Sprintf(format, args...))
	}
	if len(r.way) == 0 {
		remark("neither a sample nor a wait shows what is called: what else it does is not known")
		return
	}
	callee := r.way[0].Func
	switch pkg := stack.Package(callee); {
	case in.Session.Scope().IsUser(r.way[0]):
		r.hold(in, f)
		return
	case slices.Contains(unsteady, pkg):
		remark("%s asks what is outside of the program, or changes: another call may give another result", stack.Short(callee))
	case !strings.Contains(strings.SplitN(pkg, "/", 2)[0], "."):
	default:
		remark("what %s does else is not known: its source is not in the recording", stack.Short(callee))
	}
	switch {
	case r.holdResults(in, stack.Frame{}, f, remark):
	case w.Refers && makesForEach.MatchString(lastName(r.Func.Name)):
		remark("by its name it makes a value for each who asks: that can be shared only if nobody changes it")
	case w.Refers && tellInPlace(in.code, []stack.Frame{r.site}, lastName(r.Func.Name), f, remark):
	case w.Refers && givenOn(in.code, r.site, lastName(r.Func.Name)):
		remark("what it returns is given to another call, which may change it: whoever does that needs a copy of his own")
	case w.Refers:
		f.Doubts = append(f.Doubts, "what it returns has pointers, slices or maps: whoever changes what they hold needs a copy of his own")
	}
}
