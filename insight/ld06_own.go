package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Connections of a program that makes calls without being called: a tool, or a service of which no
// load was recorded.

// ownConnections judges them by counts, however short the recording is.
func ownConnections(r *Rule, in *Input) []Finding {
	t := in.trace()
	if t.Err != nil {
		return []Finding{r.answer(TooLittle, "%v", t.Err)}
	}
	f, traced := outgoing(r, in)
	switch {
	case !traced:
		return []Finding{r.short("the trace covers %s", unit.Duration(t.Length()))}
	case f.State == Fine && f.Summary == noCalls:
		if own := ownDials(r, in, t); len(own) > 0 {
			return own
		}
		return []Finding{r.answer(NotApplicable, "the recording has no load (record with -load URL), and %s", noCalls)}
	case f.State != Found:
		return []Finding{f}
	}
	tls := handshakes(r, in)
	costly := tls.found && tls.client || mostOpen(leftOpenBodies(t), openedIn(t))
	tls.foldInto(&f, true)
	if opened := openedFiles(in); opened != "" {
		f.Summary += "; " + opened
	}
	if !costly && f.Severity == Warning {
		f.Severity = Info // a connection within one machine costs little
	}
	f.Doubts = append(f.Doubts, "calls to as many hosts have a connection each: then there is nothing to use again")
	f.Verify = "Record again: the program should open a few connections and keep them."
	return []Finding{f}
}

// noCalls is what is said of a program without calls.
const noCalls = "the program made no HTTP requests"

// fewFiles is how many more open files are no chance; chosen, as for the requests of a load.
const fewFiles = 100

// openedFiles says by how much the open files of the traced process rose; empty where they rose
// little, or were closed before it ended.
func openedFiles(in *Input) string {
	samples, err := in.Session.OS()
	if err != nil {
		return ""
	}
	phase, ok := in.Session.Manifest().PhaseNamed(in.trace().Entry.Phase)
	first, last, most := int64(0), int64(0), int64(0)
	for _, x := range samples {
		if !ok || x.FDs <= 0 || x.At < phase.Span.Start || x.At >= phase.Span.End {
			continue
		}
		if last = int64(x.FDs); first == 0 {
			first = last
		}
		most = max(most, last)
	}
	if last-first < fewFiles || last < most {
		return ""
	}
	return fmt.Sprintf("its open files rose from %s to %s", unit.Count(first), unit.Count(last))
}

// openedIn is how many connections of net/http the program opened in the trace, as a client.
func openedIn(t *traced) (n int64) {
	for _, g := range t.Groups {
		if t.Reader.Name(g.Name) == readLoop {
			n += g.Created
		}
	}
	return n
}

// mostOpen tells whether most of the connections have an answer whose body was left open.
func mostOpen(unread, opened int64) bool { return unread > 0 && 2*unread >= opened }

// leftOpenBodies is how many connections of net/http the end of the trace finds with an answer whose
// body is neither read to its end nor closed: the goroutine that reads the connection is in a select
// then, and on the network otherwise. Those whose body somebody is reading are left out.
func leftOpenBodies(t *traced) (n int64) {
	for i := range t.Left {
		l := &t.Left[i]
		switch {
		case t.Reader.Name(l.Name) == readLoop && l.State == exectrace.Waiting && l.Reason == exectrace.NameSelect:
			n += l.Created
		case l.State == exectrace.Waiting && t.through(l.Stack, "net/http.(*bodyEOFSignal).Read"):
			n -= l.Count
		}
	}
	return max(0, n)
}

// bodyAdvice is what to do about bodies that are not closed, of the answers that a line waits for.
func bodyAdvice(c *code, at stack.Frame) string {
	advice := fmt.Sprintf("Close the body of each answer of the call at %s:%d on every path, right after the check of its error (defer resp.Body.Close()), and read it to its end first ("+drainBody+"): then the next call uses the connection again; "+endlessBody+".", baseName(at.File), at.Line)
	if line := closeLine(c, at); line > 0 {
		advice += fmt.Sprintf(" The function closes it at line %d, which these calls had not reached: look at the condition around it, and at the ways out before it.", line)
	} else {
		advice += " If the answer is handed on, that is a duty of whoever gets it."
	}
	return advice
}

// closeLine is the line at which the function of a frame closes the body of an answer; 0 without one.
func closeLine(c *code, at stack.Frame) (line int) {
	fn, s := c.function(at), c.parse(at.File)
	if fn == nil {
		return 0
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && line == 0 && strings.HasSuffix(types.ExprString(call.Fun), ".Body.Close") {
			line, _ = s.lines(call)
		}
		return line == 0
	})
	return line
}

// tellStarter puts first, of goroutines that wait in code of others, the line of the program that
// led to them, and says what to do there.
func (p *stuck) tellStarter(in *Input) {
	p.Advice = "They wait in " + stack.Package(p.at.Func) + ", which is not your code: end what starts them there. A connection, a response body, a client, a pool, a ticker or a server must be closed, stopped or shut down."
	i := slices.IndexFunc(p.Evidence, func(e Evidence) bool { return e.File == p.from.File && e.Line == p.from.Line })
	if p.from.File == "" || i < 0 {
		return
	}
	first := p.Evidence[i]
	p.Evidence = slices.Insert(slices.Delete(p.Evidence, i, i+1), 0, first)
	if p.at.Func != readLoop && p.at.Func != writeLoop {
		p.Advice = fmt.Sprintf("They wait in %s, and originate from what %s:%d starts: end it there. A connection, a response body, a client, a pool, a ticker or a server must be closed, stopped or shut down, and the cancel function of a context called.", stack.Package(p.at.Func), baseName(p.from.File), p.from.Line)
		p.tellCancel(in)
		return
	}
	if t := in.trace(); t.Err == nil && float64(2*leftOpenBodies(t)) >= p.count {
		p.Summary += "; each connection of net/http has two such goroutines, and those wait for the body of an answer to be read or closed"
		p.Advice = bodyAdvice(in.code, p.from)
	}
}
