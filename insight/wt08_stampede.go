package insight

import (
	"fmt"
	"time"

	"loupe/analysis/facts"
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
		unitsParam,
		groupParam,
	},
	Part:  true,
	Check: onUnits(checkStampede),
}

// rush is one with what is derived of it.
type rush struct {
	*facts.UnitStampede
	group facts.UnitGroup
	wall  time.Duration // of all that may make the call
	span  time.Duration // of the trace
}

// inside is the part of the units that make the call, of those that begin while the first
// one of a burst is at it; outside that of those that begin at other times.
func (s *rush) inside() float64 { return float64(s.Joined) / float64(max(1, s.Meanwhile)) }
func (s *rush) outside() float64 {
	return float64(s.Made-s.Joined) / float64(max(1, s.All-s.Meanwhile))
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
		float64(s.Joined) >= r.param("joined") && s.inside() >= r.param("times")*s.outside() && s.rate() <= r.param("rate") && s.share() >= r.param("share") && !s.unseen(t)
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
		if s.is(r, t) {
			return []Finding{rushFinding(r, in, t, s)}, ""
		}
		if i == 0 {
			fine = fmt.Sprintf("%s of %s make the call%s; of those that begin while another is making it %s do, at other times %s", unit.Count(s.Made), unit.Plural(s.All, g.Unit.String()), atFrame(s.Path[0]), unit.Percent(s.inside()), unit.Percent(s.outside()))
		}
	}
	return nil, fine
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
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(float64(s.Members-s.Bursts)/float64(s.Made), "share of these calls")
	f.Score = score(s.share(), r.param("share"), 0.5)
	f.Severity, f.felt = Warning, s.share()
	if s.share() < r.param("warning") {
		f.Severity = Info
	}
	f.Evidence = []Evidence{t.seenAt(t.Frames(s.Stack), at, "%s made by %s of %s, up to %s at once", unit.Plural(s.Made, "call"), unit.Count(s.Made), unit.Plural(s.All, g.Unit.String()), unit.Count(s.Most))}
	if at != s.Path[0] {
		f.Evidence = append(f.Evidence, t.seenAt(t.Frames(s.Stack), s.Path[0], "this is what each of them waits for, %s on average", unit.Duration(s.Time/time.Duration(max(1, s.Members)))))
	}
	f.Advice = "Let one request do it, and the others wait for the first one's answer (golang.org/x/sync/singleflight, by key). Or refresh the answer in the background before it expires, and serve the stale one meanwhile; if many expire at the same moment, spread their expiry times."
	f.Verify = "Record again under the same load: loupe trace requests should show one call here instead of a burst, and the 99th percentile should fall."
	f.Doubts = in.traceDoubts(t, "the trace does not show whether all of them ask for the same thing: if each asks for something else that expired at the same time, one call for all may do")
	f.costs, f.saves = []cost{{file: at.File, line: at.Line}}, true
	for i := range g.All.Rows {
		if row := &g.All.Rows[i]; row.Site.Frame == s.Path[0] && row.Kind.Key() != "running" {
			f.waits = append(f.waits, row)
		}
	}
	return f
}
