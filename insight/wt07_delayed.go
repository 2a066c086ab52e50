package insight

import (
	"fmt"
	"time"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

var wt07 = &Rule{
	ID: "WT07", Title: "40 ms delays: Nagle's algorithm and delayed ACKs",
	About: "A message written in two pieces on a connection without TCP_NODELAY: the kernel holds back the second piece until the first one is acknowledged (Nagle's algorithm), and the peer's kernel " +
		"delays the acknowledgement (delayed ACK), by 40 ms on Linux. Many waits of exactly that length at a line whose other waits are much shorter are the sign.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"share", 0.2, "share of the time", "chosen: of waits of 38 to 46 ms"},
		{"waits", 10, "waits", "chosen: fewer may be chance"},
		{"part", 0.1, "share of the calls", "chosen: rarer ones do not matter to most requests"},
		{"other", 0.01, "s", "chosen: the line's other waits are shorter: then the peer does not need 40 ms"},
		{"pieces", 1.5, "writes before a wait", "chosen: then the separate writes are visible"},
		unitsParam,
		groupParam,
	},
	Part:  true,
	Check: onUnits(checkDelayed),
}

func checkDelayed(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	for i := range g.Calls {
		c := &g.Calls[i]
		pieces := float64(c.Pieces) >= r.param("pieces")*float64(c.Count)
		if float64(c.Delayed) < max(r.param("waits"), r.param("part")*float64(c.Count)) || g.All.Share(c.DelayedTime) < r.param("share") {
			continue
		}
		others, other := c.Count-c.Delayed, time.Duration(r.param("other")*1e9)
		sooner := c.Least < other
		if pieces || sooner && 4*others >= c.Delayed && (c.Time-c.DelayedTime)/time.Duration(max(1, others)) < other {
			return []Finding{delayedFinding(r, in, t, g, c, pieces, sooner)}, ""
		}
	}
	return nil, unitOf(g) + " does not wait about 40 ms for answers that otherwise come much sooner"
}

func delayedFinding(r *Rule, in *Input, t *traced, g facts.UnitGroup, c *facts.UnitCall, pieces, sooner bool) Finding {
	share, others := g.All.Share(c.DelayedTime), c.Count-c.Delayed
	text := fmt.Sprintf("%s waits 38 to 46 ms for %s of %s answers%s: %s of its time", unitOf(g), unit.Count(c.Delayed), unit.Count(c.Count), atFrame(c.Path[0]), unit.Percent(share))
	if others > 0 && c.Time-c.DelayedTime < 20*time.Millisecond*time.Duration(others) {
		text += fmt.Sprintf("; the others take %s", unit.Duration((c.Time-c.DelayedTime)/time.Duration(others)))
	}
	if pieces {
		text += fmt.Sprintf("; %s writes go before each", unit.Number(float64(c.Pieces)/float64(max(1, c.Count))))
	}
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Score = score(share, r.param("share"), 0.8)
	f.Severity = Info
	f.Doubts = in.traceDoubts(t)
	var nagle []Evidence
	if pieces {
		nagle = in.code.nagleIn()
	}
	switch {
	case pieces && sooner:
		f.Severity = Warning
	case len(nagle) > 0 && 2*c.Delayed >= c.Count:
		f.Severity = Warning
		f.Doubts = append(f.Doubts, "hardly any answer came much sooner: the source may enable Nagle's algorithm for other connections, and the peer may take 40 ms for each answer")
	case pieces:
		f.Doubts = append(f.Doubts, "hardly any answer came much sooner: the peer may take 40 ms for each answer")
	default:
		f.Doubts = append(f.Doubts, "this side was not seen writing a message in pieces: the peer may do so, or may take 40 ms for some requests")
	}
	f.Evidence = append([]Evidence{t.seenAt(t.Frames(c.Stack), c.Path[0], "%s waits of 38 to 46 ms, %s in total", unit.Count(c.Delayed), unit.Duration(c.DelayedTime))}, nagle...)
	f.Advice = "Write each message in one go (a bufio.Writer flushed once, net.Buffers), and leave TCP_NODELAY on, as Go does by default: no SetNoDelay(false). The same applies to the peer's answers."
	f.Verify = "Record again under the same load: no waits of about 40 ms should be left here."
	for i := range g.All.Rows {
		if row := &g.All.Rows[i]; row.Kind == c.Kind && row.Site.Frame == c.Path[0] {
			f.waits = append(f.waits, row)
		}
	}
	return f
}
