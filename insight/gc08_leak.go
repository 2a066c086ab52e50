package insight

import (
	"fmt"
	"slices"
	"sort"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var gc08 = &Rule{
	ID: "GC08", Title: "Possible memory leak: the live heap keeps growing",
	About: "What survives a forced collection is in use. If that keeps rising under a steady load, something is holding on to memory: " +
		"an unbounded cache, a slice that is only appended to, goroutines that never end.",
	Asks: []facts.Question{facts.LiveHeap},
	Params: []Param{
		{"p", 0.01, "probability", "research: Mann–Kendall"},
		{"cycles", 10, "collections", "research; for samples, if the runtime's metrics replace gctrace"},
		{"forced", 3, "forced collections", "what remains after forced collections in an idle program shows a leak"},
		{"growth", 0.20, "share", "research"},
		{"least", 8, "MB", "chosen, without gctrace: less is warm-up"},
		{"kept", 0.5, "share of the growth", "research, as for GC09: of what the heap grew by and is still in use at the end"},
		{"lasting", 1, "share", "chosen, without forced collections: growth beyond this that continues to the end is not the garbage of one collection"},
		{"much", 64, "MB", "chosen, without forced collections: less is warm-up"},
		{"readings", 6, "readings", "chosen, without forced collections: different values of the live heap; fewer cannot be called steady"},
		{"rise", 2, "MB", "chosen, for a steady rise that a heap profile confirms: connections and buffers take less"},
		{"line", 0.3, "share of what is in use", "chosen: of one line, for a warning about a steady rise"},
		{"looks", 5, "heap profiles", "research: growth over five consecutive profiles (-phases growth)"},
	},
	Check: checkLeak,
}

// checkLeak asks the heap profiles of a growth phase, each of which was taken
// after a forced collection; else gctrace, and where that has too little to say
// the runtime's metrics with one heap profile. Whoever finds it, the profiles say
// which lines it comes from.
func checkLeak(r *Rule, in *Input) []Finding {
	all := checkLeakSeen(r, in)
	if all[0].State != Found {
		if f, ok := checkLeakLooks(r, in); ok {
			return []Finding{f}
		}
		if all[0].State != Fine {
			if held := heldNow(in); held != "" { // one look is no trend, but whoever asks wants to know
				all[0].State = TooLittle
				all[0].Summary += "; " + held
			}
		}
		return all
	}
	lines := growingLines(r, in)
	if loaded := loadedAtStart(in); loaded != "" && len(lines) == 0 {
		return []Finding{r.answer(Fine, "%s%s", all[0].Summary, loaded)}
	}
	all[0].Evidence = append(lines, all[0].Evidence...)
	return all
}

// heldLeast is how much must be in use before one look at it is told of. Chosen:
// less is no reason for an alert.
const heldLeast = 16 << 20

// heldNow says where most of what is in use was allocated, of the heap profile
// of a recording that cannot tell whether it grows; empty where no line has most
// of it, or where it is little.
func heldNow(in *Input) string {
	kept, err := in.Facts.Kept()
	if err != nil || kept.Bytes < heldLeast {
		return ""
	}
	lines := kept.Lines()
	if len(lines) == 0 || lines[0].Weight < kept.Bytes/2 {
		return ""
	}
	at := lines[0].At
	return fmt.Sprintf("of %s in use in %s, %s were allocated at %s:%d in %s: a second profile some time later would show whether that grows", unit.BytesOf(float64(kept.Bytes)), kept.Entry.Path,
		unit.Percent(float64(lines[0].Weight)/float64(kept.Bytes)), baseName(at.File), at.Line, stack.Short(at.Func))
}

// checkLeakLooks looks at what was in use in a growth phase.
func checkLeakLooks(r *Rule, in *Input) (Finding, bool) {
	g := heapGrowth(r, in)
	if g == nil {
		return Finding{}, false
	}
	whole := g.Whole()
	first, last := g.Totals[0], g.Totals[len(g.Totals)-1]
	if !whole.Grows(r.param("p")) || facts.LevelledOff(g.Times, g.Totals) || last < first*(1+r.param("growth")) || last-first < r.param("least")*(1<<20) {
		return Finding{}, false
	}
	f := r.answer(Found, "the heap in use after a collection went from %s to %s in %s (%d measurements)", unit.BytesOf(first), unit.BytesOf(last), g.Length(), len(g.Times))
	grade(r, &f, last/max(first, 1)-1, whole.Slope)
	f.lasts = true
	f.Evidence = append(growingLines(r, in), f.Evidence...)
	if i := slices.IndexFunc(g.Sites, func(s *facts.GrowingSite) bool { return s.User && s.Grows(r.param("p")) }); i >= 0 {
		tellKeeping(in, &f, g.Sites[i].At, g.Sites[i].Frames, heldBy)
		tellHeap(in, &f, g.Sites[i].At)
	}
	f.Evidence = append(f.Evidence, Evidence{Text: "the heap profiles of the phase", Path: g.Last.Path, Phase: g.Phase.Name, Span: span(g.Phase.Span)})
	f.Doubts = slices.Concat(in.doubts(), f.Doubts, []string{"a program that is still warming up grows too: record for longer than that"})
	return f, true
}

// grade fills in how grave a leak is, and what is to be done: the slope is in
// bytes a second.
func grade(r *Rule, f *Finding, grown float64, slope stats.Interval) {
	f.Severity, f.Score = Warning, score(grown, r.param("growth"), 2)
	f.Impact = &Impact{slope.Estimate * 60 / (1 << 20), "MB a minute", slope.Low * 60 / (1 << 20), slope.High * 60 / (1 << 20)}
	f.Advice = heldBy
	f.Verify = "Record or watch for as long again: the interval of the slope should contain zero."
}

func checkLeakSeen(r *Rule, in *Input) []Finding {
	m := in.Session.Manifest()
	if len(m.Of(recording.Stderr))+len(m.Of(recording.Metrics))+len(m.Of(recording.Vars)) == 0 {
		return []Finding{r.answer(NotApplicable, "the recording has no gctrace and no runtime samples: one heap profile shows no trend%s", lookAgain(in, " (record with -phases growth)"))}
	}
	if len(in.Session.Manifest().Of(recording.Stderr)) == 0 {
		return checkLeakMetrics(r, in)
	}
	traced := checkLeakTraced(r, in)
	if traced[0].State == TooLittle || traced[0].State == Found && traced[0].Severity == Info {
		if f, ok := checkLeakSteady(r, in); ok {
			return []Finding{f}
		}
	}
	if traced[0].State == TooLittle {
		if more := checkLeakMetrics(r, in); more[0].State == Found || more[0].State == Fine {
			return more
		}
	}
	return traced
}

func checkLeakTraced(r *Rule, in *Input) []Finding {
	if none := uncollected(r, in); none != nil {
		return none
	}
	round := longest(in.Facts.Rounds)
	if round == nil {
		return []Finding{r.short("no collections were seen in the bare phases")}
	}
	d := round.GC.Derived
	if d.Live == nil || d.Collections < int64(r.param("cycles")) {
		return []Finding{r.short("%d collections in phase %s; %g are needed", d.Collections, round.Phase.Name, r.param("cycles"))}
	}
	first, last := ends(round.GC.Cycles)
	rising := d.Live.Direction == gc.Rising && d.Live.P < r.param("p") && last >= first*(1+r.param("growth"))
	if !rising && d.Live.Direction == gc.Rising && last >= first*(1+r.param("growth")) {
		return []Finding{r.answer(TooLittle, "the live heap went from %s to %s MB over %s collections, which may be chance (p = %.2g): record longer", unit.Number(first), unit.Number(last), unit.Count(d.Collections), d.Live.P)}
	}
	if !rising {
		return []Finding{r.answer(Fine, "the live heap went from %s to %s MB over %s collections: no lasting growth", unit.Number(first), unit.Number(last), unit.Count(d.Collections))}
	}
	slope := d.Live.Slope.Estimate * 60
	text := fmt.Sprintf("the live heap rose from %s to %s MB over %s collections, %s MB a minute", unit.Number(first), unit.Number(last), unit.Count(d.Collections), unit.Number(slope))
	if d.Forced < int(r.param("forced")) {
		if from, to := fellBack(round.GC.Cycles, last); from > 0 {
			return []Finding{r.answer(TooLittle, "%s, but fell from %s to %s MB in between: whether more is left each time needs a longer recording", text, unit.Number(from), unit.Number(to))}
		}
		if last >= first*(1+r.param("lasting")) && last-first >= r.param("much") && stillGrows(round.GC.Cycles, r.param("growth")) {
			return []Finding{growsUnforced(r, in, round, text, d.Live)}
		}
		return []Finding{r.answer(TooLittle, "%s, but only %d of them were forced: growth under load may be garbage or warm-up (record longer, or let the program call runtime.GC)", text, d.Forced)}
	}
	if from, to := forcedEnds(round.GC.Cycles); to < from*(1+r.param("growth")) {
		return []Finding{r.answer(Fine, "%s, but what survived the forced ones went from %s to %s MB: no lasting growth", text, unit.Number(from), unit.Number(to))}
	}
	if low := lowest(round.GC.Cycles); low <= first*(1+r.param("growth")/4) {
		return []Finding{r.answer(Fine, "%s, but fell back to %s MB in between: no lasting growth", text, unit.Number(low))}
	}
	if of := forcedReadings(round.GC.Cycles); facts.Stood(of.times, of.live) {
		return []Finding{r.answer(Fine, "%s, but what survived the forced ones had stopped growing by the end, at %s MB (GC16 says what keeps it)", text, unit.Number(of.live[len(of.live)-1]))}
	}
	if levelledInLife(in, max(0, round.Phase.Run)) {
		return []Finding{r.answer(TooLittle, "%s, but in the rest of its life the live heap has levelled off: whether it goes on growing needs a longer recording", text)}
	}
	f := r.answer(Found, "%s, %d of them forced", text, d.Forced)
	f.lasts = true
	f.Severity, f.Score = Warning, score(last/max(first, 1)-1, r.param("growth"), 2)
	f.Impact = &Impact{slope, "MB a minute", d.Live.Slope.Low * 60, d.Live.Slope.High * 60}
	rows := round.GC.Cycles
	f.Evidence = []Evidence{Evidence{Text: fmt.Sprintf("live heap after collections %d to %d", rows[0].GC, rows[len(rows)-1].GC)}.at(round)}
	f.Advice = "Find what holds the memory: run loupe pprof -top -sample_index inuse_space on two heap profiles taken some time apart. Bound it or evict from it."
	f.Verify = "Record for as long again: the interval of the slope should contain zero."
	f.Doubts = append(in.doubts(), "a program that is still warming up grows too: record for longer than that")
	tellHeap(in, &f, stack.Frame{})
	return []Finding{f}
}

// growsUnforced is the finding of a heap that grew under load and still did when
// the recording ended. What marking finds is in use, but for what was allocated
// meanwhile: whether it stays nobody has seen.
func growsUnforced(r *Rule, in *Input, round *facts.Round, text string, live *gc.Trend) Finding {
	f := r.answer(Found, "%s, and was still growing at the end", text)
	f.Severity, f.Score = Info, score(float64(live.RiseMB)/r.param("much"), 1, 10)
	f.Impact = &Impact{live.Slope.Estimate * 60, "MB a minute", live.Slope.Low * 60, live.Slope.High * 60}
	rows := round.GC.Cycles
	f.Evidence = []Evidence{Evidence{Text: fmt.Sprintf("live heap after collections %d to %d", rows[0].GC, rows[len(rows)-1].GC)}.at(round)}
	f.Advice = "Find out whether this is intended: record with -phases growth, which looks at the heap ten times, each after a collection, and names the lines that keep more and more."
	if !mayLookAgain(in) {
		f.Advice = "Find out whether this is intended: let it do several times as much in one run. If the live heap is as many times as large in the end, something of each piece of work is kept, and the largest heap profile of that run names the lines (loupe pprof -top -sample_index inuse_space)."
	}
	f.Verify = "Record for several times as long: a cache that fills stops at its bound, a leak does not."
	f.Doubts = append(in.doubts(), "no collection was forced: a program that is filling a cache, or has more to do at once, grows too")
	tellHeap(in, &f, stack.Frame{})
	tellAtPeak(r, in, &f)
	return f
}

// leastAtPeak is the part of what is in use at a peak from which on a line is named. Chosen: a tenth of it is worth a look.
const leastAtPeak = 0.1

// tellAtPeak names the lines that most of what is in use at the peak was allocated at, of a finding without a line of its own: what
// grows is likely among it.
func tellAtPeak(r *Rule, in *Input, f *Finding) {
	all, _ := facts.RetentionIn(in.Facts)
	if all == nil || firstLine(f) != "" || float64(all.Most.Bytes) < r.param("least")*(1<<20) {
		return
	}
	for i, l := range all.Most.Lines() {
		if i == 3 || float64(l.Weight) < leastAtPeak*float64(all.Most.Bytes) {
			break
		}
		f.Evidence = append(f.Evidence, in.fileAt(all.Most.Entry, l.At, l.Frames, "%s of the %s in use in the largest heap profile were allocated here", unit.BytesOf(float64(l.Weight)), unit.BytesOf(float64(all.Most.Bytes))))
		f.atPeak = true
	}
}

// fellBack is the first fall of the live heap to less than half of what it had been, in MB: most of that was freed. Zero
// where there is none of what is much beside what is live at the last.
func fellBack(rows []gc.Row, last float64) (from, to float64) {
	for _, row := range rows {
		if row.HeapLiveMB < from/2 && from >= last/2 {
			return from, row.HeapLiveMB
		}
		from = max(from, row.HeapLiveMB)
	}
	return 0, 0
}

// stillGrows tells whether the live heap of the last quarter of the collections
// is larger by a share than that of the quarter before, and that of the last quarter of the
// time than that of the one before: a warm-up has ended by then, and what stands for a while
// has collections that are far apart.
func stillGrows(rows []gc.Row, share float64) bool {
	more := func(before, after []gc.Row) bool {
		return len(before) > 0 && len(after) > 0 && meanLive(after) >= meanLive(before)*(1+share/2)
	}
	n := len(rows) / 4
	if n <= 1 || !more(rows[len(rows)-2*n:len(rows)-n], rows[len(rows)-n:]) {
		return false
	}
	first, last := rows[0].AtS, rows[len(rows)-1].AtS
	at := func(s float64) int {
		return sort.Search(len(rows), func(i int) bool { return rows[i].AtS >= s })
	}
	half, quarter := at(last-(last-first)/2), at(last-(last-first)/4)
	return more(rows[half:quarter], rows[quarter:])
}

// meanLive is the live heap of some collections, in MB.
func meanLive(rows []gc.Row) float64 {
	sum := 0.0
	for _, r := range rows {
		sum += r.HeapLiveMB
	}
	return sum / float64(max(1, len(rows)))
}

// longest returns the round with the most collections.
func longest(rounds []facts.Round) *facts.Round {
	var best *facts.Round
	for i := range rounds {
		r := &rounds[i]
		if r.GC != nil && len(r.GC.Cycles) > 0 && (best == nil || len(r.GC.Cycles) > len(best.GC.Cycles)) {
			best = r
		}
	}
	return best
}

// ends returns the mean live heap of the first and the last tenth of the
// collections, in MB.
func ends(rows []gc.Row) (first, last float64) {
	n := max(1, len(rows)/10)
	for i := range n {
		first += rows[i].HeapLiveMB
		last += rows[len(rows)-1-i].HeapLiveMB
	}
	return first / float64(n), last / float64(n)
}

// lowest is the live heap of the second half of the collections at its low
// tide, in MB: what is leaked does not come back.
func lowest(rows []gc.Row) float64 {
	var live []float64
	for _, r := range rows[len(rows)/2:] {
		live = append(live, r.HeapLiveMB)
	}
	slices.Sort(live)
	return stats.Quantile(live, 0.05)
}

// survived is what collections have left, in MB, and when, in seconds.
type survived struct{ times, live []float64 }

// forcedReadings is what the forced collections have left, and what those behind the last forced one have: in these there may be
// garbage as well, but nobody has looked at that time otherwise.
func forcedReadings(rows []gc.Row) (s survived) {
	last := len(rows) - 1
	for last >= 0 && !rows[last].Forced {
		last--
	}
	for i, row := range rows {
		if row.Forced || i > last {
			s.times, s.live = append(s.times, row.AtS), append(s.live, row.HeapLiveMB)
		}
	}
	return s
}

// forcedEnds is the live heap after the first and the last forced collection,
// in MB. There is at least one.
func forcedEnds(rows []gc.Row) (first, last float64) {
	forced := slices.DeleteFunc(slices.Clone(rows), func(r gc.Row) bool { return !r.Forced })
	return forced[0].HeapLiveMB, forced[len(forced)-1].HeapLiveMB
}
