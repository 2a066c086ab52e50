package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"time"

	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// What the source sets of how connections are kept, in the literals that make the requests: a limit that is large enough is no reason for new
// connections, a time limit that is too short is one, and so may be a switch whose value the source does not show. The peer may be the reason otherwise.

// limitSet is a setting with its place.
type limitSet struct {
	x  ast.Expr
	at codeLine
}

// setLimits are those of the Transports that make the requests of a stack.
type setLimits struct {
	known   bool       // the Transports are literals of the program, or copies of known ones
	perHost []limitSet // MaxIdleConnsPerHost: in each of them
	total   []limitSet // MaxIdleConns
	off     []limitSet // DisableKeepAlives: not a constant
	idle    []limitSet // IdleConnTimeout

	keeps    int64         // idle connections to each host; 0 where that is not known
	inFlight float64       // requests that are under way at once, on average
	apart    time.Duration // between two requests, on average
}

// limitsOf looks at what makes the requests of a stack.
func limitsOf(c *code, frames []stack.Frame, user func(stack.Frame) bool) (l setLimits) {
	d := derivationsOf(c)
	at, client, _ := requestClient(d, frames, user)
	if client == nil {
		return l
	}
	w := newOriginTrail(d, clientPackagesOf(c.session))
	origins := w.all(at.decl, client)
	l.known = len(origins) > 0
	lacks := false
	for _, o := range origins {
		lit, ok := unrefer(o.at).(*ast.CompositeLit)
		if !ok || !o.plain || o.given != nil || !isTransport(lit) {
			l.known = false
			continue
		}
		has := len(l.perHost)
		for _, e := range lit.Elts {
			if kv, keyed := e.(*ast.KeyValueExpr); keyed {
				l.add(d, types.ExprString(kv.Key), kv.Value)
			}
		}
		lacks = lacks || len(l.perHost) == has
	}
	later := w.settings(origins)
	for _, s := range later {
		l.add(d, s.field, s.x)
	}
	if l.known && !(lacks && !slices.ContainsFunc(later, func(s transportSetting) bool { return s.field == "MaxIdleConnsPerHost" })) {
		l.keeps = l.least(c)
	}
	return l
}

// add notes a setting.
func (l *setLimits) add(d *derivations, field string, x ast.Expr) {
	s := limitSet{x, d.placeOf(x)}
	switch field {
	case "MaxIdleConnsPerHost":
		l.perHost = append(l.perHost, s)
	case "MaxIdleConns":
		l.total = append(l.total, s)
	case "IdleConnTimeout":
		l.idle = append(l.idle, s)
	case "DisableKeepAlives":
		if !isNamed(x, "true") && !isNamed(x, "false") {
			l.off = append(l.off, s)
		}
	}
}

// least is the least number of idle connections that the settings keep to a host; 0 where one of them is not known.
func (l *setLimits) least(c *code) (least int64) {
	for _, s := range l.perHost {
		n, known := connSources{c}.constant(s.at.file, s.x, maxHolders)
		if !known || n <= 0 {
			return 0
		}
		if least == 0 || n < least {
			least = n
		}
	}
	for _, s := range l.total {
		n, known := connSources{c}.constant(s.at.file, s.x, maxHolders)
		if !known {
			return 0
		}
		if n > 0 {
			least = min(least, n)
		}
	}
	return least
}

// compare takes from the trace how many requests are under way at once, and how far they are apart.
func (l *setLimits) compare(t *traced, answers int64) {
	wait := time.Duration(0)
	for _, b := range t.Blocks {
		if b.Reason == exectrace.NameSelect && t.through(b.Stack, roundTrip) {
			wait += b.Wait.Sum
		}
	}
	l.inFlight = wait.Seconds() / max(t.Length().Seconds(), 1e-9)
	l.apart = t.Length() / time.Duration(max(1, answers))
}

// enoughFor is how many times the mean of what is under way at once a limit has to be to be no reason; chosen.
const enoughFor = 4

// enough tells whether the limits of idle connections are no reason for new ones.
func (l *setLimits) enough() bool { return float64(l.keeps) >= enoughFor*max(1, l.inFlight) }

// without are other settings than limits that are large enough.
func (l *setLimits) without(all []connSetting) []connSetting {
	if !l.enough() {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(x connSetting) bool {
		return !x.sure && strings.HasPrefix(x.does, "keeps at most") && slices.ContainsFunc(l.total, func(s limitSet) bool { return s.at.file == x.at.File && s.at.line == x.at.Line })
	})
}

// raisesLimit is the part of an advice that is about the limit of idle connections.
var raisesLimit = lazily(`(; and |, and |;? ?)[sS]et (its|the) Transport's MaxIdleConnsPerHost .*?to at least the number of concurrent requests to one host\.?`)

// nearlyEach is how many connections for each answer say that hardly any is used again; chosen.
const nearlyEach = 0.9

// peerCloses is what to look at where the program has no reason to open connections.
const peerCloses = "look at the headers of the peer's answers, as curl -v shows them: with Connection: close, or over HTTP/1.0, the peer closes each connection itself. Its idle timeout, or a proxy between, may do so too."

// tell adds what the settings say, where nothing else in the source closes connections; share is how many connections there are for each answer.
func (l *setLimits) tell(f *Finding, c *code, share float64) {
	if strings.HasPrefix(f.Advice, "By the source, the Transport comes from") || strings.Contains(f.Advice, "turns keep-alive off") || strings.Contains(f.Advice, "keeps no idle connection") {
		return
	}
	read := strings.Contains(strings.ToLower(f.Advice), "by the source, the body is read")
	if l.keeps > 0 {
		f.Advice = strings.ReplaceAll(f.Advice, perHostDefault, fmt.Sprintf("(%s at %s)", types.ExprString(l.perHost[0].x), l.perHost[0].at.text()))
	}
	switch {
	case l.enough():
		f.Advice = strings.TrimSpace(raisesLimit.ReplaceAllString(f.Advice, ""))
		if f.Advice != "" && !strings.HasSuffix(f.Advice, ".") {
			f.Advice += "."
		}
		f.Advice += fmt.Sprintf(" The source sets MaxIdleConnsPerHost to %s (%s), and %s under way at once on average: that limit is no reason for new connections. ", unit.Count(l.keeps), l.perHost[0].at.text(), l.underWay())
		if read {
			f.Advice = strings.TrimSpace(f.Advice) + " So " + peerCloses
		} else {
			f.Advice = strings.TrimSpace(f.Advice) + " If the bodies are read to their end, " + peerCloses
		}
	case share >= nearlyEach && read:
		f.Advice += l.elsewhere(c) + peerCloses
	}
	if s, d, ok := l.shortIdle(); ok {
		f.Evidence = slices.Insert(f.Evidence, 0, s.shown("the source sets IdleConnTimeout here: %s", unit.Duration(d)))
		f.Advice = fmt.Sprintf("The source closes a connection that was idle for %s (IdleConnTimeout at %s), and the requests are %s apart on average: set it to much more than the pauses between them (90 * time.Second is usual)%s. Otherwise: ",
			unit.Duration(d), s.at.text(), unit.Duration(l.apart), s.unitless()) + lowered(f.Advice)
	}
	if len(l.off) > 0 {
		s := l.off[0]
		f.Evidence = slices.Insert(f.Evidence, 0, s.shown("the source sets DisableKeepAlives here"))
		f.Advice = fmt.Sprintf("Look first at DisableKeepAlives, which the source sets to %s (%s): if %s, each request opens a connection of its own, whatever becomes of the bodies. If that is not on purpose (to spread calls over the hosts behind one name), change it. Otherwise: ",
			types.ExprString(s.x), s.at.text(), whenTrue(s.x)) + lowered(f.Advice)
	}
}

// underWay says how many requests there are at once.
func (l *setLimits) underWay() string {
	switch {
	case l.inFlight < 1:
		return "less than one request was"
	case l.inFlight < 10:
		return fmt.Sprintf("%.1f requests were", l.inFlight)
	}
	return unit.Count(int64(l.inFlight)) + " requests were"
}

// elsewhere begins the advice to look at the peer where the limits are not known: with what some line sets.
func (l *setLimits) elsewhere(c *code) string {
	switch {
	case l.keeps > 0:
		return " Nearly each answer cost a connection: if that is large enough already, "
	case l.known && len(l.perHost) == 0:
		return " Nearly each answer cost a connection: if that does not help, "
	}
	all := connSources{c}.fieldSettings(func(name string, value ast.Expr) (connSetting, bool) {
		n, known := numberOf(value)
		return connSetting{does: types.ExprString(value)}, name == "MaxIdleConnsPerHost" && (!known || n > 0)
	})
	if len(all) == 0 {
		return " Nearly each answer cost a connection: if the limits are large enough, "
	}
	return fmt.Sprintf(" Nearly each answer cost a connection. The source sets MaxIdleConnsPerHost to %s at %s: if that is in use here, and large enough, ", all[0].does, fileLine(all[0].at.File, all[0].at.Line))
}

// shown is the evidence of a setting.
func (s limitSet) shown(text string, args ...any) Evidence {
	return Evidence{Text: fmt.Sprintf(text, args...), File: s.at.file, Line: s.at.line}
}

// lowered is a sentence that goes on after a colon.
func lowered(text string) string { return strings.ToLower(text[:1]) + text[1:] }

// whenTrue says when a condition is true.
func whenTrue(x ast.Expr) string {
	if u, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && u.Op == token.NOT {
		return types.ExprString(u.X) + " is false"
	}
	if _, ok := ast.Unparen(x).(*ast.BinaryExpr); ok {
		return "that is true"
	}
	return types.ExprString(x) + " is true"
}

// leastIdle is a time limit for idle connections that is too short for any use; chosen.
const leastIdle = time.Millisecond

// shortIdle is a time limit that closes most connections before they are used again: it is below a millisecond, or shorter than requests are apart.
func (l *setLimits) shortIdle() (s limitSet, d time.Duration, ok bool) {
	for _, s := range l.idle {
		if d, known := nanosOf(s.x); known && d > 0 && (d < leastIdle || d < l.apart) {
			return s, d, true
		}
	}
	return s, 0, false
}

// unitless says of a number without a unit what it is.
func (s limitSet) unitless() string {
	if lit, ok := ast.Unparen(s.x).(*ast.BasicLit); ok {
		return "; " + lit.Value + " without a unit is in nanoseconds"
	}
	return ""
}

// nanosOf is the constant duration that an expression writes, with or without a unit.
func nanosOf(x ast.Expr) (time.Duration, bool) {
	if n, known := numberOf(x); known {
		return time.Duration(n), true
	}
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok && len(call.Args) == 1 && types.ExprString(call.Fun) == "time.Duration" {
		return nanosOf(call.Args[0])
	}
	d := durationOf(x)
	return d, d > 0
}
