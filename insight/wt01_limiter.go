package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// limiter finds what keeps a rate while the units wait, by its name: in the stack of the wait, or
// of the goroutine that ends it. own tells whether a client of something else asks it, so that
// what it limits is the program's own calls and not what others ask of the program.
func (w *waiting) limiter(t *traced) (name string, own bool) { return limits(limiterFrames(w, t)) }

// limiterFrames is the stack in which a limiter may be: that of a wait for a timer, or of the goroutine that ends another one; nil where
// nothing waits for a timer.
func limiterFrames(w *waiting, t *traced) []stack.Frame {
	switch {
	case w.kind == "sleep" || w.kind == "timer":
		return t.Frames(w.site.Stack)
	case len(w.causes) == 0 || !w.ofAnother(w.reason()):
		return nil
	}
	return t.Frames(w.causes[0].Cause.Site.Stack)
}

// limits finds a function among frames that keeps a rate, by its name or that of its package,
// and whether a client calls it. Who waits for a peer there does not wait for a rate: what it asks for may be limits.
func limits(frames []stack.Frame) (limiter string, own bool) {
	for i, f := range frames {
		if slices.ContainsFunc(peerPackages, func(pkg string) bool { return strings.HasPrefix(f.Func, pkg) }) {
			break
		}
		name := strings.ToLower(f.Func)
		if strings.HasPrefix(name, "golang.org/x/time/rate.") || slices.ContainsFunc(limiterNames, func(n string) bool { return strings.Contains(name, n) }) {
			return f.Func, slices.ContainsFunc(frames[i+1:], func(f stack.Frame) bool {
				return slices.ContainsFunc(clientCalls, func(n string) bool { return strings.HasPrefix(f.Func, n) })
			})
		}
	}
	return "", false
}

// limiterNames are parts of the names of what keeps a rate, clientCalls the beginnings of
// functions that ask another service.
var (
	limiterNames = []string{"limiter", "ratelimit", "throttl", "tokenbucket", "leakybucket"}
	// peerPackages are the beginnings of functions that wait for a peer.
	peerPackages = []string{"internal/poll.", "net.", "net/http.", "crypto/tls.", "database/sql.", "syscall."}
	clientCalls  = []string{"net/http.(*Client).", "k8s.io/client-go/", "google.golang.org/grpc.(*ClientConn).", "database/sql."}
)

// limiterAdvice is what to do about a limiter that makes the program's own calls wait.
const limiterAdvice = "The program limits its own calls here: raise the limiter's rate and burst if the other side can take more, or make fewer calls (one that asks for everything, a cache, a watch). A burst below the number of calls made at once makes even an idle program wait."

// pace compares what a limiter lets through with what comes.
type pace struct {
	limiter string
	// every is how far apart it lets calls through that follow each other, between how far apart
	// calls come on average.
	every, between time.Duration
}

// How what comes compares with what a limiter permits: chosen.
const (
	// paceSlower is from where on calls come clearly slower than permitted.
	paceSlower = 1.3
	// paceWaits is up to how many waits say nothing of what lies between them.
	paceWaits = 10
	// paceStays bounds the stays that are read of the goroutine that waits.
	paceStays = 200_000
)

// bursts tells whether calls come slower than permitted and wait even so: then they come in bursts.
func (p *pace) bursts() bool {
	return p != nil && float64(p.between) >= paceSlower*float64(p.every)
}

// reached tells whether calls come about as fast as permitted.
func (p *pace) reached() bool {
	return p != nil && !p.bursts() && float64(p.every) < paceSlower*float64(p.between)
}

// doubt is why a limiter that makes units wait may be meant to.
func (p *pace) doubt(limiter string) string {
	text := stack.Short(limiter) + " makes it wait, going by its name to keep a rate"
	if p.reached() {
		return text + ": calls come about as fast as it permits, and the rate may be the intended limit"
	}
	return text + ": then the rate is the intended limit"
}

// tellLimiter says what a limiter does that makes units wait, and tells whether one does: then the pause is not one
// between tries, nor that of a poll.
func tellLimiter(w *waiting, in *Input, t *traced, f *Finding) bool {
	limiter, own := w.limiter(t)
	if limiter == "" {
		return false
	}
	w.pace = paceOf(w, in, t, limiter)
	if w.pace.bursts() && (w.share() > limiterIdle || limiterShared(in.code)) {
		w.pace = nil // others may have taken what it permits, or it was changed
	}
	made := limiterMade(in.code, limiter)
	spent := limiterBurst(w, in, t, limiter)
	switch name := stack.Short(limiter); {
	case w.pace.bursts():
		f.Summary += fmt.Sprintf("; %s lets a call through every %s where calls follow each other (%s per second), but on average one comes in %s (%s per second): they come in bursts, and the limiter's burst makes them wait, not its rate",
			name, unit.Duration(w.pace.every), paceSecond(w.pace.every), unit.Duration(w.pace.between), paceSecond(w.pace.between))
		f.Advice = "Give the limiter a larger burst" + atMade(made) + ", as many calls as come at once, as far as the peer's own limit permits that: the rate can stay as it is. Otherwise spread the calls, or make fewer (one that asks for more at once)."
		f.Evidence = append(f.Evidence, made...)
	case spent.hasBurst():
		w.spent = true
		spent.tell(limiter, made, f)
	case own:
		f.Advice = limiterAdvice
		f.Summary += fmt.Sprintf("; %s limits the rate of the program's own calls, going by its name", name)
	case w.pace.reached():
		f.Summary += fmt.Sprintf("; %s lets a call through every %s, and on average one comes in %s: its limit is reached", name, unit.Duration(w.pace.every), unit.Duration(w.pace.between))
		f.Advice = "The limit is reached: make fewer calls (one that asks for more at once, a cache), or set a higher limit" + atMade(made) + ", if the peer permits that. A larger burst would only delay when it is reached."
		f.Evidence = append(f.Evidence, made...)
	default:
		f.Advice = "A limiter makes it wait. " + limiterChoice
	}
	return true
}

// limiterIdle is the share of a unit's time in waits for a limiter from which on hardly anything lies between its calls.
const limiterIdle = 0.8

// takesTokens are methods with which a limiter is asked, and changed.
var takesTokens = lazily(`^(Wait|WaitN|Allow|AllowN|Reserve|ReserveN|Take|Acquire)$`)

// limiterShared tells of the sources that limiters are asked at several lines, or changed while they work: what one line takes
// says little of what is permitted then.
func limiterShared(c *code) bool {
	asked, changed := 0, false
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				sel, method := call.Fun.(*ast.SelectorExpr)
				switch {
				case !method:
				case takesTokens.MatchString(sel.Sel.Name) && len(call.Args) > 0:
					asked++
				case sel.Sel.Name == "SetLimit" || sel.Sel.Name == "SetBurst":
					changed = true
				}
			}
			return true
		})
	})
	return asked > 1 || changed
}

// limiterChoice is what to do about a limiter of which it is not known what comes.
const limiterChoice = "If fewer calls come on average than it permits, they come in bursts: give it a larger burst. If as many come, make fewer (one that asks for more at once), or set a higher limit. Both only as far as what it protects permits that."

// paceSecond is how many come in a second, one in each period.
func paceSecond(d time.Duration) string { return unit.Number(1 / max(d, 1).Seconds()) }

// atMade names the line where a limiter is made.
func atMade(made []Evidence) string {
	if len(made) != 1 {
		return ""
	}
	return fmt.Sprintf(" where it is made, at %s:%d", baseName(made[0].File), made[0].Line)
}

// paceOf asks the trace when the waits for a limiter ended. A limiter may serve several goroutines, so only a unit is
// looked at that is alone: main, or the only one of its kind; nil where that does not say it.
func paceOf(w *waiting, in *Input, t *traced, limiter string) *pace {
	g := w.group
	if g.Wall.Count != 1 || len(g.Slowest) == 0 || w.kind != "sleep" && w.kind != "timer" || w.count < paceWaits {
		return nil
	}
	trace, _, err := in.Session.Trace()
	if err != nil {
		return nil
	}
	one := g.Slowest[0]
	h, err := sched.FindGoroutine(trace, one.G, paceStays)
	if err != nil {
		return nil
	}
	var ends []time.Duration
	for i := range h.Stays {
		x := &h.Stays[i]
		if x.State == exectrace.Waiting && one.Span.Start <= x.Start && x.End <= one.Span.End &&
			slices.ContainsFunc(facts.Frames(h.Reader.Stacks(), x.Stack), func(f stack.Frame) bool { return f.Func == limiter }) {
			ends = append(ends, time.Duration(x.End))
		}
	}
	calls := callsLimited(w, t)
	return paceBetween(limiter, ends, max(calls, int64(len(ends))), calls == 0, one.Span.Len())
}

// paceBetween is the pace of a limiter by when waits for it ended, and how many calls came in all: from one end to the
// next at least its interval passes, so that the usual one is no less. What never waits is in no trace:
// where no calls are known, those that came without a wait are not either.
func paceBetween(limiter string, ends []time.Duration, calls int64, unknown bool, wall time.Duration) *pace {
	if len(ends) < paceWaits || unknown {
		return nil
	}
	gaps := make([]time.Duration, 0, len(ends))
	for i := range ends[1:] {
		gaps = append(gaps, ends[i+1]-ends[i])
	}
	slices.Sort(gaps)
	every := gaps[len(gaps)/2]
	near := 0
	for _, d := range gaps {
		if 4*(d-every).Abs() <= every {
			near++
		}
	}
	if 2*near < len(gaps) || every <= 0 {
		return nil
	}
	return &pace{limiter: limiter, every: every, between: wall / time.Duration(calls)}
}

// callsLimited is how many calls go out of the program from the function that waits for a limiter, or from the next one
// around it that makes any.
func callsLimited(w *waiting, t *traced) (n int64) {
	scope := t.Scope
	for _, f := range t.Frames(w.site.Stack) {
		if !scope.IsUser(f) {
			continue
		}
		for _, o := range outwards(w.group) {
			if slices.ContainsFunc(o.path, func(p stack.Frame) bool { return sameFunction(p, f) }) {
				n += o.calls
			}
		}
		if n > 0 {
			return n
		}
	}
	return 0
}

// limiterMade are the lines of the source that make limiters of the kind: calls of New, or of New and the name of the
// type, of its package.
func limiterMade(c *code, limiter string) (made []Evidence) {
	pkg := stack.Package(limiter)
	_, method, ok := strings.Cut(strings.TrimPrefix(limiter, pkg), "(*")
	if !ok {
		return nil
	}
	name, _, _ := strings.Cut(method, ")")
	c.eachSource(func(file string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			called := types.ExprString(call.Fun)
			if own := lastName(called); (own == "New" || own == "New"+name) && madeIn(s, called, pkg) {
				line, _ := s.lines(call)
				made = append(made, c.shownAt(file, line, "the limiter is made here"))
			}
			return true
		})
	})
	return made[:min(2, len(made))]
}

// madeIn tells whether a function is called by the name that a package has in a file.
func madeIn(s *syntax, called, pkg string) bool {
	of, _, qualified := strings.Cut(called, ".")
	if !qualified {
		return s.file.Name.Name == lastPart(pkg)
	}
	return slices.ContainsFunc(s.file.Imports, func(i *ast.ImportSpec) bool {
		if strings.Trim(i.Path.Value, "\"") != pkg {
			return false
		}
		return i.Name == nil && of == lastPart(pkg) || i.Name != nil && i.Name.Name == of
	})
}
