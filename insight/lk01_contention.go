package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/format/dump"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

var lk01 = &Rule{
	ID: "LK01", Title: "Mutex contention: goroutines wait for a lock",
	About: "The time that goroutines waited for a mutex at one place, as the average number waiting per P. An execution trace shows it best; a block or " +
		"mutex profile shows it too, as a share of all delay if it does not say how long the program had run. A goroutine profile shows who is queued at that moment.",
	Asks: []facts.Question{facts.Locks},
	Params: []Param{
		{"info", 0.01, "waiting goroutines a P", "research"},
		{"warning", 0.10, "waiting goroutines a P", "research"},
		{"waits", 10, "waits", "chosen: fewer are a momentary effect, such as a cache filling up"},
		{"delay", 0.10, "share of all delay", "chosen, for a profile without a duration: less is one lock among many"},
		{"delay_warning", 0.50, "share of all delay", "chosen: most of the waiting for locks"},
		{"least", 0.01, "s", "chosen, for a profile without a duration: the total wait; less does not matter in any run"},
		{"least_warning", 1, "s", "chosen: as above, for a warning"},
		{"each", 100e-6, "s", "chosen: the mean wait for a warning; as long as a collector pause may be"},
		{"unit", 0.10, "share of the time", "chosen, for requests or tasks: a lock at which they spend less is not what makes them slow"},
		{"queue", 5, "goroutines", "chosen, for one snapshot or for those still waiting when a trace ends: where two wait on average, one snapshot in twenty has this many by chance"},
		{"queue_warning", 20, "goroutines", "chosen, for one snapshot"},
	},
	Part:  true,
	Check: checkContention,
}

// lockFiles are what knows of locks, the best first.
var lockFiles = []recording.Kind{recording.ExecTrace, recording.Block, recording.Mutex, recording.Goroutine}

func checkContention(r *Rule, in *Input) []Finding {
	sources, err := in.Facts.WaitsOf(lockFiles...)
	if len(sources) == 0 {
		if t := in.trace(); t.Err == nil {
			return []Finding{r.short("%v", err)}
		}
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	var none, other *Finding
	for i, w := range sources {
		if len(w.Places(facts.ForLock)) == 0 {
			if none == nil {
				none = nobodyLocks(r, w)
			}
			continue
		}
		least := Info
		if other != nil {
			least = Warning
		}
		// Profiles have the waits that have ended: that they do not show who waits
		// still takes nothing from a look that does.
		later := i > 0 && !(w.Precision == facts.Glimpsed && !slices.ContainsFunc(sources[:i], func(s *facts.AllWaits) bool { return s.Precision != facts.Sampled }))
		found, otherwise := contended(r, in, w, sources, later, least)
		if len(found) > 0 {
			return firstLocks(found)
		}
		if other == nil {
			other = &otherwise
		}
	}
	if other != nil {
		return []Finding{*other}
	}
	return []Finding{*none}
}

// manyWaits is how many times as many waits a file has to show that comes after one
// without any.
const manyWaits = 10

// mostLocks is how many locks have a finding of their own.
const mostLocks = 3

// firstLocks are the findings of the first locks; the last of them says how many more there
// are.
func firstLocks(found []Finding) []Finding {
	if more := len(found) - mostLocks; more > 0 {
		found = found[:mostLocks]
		last := &found[mostLocks-1]
		last.Evidence = append(last.Evidence, Evidence{Text: fmt.Sprintf("%s above the limits", unit.Plural(more, "more lock")), Path: last.Evidence[0].Path, Phase: last.Evidence[0].Phase})
	}
	return found
}

// nobodyLocks is what the rule says of a file that has nobody who waited.
func nobodyLocks(r *Rule, w *facts.AllWaits) *Finding {
	f := r.answer(Fine, "no goroutine waited for a mutex%s", unended(w))
	if w.Precision == facts.Glimpsed {
		f = r.answer(TooLittle, "no goroutine was waiting for a mutex in the one goroutine snapshot: record -phases mutex, block or trace")
	}
	return &f
}

// unended says, of a profile of waits, that it has only those that have ended.
func unended(w *facts.AllWaits) string {
	if w.Precision != facts.Sampled {
		return ""
	}
	return "; a goroutine that is still waiting is in no " + w.What
}

// contended looks for locks that make goroutines wait in one file; otherwise is what
// the rule says where there are none. A file that comes after one that shows waits for
// a lock has to show more: a finding of it has to be a warning.
func contended(r *Rule, in *Input, w *facts.AllWaits, sources []*facts.AllWaits, later bool, least Severity) (found []Finding, otherwise Finding) {
	places := w.Places(facts.ForLock)
	c := contention{Rule: r, in: in, AllWaits: w, procs: max(1, in.Facts.Settings(nil).Procs)}
	if t := in.Facts.Trace(); w.Precision == facts.Measured {
		c.procs = max(1, t.Parallel.Procs)
	}
	for _, p := range places {
		c.delay += p.Time
	}
	if w.Unlocks {
		c.delay = w.Total()
	}
	for _, p := range places {
		f, ok := c.finding(p)
		if !ok || least == Warning && f.Severity != Warning {
			continue
		}
		if later && w.Precision != facts.Glimpsed && f.Severity != Warning && float64(p.Count) < manyWaits*c.param("waits") {
			continue // a handful in one file and none in a better one are no habit
		}
		if later {
			f.Severity = Info
			f.Doubts = append(f.Doubts, "the "+sources[0].What+" does not show it: it may be from another moment")
		}
		for _, o := range sources {
			if text := facts.Differs(w, o, p, facts.ForLock); text != "" {
				f.Doubts = append(f.Doubts, text)
			}
		}
		found = append(found, f)
	}
	top := places[0]
	switch {
	case w.Precision == facts.Glimpsed:
		otherwise = r.answer(TooLittle, "%s for %s in one goroutine snapshot; %g are needed: record -phases mutex, block or trace", unit.Plural(top.Count, "goroutine")+" waited", c.lock(top), r.param("queue"))
	case w.Length > 0:
		otherwise = r.answer(Fine, "goroutines waited %s for %s, %s of them on average, in %s; less for other locks%s", unit.Duration(top.Time), c.lock(top), unit.Number(c.Mean(top.Time)), unit.Plural(top.Count, "wait"), unended(w))
	default:
		otherwise = r.answer(Fine, "goroutines waited %s for %s, %s of all delay, in %s; less for other locks%s", unit.Duration(top.Time), c.lock(top), unit.Percent(c.part(top)), unit.Plural(top.Count, "wait"), unended(w))
	}
	return found, otherwise
}

// contention is what one file tells of the locks of a program.
type contention struct {
	*Rule
	in *Input
	*facts.AllWaits
	procs int
	delay time.Duration // for all locks together
}

// share is what was waited at a place as a share of what all Ps could have done.
func (c *contention) share(p *facts.Place) float64 { return c.Mean(p.Time) / float64(c.procs) }

// part is it as a share of all delay.
func (c *contention) part(p *facts.Place) float64 { return float64(p.Time) / float64(max(1, c.delay)) }

// finding judges a place.
func (c *contention) finding(p *facts.Place) (Finding, bool) {
	var f Finding
	switch {
	case c.Precision == facts.Glimpsed:
		if float64(p.Count) < c.param("queue") {
			return f, false
		}
		f = c.answer(Found, "%s for %s in the goroutine snapshot (%s)", unit.Plural(p.Count, "goroutine")+" waited", c.lock(p), c.What)
		f.Impact = exactly(float64(p.Count), "goroutines waiting, in one snapshot")
		f.Severity, f.Score = Info, score(float64(p.Count), c.param("queue"), 5*c.param("queue_warning"))
		if float64(p.Count) >= c.param("queue_warning") {
			f.Severity = Warning
		}
		f.Doubts = []string{"a snapshot shows one moment: a mutex profile (-phases mutex) shows the total wait"}
	case float64(p.Count) < c.param("waits") && float64(p.Open) < c.param("queue"):
		return f, false
	case c.Length > 0:
		share := c.share(p)
		if share < c.param("info") {
			return f, false
		}
		f = c.answer(Found, "goroutines waited %s for %s, %s: %s of them on average, with %s; %s waits, %s%s",
			unit.Duration(p.Time), c.lock(p), c.of(), unit.Number(c.Mean(p.Time)), unit.Plural(int64(c.procs), "P"), unit.Count(p.Count), c.each(p), stillWait(p))
		f.Impact = exactly(c.Mean(p.Time), "goroutines that waited on average")
		f.Severity, f.Score = Info, score(share, c.param("info"), 5*c.param("warning"))
		if share >= c.param("warning") {
			f.Severity = Warning
		}
	default:
		part, seconds := c.part(p), p.Time.Seconds()
		if part < c.param("delay") || seconds < c.param("least") {
			return f, false
		}
		f = c.answer(Found, "goroutines waited %s for %s: %s of all delay in the %s; %s waits, %s",
			unit.Duration(p.Time), c.lock(p), unit.Percent(part), c.What, unit.Count(p.Count), c.each(p))
		f.Impact = exactly(part, "share of all delay")
		f.Severity, f.Score = Info, score(seconds*part, 0.1, 10*c.param("least_warning"))
		if part >= c.param("delay_warning") && seconds >= c.param("least_warning") && seconds >= c.param("each")*float64(p.Count) {
			f.Severity = Warning
		}
		f.Doubts = []string{fmt.Sprintf("the %s does not say how long the program had run: %s of waiting is much in a minute and little in a day (record -phases mutex, or fetch it with ?seconds=30)", c.What, unit.Duration(p.Time))}
	}
	f.Evidence = c.evidence(p)
	startedWith(c.in, p.Frames, &f)
	f.Advice = "Hold the lock for a shorter time: do under it only what needs it; split the data over several locks; or copy read-only data (atomic.Pointer)."
	if !p.Own && p.Caller.Func != "" && c.in.Session.Scope().Origin(p.Caller.Func) != stack.User {
		f.Advice = "The lock is in package " + stack.Package(p.Caller.Func) + ", which is not your code: call it less often, or batch the calls."
	}
	if c.in.Session.Scope().Origin(p.At.Func) < stack.Dependency && f.Severity.AtLeast(Warning) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "the goroutines that wait are the standard library's own: no line of the program waits here")
	}
	f.Verify = "Record again under the same load: the waits should fall by more than the requests."
	if c.Precision == facts.Measured {
		f.Doubts = append(append(f.Doubts, c.in.traceDoubts(c.in.trace())...), unlikeLoad(c.in)...)
		c.ofUnits(p, &f)
	} else {
		f.Doubts = append(f.Doubts, c.in.doubts()...)
		tellFlight(c.in.code, p.Frames, &f)
	}
	if p.Open > 0 && p.Open == p.Count && !f.holder && !c.tellLikely(p, &f) {
		f.Advice = "Find out who holds the lock: nobody acquired it during the trace (loupe trace blocked, or a goroutine dump). " + f.Advice
	}
	f.Doubts = append(f.Doubts, "if goroutines also wait for Ps (SC07), a holder without a P makes everybody wait")
	return f, true
}

// ofUnits weighs the waits of a place by what they are of the time of requests or tasks,
// where most of them are theirs. Of that time, what passes while the one that holds the
// lock waits for a P is a wait for a P.
func (c *contention) ofUnits(p *facts.Place, f *Finding) {
	u, ok := unitsSpend(c.in, func(row *facts.UnitRow) bool {
		return row.Kind.Key() == "lock" && row.Site.Frame.File == p.At.File && row.Site.Frame.Line == p.At.Line
	})
	if c.tellHolding(p, u.rows, f); !f.holder {
		tellFlight(c.in.code, p.Frames, f)
	}
	if !ok || 2*u.all() < p.Time {
		c.ofOthers(p, u, f) // those who wait most are no requests
		return
	}
	f.waits, f.felt = u.rows, u.own()
	f.Evidence = append(f.Evidence, Evidence{Text: u.String() + " is waiting here", Path: c.Entry.Path, Phase: c.Entry.Phase})
	if u.own() < c.param("unit") && f.Severity.AtLeast(Warning) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("%s of the time of %s, apart from the time in which the holder itself waits for a P, is too little to make them slow", unit.Percent(u.own()), u.name))
	}
}

// ofOthers weighs the waits of a place that are mostly those of other goroutines, as of those that requests or tasks
// have started: by how much of their time passes while others wait there, and what all of the waits would be of it.
func (c *contention) ofOthers(p *facts.Place, u unitTime, f *Finding) {
	if u.seen == 0 || !f.Severity.AtLeast(Warning) {
		return
	}
	at := func(s facts.UnitSite) bool { return s.Frame.File == p.At.File && s.Frame.Line == p.At.Line }
	through, _ := unitsSpend(c.in, func(row *facts.UnitRow) bool {
		return row.Kind.Key() == "lock" && at(row.Site) || row.Cause.Kind.Key() == "lock" && at(row.Cause.Site)
	})
	share := max(through.share(), float64(p.Time)/float64(u.seen))
	if share >= c.param("unit") {
		return
	}
	f.Severity = Info
	f.Doubts = append(f.Doubts, fmt.Sprintf("those who wait are mostly no %s; if %s waited for all of it, it would be %s of their time, too little to make them slow", u.name, u.name, unit.Percent(share)))
}

// holdingShare is the part of the waits for a lock from which on what its holder does then is
// told. Chosen: less is one thing among several.
const holdingShare = 0.3

// tellHolding says what the holder of the lock does while others wait, by the account of units: in
// one function, that which makes them wait most.
func (c *contention) tellHolding(p *facts.Place, rows []*facts.UnitRow, f *Finding) {
	type does struct {
		most *facts.UnitRow
		time time.Duration
	}
	var all []does
	waited := time.Duration(0)
	for _, row := range rows {
		waited += row.Time
		if !tellsOfHolder(row.Cause) {
			continue
		}
		i := slices.IndexFunc(all, func(d does) bool {
			return d.most.Cause.Kind == row.Cause.Kind && sameFunction(d.most.Cause.Site.Frame, row.Cause.Site.Frame)
		})
		if i < 0 {
			i, all = len(all), append(all, does{most: row})
		}
		if all[i].time += row.Time; row.Time > all[i].most.Time {
			all[i].most = row
		}
	}
	if len(all) == 0 {
		if l := underLockAt(c.in, p.At); l != nil && 2*l.time >= l.all() {
			c.tellTold(tellLock(c.in, l.across(c.in, c.in.trace())), f)
			return
		}
		c.tellWork(p, f)
		return
	}
	top := slices.MaxFunc(all, func(a, b does) int { return int(min(max(a.time-b.time, -1), 1)) })
	if float64(top.time) < holdingShare*float64(waited) {
		return
	}
	cause, t := top.most.Cause, c.in.trace()
	who := "its holder is"
	var writer *pendingWriter
	if len(p.By) > 0 && p.By[0].Stack != 0 {
		held, done := t.Frames(p.By[0].Stack), t.Frames(cause.Site.Stack)
		if len(held) > 0 && len(done) > 0 && held[len(held)-1].Func != done[len(done)-1].Func { // by what the two began with
			writer = pendingBefore(c.in, t, p.At, done, p.By[0].Stack)
		}
	}
	follows := waitsForOne(top.most)
	if follows || !doesItself(c.in, t, p.At, p.Frames, cause.Site) {
		who = "its holder waits for a goroutine that is"
	}
	var holder *lockHolder
	if writer == nil {
		holder = holderOf(c.in, t, p.At, p.Frames, rows)
	}
	where, part := atPlace(cause.Site), unit.Percent(float64(top.time)/float64(waited))
	f.holder = true
	seen := t.seen(cause.Site.Stack, "under the lock: %s, %s of the waits", cause.Kind.Clause(), part)
	if cause.Kind.Key() == "running" {
		var most stack.Frame
		if where, most = worksAt(c.in, p.At, cause.Site); most.Func != "" {
			seen = c.in.code.shownAt(most.File, most.Line, "under the lock: running, %s of the waits; by the CPU samples mostly here", part)
		} else if unlocksIn(t.Frames(cause.Site.Stack)) {
			seen.Text += "; it let go here"
		}
	}
	if follows {
		seen = t.seen(cause.Site.Stack, "what the holder waits for: %s, %s of the waits", cause.Kind.Clause(), part)
	}
	f.Evidence = slices.Insert(f.Evidence, 1, seen)
	switch {
	case writer != nil:
		f.Summary += "; meanwhile " + writer.says(isDoing(cause))
	case holder != nil:
		if holder.does.Kind != cause.Kind || !sameFunction(holder.does.Site.Frame, cause.Site.Frame) {
			where = whileHeld(holder.does)
		}
		holder.tell(c.in, t, p.At, where, true, f)
	default:
		f.Summary += fmt.Sprintf("; meanwhile %s %s%s", who, cause.Kind.Clause(), where)
	}
	did := holderDoes(top.most)
	holders := [][]stack.Frame{t.Frames(did.Site.Stack)}
	if marks := spentOf(c.in).keptBy(c.in, p.At); marks != nil && cause.Kind.Key() == "running" {
		holders = append(holders, spentOf(c.in).mostUnder(c.in.code, p.At, marks))
	}
	if tellFlight(c.in.code, p.Frames, f, holders...) {
		return
	}
	switch {
	case waitsItself(did.Kind):
		work := t.Frames(did.Site.Stack)
		told := tellLock(c.in, heldAcrossCall{at: p.At, waiter: p.Frames, work: work, kind: did.Kind, syncs: syncs(work)})
		if writer != nil {
			f.Advice = writer.advice(told.says())
			return
		}
		c.tellTold(told, f)
	case cause.Kind.Key() == "running":
		does := workAdvice(c.in, p.At)
		if holder != nil {
			if w := walkHeld(c.in, p.At, holder, t); w != nil {
				f.Advice = w.advice(does)
				return
			}
		}
		if p.Shared {
			if holder != nil {
				if reads := holder.forReading(c.in.code, p.Frames); reads != "" {
					f.Advice = reads + " " + f.Advice
				}
			}
			return
		}
		if does != "" {
			f.Advice = does
		}
		if mayOnlyRead(c.in.code, p.At) {
			f.Advice = readAdvice + " " + f.Advice
		}
	}
}

// tellWork says of a lock of whose holder the account of units says nothing what is done under it, by CPU samples, if that keeps the lock.
func (c *contention) tellWork(p *facts.Place, f *Finding) {
	does := workAdvice(c.in, p.At)
	if does == "" || p.Shared {
		return
	}
	f.Summary += underWork(c.in, p.At)
	f.Advice = does
	workEvidence(c.in, p.At, f)
}

// tellTold says what to do about the lock, and what the source proves that it keeps.
func (c *contention) tellTold(told lockTold, f *Finding) {
	title, severity, evidence := f.Title, f.Severity, f.Evidence
	if told.tell(f); told.p == nil || !told.p.pace {
		f.Title, f.Severity = title, severity
	}
	f.Evidence = evidence
}

// unlocksIn tells of a stack that a lock is let go there.
func unlocksIn(frames []stack.Frame) bool {
	return slices.ContainsFunc(frames, func(f stack.Frame) bool {
		return strings.HasSuffix(f.Func, ").Unlock") || strings.HasSuffix(f.Func, ").RUnlock")
	})
}

// readAdvice is what to do where a lock is taken for writing and its holder computes.
const readAdvice = "If the holders only read what the lock guards, take it for reading (RLock of a sync.RWMutex): then they do not wait for each other."

// stillWait says how many waits of a place had not ended when the trace did.
func stillWait(p *facts.Place) string {
	if p.Open == 0 {
		return ""
	}
	before := ""
	if p.Before > 0 {
		before = fmt.Sprintf(", %s of them since before it began", unit.Count(p.Before))
	}
	return fmt.Sprintf("; %s were still waiting when the trace ended%s", unit.Count(p.Open), before)
}

// of says what the waits are of.
func (c *contention) of() string {
	if c.Precision == facts.Measured {
		return "in a trace of " + unit.Duration(c.Length)
	}
	return fmt.Sprintf("in %s (%s)", unit.Duration(c.Length), c.What)
}

// each says how long one wait took.
func (c *contention) each(p *facts.Place) string {
	if p.Dist.Count > 0 {
		return "99% within " + unit.Duration(p.Dist.Quantile(0.99))
	}
	return unit.Duration(p.Time/time.Duration(p.Count)) + " on average"
}

// lock names a lock by its name, where the source tells, and where it is taken. A mutex
// profile has where it is let go; the source leads back from there.
func (c *contention) lock(p *facts.Place) string {
	at, let := p.At, "the lock"
	if held, ok := c.held(p); ok {
		at.Line = held.from
		return c.in.code.named(at) + fmt.Sprintf(" and unlocked at line %d", p.At.Line)
	}
	if c.Precision != facts.Measured && !p.Own && p.Caller.Func != "" {
		let = "the lock of " + stack.Short(p.Caller.Func)
	}
	if c.Unlocks {
		return let + " that is unlocked at " + place(at)
	}
	if let != "the lock" {
		return let + " at " + place(at)
	}
	return c.in.code.named(at)
}

// held is, of a place of a mutex profile, the part of the source that is under the lock.
func (c *contention) held(p *facts.Place) (held, bool) {
	if !c.Unlocks || !p.Own {
		return held{}, false
	}
	return c.in.code.heldUntil(p.At)
}

// evidence shows where goroutines wait, and where they are let go on.
func (c *contention) evidence(p *facts.Place) (out []Evidence) {
	if c.Precision == facts.Measured {
		t := c.in.trace()
		out = []Evidence{t.seenAt(t.Frames(p.Worst.Stack), p.At, "the longest wait, %s, %s after the trace began", unit.Duration(p.Worst.Len()), t.since(p.Worst.Start)).during(t, p.Worst.Start, p.Worst.End).ofGoroutine(p.Worst.G)}
		out[0].waits = true
		if len(p.By) > 0 && p.By[0].Stack != 0 {
			out = append(out, t.seen(p.By[0].Stack, "unlocked here, which ended %s of the waits", unit.Count(p.By[0].Count)))
		}
		return append(out, c.others(p.At)...)
	}
	text := "waiting for the lock here: " + unit.Plural(p.Count, "wait")
	switch {
	case c.Precision == facts.Glimpsed:
		text = "waiting for the lock here: " + unit.Plural(p.Count, "goroutine")
	case c.Unlocks:
		text = "unlocked here: " + unit.Plural(p.Count, "contention")
	}
	if held, ok := c.held(p); ok {
		at := p.At
		at.Line = held.from
		out = append(out, c.in.fileAt(c.Entry, at, nil, "locked here"))
	}
	out = append(out, c.in.fileAt(c.Entry, p.At, p.Frames, "%s", text))
	if c.Unlocks {
		return out // who makes others wait is in it
	}
	return append(out, c.others(p.At)...)
}

// unseen says why the file need not show who takes the lock at a line. A look at the
// goroutines has them all: whether one is in that function is known.
func (c *contention) unseen(file string, o taker) string {
	if c.Precision != facts.Glimpsed {
		if n := c.waitsAt(file, o.line); n > 0 {
			return unit.Plural(n, "wait") + " for it here, too"
		}
		return "a goroutine that never waits for it is in no " + c.What + ", and may hold it"
	}
	var beyond int64
	for i := range c.All {
		w := &c.All[i]
		if at, ok := facts.LockedBy(w.Frames, false); ok && at.File == file && at.Line == o.line {
			continue // it waits here
		}
		if slices.ContainsFunc(w.Frames, func(f stack.Frame) bool {
			return f.File == file && o.line <= f.Line && f.Line <= o.end && !strings.HasPrefix(f.Func, dump.CreatedBy)
		}) {
			beyond += w.Count
		}
	}
	switch beyond {
	case 0:
		return "no goroutine was seen past this line of the function"
	case 1:
		return "1 goroutine is past this line of the function, and may hold it"
	}
	return unit.Count(beyond) + " goroutines are past this line of the function, and may hold it"
}

// waitsAt is how many waits for a lock a line has.
func (c *contention) waitsAt(file string, line int) (n int64) {
	for i := range c.All {
		if at, ok := facts.LockedBy(c.All[i].Frames, false); ok && at.File == file && at.Line == line {
			n += c.All[i].Count
		}
	}
	return n
}

// mostTakers is how many other lines that take the lock a finding names.
const mostTakers = 3

// others are the other lines that take the lock.
func (c *contention) others(at stack.Frame) (out []Evidence) {
	takers := c.in.code.otherTakers(at)
	for _, o := range takers[:min(len(takers), mostTakers)] {
		out = append(out, Evidence{Text: o.fn + ": locked here too (" + o.call + "): " + c.unseen(at.File, o),
			Path: c.Entry.Path, Phase: c.Entry.Phase, File: at.File, Line: o.line})
	}
	return out
}
