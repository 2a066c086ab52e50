package insight

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/holders"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
	"loupe/value/unit"
)

var gc16 = &Rule{
	ID: "GC16", Title: mostlyTitle,
	About: "What is in use in a heap profile is what the program holds on to: a cache, an index, a queue, or memory it has forgotten to release. " +
		"If most of it was allocated at one line, that line decides how much memory the program needs. loupe run takes a profile at each peak of the live heap, so that " +
		"memory held only temporarily is seen too. How much is allocated in total is another question, which allocation profiles answer.",
	Asks: []facts.Question{facts.KeptOrHeld},
	Params: []Param{
		{"share", 0.5, "share of what is in use", "chosen: most of it"},
		{"least", 16, "MB", "chosen: total in use; less is no reason to look"},
		{"samples", 20, "samples", "chosen: below this, a share may be chance"},
		{"doubt", 0.1, "of what is in use", "chosen: the standard error by sampling, for fewer samples; of large objects each one is sampled, so that a few say all"},
		{"grows", 64, "MB", "chosen: kept by a line that only grows, or read as a whole though only a part at a time is needed, for a warning"},
		{"late", 0.3, "share of the phase", "chosen: the highest peak lies in the last part, with each peak a quarter above the previous one"},
		{"on", 0.2, "of the last peak", "chosen: if the line keeps more in a later profile, it was still growing after the peak"},
		{"many", 256, "objects", "chosen: of a part that keeps the whole, for a warning; more than are in work at one time"},
		{"fills", 256, "MB", "chosen: kept by one line, it ranks by its share of the live heap among what takes time; less counts in proportion"},
		{"never", 0.9, "share of what the line has allocated", "chosen: of something that a small part keeps, if all but a tenth of it was never released"},
		{"pieces", 128, "B", "chosen: of pieces that alone can keep a whole text, for a warning: as long as they would have to be on average to be all of it, if whatever else is in use were what refers to them"},
		{"huge", 32, "MB", "chosen: an object from here on is told of by what the source makes it for"},
		{"left", 0.5, "share of what was allocated", "chosen: of the elements of a list that gets shorter, at most so much may still be in use: they leave it"},
		{"tail", 32, "MB", "chosen: in use of what makes the elements of a list that is filtered in place, for a warning"},
		{"later", 2.5, "of what is in use", "chosen: if the heap is so much larger after the profile; with GOGC=100 garbage alone makes it twice as large"},
		{"held", 0.5, "share of what the line has allocated", "chosen: most of it was never released"},
	},
	Check: checkKept,
}

func checkKept(r *Rule, in *Input) []Finding {
	all, err := facts.RetentionIn(in.Facts)
	if all == nil {
		if f, ok := checkHeld(r, in); ok && errors.Is(err, session.ErrNone) {
			return []Finding{f}
		}
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	if f, ok := tableKept(r, in, all); ok {
		return []Finding{f}
	}
	kept := all.Most
	if f, ok := checkLarge(r, in, kept); ok {
		return []Finding{f}
	}
	if kept.Bytes == 0 {
		return []Finding{r.answer(TooLittle, "%s has nothing in use: it shows the sampled objects that survived the last collection", kept.Entry.Path)}
	}
	lines := kept.Lines()
	if len(lines) == 0 {
		return []Finding{r.answer(Fine, "the program's code allocated none of the %s in use in %s", unit.BytesOf(float64(kept.Bytes)), kept.Entry.Path)}
	}
	top := lines[0]
	share := float64(top.Weight) / float64(max(1, kept.Bytes))
	when := ""
	if kept.Peak {
		when = " near the peak"
	}
	text := fmt.Sprintf("of %s in use%s, %s were allocated at %s:%d in %s", unit.BytesOf(float64(kept.Bytes)), when, unit.Percent(share), baseName(top.At.File), top.At.Line, stack.Short(top.At.Func))
	switch {
	case float64(kept.Bytes) < r.param("least")*(1<<20) || share < r.param("share"):
		return []Finding{tailOr(r, in, all, gatheredOrFine(r, in, kept, text+", at others less"))}
	case float64(kept.Samples) < r.param("samples") && kept.Doubt > r.param("doubt"):
		return []Finding{r.answer(TooLittle, "%s, which rests on %d samples; %g are needed", text, kept.Samples, r.param("samples"))}
	}
	if live := mostLive(in.Facts.Rounds); kept.Peak && live > 1.1*float64(kept.Bytes) {
		text += fmt.Sprintf(" (a collection found %s live, which a profile shows only after the next one)", unit.BytesOf(live))
	}
	if later := heapLater(in, kept); later >= r.param("later")*float64(kept.Bytes) {
		text += fmt.Sprintf("; that is a part of the whole: the heap had %s later on, garbage included, by the samples of the metrics", unit.BytesOf(later))
	}
	f := r.answer(Found, "%s", text)
	f.Severity, f.Score = Info, score(share*float64(kept.Bytes), 64<<20, 1<<30)
	f.Impact, f.holds = exactly(share, "share of what is in use"), top.Weight
	for _, l := range lines[:min(3, len(lines))] {
		if l == top || float64(l.Weight) >= float64(kept.Bytes)/20 {
			f.Evidence = append(f.Evidence, in.fileAt(kept.Entry, l.At, l.Frames, "%s in use were allocated here%s", unit.BytesOf(float64(l.Weight)), ofAllocated(kept, l)))
		}
	}
	if tellLoaded(in, kept, top, &f) {
		return []Finding{f}
	}
	written := tellWrittenAtOnce(in, top, &f)
	if !written && !wentAgain(all, top) { // else nothing keeps it, wherever the source says that it goes
		tellKeeping(in, &f, top.At, top.Frames, "Decide whether it is meant to be kept. Give a cache or a queue a bound; permanent data can be made smaller (no copies, indices instead of pointers); and a small substring or subslice keeps the whole it was cut from (copy it: strings.Clone, slices.Clone).")
	}
	f.Verify = "Take a heap profile at the same point again: loupe compare OLD NEW shows what has shrunk."
	if !written {
		tellRetention(r, in, all, top, &f)
	}
	tellHeap(in, &f, top.At)
	tellUncancelled(in, top, &f)
	tellOnce(r, in, kept, top, &f)
	tellSent(r, in, kept, top, &f)
	if f.Severity == Info && f.Title == r.Title {
		tellRepeated(in, userFrames(in.code, top.At, top.Frames), float64(top.Weight), r.param("grows")*(1<<20), &f)
	}
	tellPooled(r, in, all, top, &f)
	tellWaste(r, in, all, top, &f)
	tellPieces(r, in, all, top, &f)
	tellBuffer(r, in, all, top, &f)
	tellQueue(r, in, top, &f)
	tellHead(r, in, all, top, &f)
	tellPassing(in, all, top, &f)
	if f.Severity == Info {
		if x, ok := mostGathered(r, in, kept); ok {
			x.tell(r, in, kept, &f)
		}
	}
	if f.Severity == Info && f.Title == r.Title {
		if x := mostEncoded(r, in, kept); x != nil {
			x.tell(r, in, kept, &f)
		}
	}
	if f.Severity == Info && f.Title == r.Title && !wentAgain(all, top) {
		return []Finding{tailOr(r, in, all, f)}
	}
	if f.Severity.AtLeast(Warning) {
		f.felt = share * min(1, float64(top.Weight)/(r.param("fills")*(1<<20)))
	}
	return []Finding{f}
}

// uncancelledTitle is the title of contexts that nobody cancels.
const uncancelledTitle = "Contexts are kept: their cancel functions are not called"

// tellUncancelled makes a warning of contexts of which the source shows that nobody calls their cancel functions: with a time
// limit, too, each is held for all of that, with what it refers to.
func tellUncancelled(in *Input, top *facts.Line, f *Finding) {
	own := slices.DeleteFunc(slices.Clone(top.Frames), func(x stack.Frame) bool { return !in.Session.Scope().IsUser(x) })
	x, ok := cancelAlong(in.code, own)
	if !ok || !x.timed && (endsWithNobody(in.code, "context.WithCancel", own) || endsWithNobody(in.code, "context.WithCancelCause", own)) {
		return
	}
	f.Severity, f.Title = Warning, uncancelledTitle
	f.Summary += "; each is a context, which its parent holds with all that it refers to, and the source shows of it: " + x.says
	if !shows(f, evidenceLine(x.at)) {
		f.Evidence = append(f.Evidence, x.at)
	}
	f.Advice = adviseCancel(in.code, x.at, fileLine(x.at.File, x.at.Line), "", f)
}

// tellOnce makes a warning of what is read as a whole and only gone through once, where it is most of the live heap. What others
// have read by the same line, and use otherwise, does not count.
func tellOnce(r *Rule, in *Input, kept *facts.Look, top *facts.Line, f *Finding) {
	once := onceIn(in, kept, top)
	if once.bytes == 0 || float64(once.bytes) < r.param("share")*float64(kept.Bytes) {
		return
	}
	once.most.tell(f)
	if float64(once.bytes) >= r.param("grows")*(1<<20) {
		f.Severity, f.Score = Warning, max(f.Score, 50)
	}
}

// mostlyTitle is the title of what holds most of the live heap, as long as no more is known.
const mostlyTitle = "One line holds most of the live heap"

// grewToTheEnd is what is said of what a line keeps that makes a warning of it, however much of that is needed.
const grewToTheEnd = ", and was still growing when the phase ended"

// mayHoldTitle is the title of what a part keeps of which the length is not known.
const mayHoldTitle = "What is kept may hold more memory than it needs"

// tellWaste makes a warning of much memory that a small part keeps. The recording has to show that
// it is small, that so many are not in work at one time, and, in a second profile, that they stay.
// Else it is said that this may be so, or nothing where they do not stay.
func tellWaste(r *Rule, in *Input, all *facts.Retention, top *facts.Line, f *Finding) {
	own := userFrames(in.code, top.At, top.Frames)
	least := r.param("grows") * (1 << 20)
	if f.wastes == noWaste || f.Title == pinnedTitle || float64(top.Weight) < least || len(own) == 0 || float64(in.Facts.ObjectsThrough(own[:1], leastSeen)) < r.param("many") || float64(all.Lasting(top.At)) < least {
		return
	}
	looks := 0
	for _, look := range all.Looks {
		if 4*look.InUse.At(top.At) >= top.Weight {
			looks++
		}
	}
	switch {
	case f.wastes == wastesMuch && looks >= 2:
		f.Title, f.Severity = "What is kept holds much more memory than it needs", Warning
		f.Score = max(f.Score, 50)
	case f.Severity == Info || f.wastes == mayWaste && f.ends:
		f.Title = mayHoldTitle
	}
}

// header is how much a string takes by itself: what refers to its text.
const header = 16

// tellPieces makes a warning of texts of which the source shows that they are only read and cut into pieces, where most
// of the live heap is such texts: what keeps them can only be pieces. If these were all of a text, each would need a
// header, and whatever else is in use has no room for so many, unless they are long.
func tellPieces(r *Rule, in *Input, all *facts.Retention, top *facts.Line, f *Finding) {
	own, kept := userFrames(in.code, top.At, top.Frames), all.Most.Bytes
	least := r.param("least") * (1 << 20)
	if f.wastes != noWaste || f.Severity != Info || len(own) == 0 || wentAgain(all, top) || float64(all.Lasting(top.At)) < least ||
		float64(in.Facts.ObjectsThrough(own[:1], leastSeen)) < r.param("many") {
		return
	}
	long := header * float64(top.Weight) / float64(max(1, kept-top.Weight))
	cuts, ok := onlyCut(in.code, own[0])
	if !ok || long < r.param("pieces") || len(all.Looks) < 2 {
		return
	}
	f.Title, f.Severity = "Pieces of texts keep the whole texts", Warning
	f.Score = max(f.Score, 50)
	f.Summary += fmt.Sprintf("; according to the source the whole text is only read and cut into pieces, as at %s:%d: only pieces of it can keep it", baseName(cuts[0].File), cuts[0].Line)
	f.Evidence = append(f.Evidence, cuts[0])
	f.Advice = "A small substring or subslice keeps the whole it was cut from: copy the pieces that are kept, at the place where they are stored (" + clonerAt(in.code, own[0]) + ")."
	f.Doubts = append(f.Doubts, fmt.Sprintf("if the pieces that are kept are nearly all of the text, little is wasted: they would have to be longer than %s on average, as all else that is in use takes %s", unit.BytesOf(long), unit.BytesOf(float64(kept-top.Weight))))
}

// tellPooled says of buffers that grew at a line, went back to a pool, and are still there when
// nothing uses them, that the pool keeps them.
func tellPooled(r *Rule, in *Input, all *facts.Retention, top *facts.Line, f *Finding) {
	lasting := all.Lasting(top.At)
	if !growsBuffer(top.Frames) || float64(lasting) < r.param("least")*(1<<20) {
		return
	}
	c := sourceHolders{in.code}
	h, ok := c.byFreeList(userFrames(in.code, top.At, top.Frames))
	if !ok {
		return
	}
	share := float64(all.Most.InUse.At(top.At)) / float64(max(1, all.Most.Allocated(top.At)))
	if h.unless.File != "" && share < r.param("held") {
		return // a limit that applies lets most of what becomes large go
	}
	put := h.shows[0]
	f.Title = "A pool keeps buffers that have grown large"
	grown := "large"
	if size, n := mostlyOf(all, top); n > 0 {
		grown = fmt.Sprintf("to %s (%s)", unit.BytesOf(float64(size)), unit.Plural(n, "buffer"))
	}
	f.Summary = fmt.Sprintf("a pool keeps buffers that have grown %s: they grew at %s:%d in %s and went back to a pool at %s:%d: %s of them stay in it at their largest size; %s", grown, baseName(top.At.File), top.At.Line, stack.Short(top.At.Func),
		baseName(put.File), put.Line, unit.BytesOf(float64(lasting)), f.Summary)
	if h.unless.File != "" {
		h.shows = append(h.shows, h.unless)
	}
	f.Severity, f.Advice = Warning, h.advice
	if _, bytes := all.Course(top.At); len(bytes) > 1 && float64(bytes[len(bytes)-1]) < 1.25*float64(bytes[0]) {
		f.Severity = Info
		f.Advice = "If most items need buffers of that size, the pool does its work. Otherwise: " + strings.ToLower(h.advice[:1]) + h.advice[1:]
		f.Doubts = append(f.Doubts, "no more of the buffers have become large while the program was watched: all of them may have been of that size from the start")
	}
	f.Evidence = slices.DeleteFunc(f.Evidence, func(e Evidence) bool {
		return slices.ContainsFunc(h.shows, func(s Evidence) bool { return evidenceLine(s) == evidenceLine(e) })
	})
	f.Evidence = append(slices.Clone(h.shows), f.Evidence...)
	f.Doubts = append(f.Doubts, "if most items need buffers of that size, the pool does its work: then a limit on how many it keeps is what helps")
}

// mostlyOf is the size of nearly all objects that a line has in use in the profile with the most,
// and how many there are; 0 where they are of many sizes.
func mostlyOf(all *facts.Retention, top *facts.Line) (size, n int64) {
	sizes, sum, most := all.Most.SizesAt(top.At), int64(0), int64(0)
	for s, w := range sizes {
		if sum += w; w > most {
			size, most = s, w
		}
	}
	if size == 0 || float64(most) < nearlyAll*float64(sum) {
		return 0, 0
	}
	return size, most / size
}

// checkHeld asks the core of a recording that has no heap profile: which place holds most, but
// not which line has allocated it. It is false where there is no core.
func checkHeld(r *Rule, in *Input) (f Finding, ok bool) {
	held, err := holders.Of(in.Session)
	if errors.Is(err, session.ErrNone) {
		return f, false
	}
	if err != nil {
		return r.answer(TooLittle, "%v", err), true
	}
	all := float64(held.Reached)
	if len(held.Keepers) == 0 || all < r.param("least")*(1<<20) || float64(held.Keepers[0].Bytes) < r.param("share")*all {
		return r.answer(Fine, "no single place holds %[3]s of the %[1]s in use in %[2]s", unit.BytesOf(all), held.Entry.Path, unit.Percent(r.param("share"))), true
	}
	k := &held.Keepers[0]
	share, p := float64(k.Bytes)/all, holders.PlaceOf(k)
	f = r.answer(Found, "of %s in use %s are held by %s", unit.BytesOf(all), unit.Percent(share), p.Name)
	f.Title = "One place holds most of the live heap"
	f.Severity, f.Score = Info, score(float64(k.Bytes), 64<<20, 1<<30)
	f.Impact = exactly(share, "share of what is in use")
	t := heapTeller{in: in, held: held}
	f.Evidence = []Evidence{t.evidence(k)}
	f.Advice = cmp.Or(t.advice(k, p), "Decide whether it is meant to be kept. Give a cache or a queue a bound.")
	t.tellPinned(&f, k)
	f.Verify = "Take a core at the same point again: loupe core diff OLD NEW shows what has shrunk."
	f.Doubts = []string{"a core is a single moment and has no allocation sites: record with -phases heap,core"}
	if k.Shared {
		f.Doubts = append(f.Doubts, p.Name+" is one of several references to it: cutting only that one frees nothing")
	}
	return f, true
}

// oneMoment is what a profile alone cannot show.
const oneMoment = "one profile is a single moment: a second one later would show whether it grows"

// heapLater is the largest heap that a sample of the metrics has seen after a profile, in its phase, garbage included; 0 where none has.
func heapLater(in *Input, kept *facts.Look) (most float64) {
	phase, ok := in.Session.Manifest().PhaseNamed(kept.Entry.Phase)
	if !ok || !kept.Peak {
		return 0
	}
	set, err := in.Session.Metrics(max(0, phase.Run))
	if err != nil {
		return 0
	}
	size, _, _ := facts.HeapSeries(set, timeline.Span{Start: kept.At, End: phase.Span.End + 1})
	for _, v := range size.Values {
		most = max(most, v)
	}
	return most
}

// mostLive is the largest live heap that a collection of the rounds has found, in bytes, by
// gctrace; 0 where that does not tell.
func mostLive(rounds []facts.Round) (most float64) {
	for i := range rounds {
		if rounds[i].GC == nil {
			continue
		}
		for _, row := range rounds[i].GC.Cycles {
			most = max(most, row.HeapLiveMB*(1<<20))
		}
	}
	return most
}

// ofAllocated says what of all that a line had allocated by then was in use.
func ofAllocated(kept *facts.Look, l *facts.Line) string {
	all := kept.Allocated(l.At)
	if all <= 0 {
		return ""
	}
	return fmt.Sprintf(", %s of all that the line had allocated", unit.Percent(min(1, float64(kept.InUse.At(l.At))/float64(all))))
}

// tellRetention says how what the line keeps went over time, as far as the recording has
// seen it.
func tellRetention(r *Rule, in *Input, all *facts.Retention, top *facts.Line, f *Finding) {
	times, bytes := all.Course(top.At)
	last := all.Looks[len(all.Looks)-1]
	if len(times) < 2 {
		f.Doubts = append(f.Doubts, oneMoment+lookAgain(in, " (record with -phases growth)"))
		return
	}
	n := len(bytes)
	if slices.Max(bytes) == 0 {
		return // it was not there yet at any of the peaks
	}
	f.Summary += fmt.Sprintf("; it went from %s to %s in %s", unit.BytesOf(float64(bytes[0])), unit.BytesOf(float64(bytes[n-1])), unit.Duration(times[n-1].Sub(times[0])))
	phase, _ := in.Session.Manifest().PhaseNamed(all.Looks[0].Entry.Phase)
	now := last.InUse.At(top.At)
	if wentAgain(all, top) {
		f.Summary += fmt.Sprintf(", and to %s later", unit.BytesOf(float64(now)))
		f.Advice = "If the peak is too high, bound how much is held at once: work in parts, or release each part when it is done (a slice keeps its whole backing array)."
		return
	}
	// Two peaks between the same collections show the same.
	rising := slices.IsSorted(bytes) && bytes[n-1] > bytes[0]
	late := phase.Span.Len() > 0 && times[n-1] >= phase.Span.End-timeline.Time(r.param("late")*float64(phase.Span.Len()))
	// A peak is known after the next collection alone, and these come ever more seldom.
	late = late || !last.Peak && !last.AtExit && float64(now) >= (1+r.param("on"))*float64(bytes[n-1]) && growsLate(in, phase, r.param("on"))
	late = late && !levelledIn(in, phase)
	share := float64(all.Most.InUse.At(top.At)) / float64(max(1, all.Most.Allocated(top.At)))
	// The last collection, and with it the last peak, comes when half of all is yet to be
	// allocated: of a part that keeps the whole it is enough that none of it goes.
	never := f.wastes > noWaste && f.ends && share >= r.param("never")
	if !rising || !late && !never || share < r.param("held") || n < 3 || float64(top.Weight) < r.param("grows")*(1<<20) || !never && in.public().computes() {
		return
	}
	f.Severity = Warning
	if f.wastes == mayWaste && f.ends && f.Title == r.Title {
		f.Title = mayHoldTitle
	}
	if late {
		f.Summary += grewToTheEnd
	}
	tellKeeping(in, f, top.At, top.Frames, heldBy)
	if share >= r.param("never") {
		f.Advice += " Hardly any of it is released."
	}
	f.Doubts = append(f.Doubts, "a cache that is still filling also grows, up to its bound: record for several times as long")
}

// wentAgain tells whether most of what a line kept at the peak was gone in a later profile of the running program.
func wentAgain(all *facts.Retention, top *facts.Line) bool {
	last := all.Looks[len(all.Looks)-1]
	return len(all.Looks) > 1 && !last.Peak && !last.AtExit && 2*last.InUse.At(top.At) < top.Weight
}

// levelledIn tells whether the live heap had stopped growing in a phase, by what its collections
// have found.
func levelledIn(in *Input, phase recording.Phase) bool {
	set, err := in.Session.Metrics(max(0, phase.Run))
	if err != nil {
		return false
	}
	live := facts.LiveReadings(set, phase.Span)
	if len(live.Values) == 0 {
		_, live, _ = facts.HeapSeries(set, phase.Span)
	}
	c, _ := facts.CourseOf(seconds(live.Times), live.Values)
	return c == facts.LevelOff
}

// growsLate tells whether the heap was larger in the last quarter of a phase, at its largest,
// than in the one before, by a share: what is only loaded at the start is not.
func growsLate(in *Input, phase recording.Phase, share float64) bool {
	set, err := in.Session.Metrics(max(0, phase.Run))
	if err != nil {
		return false
	}
	quarter := phase.Span.Len() / 4
	most := func(from, to timeline.Time) float64 {
		size, _, _ := facts.HeapSeries(set, timeline.Span{Start: from, End: to})
		if len(size.Values) == 0 {
			return 0
		}
		return slices.Max(size.Values)
	}
	end := phase.Span.End
	before := most(end-timeline.Time(2*quarter), end-timeline.Time(quarter))
	return before > 0 && most(end-timeline.Time(quarter), end) >= (1+share)*before
}
