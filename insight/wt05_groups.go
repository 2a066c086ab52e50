package insight

import (
	"fmt"
	"math"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// A goroutine that main has started may itself start others in batches, and wait for the whole of each before the next one: no wait of
// main is at that line, and main waits for what the batches give.

// batched are goroutines that one loop starts in batches.
type batched struct {
	place  *facts.Place // of the wait for a batch
	root   string       // the function of the goroutine that waits
	launch *launch
	entry  string // their own function
	ends   finishing
	each   float64 // goroutines in a batch, about: the last one may be smaller
	alive  float64 // of these, while it is waited for
}

// unused is the part of a batch that has ended, on average, while the rest is waited for.
func (b *batched) unused() float64 { return max(0, 1-b.alive/b.each) }

// batchesIn looks for goroutines that are started in batches by a loop of one that is neither main nor serves requests.
func batchesIn(r *Rule, in *Input, t *traced) (found []*batched) {
	all, _ := in.Facts.WaitsOf(recording.ExecTrace)
	if len(all) == 0 {
		return nil
	}
	for _, p := range all[0].Places(facts.ForGroup) {
		root := firstFunction(p.Frames)
		n := float64(max(1, p.Count))
		if waitsForAll(root) || stack.Package(root) == "net/http" || t.Share(p.Time) > oneWaiter || n < r.param("batches") || p.Time.Seconds() < n*r.param("each") {
			continue
		}
		ends, ok := barrierAt(in.code, p.At)
		if !ok {
			continue
		}
		l := startedBeside(in.code, t, p.At)
		if l == nil {
			continue
		}
		b := &batched{place: p, ends: ends, root: root, launch: l, entry: t.Reader.Name(l.name), each: float64(l.created) / n, alive: float64(l.total) / float64(max(1, p.Time))}
		if b.each >= r.param("goroutines") && b.waitsOutside(all[0]) {
			found = append(found, b)
		}
	}
	return found
}

// oneWaiter is how many may wait at a line on average so that it may be one goroutine that does, by the end of the trace.
const oneWaiter = 1.02

// firstFunction is the function that the goroutine of a stack began with.
func firstFunction(frames []stack.Frame) string {
	if len(frames) == 0 {
		return ""
	}
	return frames[len(frames)-1].Func
}

// startedBeside are the goroutines that the loop around a wait starts; nil where it starts none, or several kinds.
func startedBeside(c *code, t *traced, wait stack.Frame) (found *launch) {
	loops := loopsAround(c, wait)
	if len(loops) == 0 {
		return nil
	}
	l := loops[len(loops)-1]
	for _, x := range t.launches() {
		if x.site.File != wait.File || !l.source.covers(l.body, x.site.Line) {
			continue
		}
		if found != nil {
			return nil
		}
		found = x
	}
	return found
}

// waitsOutside tells of the goroutines that they mostly wait, and not for a P, a lock, or one that takes what they give: more of them at
// once would only wait longer for these.
func (b *batched) waitsOutside(w *facts.AllWaits) bool {
	inside := b.launch.exec + b.launch.queued
	for i := range w.All {
		if x := &w.All[i]; firstFunction(x.Frames) == b.entry && slices.Contains([]facts.Reason{facts.ForLock, facts.ForSend, facts.ForCond, facts.ForGroup}, x.For) {
			inside += x.Time
		}
	}
	return 2*inside < b.launch.total
}

// ofMain are the parts of the time of main in which it waits for these goroutines, or for the one that starts them.
func (b *batched) ofMain(in *Input, t *traced) (main facts.UnitGroup, rows []*facts.UnitRow, time time.Duration) {
	u := in.Facts.Units()
	if u.Err != nil {
		return nil, nil, 0
	}
	for _, g := range u.Judged {
		if g.Unit.String() != "main" {
			continue
		}
		for i := range g.All.Rows {
			row := &g.All.Rows[i]
			if by := firstFunction(t.Frames(row.Cause.Site.Stack)); row.Kind.Key() != "running" && row.Kind.Key() != "runnable" && (by == b.entry || by == b.root) {
				rows, time = append(rows, row), time+row.Time
			}
		}
		return g, rows, time
	}
	return nil, nil, 0
}

// checkBatches tells of batches that main, or nobody who is known, waits for.
func checkBatches(r *Rule, in *Input, t *traced) []Finding {
	for _, b := range batchesIn(r, in, t) {
		main, rows, waited := b.ofMain(in, t)
		share := t.Share(b.place.Time)
		if main != nil {
			share = main.All.Share(waited)
		}
		if share *= b.unused(); share < r.param("share") {
			continue
		}
		n := b.place.Count
		f := r.answer(Found, "a goroutine starts others in batches and waits%s for all of a batch before the next one: %s in each, of which %s run on average until the last one ends; %s of %s",
			atFrame(b.place.At), unit.Plural(int64(math.Round(b.each)), "goroutine"), unit.Number(b.alive), unit.Plural(n, "wait"), unit.Duration(b.place.Time/time.Duration(max(1, n))))
		f.Title = batchTitle
		f.Severity, f.Score = Info, score(share, r.param("share"), 0.9)
		f.Impact = exactly(share, "share of the trace")
		if main != nil {
			f.Summary += fmt.Sprintf("; main waits %s of its time for them", unit.Percent(main.All.Share(waited)))
			f.Impact, f.waits = exactly(share, "share of the "+timeOfUnits(main)), rows
			if share >= r.param("warning") {
				f.Severity = Warning
			}
		}
		f.Evidence = []Evidence{
			in.fileAt(t.Entry, b.place.At, b.place.Frames, "waits for all of a batch, %s in all", unit.Duration(b.place.Time)),
			t.seen(b.launch.stack, "the goroutines are started here, %s", unit.Count(b.launch.created)),
		}
		f.Advice = fmt.Sprintf("Do not wait for whole batches: the others are idle until the slowest one is done. Let the next goroutine start as soon as one has ended, with as many at once as now: a semaphore (a channel of that capacity) that is taken before the go statement and given back at its end, errgroup's SetLimit, or %d workers that take the items from a channel. Wait once, after the loop.", int64(math.Round(b.each))) +
			" If a failure has to stop the rest, or the items of a batch belong together, look at what the slowest one does instead."
		f.Verify = "Record again under the same load: about as many of them should run at any time as are allowed to, and the run should be shorter."
		b.ends.tell(in.code, &f)
		f.Doubts = in.traceDoubts(t, "who serves them may answer later if it is asked for more at once on average")
		return []Finding{f}
	}
	return nil
}

// batchTitle is the title of goroutines that are started in batches.
const batchTitle = "A barrier after each batch: goroutines wait for the slowest one before the next ones start"
