package insight

import (
	"slices"
	"strings"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Connections over HTTP/2: one of them carries many requests at once, so neither bodies that are not read nor limits of idle connections make new ones.

var (
	// http2Loops are what reads a connection of a client, in package net/http and in the one that it comes from; a goroutine for each.
	http2Loops = []string{"net/http.(*http2ClientConn).readLoop", "net/http/internal/http2.(*ClientConn).readLoop", "golang.org/x/net/http2.(*ClientConn).readLoop"}
	// http2Waits are where one waits for an answer.
	http2Waits = []string{"net/http.(*http2ClientConn).roundTrip", "net/http/internal/http2.(*ClientConn).roundTrip", "golang.org/x/net/http2.(*ClientConn).roundTrip"}
)

// throughAny tells whether a stack leads through one of some functions.
func throughAny(t *traced, id stack.ID, some []string) bool {
	return slices.ContainsFunc(some, func(name string) bool { return t.through(id, name) })
}

// http2Answers are the answers that the readers of connections hand to those who wait at a block.
func http2Answers(t *traced, b *sched.Block) (n int64) {
	for _, w := range b.Wakers {
		if throughAny(t, w.Stack, http2Loops) {
			n += w.Count
		}
	}
	return n
}

// overHTTP2 looks at the connections over HTTP/2 that the program opened as a client while it was traced; it is false where it opened few.
func overHTTP2(r *Rule, in *Input) (f Finding, ok bool) {
	t := in.trace()
	opened, answers, most := int64(0), int64(0), int64(0)
	for _, g := range t.Groups {
		if slices.Contains(http2Loops, t.Reader.Name(g.Name)) {
			opened += g.Created
		}
	}
	var top *sched.Block
	for _, b := range t.Blocks {
		if b.Reason != exectrace.NameSelect || !throughAny(t, b.Stack, http2Waits) {
			continue
		}
		n := http2Answers(t, b)
		if answers += n; n > most {
			top, most = b, n
		}
	}
	share := float64(opened) / float64(max(1, answers))
	if top == nil || float64(answers) < r.param("requests") || share < r.param("opened") {
		return f, false
	}
	impact, during := "connections for each call", "in "+unit.Duration(t.Length())
	if len(in.Session.Manifest().Of(recording.Load)) > 0 {
		impact, during = "connections for each answer", "under the load"
	}
	f = r.answer(Found, "%s, the program opened %s connections over HTTP/2 to other services; it waited for %s", during, unit.Count(opened), unit.Plural(answers, "answer"))
	f.Severity, f.Score = Warning, score(share, 0.3, 1)
	f.Impact = exactly(share, impact)
	f.Evidence = []Evidence{t.seen(top.Stack, "here it waited for %s", unit.Plural(most, "answer"))}
	f.Advice = "Use one http.Client for all requests: over HTTP/2, one connection carries many of them at once. If there is only one, find out what closes its connections: a short IdleConnTimeout, CloseIdleConnections, or the peer (GOAWAY, or few streams for each connection). GODEBUG=http2debug=1 shows that."
	f.Verify = "Record a trace under the same load: the program should open a few connections and keep them."
	f.Doubts = in.traceDoubts(t)
	frames, user := t.Frames(top.Stack), in.Session.Scope().IsUser
	tellProbe(in, &f, frames)
	if f.Severity.AtLeast(Warning) {
		tellTransport(&f, in.code, frames, user)
		f.Advice = strings.Replace(f.Advice, setPerHost, "", 1)
	}
	tellOneClient(&f, in.code, frames, user)
	tellOpening(in, &f, cost{callee: httpDials}, cost{callee: "crypto/tls.(*Conn).clientHandshake"})
	return f, true
}
