package insight

import (
	"fmt"
	"slices"
	"time"

	"loupe/format/loadlog"
	"loupe/value/stack"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// Connections of the load that the server closes, and why it does.

// hungUp is how the server ended the connections of a load.
type hungUp struct {
	all, byServer, opened int
	// known tells that the log has the connections.
	known bool
	dial  time.Duration // that opening one took, on average
	// idle is for how long the connections had nothing to do when the server closed them, by
	// the median.
	idle time.Duration
	// said is how many answers announced it; -1 where that is unknown.
	said int64
}

// hungUpIn looks at the connections of a log.
func hungUpIn(l *loadlog.Log) hungUp {
	h := hungUp{all: len(l.Connections), opened: dials(l), known: len(l.Connections) > 0, said: -1}
	if l.Closing != nil {
		h.said = *l.Closing
	}
	last, spent := map[uint32]timeline.Time{}, time.Duration(0)
	for q := range l.All() {
		spent += q.Dial
		last[q.Conn] = q.End()
	}
	h.dial = spent / time.Duration(max(1, h.opened))
	var idle []time.Duration
	for i := range l.Connections {
		if c := &l.Connections[i]; c.Why == loadlog.ByServer {
			h.byServer++
			if end, used := last[c.ID]; used {
				idle = append(idle, c.Closed.Sub(end))
			}
		}
	}
	if len(idle) > 0 {
		slices.Sort(idle)
		h.idle = idle[len(idle)/2]
	}
	return h
}

// closedByServer looks at the connections of the load.
func closedByServer(r *Rule, in *Input, all []loadRound) (Finding, bool) {
	for i := range all {
		l := &all[i]
		n, h := l.Log.Len(), hungUpIn(l.Log)
		share := float64(h.opened) / float64(max(1, n))
		if float64(n) < r.param("requests") || share < r.param("opened") || byRequest(all[i:i+1]) || h.known && float64(h.byServer) < r.param("opened")*float64(n) {
			continue
		}
		f := r.answer(Found, "the load opened %s connections for %s requests", unit.Count(int64(h.opened)), unit.Count(int64(n)))
		f.Severity, f.Score = Warning, score(share, 0.3, 1)
		f.Impact = exactly(share, "connections for each request")
		f.Advice = "Let the server keep connections alive: no \"Connection: close\" and no SetKeepAlivesEnabled(false), an IdleTimeout of a minute, and handlers that read the request body to its end."
		f.Verify = "Send again: the report's section on connections should show about as many as were requested."
		f.Doubts = in.doubts()
		took := fmt.Sprintf("; opening one took %s on average", unit.Duration(h.dial))
		if !h.known {
			f.Summary += took
			f.Severity = Info
			f.Evidence = []Evidence{l.seen("the log has no connections: only that requests waited for one")}
			f.Doubts = append(f.Doubts, "the log does not say who closed them: the generator may have been told to")
			return f, true
		}
		f.Evidence = []Evidence{l.seen(fmt.Sprintf("%d of %d connections were closed by the server", h.byServer, h.all))}
		if h.idle.Seconds() >= r.param("idle") && l.Log.Engine != "http2" { // there a closed connection is found when it is used again
			f.Summary += fmt.Sprintf(", because the server closes them when they are idle, half of them within %s of their last response", unit.Duration(h.idle)) + took
			tellIdle(&f, connSources{in.code}, h.idle)
			if l.Log.Engine == "net" {
				f.Doubts = append(f.Doubts, "that a connection was closed shows when it is used again: they may have been closed sooner")
			}
			return f, true
		}
		f.Summary += ", because the server closes them" + took
		tellClosed(&f, in, h)
		return f, true
	}
	return Finding{}, false
}

// tellClosed adds to a finding about connections that the server closes after its answers what
// is known about why.
func tellClosed(f *Finding, in *Input, h hungUp) {
	switch unread := unreadBodies(in); {
	case unread != nil:
		f.Summary += "; request bodies were left unread"
		f.Evidence = append(f.Evidence, *unread)
		f.Advice = "Read request bodies to their end even where a request is refused (io.Copy to io.Discard, with a limit), or let clients ask before they send one (Expect: 100-continue). net/http closes a connection on which a handler leaves more than 256 KiB of a body unread, or reaches the limit of http.MaxBytesReader."
		f.Doubts = append(f.Doubts, "to read a large body only to discard it may cost more than a new connection")
	case h.said < 0 || 2*h.said >= int64(h.byServer):
		tellClosings(f, connSources{in.code})
		if in.trace().Err != nil {
			f.Doubts = append(f.Doubts, "request bodies of more than 256 KiB that handlers leave unread have the same effect: an execution trace under load shows those")
		}
	default:
		f.Summary += "; its responses do not announce it (Connection: close)"
		f.Advice = "Look for what hangs up without announcing it: a handler that takes connections over (http.Hijacker) or panics after its response, a proxy in front, an IdleTimeout or ReadTimeout of almost nothing."
	}
}

// lingers is where net/http waits, for half a second, before it closes a connection on which the
// client is still sending a body that no handler has read.
const lingers = "net/http.(*conn).closeWriteAndWait"

// unreadBodies finds in a trace under load that about as many connections as the load opened
// were closed because of bodies that were not read; nil where that is not so.
func unreadBodies(in *Input) *Evidence {
	t := in.trace()
	if t.Err != nil {
		return nil
	}
	l, err := in.Session.Load(t.Entry.Phase)
	if l == nil || err != nil && l.Len() == 0 {
		return nil
	}
	var found *Evidence
	var most, sum int64
	for _, b := range t.Blocks {
		frames := t.Frames(b.Stack)
		i := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.Func == lingers })
		if i < 0 || !t.through(b.Stack, "time.Sleep") {
			continue
		}
		n := b.Wait.Count
		if sum += n; found == nil || n > most {
			e := t.seenAt(frames, frames[i], "net/http waits here before it closes a connection whose request body was not read")
			found, most = &e, n
		}
	}
	// Half a second is as long as half of a short trace: those that still wait at its end are
	// not in the count.
	if float64(sum) < 0.25*float64(hungUpIn(l).byServer) || sum == 0 {
		return nil
	}
	found.Text += fmt.Sprintf(": %s", unit.Plural(sum, "time"))
	return found
}
