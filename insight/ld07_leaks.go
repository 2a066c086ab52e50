package insight

import (
	"fmt"
	"math"
	"slices"

	"loupe/exectrace"
	"loupe/loadlog"
	"loupe/metrics"
	"loupe/recording"
	"loupe/stats"
	"loupe/timeline"
	"loupe/unit"
)

var ld07 = &Rule{
	ID: "LD07", Title: "Open files or connections become more and more",
	About: "An answer of another service whose body is never closed keeps its connection, two goroutines and a file descriptor. Under load they become more until the limit of open files is reached " +
		"and nothing can be opened any more.",
	Needs: []recording.Kind{recording.Load},
	Params: []Param{
		{"files", 50, "file descriptors", "chosen: more at the end of a bare phase than at a quarter of it, the connections of the load left out"},
		{"growth", 0.2, "share", "chosen: and by so much of what was there"},
		{"samples", 8, "samples", "chosen: below this no trend can be shown"},
		{"p", 0.01, "probability", "chosen: of the trend (Mann and Kendall)"},
		{"goroutines", 100, "goroutines", "chosen: of connections that were opened in the trace and are there when it ends"},
		{"quarter", 0.10, "share of them", "chosen: that came in each quarter of the trace"},
	},
	Check: onLoads(checkLeaks),
}

func checkLeaks(r *Rule, in *Input, all []loadRound) []Finding {
	files, ok := r.files(in, all)
	if ok && files.State == Found {
		return []Finding{files}
	}
	if f, ok := r.readLoops(in); ok {
		return []Finding{f}
	}
	if ok {
		return []Finding{files}
	}
	return []Finding{r.short("fewer than %g samples of the open files lie in the last three quarters of a bare phase: let it last longer, or sample more often (-interval)", r.param("samples"))}
}

// files looks at the number of open files in the bare phases, from the first
// quarter on: connections are opened in the beginning.
func (r *Rule) files(in *Input, all []loadRound) (best Finding, ok bool) {
	samples, err := in.Session.OS()
	if err != nil {
		return Finding{}, false
	}
	for i := range all {
		l := &all[i]
		from := l.start.Add(l.log.Elapsed / 4)
		part := within(samples, timeline.Span{Start: from, End: l.start.Add(l.log.Elapsed)})
		part = slices.DeleteFunc(slices.Clone(part), func(s metrics.OSSample) bool { return s.FDs == 0 })
		if float64(len(part)) < r.param("samples") {
			continue
		}
		open := make([]float64, len(part))
		for k, s := range part {
			open[k] = float64(s.FDs - openAt(l.log, timeline.Time(s.At.Sub(l.start))))
		}
		first, last := open[0], open[len(open)-1]
		_, p := stats.MannKendall(open)
		if last-first < r.param("files") || last-first < r.param("growth")*math.Max(first, 1) || p > r.param("p") {
			if !ok {
				best, ok = r.answer(Fine, "open files went from %.0f to %.0f in phase %s", first, last, l.Phase.Name), true
			}
			continue
		}
		length := part[len(part)-1].At.Sub(part[0].At)
		f := r.answer(Found, "open files went from %.0f to %.0f within %s of load, %s a minute", first, last, unit.Duration(length), unit.Number((last-first)/length.Minutes()))
		f.Severity, f.Score = Warning, score((last-first)/math.Max(first, 1), 0.5, 5)
		f.Impact = exactly((last-first)/length.Seconds(), "open files more every second")
		f.Evidence = []Evidence{{Text: fmt.Sprintf("%d samples; the trend has p = %.2g", len(part), p), Path: in.Session.Manifest().Of(recording.OS)[0].Path, Phase: l.Phase.Name, Span: span(timeline.Span{Start: part[0].At, End: part[len(part)-1].At})}}
		if n := in.waitingReadLoops(); n > 0 {
			f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s goroutines wait in %s: connections to other services", unit.Count(n), readLoop), Path: in.Session.Manifest().Of(recording.Goroutine)[0].Path})
		}
		f.Advice = "Close what is opened: defer resp.Body.Close() after each answer of another service, rows.Close(), file.Close(). The goroutine profile says how many connections there are (readLoop)."
		f.Verify = "Record under load for as long: the number of open files should stay the same."
		f.Doubts = []string{"a program that opens more connections as more is asked of it looks the same until it has all that it needs"}
		return f, true
	}
	return best, ok
}

// openAt is how many connections of the load were open at an instant.
func openAt(l *loadlog.Log, t timeline.Time) (n int) {
	for i := range l.Connections {
		if c := &l.Connections[i]; c.Opened <= t && t < c.Closed {
			n++
		}
	}
	return n
}

// waitingReadLoops is how many goroutines of the profile belong to connections
// that the program opened.
func (in *Input) waitingReadLoops() (n int64) {
	p, _, err := in.Session.Profile(recording.Goroutine)
	if err != nil {
		return 0
	}
	for id, count := range p.Samples(0) {
		for _, f := range p.Stacks.Frames(id) {
			if p.Stacks.Frame(f).Func == readLoop {
				n += count
				break
			}
		}
	}
	return n
}

// readLoops looks for connections that were opened while the program was traced
// and are never given back.
func (r *Rule) readLoops(in *Input) (Finding, bool) {
	t := in.trace()
	if t.err != nil || t.length() < minTrace {
		return Finding{}, false
	}
	for i := range t.Left {
		l := &t.Left[i]
		if t.Reader.Name(l.Name) != readLoop || l.State != exectrace.Waiting ||
			float64(l.Created) < r.param("goroutines") || float64(slices.Min(l.Quarters[:])) < r.param("quarter")*float64(l.Count) {
			continue
		}
		f := r.answer(Found, "%s connections to others that were opened in the trace are there when it ends, %s of them all; none was used again or closed", unit.Count(l.Created), unit.Count(l.Count))
		f.Severity, f.Score = Warning, score(float64(l.Created), 100, 1000)
		f.Impact = exactly(t.rate(l.Created), "connections more every second")
		f.Evidence = []Evidence{t.seen(l.Stack, "%s; in the quarters of the trace came %v", t.Reader.Name(l.Reason), l.Quarters)}
		f.Advice = "Close the body of each answer, also where the status is an error, or where nobody reads it."
		f.Verify = "Record a trace under the same load: connections should be closed or used again."
		f.Doubts = in.traceDoubts(t)
		return f, true
	}
	return Finding{}, false
}
