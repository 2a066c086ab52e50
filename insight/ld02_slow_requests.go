package insight

import (
	"fmt"
	"math"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/unit"
)

var ld02 = &Rule{
	ID: "LD02", Title: "The slowest requests coincide with garbage collection",
	About: "Requests and collections are placed on one clock. If the slowest requests overlapped a collection far more often than all requests did, and than " +
		"they would have at any other time, the collector makes them slow. Requests depend on each other, so chance is judged by shifting all of them along the time axis.",
	Asks: []facts.Question{facts.Requests},
	Params: []Param{
		{"requests", 100, "requests", "research: in the tail, the slowest 1 % or otherwise the slowest 10 %"},
		{"p", 0.01, "probability", "research: for the shift test and Fisher's exact test"},
		{"lift", 1.5, "times", "chosen: the share of the slowest that overlapped one, relative to that of all"},
		{"beyond", 0.10, "share", "chosen: how far it exceeds chance"},
		{"floor", 1e-3, "s", "research: less is nothing to worry about"},
		{"slow", 1.5, "times the median", "chosen: for a warning, the fastest of the slowest; what is nearly as fast as the rest is no reason to act"},
	},
	Check: checkSlowRequests,
}

// ofCollector are the rows of the collector, in the order in which they are
// named as the cause: the whole before its parts.
var ofCollector = []string{"gc_mark", "assist", "stw"}

func checkSlowRequests(r *Rule, in *Input) []Finding {
	var found, rest []Finding
	for _, s := range in.Slow() {
		if f := slowFinding(r, in, &s); f.State == Found {
			found = append(found, f)
		} else {
			rest = append(rest, f)
		}
	}
	switch {
	case len(found) > 0:
		best := found[0] // by the trace, which is exact, if that has one
		for _, f := range found {
			if f.Evidence[0].Path != best.Evidence[0].Path && f.Score > best.Score {
				best = f
			}
		}
		return []Finding{best}
	case len(rest) == 0:
		return []Finding{r.answer(TooLittle, "it is not known when collections ran while requests were sent: record a trace under load (-phases trace), or start the program with loupe run")}
	}
	for _, f := range rest {
		if f.State == Fine {
			return []Finding{f}
		}
	}
	return rest[:1]
}

// slowFinding judges one phase.
func slowFinding(r *Rule, in *Input, s *compare.Slow) Finding {
	if s.Table == nil {
		return r.short("phase %s: %s", s.Phase, s.Why)
	}
	tail := 0
	if float64(s.Tails[0].Requests) < r.param("requests") {
		tail = 1
	}
	t := s.Tails[tail]
	if float64(t.Requests) < r.param("requests") {
		return r.short("phase %s: %d requests are the slowest 10%%; %g are needed", s.Phase, t.Requests, r.param("requests"))
	}
	name := fmt.Sprintf("the slowest %s of %s requests (%s or more)", unit.Percent(t.Share), unit.Count(int64(s.Requests)), unit.Duration(t.From))
	doubt, seen, blind := "", "", ""
	for _, key := range ofCollector {
		row := s.Row(key)
		switch {
		case row == nil:
			continue
		case row.Doubt != "":
			if doubt == "" {
				doubt = row.Name + ": " + row.Doubt
			}
			continue
		}
		m := &row.Slow[tail]
		if 1-*m.Chance < r.param("beyond") || row.All*r.param("lift") > 1 {
			// Where nearly every request meets one anyway, the slowest cannot
			// stand out, whatever makes them slow.
			if blind == "" {
				blind = fmt.Sprintf("%s was running for %s of the time, and %s of all requests overlapped one, so a higher share among the slowest could not be seen; LD02 needs a lower rate, or fewer collections",
					withArticle(row.Name), unit.Percent(row.Busy), unit.Percent(row.All))
			}
			continue
		}
		if *m.P > r.param("p") || *m.Fisher > r.param("p") || m.Lift < r.param("lift") || m.Share-*m.Chance < r.param("beyond") || t.From.Seconds() < r.param("floor") {
			if seen == "" {
				seen = fmt.Sprintf("%s of %s overlapped %s, %s of all did; by chance it would be %s (p = %.2g)",
					unit.Percent(m.Share), name, withArticle(row.Name), unit.Percent(row.All), unit.Percent(*m.Chance), *m.P)
			}
			continue
		}
		return metFinding(r, in, s, key, tail, name)
	}
	switch {
	case blind != "":
		return r.answer(TooLittle, "phase %s: %s", s.Phase, blind)
	case seen != "":
		return r.answer(Fine, "%s", seen)
	case doubt != "":
		return r.answer(TooLittle, "phase %s: %s", s.Phase, doubt)
	}
	return r.answer(Fine, "none of %s requests in phase %s overlapped a collection", unit.Count(int64(s.Requests)), s.Phase)
}

// withArticle is a name of what the runtime does as it stands in a sentence: some have their article.
func withArticle(name string) string {
	switch {
	case strings.HasPrefix(name, "a "), strings.HasPrefix(name, "an "), strings.HasPrefix(name, "the "):
		return name
	case name == "stop the world":
		return "a stop of the world"
	case name != "" && strings.ContainsRune("aeiou", rune(name[0])):
		return "an " + name
	}
	return "a " + name
}

// metFinding is the finding of the row of a key.
func metFinding(r *Rule, in *Input, s *compare.Slow, key string, tail int, name string) Finding {
	row := s.Row(key)
	m, t := &row.Slow[tail], s.Tails[tail]
	f := r.answer(Found, "%s of %s overlapped %s; %s of all requests did, and %s would by chance (p = %.2g); the median is %s with it and %s without",
		unit.Percent(m.Share), name, withArticle(row.Name), unit.Percent(row.All), unit.Percent(*m.Chance), *m.P, unit.Duration(row.With), unit.Duration(row.Without))
	share := stats.Wilson(math.Round(m.Share*float64(t.Requests)), float64(t.Requests), compare.Confidence)
	f.Impact = &Impact{m.Share, "share of the slowest requests that overlapped it", share.Low, share.High}
	f.Severity, f.Score = Info, score(m.Share-*m.Chance, 0.2, 0.7)
	if m.Share >= 0.5 && t.From >= 10*time.Millisecond && float64(t.From) >= r.param("slow")*float64(row.Without) {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{{
		Text: fmt.Sprintf("%s was running for %s of the time, %s times; clocks: %s, ±%s", withArticle(row.Name), unit.Percent(row.Busy), unit.Count(int64(row.Intervals)), s.Clock, unit.Duration(s.Error)),
		Path: s.Path, Phase: s.Phase, Span: span(s.Axis.Span(s.Window)),
	}}
	for _, w := range row.Worst {
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("a request took %s and overlapped it", unit.Duration(w.Len())), Path: s.Path, Phase: s.Phase, Span: span(s.Axis.Span(w)), About: "request"})
	}
	f.Advice = "Make collections fewer or shorter: GC03, GC04 and GC05 say what they cost, and the allocs profile shows where the garbage comes from."
	f.Verify = "Record again at the same rate: the slowest 1% should overlap it no more than by chance, and become faster."
	f.Doubts = in.doubts()
	if n := in.Facts.NoiseOf(s.Phase); f.Severity == Warning && takenByOthers(n) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, inUse(in, n)+": a collection goes on for as long as its threads wait for a CPU, and the requests beside it wait as well")
	}
	if !s.Due {
		f.Doubts = append(f.Doubts, "in a closed loop a stalled service receives fewer requests: at a fixed rate more of them would have overlapped it")
	}
	if row.Key == "gc_mark" && row.Busy > 0.3 {
		f.Doubts = append(f.Doubts, "collections run much of the time: they cost more in CPU than in latency (GC03)")
	}
	return f
}

// takenByOthers tells of a machine that other programs had most of, with no CPU to spare: what runs on several threads at once, as the collector does, takes a
// multiple of its time there.
func takenByOthers(n *facts.Noise) bool { return n.Full() && n.Competing >= halfOfCPUs }

// halfOfCPUs is the share of all CPUs from which on the others have most of a machine; chosen.
const halfOfCPUs = 0.5
