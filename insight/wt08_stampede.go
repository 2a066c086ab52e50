package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var wt08 = &Rule{
	ID: "WT08", Title: "Cache stampede: concurrent requests repeat work that one could do for all",
	About: "Most requests find a cached answer; when it has expired, or is not there yet, every request that arrives until it is available again fetches it separately (cache stampede, thundering " +
		"herd, dogpile). While the first request is fetching, nearly all new ones make the same call; afterwards hardly any do.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"share", 0.05, "share of the time", "chosen: of all requests that may do it; their wait for it, excluding the first of each burst"},
		{"warning", 0.1, "share of the time", "chosen: one wait in ten is wasted, and the peer gets all of them at once"},
		{"bursts", 2, "bursts", "chosen: one may be the start, or chance"},
		{"together", 4, "requests in a burst", "chosen: on average; as many may come at once by chance"},
		{"joined", 3, "requests", "chosen: those that begin while the first one of a burst is making the call, at least 0.6 of which make it too"},
		{"times", 4, "times the share at other times", "chosen: if each did it by chance, as many would at any time"},
		{"rate", 2, "times the rate at other times", "chosen: with 0.6 of them making the call, a burst of more than twice the rate may consist of other requests than usual"},
		{"most", 0.6, "share of those that do it", "chosen: most of them are in such bursts"},
		{"slots", 0.5, "share of the time of the slots", "chosen: of a pool that requests queue for, these calls hold most of it"},
		unitsParam,
		groupParam,
	},
	Part:  true,
	Check: checkStampedes,
}

// rush is one with what is derived of it.
type rush struct {
	*facts.UnitStampede
	group facts.UnitGroup
	wall  time.Duration // of all that may make the call
	span  time.Duration // of the trace
	queue *narrow       // for slots of which these calls hold a part; nil without one
	held  float64       // that part
}

// fills finds the queue of the units of the group for slots of which the calls of the bursts hold most: who is inside
// meanwhile is mostly at the line of the call, and most of the time there is that of these calls.
func (s *rush) fills(r *Rule, u *facts.Units, t *traced) {
	inside := time.Duration(0)
	for _, g := range u.Groups {
		for i := range g.All.Rows {
			row := &g.All.Rows[i]
			if k := row.Kind.Key(); row.Site.Frame == s.Path[0] && row.Queued == 0 && k != "running" && k != "runnable" && k != "pool" {
				inside += row.Time
			}
		}
	}
	s.held = min(1, float64(s.Time)/float64(max(1, inside)))
	if s.held < r.param("slots") {
		return
	}
	for _, q := range queuesOf(u, t, s.group) {
		if q.gate.Workers && q.gate.Kind.Key() != "pool" || !s.behind(t, q) || q.share() < leastBesides {
			continue
		}
		there := time.Duration(0)
		for _, row := range q.rows {
			if row.Cause.Site.Frame == s.Path[0] {
				there += row.Queued
			}
		}
		if float64(there) >= halfOfAll*float64(q.queued) {
			s.queue = q
			return
		}
	}
}

// behind tells whether the call is made by the function that waits at a queue, or by one that has called that.
func (s *rush) behind(t *traced, q *narrow) bool {
	users := 0
	for _, f := range t.Frames(q.gate.Site.Stack) {
		if !t.Scope.IsUser(f) {
			continue
		}
		if slices.ContainsFunc(s.Path, func(x stack.Frame) bool { return x.Func == f.Func }) {
			return true
		}
		if users++; users == 2 {
			break
		}
	}
	return false
}

// felt is the part of the time of the units that goes with the bursts: their own wait, and their part of the queue
// for the slots that they hold.
func (s *rush) felt() float64 {
	if s.queue == nil {
		return s.share()
	}
	return min(1, s.share()+s.held*s.queue.share())
}

// inside is the part of the units that make the call, of those that begin while the first
// one of a burst is at it; outside that of those that begin at other times.
func (s *rush) inside() float64 { return float64(s.Joined) / float64(max(1, s.Meanwhile)) }
func (s *rush) outside() float64 { // who begins meanwhile may come to the call in a later burst, and is not among those that join
	return min(1, float64(s.Made-s.Joined)/float64(max(1, s.All-s.Meanwhile)))
}

// rate is how many times as many units a second begin while a first one is at it.
func (s *rush) rate() float64 {
	within := float64(s.Meanwhile) / max(1, float64(s.Busy))
	return within * max(0, float64(s.span-s.Busy)) / float64(max(1, s.All-s.Meanwhile))
}

// share is what the units wait for what another one does already.
func (s *rush) share() float64 { return float64(s.Extra) / float64(max(1, s.wall)) }

func (s *rush) is(r *Rule, t *traced) bool {
	return float64(s.Bursts) >= r.param("bursts") && float64(s.Members) >= r.param("together")*float64(s.Bursts) && float64(s.Members) >= r.param("most")*float64(s.Made) &&
		float64(s.Joined) >= r.param("joined") && s.inside() >= r.param("times")*s.outside() && s.rate() <= r.param("rate") && s.felt() >= r.param("share") && !s.unseen(t)
}

// unseen tells whether other units may have made the call without a wait: they touch
// connections in the same function.
func (s *rush) unseen(*traced) bool {
	if s.Sure {
		return false
	}
	for i := range s.group.All.Rows {
		row := &s.group.All.Rows[i]
		if row.Site.Frame.Func == s.Path[0].Func && row.Kind.Key() == "socket_call" && 5*row.Units > 6*s.Made {
			return true
		}
	}
	return false
}

func checkStampede(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	if name := g.Unit.String(); name != "request" && name != "task" {
		return nil, "only requests and tasks are examined, of which several run at once"
	}
	units := in.Facts.Units()
	wall := g.Wall.Sum
	for _, o := range units.Groups {
		if o != g && o.Unit == g.Unit && o.Name == "" {
			wall += o.Wall.Sum
		}
	}
	fine = unitOf(g) + " makes no call that others make at the same time and that most do without"
	for i := range g.Stampedes {
		s := &rush{UnitStampede: &g.Stampedes[i], group: g, wall: wall, span: units.Span.Len()}
		s.fills(r, units, t)
		if at, own := s.underOwnLock(in.code); own {
			fine = fmt.Sprintf("%s of %s make the call%s under a lock that is held%s: those that make it at once hold different locks", unit.Count(s.Made), unit.Plural(s.All, g.Unit.String()), atFrame(s.Path[0]), atFrame(at))
			continue
		}
		if s.is(r, t) {
			return []Finding{rushFinding(r, in, t, s)}, ""
		}
		if i == 0 {
			fine = fmt.Sprintf("%s of %s make the call%s; of those that begin while another is making it %s do, at other times %s", unit.Count(s.Made), unit.Plural(s.All, g.Unit.String()), atFrame(s.Path[0]), unit.Percent(s.inside()), unit.Percent(s.outside()))
		}
	}
	return nil, fine
}

// underOwnLock finds a line on the way to the call that is under a lock which only one may have, whichever way the function takes to it: those
// that make the call at the same time have different ones.
func (s *rush) underOwnLock(c *code) (at stack.Frame, own bool) {
	if s.Most < 2 {
		return at, false
	}
	for _, f := range s.Path {
		for _, h := range c.heldIn(f) {
			if h.has(f.Line) && !strings.HasSuffix(h.lock, ".RLock") && h.from < f.Line && blockCovers(c.parse(f.File), h.from, f.Line) {
				return f, true
			}
		}
	}
	return at, false
}

// blockCovers tells whether a line is in the innermost block of statements around another one: where that is in a branch of its own, who comes to
// the line need not have come through it.
func blockCovers(s *syntax, from, line int) bool {
	covers := true
	s.onLine(from, func(n ast.Node, _ []ast.Node) {
		switch n.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			covers = s.covers(n, line)
		}
	})
	return covers
}

func rushFinding(r *Rule, in *Input, t *traced, s *rush) Finding {
	g := s.group
	at := s.Path[0]
	for _, f := range s.Path[1:] { // what the handler itself calls is as much done by those that find the answer
		if f.Func != g.Name {
			at = f
		}
	}
	text := fmt.Sprintf("%s of %s make the same call%s", unit.Count(s.Made), unit.Plural(s.All, g.Unit.String()), atFrame(s.Path[0]))
	if at != s.Path[0] {
		text += fmt.Sprintf(", called%s", atFrame(at))
	}
	text += fmt.Sprintf(", most of them at once: in %s, %s each on average; while the first one is making it, %s of the others that begin do the same, at other times %s; they wait %s of the total time for what another request is already fetching",
		unit.Plural(s.Bursts, "burst"), unit.Number(float64(s.Members)/float64(s.Bursts)), unit.Percent(s.inside()), unit.Percent(s.outside()), unit.Percent(s.share()))
	if q := s.queue; q != nil {
		text += fmt.Sprintf("; these calls hold %s of the time of the slots that requests queue for%s, %s of their time: the bursts fill them", unit.Percent(s.held), q.place(), unit.Percent(q.share()))
	}
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(float64(s.Members-s.Bursts)/float64(s.Made), "share of these calls")
	f.Score = score(s.felt(), r.param("share"), 0.5)
	f.Severity, f.felt = Warning, s.felt()
	if s.felt() < r.param("warning") {
		f.Severity = Info
	}
	f.Evidence = []Evidence{t.seenAt(t.Frames(s.Stack), at, "%s made by %s of %s, up to %s at once", unit.Plural(s.Made, "call"), unit.Count(s.Made), unit.Plural(s.All, g.Unit.String()), unit.Count(s.Most))}
	if at != s.Path[0] {
		f.Evidence = append(f.Evidence, t.seenAt(t.Frames(s.Stack), s.Path[0], "this is what each of them waits for, %s on average", unit.Duration(s.Time/time.Duration(max(1, s.Members)))))
	}
	f.Advice = "Let one request do it, and the others wait for the first one's answer (golang.org/x/sync/singleflight, by key). Or refresh the answer in the background before it expires, and serve the stale one meanwhile; if many expire at the same moment, spread their expiry times."
	f.Verify = "Record again under the same load: loupe trace requests should show one call here instead of a burst, and the 99th percentile should fall."
	f.Doubts = in.traceDoubts(t, "the trace does not show whether all of them ask for the same thing: if each asks for something else that expired at the same time, one call for all may do")
	tellShared(in.code, s.Path, &f)
	if i := slices.Index(s.Path, at); i > 0 {
		fn, caller := in.code.function(s.Path[i-1]), in.code.function(at)
		if fn != nil && caller != nil && doesOnly(fn) && !renewsAsked(in.code, declaration{fn, s.Path[i-1].File}, caller) {
			f.Severity = Info
			f.Doubts = append(f.Doubts, fmt.Sprintf("%s returns nothing that could be shared: if each call is made for what it does, such as a record or a payment, each is needed", stack.Short(s.Path[i-1].Func)))
		}
	}
	f.costs = []cost{{file: at.File, line: at.Line}} // what it saves is waiting: the CPU time is no measure of it
	for i := range g.All.Rows {
		if row := &g.All.Rows[i]; row.Site.Frame == s.Path[0] && row.Kind.Key() != "running" {
			f.waits = append(f.waits, row)
		}
	}
	if s.queue != nil {
		f.waits = append(f.waits, s.queue.rows...)
		f.Evidence = append(f.Evidence, seenIn(in, t, g, s.queue.gate.Site, "here they and others queue meanwhile"))
		f.Advice += " A larger pool only lets more of the same calls in at once."
		f.fills = true
	}
	return f
}
