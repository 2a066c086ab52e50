package insight

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var sc10 = &Rule{
	ID: "SC10", Title: "Goroutine leak: goroutines never finish",
	About: "Goroutines that wait forever at one place are a goroutine leak: their stacks, and everything they refer " +
		"to, stay in memory. Go's leak search proves it for those that nothing can wake up any more. Consecutive profiles show where their number grows. A trace shows those that arrived there during the trace and did not leave; steady growth distinguishes a leak from a pool.",
	Asks: []facts.Question{facts.Goroutines},
	Params: []Param{
		{"leaked", 1, "goroutines", "Go: found by its search (goroutineleak); it is a proof"},
		{"looks", 5, "goroutine profiles", "research: growth over five consecutive profiles (-phases growth)"},
		{"p", 0.01, "probability", "research: Mann–Kendall, of their number at one place"},
		{"more", 20, "goroutines", "chosen: at one place, from the first profile to the last"},
		{"goroutines", 100, "goroutines", "chosen: at one place, started in the trace, when it ends; or more in total, by the runtime samples"},
		{"samples", 10, "samples", "chosen: of their number, below which a trend says little"},
		{"times", 2, "times as many", "chosen: at the end relative to the beginning, by the samples"},
		{"quarter", 0.10, "share of them", "chosen: that came in each quarter of the trace"},
		{"stayed", 0.5, "share of the trace", "research: the first has been there for most of it"},
		{"abandoned", 10, "goroutines", "chosen: that wait to send when the trace ends, where nobody received one of them, and the source shows that nobody will"},
	},
	Check: checkNeverFinish,
}

// stuck is a place with goroutines that never finish. What the search, the looks
// and the trace say of the same place is one finding.
type stuck struct {
	at stack.Frame
	// from is the line of the user's that led to them, where it is known and they wait in
	// code of others: the goroutines of one connection have one.
	from stack.Frame
	// way are the frames of the user's from that line on.
	way []stack.Frame
	// count is how many there are.
	count float64
	// proved and grows tell that the search has found them, and that profiles or the trace show more of them with time.
	proved, grows bool
	Finding
}

// mostStuck is how many places are told of.
const mostStuck = 3

// stuckLook is one way to find goroutines that never finish; other is what it says where it finds none.
type stuckLook func(r *Rule, in *Input) (all []stuck, other Finding)

// stuckPlaces are what several looks find, by place: what they say of the same one is put together. others are the answers of looks that find
// none.
func stuckPlaces(r *Rule, in *Input, looks ...stuckLook) (places []stuck, others []Finding) {
	for _, look := range looks {
		more, other := look(r, in)
		others = append(others, other)
		for _, m := range more {
			if m.at.Func == "" && len(places) > 0 { // more of them in all: those, as far as is known
				places[0].Evidence = append(places[0].Evidence, Evidence{Text: m.Summary})
				continue
			}
			same := func(p stuck) bool {
				return p.at.Func == m.at.Func && p.at.Line == m.at.Line || p.from.Func != "" && p.from == m.from
			}
			if i := slices.IndexFunc(places, same); i >= 0 {
				places[i].Evidence = append(places[i].Evidence, m.Evidence...)
				places[i].grows = places[i].grows || m.grows
				if places[i].Impact.Unit == leakedUnit {
					places[i].Impact = m.Impact // how fast says more than how many
				}
				continue
			}
			places = append(places, m)
		}
	}
	return places, others
}

func checkNeverFinish(r *Rule, in *Input) []Finding {
	places, others := stuckPlaces(r, in, proved, becomingMore, staying, abandonedSends, endless, counted)
	var fine []string
	short := Finding{}
	for _, other := range others {
		switch other.State {
		case TooLittle:
			short = other
		case Fine:
			fine = append(fine, other.Summary)
		}
	}
	var found []Finding
	for _, p := range places[:min(mostStuck, len(places))] {
		if p.at.Func != "" && !in.Session.Scope().IsUser(p.at) {
			p.tellStarter(in)
		} else if advice, shown := WaitEnds(in, p.at); advice != "" {
			p.Advice, p.Evidence = advice, append(p.Evidence, shown...)
		} else if p.at.Func != "" && p.Advice == wayOutAdvice {
			if a, ok := abandonedAt(in.code, p.at); ok {
				a.tell(in.code, &p.Finding)
			} else {
				p.Advice = leaveAdvice(in.code, p.at)
			}
		}
		if p.at.Func != "" && in.Session.Scope().IsUser(p.at) {
			if grows := p.grows; !grows && p.proved {
				p.tellMeant(in.code)
			} else if grows {
				p.tellKept(in.code)
			}
		}
		found = append(found, p.Finding)
	}
	switch {
	case len(found) > 0:
		return found
	case len(fine) > 0:
		return []Finding{r.answer(Fine, "%s", strings.Join(fine, "; "))}
	case short.State == TooLittle:
		return []Finding{short}
	}
	return []Finding{r.answer(NotApplicable, "the recording has no execution trace, no goroutine leak search, and fewer than %g goroutine profiles (record with -phases trace, goroutineleak or growth)", r.param("looks"))}
}

// stuckAt begins the finding of a place. The advice is the same for all.
func stuckAt(r *Rule, at stack.Frame, count float64, format string, args ...any) stuck {
	f := r.answer(Found, format, args...)
	f.Severity, f.Score = Warning, score(count, 100, 1000)
	f.Advice = wayOutAdvice
	f.Verify = "Record again for as long: the number of goroutines should stay the same (-phases growth)."
	return stuck{at: at, count: count, Finding: f}
}

// leakedUnit is the unit of what Go's search has found.
const leakedUnit = "leaked goroutines"

// bySearch ends the text of evidence that is a proof.
const bySearch = "according to Go's leak search (goroutineleak)"

// proved reads Go's own search for goroutines that nothing can wake up.
func proved(r *Rule, in *Input) (all []stuck, other Finding) {
	p, entry, err := in.Session.Profile(recording.GoroutineLeak)
	if errors.Is(err, session.ErrNone) {
		return nil, Finding{State: NotApplicable}
	}
	if err != nil {
		return nil, r.answer(TooLittle, "%v", err)
	}
	counts := map[stack.Frame]int64{}
	stacks := map[stack.Frame][]stack.Frame{}
	var order []stack.Frame
	for id, n := range p.Samples(0) {
		frames := facts.Frames(p.Stacks, id)
		if len(frames) == 0 || n <= 0 {
			continue
		}
		at := in.code.userFrame(frames)
		key := stack.Frame{Func: at.Func, File: at.File, Line: at.Line}
		if counts[key] == 0 {
			order, stacks[key] = append(order, key), frames
		}
		counts[key] += n
	}
	slices.SortStableFunc(order, func(a, b stack.Frame) int { return int(counts[b] - counts[a]) })
	for _, at := range order {
		n := counts[at]
		if float64(n) < r.param("leaked") {
			continue
		}
		s := stuckAt(r, at, float64(n), "%s at %s can never continue: Go's leak search found nothing that could wake them up", unit.Plural(n, "goroutine"), place(at))
		s.Score = max(s.Score, score(1, 0.5, 1)) // one that is proved counts
		s.proved = true
		s.Impact = exactly(float64(n), leakedUnit)
		s.Evidence = []Evidence{in.fileAt(entry, at, stacks[at], "%s leaked here, %s", unit.Count(n), bySearch)}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, r.answer(Fine, "Go's leak search found no goroutine that nothing can wake up (it cannot see those whose channel or lock is still referenced)")
	}
	return all, Finding{}
}

// becomingMore compares the looks of a growth phase.
func becomingMore(r *Rule, in *Input) (all []stuck, other Finding) {
	g := in.Facts.Growth(recording.Goroutine, "goroutine", r.param("looks")).Judged(false, r.param("looks"))
	if g == nil {
		return nil, Finding{State: NotApplicable}
	}
	var levelled, slight []string
	for _, s := range g.Sites {
		if !s.Grows(r.param("p")) || waitsOutside(s.Frames) && !sleeps(s.Frames) {
			continue
		}
		if s.Grew() < r.param("more") {
			if s.Grew() >= r.param("more")/4 {
				slight = append(slight, fmt.Sprintf("at %s there %s at the beginning and %s at the end, fewer than %g more", place(s.At), were(s.Values[0]), unit.Count(int64(s.Values[len(s.Values)-1])), r.param("more")))
			}
			continue
		}
		if facts.LevelledOff(g.Times, s.Values) { // a pool at its bound
			levelled = append(levelled, fmt.Sprintf("at %s there %s at the beginning, and their number then stayed at %s", place(s.At), were(s.Values[0]), unit.Count(int64(s.Values[len(s.Values)-1]))))
			continue
		}
		f := stuckAt(r, s.At, s.Grew(), "at %s there %s, and %s later %s, with more in almost every one of %d profiles",
			place(s.At), were(s.Values[0]), g.Length(), unit.Count(int64(s.Values[len(s.Values)-1])), len(g.Times))
		f.grows = true
		every := "goroutines more every second"
		if g.Untimed {
			every = "goroutines more from look to look"
		}
		f.Impact = &Impact{s.Slope.Estimate, every, s.Slope.Low, s.Slope.High}
		f.Evidence = []Evidence{in.fileAt(g.Last, s.At, s.Frames, "%s %s [%s, %s]", unit.Number(s.Slope.Estimate), every, unit.Number(s.Slope.Low), unit.Number(s.Slope.High))}
		f.Doubts = append(in.doubts(), "a rising load, or a pool that is still growing, looks the same")
		if !g.Untimed {
			f.tellLimit(in, s.Frames, g.Covers())
		}
		if unread := SourceUnread(in, s.Frames); unread != "" {
			f.Doubts = append(f.Doubts, unread)
		}
		all = append(all, f)
	}
	if len(all) == 0 && len(slight) > 0 {
		return nil, r.short("%s (%s over %s): record longer", slight[0], unit.Plural(int64(len(g.Times)), "profile"), g.Length())
	}
	if len(all) == 0 && len(levelled) > 0 {
		return nil, r.answer(Fine, "%s (%s over %s)", levelled[0], unit.Plural(int64(len(g.Times)), "profile"), g.Length())
	}
	if len(all) == 0 {
		return nil, r.answer(Fine, "the number of goroutines that wait for others grew steadily nowhere over %s (%d profiles)", g.Length(), len(g.Times))
	}
	return all, Finding{}
}

// waitsOutside tells that a goroutine is on the network, in a system call or asleep:
// somebody else decides when it goes on.
func waitsOutside(frames []stack.Frame) bool {
	return sleeps(frames) || slices.ContainsFunc(frames[:min(6, len(frames))], func(f stack.Frame) bool {
		return f.Func == "internal/poll.runtime_pollWait" || strings.HasPrefix(f.Func, "syscall.")
	})
}

// sleeps tells that a goroutine is asleep.
func sleeps(frames []stack.Frame) bool {
	return slices.ContainsFunc(frames[:min(6, len(frames))], func(f stack.Frame) bool { return f.Func == "time.Sleep" })
}

// staying looks at the goroutines that came to a place in the trace and did not
// leave.
func staying(r *Rule, in *Input) (found []stuck, other Finding) {
	if len(in.Session.Manifest().Of(recording.ExecTrace)) == 0 {
		return nil, Finding{State: NotApplicable}
	}
	t := in.trace()
	if t.Err != nil {
		return nil, r.answer(TooLittle, "%v", t.Err)
	}
	if t.Length() < facts.MinTrace {
		return nil, r.short("the trace covers %s; %s are needed", unit.Duration(t.Length()), unit.Duration(facts.MinTrace))
	}
	var most *sched.Left
	level := ""
	for i := range t.Left {
		l := &t.Left[i]
		if !staysThere(t, l) {
			continue
		}
		if most == nil || l.Created > most.Created {
			most = l
		}
		if float64(l.Created) < r.param("goroutines") || float64(slices.Min(l.Quarters[:])) < r.param("quarter")*float64(l.Count) || t.Share(l.Longest) < r.param("stayed") {
			continue
		}
		if text := levelUnderLoad(in, t, false, t.Rate(l.Created)); text != "" {
			level = cmp.Or(level, fmt.Sprintf("%s goroutines of %s that started during the trace wait at %s at its end, but %s: they finish later", unit.Count(l.Created), t.name(l.Name), place(t.Site(l.Stack)), text))
			continue
		}
		if text := numberFell(in, t, l.Created); text != "" {
			level = cmp.Or(level, fmt.Sprintf("%s goroutines of %s that started during the trace wait at %s at its end, but %s", unit.Count(l.Created), t.name(l.Name), place(t.Site(l.Stack)), text))
			continue
		}
		s := stuckAt(r, t.Site(l.Stack), float64(l.Created), "%s goroutines of %s wait at %s when the trace ends; %s of them started during the trace, and none has ended; the first has been there for %s",
			unit.Count(l.Count), t.name(l.Name), place(t.Site(l.Stack)), unit.Count(l.Created), unit.Duration(l.Longest))
		if n, before := inProfile(in, t, s.at); n > l.Count {
			s.Summary = fmt.Sprintf("%s goroutines wait at %s by a goroutine profile%s; in the %s of the trace %s more of %s came there, and none has ended",
				unit.Count(n), place(s.at), before, unit.Duration(t.Length()), unit.Count(l.Created), t.name(l.Name))
			s.Score = max(s.Score, score(float64(n), 100, 1000))
		}
		s.grows = true
		s.Impact = exactly(t.Rate(l.Created), "goroutines more every second")
		s.Evidence = []Evidence{t.seen(l.Stack, "%s; in the quarters of the trace came %s", t.Reader.Name(l.Reason), fmt.Sprint(l.Quarters))}
		from := t.startedFrom(l)
		if c, ok := leakCalledFrom(t, l); ok {
			from = c.stack
			c.tell(&s.Finding)
		}
		if from != 0 {
			s.Evidence = append(s.Evidence, t.seen(from, "they originate from what this line starts"))
			if !t.Scope.IsUser(s.at) {
				s.from = t.Site(from)
				for _, f := range t.Frames(from) {
					if t.Scope.IsUser(f) {
						s.way = append(s.way, f)
					}
				}
			}
		}
		s.Doubts = in.traceDoubts(t, "a trace cannot show whether something will wake them up later: more connections, or a growing pool, look the same")
		if frames := t.Frames(l.Stack); selectsClock(in.code, in.code.userFrame(frames)) {
			s.tellLimit(in, frames, t.Length())
		}
		found = append(found, s)
	}
	if len(found) > 0 {
		return found, Finding{}
	}
	if level != "" {
		return nil, r.answer(Fine, "%s", level)
	}
	if most == nil || most.Created == 0 {
		return nil, r.answer(Fine, "no goroutine started during the trace waits for another at its end")
	}
	return nil, r.answer(Fine, "at most %s of those started during the trace wait at one place at its end (%s)", unit.Plural(most.Created, "goroutine"), place(t.Site(most.Stack)))
}

// inProfile is how many goroutines wait at a line by a goroutine profile, and in words how long
// before the end of the trace that was, if it was.
func inProfile(in *Input, t *traced, at stack.Frame) (n int64, before string) {
	looks, _ := in.Facts.WaitsOf(recording.Goroutine)
	if len(looks) == 0 {
		return 0, ""
	}
	for _, x := range looks[0].All {
		if f := in.code.userFrame(x.Frames); f.Func == at.Func && f.File == at.File && f.Line == at.Line {
			n += x.Count
		}
	}
	phases := in.Session.Manifest()
	then, _ := phases.PhaseNamed(looks[0].Entry.Phase)
	now, _ := phases.PhaseNamed(t.Entry.Phase)
	if gap := now.Span.End.Sub(then.Span.End); then.Run == now.Run && then.Span.Len() > 0 && gap > 0 {
		before = ", " + unit.Duration(gap) + " before the trace ends"
	}
	return n, before
}

// startedFrom is the go statement that led to goroutines and is in code of the user: their
// own, or that of the goroutine which began them; 0 where neither is.
func (t *traced) startedFrom(l *sched.Left) stack.ID {
	for _, id := range []stack.ID{l.Creator, l.Origin} {
		if id != 0 && t.Scope.IsUser(t.Site(id)) {
			return id
		}
	}
	return 0
}

// counted looks at the number of goroutines in the samples of the runtime: of a
// process that is looked at from outside there is no more. Where a goroutine profile
// has most of those that came at one place, that is the place.
func counted(r *Rule, in *Input) (found []stuck, other Finding) {
	other = Finding{State: NotApplicable}
	for _, run := range runs(in) {
		set, err := in.Session.Metrics(run)
		if err != nil {
			continue
		}
		series := set.Series("/sched/goroutines:goroutines")
		n := series.Values
		if len(n) < int(r.param("samples")) {
			if len(n) > 0 && other.State == NotApplicable {
				other = r.short("%d samples of the number of goroutines; %g are needed", len(n), r.param("samples"))
			}
			continue
		}
		q := max(1, len(n)/4)
		first, last := stats.Mean(n[:q]), stats.Mean(n[len(n)-q:])
		_, p := stats.MannKendall(n)
		more := n[len(n)-1] - n[0]
		from, to := unit.Number(n[0]), unit.Number(n[len(n)-1])
		few := more < r.param("goroutines") || last < r.param("times")*max(1, first)
		switch {
		case few && p < r.param("p") && more >= r.param("more")/4 && n[len(n)-1]-n[len(n)-q] >= more/16:
			other = r.short("there were %s goroutines at the beginning and %s at the end, a steady rise over %d samples, but by less than what connections and pools may do: record longer", from, to, len(n))
		case few:
			other = r.answer(Fine, "there were between %s and %s goroutines, %s at the beginning and %s at the end (%d samples)", unit.Number(slices.Min(n)), unit.Number(slices.Max(n)), from, to, len(n))
		case n[len(n)-1]-n[len(n)-q] < more/16:
			other = r.answer(Fine, "there were %s goroutines at the beginning, and their number then stayed at %s (%d samples)", from, to, len(n))
		case p >= r.param("p"):
			other = r.answer(TooLittle, "there were %s goroutines at the beginning and %s at the end, with ups and downs in between (%d samples): record longer", from, to, len(n))
		default:
			found = append(found, stuckSomewhere(r, in, n, more, series.Times[len(n)-1].Sub(series.Times[0])))
		}
	}
	return found, other
}

// runs are the processes that the phases are of, each once.
func runs(in *Input) (all []int) {
	for _, p := range in.Session.Manifest().Phases {
		if !slices.Contains(all, p.Run) {
			all = append(all, p.Run)
		}
	}
	return all
}

// stuckSomewhere is the finding of goroutines that become more, at the place
// where most of them wait, if that is known.
func stuckSomewhere(r *Rule, in *Input, n []float64, more float64, covers time.Duration) stuck {
	f := stuckAt(r, stack.Frame{}, more, "there were %s goroutines at the beginning and %s at the end, a steady rise over %d samples that had not stopped", unit.Number(n[0]), unit.Number(n[len(n)-1]), len(n))
	f.Impact = exactly(more, "goroutines more")
	f.Severity = Info
	f.Doubts = append(in.doubts(), "a rising load, or a pool that is still growing, looks the same")
	looks, _ := in.Facts.WaitsOf(recording.Goroutine)
	if f.tellStaying(in, more) {
		return f
	}
	if len(looks) == 0 {
		f.Advice = "Record a goroutine profile (-phases goroutine), which shows where they wait" + lookAgain(in, "; -phases growth takes ten of them") + "."
		return f
	}
	most, top, waiting := mostWait(in, looks[0], func(x facts.Wait) bool { return !waitsOutside(x.Frames) || sleeps(x.Frames) })
	if float64(waiting) < more/2 {
		if most, top, waiting = mostWait(in, looks[0], func(x facts.Wait) bool { return waitsOutside(x.Frames) }); float64(waiting) >= more/2 {
			f.Evidence = []Evidence{in.fileAt(looks[0].Entry, most, top.Frames, "%s are on the network or in a system call here: somebody else decides when they go on", unit.Plural(waiting, "goroutine"))}
			return f
		}
		f.Doubts = append(f.Doubts, "no place in the goroutine profile has most of them")
		return f
	}
	f.at, f.Severity = most, Warning
	f.Evidence = []Evidence{in.fileAt(looks[0].Entry, most, top.Frames, "%s wait here", unit.Plural(waiting, "goroutine"))}
	f.tellLimit(in, top.Frames, covers)
	return f
}

// tellStaying names the line at which most of those by which their number rose wait when the trace ends.
func (f *stuck) tellStaying(in *Input, more float64) bool {
	t := in.trace()
	if t.Err != nil || t.Length() < facts.MinTrace {
		return false
	}
	counts, stacks := map[stack.Frame]int64{}, map[stack.Frame]stack.ID{}
	var most stack.Frame
	for i := range t.Left {
		l := &t.Left[i]
		if !staysThere(t, l) {
			continue
		}
		at := t.Site(l.Stack)
		if counts[at] == 0 {
			stacks[at] = l.Stack
		}
		if counts[at] += l.Count; counts[at] > counts[most] {
			most = at
		}
	}
	if float64(counts[most]) < more/2 {
		return false
	}
	f.at, f.Severity = most, Warning
	f.Evidence = []Evidence{t.seen(stacks[most], "%s wait here when the trace ends", unit.Plural(counts[most], "goroutine"))}
	if selectsClock(in.code, most) {
		f.tellLimit(in, t.Frames(stacks[most]), t.Length())
	}
	return true
}

// staysThere tells of goroutines that are somewhere when the trace ends that they wait for another one: on the network, asleep or for the collector,
// somebody else decides when they go on.
func staysThere(t *traced, l *sched.Left) bool {
	return t.Own(l.Name) && l.State == exectrace.Waiting && l.Reason != exectrace.NameNetwork && l.Reason != exectrace.NameSleep &&
		!strings.HasPrefix(t.Reader.Name(l.Reason), "GC ")
}

// mostWait is the place at which the most goroutines of some wait by a profile, the stack of most of these, and how many they are.
func mostWait(in *Input, looks *facts.AllWaits, of func(facts.Wait) bool) (at stack.Frame, top facts.Wait, n int64) {
	counts := map[stack.Frame]int64{}
	for _, x := range looks.All {
		if !of(x) {
			continue
		}
		f := in.code.userFrame(x.Frames)
		f = stack.Frame{Func: f.Func, File: f.File, Line: f.Line}
		if counts[f] += x.Count; counts[f] > n {
			at, top, n = f, x, counts[f]
		}
	}
	return at, top, n
}

// were puts a number of goroutines behind "there": "was 1 goroutine", "were 5 goroutines".
func were(n float64) string {
	if n == 1 {
		return "was 1 goroutine"
	}
	return "were " + unit.Plural(int64(n), "goroutine")
}
