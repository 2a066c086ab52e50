package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// audience tells whether somebody waited for the program's answers while it was
// recorded. Only then is a long wait inside it a loss by itself; a program that
// computes for itself loses nothing as long as its Ps are busy.
type audience int

// The audiences.
const (
	// unsure is where nothing tells of anybody, and nothing tells of nobody: a
	// rule about latency says no more than an [Info].
	unsure audience = iota
	// nobody is where the program worked by itself and came to its end.
	nobody
	// somebody is where requests came.
	somebody
)

// serverRoots are the functions that goroutines of servers begin with: one for
// each connection, stream or request. Names of closures go on behind them.
var serverRoots = []string{
	"net/http.(*conn).serve", "net/http.(*http2serverConn).", "net/http/internal/http2.(*serverConn).", "golang.org/x/net/http2.(*serverConn).",
	"google.golang.org/grpc.(*Server).", "net/rpc.(*service).call", "github.com/valyala/fasthttp.(*workerPool).", "github.com/quic-go/quic-go/http3.(*Server).",
}

// acceptors wait for somebody who connects.
var acceptors = []string{"internal/poll.(*FD).Accept", "net.(*netFD).accept"}

// public is who waited for the program's answers; why says what tells, as a clause.
type public struct {
	who audience
	why string
}

// findPublic looks for who waited: a load, requests in the trace, listeners in
// the trace or the goroutine profile, and how the program came to its end.
func findPublic(in *Input) public {
	m := in.Session.Manifest()
	if len(m.Of(recording.Load)) > 0 {
		return public{somebody, "a load was applied to it"}
	}
	t := traceIfAny(in)
	if t != nil {
		if n := t.served(); n > 0 {
			return public{somebody, fmt.Sprintf("it served %s", unit.Plural(n, "connection"))}
		}
	}
	ended := func(r recording.Run) bool { return r.Exit != "" && !r.Stopped }
	switch {
	case slices.ContainsFunc(m.Target.Runs, ended):
		return public{nobody, "the program ran on its own and exited"}
	case m.Target.Kind == "test":
		return public{nobody, "it is a test"}
	case len(m.Target.Runs) == 0 && (m.Target.Kind == "" || m.Target.Kind == "files"):
		return public{unsure, "it is unknown whether anybody waited for its answers"} // a file that stands alone
	}
	if t != nil && len(t.Tasks) > 0 {
		return public{somebody, "it marks tasks, and had not finished"}
	}
	if n := listeners(in, t); n > 0 && !(n == 1 && m.Target.Kind == "url") { // one is what the recording came through
		return public{somebody, "it listens on " + unit.Count(n) + " of its sockets"}
	}
	return public{unsure, "it is unknown whether anybody waited for its answers"}
}

// traceIfAny is the analysis of the execution trace, or nil.
func traceIfAny(in *Input) *traced {
	if len(in.Session.Manifest().Of(recording.ExecTrace)) == 0 {
		return nil
	}
	if t := in.trace(); t.Err == nil {
		return t
	}
	return nil
}

// served counts the connections that the program served in the trace: those
// that fetched the trace or a profile do not count.
func (t *traced) served() (n int64) {
	for _, g := range t.OwnGroups() {
		if startsWithAny(t.Reader.Name(g.Name), serverRoots) {
			n += g.Count
		}
	}
	if n > 2 {
		return n // more than who records
	}
	handles := func(b *sched.Block) bool {
		frames := t.Frames(b.Stack)
		return len(frames) > 0 && startsWithAny(frames[len(frames)-1].Func, serverRoots) &&
			slices.ContainsFunc(frames, t.Scope.IsUser) && !slices.ContainsFunc(frames, isDebug)
	}
	if len(t.OwnBlocks(handles)) == 0 {
		return 0
	}
	return n
}

// isDebug tells whether a frame is of what hands out profiles.
func isDebug(f stack.Frame) bool {
	return slices.Contains([]string{"net/http/pprof", "runtime/pprof", "runtime/trace"}, stack.Package(f.Func))
}

// listeners counts the goroutines that wait for connections.
func listeners(in *Input, t *traced) (n int64) {
	accepts := func(frames []stack.Frame) bool {
		return slices.ContainsFunc(frames, func(f stack.Frame) bool { return slices.Contains(acceptors, f.Func) })
	}
	if t != nil {
		n += int64(len(t.OwnBlocks(func(b *sched.Block) bool {
			return b.Reason == exectrace.NameNetwork && accepts(t.Frames(b.Stack))
		})))
		for i := range t.Left {
			if l := &t.Left[i]; t.Own(l.Name) && accepts(t.Frames(l.Stack)) {
				n = max(n, l.Count)
			}
		}
	}
	looks, _ := in.Facts.WaitsOf(recording.Goroutine)
	for _, w := range looks {
		seen := int64(0)
		for _, x := range w.All {
			if accepts(x.Frames) {
				seen += x.Count
			}
		}
		n = max(n, seen)
	}
	return n
}

// startsWithAny tells whether a name begins with one of several.
func startsWithAny(name string, with []string) bool {
	return slices.ContainsFunc(with, func(p string) bool { return strings.HasPrefix(name, p) })
}

// serves tells that somebody waited for answers while the program was recorded.
func (p public) serves() bool { return p.who == somebody }

// computes tells that the program worked by itself and came to its end: nobody
// waited for one of its goroutines in particular, so that it is no loss when
// some wait while all Ps are busy.
func (p public) computes() bool { return p.who == nobody }

// weigh judges a finding about latency by who waited: where nothing tells
// of anybody it is an [Info], and says so. A rule asks [public.computes] before.
func (p public) weigh(f *Finding) {
	if p.who != somebody {
		f.Severity = Info
		f.Doubts = append(f.Doubts, p.why+": if nobody waits for it, a wait inside the program costs nothing")
	}
}
