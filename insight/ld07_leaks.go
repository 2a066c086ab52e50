package insight

import (
	"fmt"
	"math"
	"slices"

	"loupe/analysis/facts"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var ld07 = &Rule{
	ID: "LD07", Title: "Possible file descriptor leak: open files or connections keep increasing",
	About: "A response from another service whose body is never closed keeps its connection, two goroutines and a file descriptor. Under load their number grows until the limit of open files is " +
		"reached and nothing can be opened any more.",
	Asks: []facts.Question{facts.Requests, facts.Descriptors},
	Params: []Param{
		{"files", 50, "file descriptors", "chosen: more at the end of a bare phase than after a quarter of it, excluding the load's connections"},
		{"growth", 0.2, "share", "chosen: and by this share of the initial number"},
		{"samples", 8, "samples", "chosen: below this no trend can be shown"},
		{"p", 0.01, "probability", "chosen: of the trend (Mann and Kendall)"},
		{"goroutines", 100, "goroutines", "chosen: for connections opened during the trace and still open at its end"},
		{"quarter", 0.10, "share of them", "chosen: that came in each quarter of the trace"},
	},
	Check: onLoads(checkLeaks),
}

func checkLeaks(r *Rule, in *Input, all []loadRound) []Finding {
	files, ok := openFiles(r, in, all)
	if ok && files.State == Found {
		return []Finding{files}
	}
	if f, ok := readLoops(r, in); ok {
		return []Finding{f}
	}
	if ok {
		return []Finding{files}
	}
	return []Finding{r.short("fewer than %g samples of the open files lie in the last three quarters of a bare phase: let it last longer, or sample more often (-interval)", r.param("samples"))}
}

// openFiles looks at the number of open files in the bare phases.
func openFiles(r *Rule, in *Input, all []loadRound) (best Finding, ok bool) {
	for i := range all {
		l := &all[i]
		d := in.Facts.OpenFiles(&l.LoadRound)
		few := float64(len(d.Open)) < r.param("samples")
		if len(d.Open) < 2 || few && len(unclosedRows(in.code)) == 0 {
			continue
		}
		first, last := d.Open[0], d.Open[len(d.Open)-1]
		_, p := stats.MannKendall(d.Open)
		if last-first < r.param("files") || last-first < r.param("growth")*math.Max(first, 1) || p > r.param("p") && !few {
			if !ok && !few {
				best, ok = r.answer(Fine, "open files went from %.0f to %.0f in phase %s", first, last, l.Phase.Name), true
			}
			continue
		}
		f := r.answer(Found, "open files went from %.0f to %.0f within %s of load, %s a minute", first, last, unit.Duration(d.Length), unit.Number((last-first)/d.Length.Minutes()))
		f.Severity, f.Score = Warning, score((last-first)/math.Max(first, 1), 0.5, 5)
		f.Impact = exactly((last-first)/d.Length.Seconds(), "open files more every second")
		f.Evidence = []Evidence{{Text: fmt.Sprintf("%d samples; the trend has p = %.2g", len(d.Open), p), Path: d.Entry.Path, Phase: l.Phase.Name, Span: span(d.Time)}}
		if n, path := waitingReadLoops(in); n > 0 {
			f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s waiting in %s: connections to other services", unit.Plural(n, "goroutine"), readLoop), Path: path})
		}
		if few { // the source shows why
			f.Evidence[0].Text = fmt.Sprintf("%d samples", len(d.Open))
		}
		f.Advice = "Close what is opened: defer resp.Body.Close() after each response from another service, rows.Close(), file.Close(). The goroutine profile says how many connections to HTTP services there are (readLoop)."
		tellUnclosed(in, &f)
		f.Verify = "Record under load for as long: the number of open files should stay the same."
		f.Doubts = []string{"a program that opens more connections under rising load looks the same until it has all it needs"}
		return f, true
	}
	return best, ok
}

// waitingReadLoops is how many goroutines in one look belong to connections that the
// program opened, and which file has them.
func waitingReadLoops(in *Input) (n int64, path string) {
	looks, _ := in.Facts.WaitsOf(recording.Goroutine)
	for _, w := range looks {
		path = w.Entry.Path
		for _, x := range w.All {
			if slices.ContainsFunc(x.Frames, func(f stack.Frame) bool { return f.Func == readLoop }) {
				n += x.Count
			}
		}
	}
	return n, path
}

// readLoops looks for connections that were opened while the program was traced
// and are never given back.
func readLoops(r *Rule, in *Input) (Finding, bool) {
	t := in.trace()
	if t.Err != nil || t.Length() < facts.MinTrace {
		return Finding{}, false
	}
	for i := range t.Left {
		l := &t.Left[i]
		if t.Reader.Name(l.Name) != readLoop || l.State != exectrace.Waiting ||
			float64(l.Created) < r.param("goroutines") || float64(slices.Min(l.Quarters[:])) < r.param("quarter")*float64(l.Count) {
			continue
		}
		if level := levelUnderLoad(in, t, true, t.Rate(l.Created)); level != "" {
			return r.answer(Fine, "%s connections to other services that were opened during the trace were still open at its end, but %s: they close later", unit.Count(l.Created), level), true
		}
		f := r.answer(Found, "%s connections to other services that were opened during the trace were still open at its end, %s of them all; none was reused or closed", unit.Count(l.Created), unit.Count(l.Count))
		f.Severity, f.Score = Warning, score(float64(l.Created), 100, 1000)
		f.Impact = exactly(t.Rate(l.Created), "connections more every second")
		f.Evidence = []Evidence{t.seen(l.Stack, "%s; in the quarters of the trace came %v", t.Reader.Name(l.Reason), l.Quarters)}
		f.Advice = "Close the body of each response, even if the status is an error or nobody reads it."
		if l.Reason == exectrace.NameNetwork { // nobody holds a body of theirs: that would be a wait for its reader
			f.Advice = "They are idle, or wait for an answer: it is no body that keeps them open. Use one client and one Transport for all requests, so that they are used again; close those of a Transport that is not used any more (CloseIdleConnections), or let them end (IdleConnTimeout)."
		}
		f.Verify = "Record a trace under the same load: connections should be closed or reused."
		f.Doubts = in.traceDoubts(t)
		return f, true
	}
	return Finding{}, false
}
