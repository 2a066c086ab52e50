package insight

import (
	"fmt"
	"time"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

var wt10 = &Rule{
	ID: "WT10", Title: "Slow peer: some connections answer much more slowly than others",
	About: "One line calls several peers, or several instances of one, and some of them are much slower: most of the waiting is for these. The trace does not show who is at the other end, but " +
		"a connection has one peer for its whole life, and each has a net/http goroutine that reads from it.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"times", 3, "times as long", "chosen: answers of the slow connections on average; peers that differ by less are alike"},
		{"apart", 1.5, "times the average of the others", "chosen: the quickest answer of each slow connection takes this long; otherwise it is slow only now and then"},
		{"answers", 5, "answers", "chosen: over each connection, or it does not count"},
		{"waiting", 0.5, "share of the waiting", "chosen: the slow ones account for most of it"},
		{"share", 0.1, "share of the time of requests or tasks", "chosen: less is not worth looking at a peer"},
		{"warning", 0.3, "share of the time", "chosen: requests then take two thirds of the time"},
		{"least", 500e-6, "s", "chosen: how much longer an answer takes; less is scheduler overhead"},
	},
	Check: onTrace(checkSlowPeer),
}

// slowPeer is a line whose connections fall into slow and quick ones.
type slowPeer struct {
	*facts.UnitPeers
	slow, quick   int           // connections
	answers, rest int64         // over the slow ones, over the quick ones
	late, soon    time.Duration // that was waited for these
	group         facts.UnitGroup
	share         float64 // of the group's time
	rows          []*facts.UnitRow
}

// mean is how long an answer takes over the slow ones, others over the quick ones.
func (p *slowPeer) mean() time.Duration   { return p.late / time.Duration(max(1, p.answers)) }
func (p *slowPeer) others() time.Duration { return p.soon / time.Duration(max(1, p.rest)) }

// splitPeers divides the connections of a line where the averages of two neighbours are
// furthest apart; false where they are alike, or are too few.
func splitPeers(r *Rule, of *facts.UnitPeers) (p slowPeer, ok bool) {
	p.UnitPeers = of
	var enough []int // the slowest first
	for i, c := range of.Connections {
		if float64(c.Count) >= r.param("answers") {
			enough = append(enough, i)
		}
	}
	widest := 0.0
	for n := 1; n < len(enough); n++ {
		if gap := float64(of.Connections[enough[n-1]].Mean()) / float64(max(1, of.Connections[enough[n]].Mean())); gap > widest {
			widest, p.slow = gap, n
		}
	}
	p.quick = len(enough) - p.slow
	for n, i := range enough {
		c := &of.Connections[i]
		if n < p.slow {
			p.answers, p.late = p.answers+c.Count, p.late+c.Time
		} else {
			p.rest, p.soon = p.rest+c.Count, p.soon+c.Time
		}
	}
	for _, i := range enough[:p.slow] {
		if float64(of.Connections[i].Least) < r.param("apart")*float64(p.others()) {
			return p, false
		}
	}
	ok = p.slow > 0 && p.quick > 0 && float64(p.mean()) >= r.param("times")*float64(p.others()) && (p.mean()-p.others()).Seconds() >= r.param("least") &&
		float64(p.late) >= r.param("waiting")*float64(p.late+p.soon)
	return p, ok
}

// within finds the group of units that waits longest at the line, by itself or for
// goroutines that do.
func (p *slowPeer) within(units *facts.Units) {
	for _, g := range units.Judged {
		sum := time.Duration(0)
		var rows []*facts.UnitRow
		for i := range g.All.Rows {
			row := &g.All.Rows[i]
			itself, for1 := row.Site.Frame == p.Path[0] && row.Kind.Key() == "network", row.Cause.Site.Frame == p.Path[0] && row.Cause.Kind.Key() == "network"
			if itself || for1 {
				sum += row.Time
				rows = append(rows, row)
			}
		}
		part := float64(p.late) / float64(max(1, p.late+p.soon))
		if s := g.All.Share(sum) * part; s > p.share {
			p.group, p.share, p.rows = g, s, rows
		}
	}
}

func checkSlowPeer(r *Rule, in *Input, t *traced) (found []Finding) {
	units := in.Facts.Units()
	if units.Err != nil {
		return []Finding{r.answer(TooLittle, "%v", units.Err)}
	}
	fine := "no line got answers over several connections of net/http"
	for i := range units.Peers {
		p, ok := splitPeers(r, &units.Peers[i])
		if p.slow > 0 && i == 0 {
			fine = fmt.Sprintf("answers%s take %s over %s, %s over %s", atFrame(p.Path[0]), unit.Duration(p.mean()), unit.Plural(int64(p.slow), "connection"), unit.Duration(p.others()), unit.Plural(int64(p.quick), "other"))
		}
		if !ok {
			continue
		}
		if p.within(units); p.share >= r.param("share") {
			found = append(found, slowPeerFinding(r, in, t, &p))
		}
	}
	if len(found) == 0 {
		return []Finding{r.answer(Fine, "%s", fine)}
	}
	return found[:1]
}

func slowPeerFinding(r *Rule, in *Input, t *traced, p *slowPeer) Finding {
	g := p.group
	f := r.answer(Found, "%s spends %s of its time waiting%s for answers that are slow over some connections: over %s of %d an answer takes %s on average, over the others %s; the slow ones account for %s of the answers and %s of the waiting",
		unitOf(g), unit.Percent(p.share), atFrame(p.Path[0]), unit.Count(int64(p.slow)), p.slow+p.quick, unit.Duration(p.mean()), unit.Duration(p.others()),
		unit.Percent(float64(p.answers)/float64(max(1, p.answers+p.rest))), unit.Percent(float64(p.late)/float64(max(1, p.late+p.soon))))
	f.Impact = exactly(ofAll(in, g, p.share), "share of the "+timeOfUnits(g))
	f.Score = score(p.share, r.param("share"), 0.8)
	f.Severity = Warning
	if p.share < r.param("warning") {
		f.Severity = Info
	}
	f.Evidence = []Evidence{t.seenAt(t.Frames(p.Stack), p.Path[0], "%s answers over the slow connections, none of them as quick as the others are on average", unit.Count(p.answers))}
	for _, c := range p.Connections[:min(2, p.slow)] {
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("one that is slow: %s answers, %s on average, the quickest %s", unit.Count(c.Count), unit.Duration(c.Mean()), unit.Duration(c.Least)), Path: t.Entry.Path, Phase: t.Entry.Phase}.ofGoroutine(c.G))
	}
	f.Advice = "Find out who is at the other end of the slow connections: log the peer's address with its response time (httptrace.GotConn), and look at that peer. Until it recovers, prefer the fast ones: balance by load instead of round-robin, give each call a deadline, ask a second peer when the first is late (hedging), and do not wait for the slowest if another answer will do."
	f.Verify = "Record again under the same load: answers over all connections of this line should take about equally long."
	f.Doubts = in.traceDoubts(t, "the line may call different services, one of which has more work to do: then the time is inherent")
	f.waits = p.rows
	return f
}
