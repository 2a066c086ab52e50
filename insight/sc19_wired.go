package insight

import (
	"go/ast"
	"go/types"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/value/stack"
	"loupe/value/unit"
)

var sc19 = &Rule{
	ID: "SC19", Title: "A goroutine locked to its thread is woken repeatedly (LockOSThread)",
	About: "A goroutine that has called runtime.LockOSThread runs on one thread, which runs nothing else. Handing it a message needs thread switches by the kernel, " +
		"a few microseconds each, where other goroutines need a few tenths of one.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"rate", 2000, "starts a second", "chosen: with the reply, two switches of about 10 µs, 4% of a CPU"},
		{"warning", 5000, "starts a second", "chosen: a tenth of a CPU for switching alone"},
		{"each", 100e-6, "s", "chosen: if it works longer each time, the switch does not matter"},
	},
	Part:  true,
	Check: onTrace(checkWired),
}

func checkWired(r *Rule, in *Input, t *traced) []Finding {
	if len(t.Wired) == 0 {
		return []Finding{r.answer(Fine, "no goroutine was repeatedly scheduled on a thread of its own")}
	}
	fine := r.answer(Fine, "no goroutine that calls runtime.LockOSThread in its source was scheduled on its own thread %g times a second", r.param("rate"))
	for i := range t.Wired {
		w := &t.Wired[i]
		if t.Rate(w.Starts) < r.param("rate") || w.Name == 0 {
			continue
		}
		locks := locksThread(in.code, t.Reader.Name(w.Name))
		if len(locks) == 0 {
			continue // what runs alone has its thread to itself by chance
		}
		g := t.group(w)
		if g == nil || g.Run.Mean().Seconds() >= r.param("each") {
			continue
		}
		return []Finding{wiredFinding(r, in, t, w, g, locks)}
	}
	return []Finding{fine}
}

// group is that of a wired goroutine.
func (t *traced) group(w *sched.Wired) *sched.Group {
	for _, g := range t.Groups {
		if g.Name == w.Name {
			return g
		}
	}
	return nil
}

func wiredFinding(r *Rule, in *Input, t *traced, w *sched.Wired, g *sched.Group, locks []Evidence) Finding {
	rate := t.Rate(w.Starts)
	f := r.answer(Found, "a goroutine of %s is locked to its own thread (runtime.LockOSThread) and was scheduled on it %s times, %s a second, for %s each time", t.name(w.Name),
		unit.Count(w.Starts), unit.Number(rate), unit.Duration(time.Duration(g.Run.Mean())))
	f.Impact = exactly(rate, "switches to a locked thread a second")
	f.Severity, f.Score = Info, score(rate, r.param("rate"), 4*r.param("warning"))
	if rate >= r.param("warning") {
		f.Severity = Warning
	}
	for _, e := range locks {
		e.Path, e.Phase, e.Span = t.Entry.Path, t.Entry.Phase, t.span(t.Covers)
		f.Evidence = append(f.Evidence, e)
	}
	for _, b := range t.Blocks {
		if b.Worst.G == w.G {
			f.Evidence = append(f.Evidence, t.seen(b.Stack, "here it waits for more, %s times", unit.Count(b.Wait.Count)))
			break
		}
	}
	f.Advice = "Remove the call of runtime.LockOSThread, unless C code or the kernel requires one thread (a GUI, ptrace, namespaces, signals, thread-local state). In that case give the goroutine more work per message: " +
		"move the loop that calls it into it, or hand over batches."
	f.Verify = "Record again under the same load: CPU time and latency should fall, and the scheduler's share (CP05) with them."
	f.Doubts = in.traceDoubts(t)
	return f
}

// locksThread are the calls of runtime.LockOSThread in the source of a function, or of one of
// the same package that it calls.
func locksThread(c *code, function string) (out []Evidence) {
	pkg := stack.Package(function)
	name := strings.TrimSuffix(function[strings.LastIndexByte(function, '.')+1:], "-fm")
	for strings.HasPrefix(name, "func") && strings.TrimLeft(name[4:], "0123456789.") == "" { // a closure: the function that it is in
		function = function[:strings.LastIndexByte(function, '.')]
		name = function[strings.LastIndexByte(function, '.')+1:]
	}
	c.eachSource(func(file string, s *syntax) {
		runtime := importedAs(s.file, "runtime")
		if runtime == "" || s.file.Name.Name != pkg[strings.LastIndexByte(pkg, '/')+1:] {
			return
		}
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || fn.Name.Name != name {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && types.ExprString(call.Fun) == runtime+".LockOSThread" && len(out) < 2 {
					line, _ := s.lines(call)
					out = append(out, c.shownAt(file, line, "the goroutine locks itself to its thread here"))
				}
				return true
			})
		}
	})
	return out
}
