package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Pauses between tries of a call that fails again: errors that stay, such as a name that is not found, cost the pauses
// of all tries each time.

// vain are such tries, as the trace shows them.
type vain struct {
	pause, call stack.Frame // in one loop of the source
	stack       stack.ID    // of the call
	pauses      int64
	failed      int64 // of the tries after a pause, at least
}

// Chosen: see [vainTries].
const (
	vainLeast = 20  // pauses; fewer are a momentary effect
	vainMost  = 0.5 // of the tries after a pause fail again
	vainOpen  = 1 << 16
)

// vainTries finds out whether what units wait for are pauses of tries that mostly fail again. The pause and the call are in
// one loop of the source, which tries again; what follows a pause is seen in the trace: the next pause with no answer in between, or with
// one, means that the try between them has failed.
func vainTries(w *waiting, in *Input, t *traced) *vain {
	at := w.site
	switch reason := w.reason(); {
	case w.ofAnother(reason):
		at = w.causes[0].Cause.Site
	case w.kind != "sleep" && w.kind != "timer":
		return nil
	}
	frames := t.Frames(at.Stack)
	if limiter, _ := limits(frames); limiter != "" {
		return nil
	}
	for _, f := range frames {
		if !t.Scope.IsUser(f) {
			continue
		}
		loops := loopsAround(in.code, f)
		if len(loops) == 0 {
			continue
		}
		l := loops[len(loops)-1]
		if !vainLoop(l) {
			return nil
		}
		v := vainIn(in, t, f, l)
		if v == nil || l.items(v.call.Line) {
			return nil
		}
		if _, polls := awaits(in.code, []stack.Frame{v.call}); polls {
			return nil
		}
		return v
	}
	return nil
}

// vainNames are names of what counts tries, or says that there is to be one more.
var vainNames = lazily(`(?i:attempt|retr(y|ies)|^tr(y|ies)$)`)

// vainLoop tells whether a loop tries something again because it has failed: it ends where there is no error, or what ends it
// counts tries.
func vainLoop(l loop) bool {
	counts := func(x ast.Node) bool {
		return x != nil && hasNode(x, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			return ok && vainNames.MatchString(id.Name)
		})
	}
	if n, ok := l.stmt.(*ast.RangeStmt); ok && (n.Key != nil && counts(n.Key) || counts(n.X)) {
		return true
	}
	return slices.ContainsFunc(l.exits(), func(x exit) bool {
		return x.worked() || x.cond != nil && counts(x.cond)
	})
}

// vainStay is what a stay of a goroutine in a state is in such a loop.
type vainStay int

const (
	vainElse   vainStay = iota // within a call, without a meaning of its own
	vainPause                  // the pause
	vainDials                  // makes, or waits for, a connection
	vainAsks                   // waits for an answer
	vainBeyond                 // outside of the loop
)

// vainDialers are the functions that make connections, vainRests those that read the rest of an answer.
var (
	vainDialers = []string{"net/http.(*Transport).getConn", "net.(*Dialer).", "net.Dial", "net.(*Resolver).", "net.(*sysDialer).", "crypto/tls.(*Dialer).", "crypto/tls.Dial"}
	vainRests   = []string{"net/http.(*bodyEOFSignal).", "net/http.(*http2transportResponseBody)", "net/http.http2transportResponseBody", "net/http.(*http2clientStream).writeRequest"}
)

// vainKind tells what stays at a stack are, and the line of the call in the loop.
func vainKind(frames []stack.Frame, pause stack.Frame, first, last int) (kind vainStay, call stack.Frame) {
	i := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.Func == pause.Func })
	if i < 0 || frames[i].Line < first || frames[i].Line > last {
		return vainBeyond, call
	}
	has := func(names []string) bool {
		return slices.ContainsFunc(frames[:i], func(f stack.Frame) bool {
			return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(f.Func, n) })
		})
	}
	switch {
	case frames[i].Line == pause.Line:
		return vainPause, call
	case has(vainDialers):
		return vainDials, frames[i]
	case has(vainRests):
		return vainElse, call
	}
	return vainAsks, frames[i]
}

// vainRow is what one goroutine has done since its last pause.
type vainRow struct {
	paused      bool
	dials, asks int
	dialsAfter  bool // an answer
}

// fails tells whether the one try between two pauses has failed.
func (x *vainRow) fails() bool {
	return x.paused && (x.asks == 0 && x.dials > 0 || x.asks == 1 && !x.dialsAfter)
}

// vainIn reads the trace for what follows the pauses at a line of a loop; nil where the tries do not mostly fail.
func vainIn(in *Input, t *traced, pause stack.Frame, l loop) *vain {
	trace, _, err := in.Session.Trace()
	if err != nil {
		return nil
	}
	first, last := l.source.lines(l.stmt)
	kinds, at := map[stack.ID]vainStay{}, map[stack.ID]stack.Frame{}
	rows, calls := map[exectrace.GoID]*vainRow{}, map[stack.ID]int64{}
	v := &vain{pause: pause}
	_, err = sched.Analyze(trace, sched.AnalyzeOptions{Each: func(r *exectrace.Reader, i *sched.Interval) {
		if i.State != exectrace.Waiting && i.State != exectrace.Syscall || i.Stack == 0 {
			return
		}
		kind, known := kinds[i.Stack]
		if !known {
			kind, at[i.Stack] = vainKind(facts.Frames(r.Stacks(), i.Stack), pause, first, last)
			kinds[i.Stack] = kind
		}
		x := rows[i.G]
		if kind == vainBeyond {
			if x != nil {
				delete(rows, i.G)
			}
			return
		}
		if x == nil {
			if len(rows) >= vainOpen {
				return
			}
			x = &vainRow{}
			rows[i.G] = x
		}
		switch {
		case kind == vainPause:
			if v.pauses++; x.fails() {
				v.failed++
			}
			*x = vainRow{paused: true}
		case kind == vainDials:
			x.dials++
			x.dialsAfter = x.asks > 0
			calls[i.Stack]++
		case kind == vainAsks && i.State == exectrace.Waiting:
			x.asks++
			calls[i.Stack]++
		}
	}})
	if err != nil || v.pauses < vainLeast || float64(v.failed) < vainMost*float64(v.pauses) {
		return nil
	}
	for id, n := range calls {
		if v.stack == 0 || n > calls[v.stack] || n == calls[v.stack] && id < v.stack {
			v.stack, v.call = id, at[id]
		}
	}
	return v
}

// tell says it in a finding.
func (v *vain) tell(w *waiting, t *traced, f *Finding) {
	f.Title = "Retries that fail again: the pauses between them take the time"
	f.Summary += fmt.Sprintf("; these are pauses between tries of the call at %s, and of %s after a pause at least %s failed again", place(v.call), unit.Plural(v.pauses, "try"), unit.Percent(float64(v.failed)/float64(v.pauses)))
	f.Evidence = append(f.Evidence, t.seenAt(t.Frames(v.stack), v.call, "tried again after each pause"))
	f.Advice = fmt.Sprintf("Tell errors that stay from those that pass, and return the former at once, without the pause at %s: a name that is not found (*net.DNSError with IsNotFound), a certificate that is not trusted (x509.UnknownAuthorityError, x509.HostnameError), the statuses 4xx other than 408 and 429, a bad argument. "+
		"What may pass (a timeout, syscall.ECONNREFUSED of a peer that is starting, 429, 503) needs fewer tries, and all of them one deadline. Where the same is asked for again, keep also that it failed.", fileLine(v.pause.File, v.pause.Line))
	if w.ofAnother(w.reason()) {
		f.Advice += " And while one item pauses, its goroutine can take the next one: put it back to be tried later (time.AfterFunc, a queue ordered by time)."
	}
	f.Verify = "Record again with the same input: the pauses should be few, and loupe trace requests should show less time here."
	f.Doubts = append(f.Doubts, "the trace does not say why the calls fail: if whoever is called was down only while this was recorded, the tries are what they are meant for")
}
