package insight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

var wt01 = &Rule{
	ID: "WT01", Title: "Requests or tasks spend much of their time waiting at one line",
	About: "The wall time of each complete request in the trace (or otherwise of each user task, benchmark, test, or of main) is attributed to lines: running, and every kind " +
		"of wait (off-CPU time). If another goroutine ended a wait, what that goroutine did meanwhile shows what the wait was for (the critical path). Waiting for the request's own client does not count as lost time, nor does what main waits for in a server.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"share", 0.3, "share of the time", "chosen: less is rarely the first thing to change"},
		{"warning", 0.4, "share of the time", "chosen: a factor of two is within reach"},
		{"each", 200e-6, "s", "chosen: the length of one wait; less is scheduler and kernel overhead"},
		unitsParam,
		groupParam,
		{"starved", 0.25, "share of the time", "chosen: from here on waiting for a P is the problem, and other waits may follow from it"},
		{"window", 0.01, "s", "chosen: a timer that costs a request less may be the window in which a batch is gathered"},
		{"calls", 3, "calls in one", "chosen: from here on they may be made concurrently, or combined into one"},
	},
	Part:  true,
	Check: checkWaits,
}

// waiting is what one group of units waits for at one line.
type waiting struct {
	group  facts.UnitGroup
	key    string // what is the same in it
	kind   string // of the wait, by its key
	clause string
	site   facts.UnitSite
	time   time.Duration // that is not spent running, nor waiting for a P
	count  int64
	what   string
	more   []facts.UnitSite // further lines of it
	rows   []*facts.UnitRow // what is added up
	causes []facts.UnitRow  // what it was for, the largest first; of one goroutine itself none
	spent  bool             // it is for a limiter whose burst a run has spent
	pace   *pace            // of a limiter that makes it wait; nil where that is unknown
	vain   *vain            // tries that fail again, whose pauses it is; else nil
	gang   *gang            // those that end it, where they are held up elsewhere than the last of them; else nil
	limit  *answerLimit     // of the source, which ends it or the wait of who does; else nil
	there  bool             // it pauses until something exists, which has yet to be judged by the pauses
	// servers are those who serve the queue that it is, where they mostly wait themselves; else nil.
	servers *behind
	library *libraryCall // in which the wait is, where it is no wait of the program's own; else nil
}

// share is the part of the group's time.
func (w *waiting) share() float64 { return w.group.All.Share(w.time) }

// each is how long a unit waits on average.
func (w *waiting) each() time.Duration { return w.time / time.Duration(max(1, w.group.Wall.Count)) }

// purpose are the waits that are what the unit is there for, or that nobody here can
// change; Ready and running time wait for nothing but a CPU.
var purpose = []string{"client", "accept", "pipe", "running", "runnable", "socket_call", "unknown", "cgo", "system_call"}

func checkWaiting(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	w := mostly(g)
	if w != nil && w.share() >= r.param("share") && w.each().Seconds() >= r.param("each") {
		found = append(found, waitingFinding(r, in, t, w))
	}
	return found, notWaiting(g)
}

// notWaiting says what the heaviest group spends its time on.
func notWaiting(g facts.UnitGroup) string {
	if len(g.All.Rows) == 0 {
		return "it is not known where the time goes"
	}
	w := mostly(g)
	first := &g.All.Rows[0]
	text := fmt.Sprintf("%s spends most of its time, %s, %s%s", unitOf(g), unit.Percent(g.All.Share(first.Time)), first.Kind.Clause(), atPlace(first.Site))
	if first.Cause.Kind.Key() == "running" {
		text += ", while another goroutine runs" + atPlace(first.Cause.Site)
	}
	if w != nil && (w.site != first.Site || w.kind != first.Kind.Key()) && w.share() >= 0.05 {
		text += fmt.Sprintf("; of its waits %s%s is the longest, %s", w.clause, atPlace(w.site), unit.Percent(w.share()))
	}
	return text
}

// mostly finds what a group waits for most, nil where it does not wait: at one line, or
// at several for one cause. What a peer takes counts half, since it is the peer's: a
// queue before the call comes first.
func mostly(g facts.UnitGroup) *waiting {
	lines, causes := gather(g, g.All.Rows)
	best, for1 := lines.most(), causes.most()
	if best == nil || for1 != nil && for1.weight() > 1.2*best.weight() {
		return for1
	}
	return best
}

// harness collects garbage before it starts a benchmark's timer: that is no part of what the
// benchmark does.
const harness = "testing.(*B).runN"

// ofRecorder tells of a site, at which no code of the program is, that it starts or stops a trace
// or a profile: the recording itself does.
func ofRecorder(s facts.UnitSite) bool {
	return !s.User && slices.Contains([]string{"runtime/trace", "runtime/pprof"}, stack.Package(s.Frame.Func))
}

// gather adds up the waits of some units by line, and those that another goroutine has
// ended by what that one did.
func gather(g facts.UnitGroup, rows []facts.UnitRow) (lines, causes gathering) {
	lines, causes = gathering{}, gathering{}
	for i := range rows {
		row := &rows[i]
		kind, cause := row.Kind.Key(), row.Cause.Kind.Key()
		switch {
		case slices.Contains(purpose, kind), kind == "other" && row.Site.Frame.Func == "" && cause == "none", row.Site.Frame.Func == harness, ofRecorder(row.Site), kind == "stop_the_world" && strings.HasSuffix(row.What, " trace"):
			// The trace that this is read from stopped it, when it began.
		case kind == "stop_the_world":
			lines.add(g, kind, row)
		case cause == "runnable" || cause == "running" && kind != "lock" && kind != "pool":
			// It waits for a computation, or with it for a P.
		default:
			lines.add(g, kind+" "+fmt.Sprint(row.Site.Frame), row)
			if cause != "none" && cause != "unknown" && kind != "lock" {
				causes.add(g, cause+" "+fmt.Sprint(row.Cause.Site.Frame), row)
			}
		}
	}
	return lines, causes
}

// gathering are waits by what is the same in them.
type gathering map[string]*waiting

func (x gathering) add(g facts.UnitGroup, key string, row *facts.UnitRow) {
	w := x[key]
	if w == nil {
		w = &waiting{group: g, key: key, kind: row.Kind.Key(), clause: row.Kind.Clause(), site: row.Site, what: row.What}
		x[key] = w
	}
	w.rows = append(w.rows, row)
	w.time += row.Time
	w.count += row.Count
	if row.Site.Frame != w.site.Frame && row.Kind.Key() != "stop_the_world" {
		w.more = append(w.more, row.Site)
	}
	if row.Cause.Kind.Key() != "none" {
		w.causes = append(w.causes, *row)
	}
}

// most is the one that counts most.
func (x gathering) most() (best *waiting) {
	for _, key := range slices.Sorted(maps.Keys(x)) {
		if w := x[key]; best == nil || w.weight() > best.weight() {
			best = w
		}
	}
	return best
}

// calls is how many calls one unit makes on average where it waits: an answer that comes
// in pieces is one.
func (w *waiting) calls() float64 {
	n := w.count
	if w.outside() {
		made := int64(0)
		for _, o := range outwards(w.group) {
			if o.path[0] == w.site.Frame && farOf(o.kind) == farOf(w.kind) {
				made += o.calls
			}
		}
		n = min(n, made)
	}
	return float64(n) / float64(max(1, w.group.Wall.Count))
}

// outside tells whether it is for what is outside of the program, by itself.
func (w *waiting) outside() bool { return w.rows[0].Kind.Outside() }

// weight is the time of a wait as far as the program can change it.
func (w *waiting) weight() float64 {
	if slices.Contains(peers, w.reason()) && !w.queues() && w.calls() < 3 {
		return float64(w.time) / 2
	}
	return float64(w.time)
}

// reason is what the wait is for, by the key of its kind.
func (w *waiting) reason() string {
	if len(w.causes) == 0 || w.kind == "pool" || w.kind == "stop_the_world" {
		return w.kind
	}
	if cause := w.causes[0].Cause.Kind.Key(); cause != "unknown" {
		return cause
	}
	return w.kind
}

// queues tells whether units wait while others do what they do themselves then: they
// stand in a queue.
func (w *waiting) queues() bool {
	if len(w.causes) == 0 || w.kind == "stop_the_world" || w.kind == "wait_group" {
		return false // who waits for all others to end stands in no queue with them
	}
	if w.kind == "channel" || w.kind == "cond" || w.kind == "pool" {
		queued, all := time.Duration(0), time.Duration(0)
		for _, row := range w.rows {
			queued += row.Queued
			if w.group.Unit.String() != "worker" || row.Cause.Kind.Key() != "none" { // else it goes on when the trace ends
				all += row.Time
			}
		}
		return all > 0 && 2*queued >= all
	}
	c := &w.causes[0].Cause
	return slices.ContainsFunc(w.group.All.Rows, func(row facts.UnitRow) bool {
		return row.Kind == c.Kind && row.Site.Frame == c.Site.Frame && row.Cause.Kind.Key() == "none"
	})
}

// unitOf names one of a group: "a request of main.handle".
func unitOf(g facts.UnitGroup) string {
	name := g.Unit.String()
	switch {
	case name == "main":
		return "main"
	case g.Name == "":
		return "a " + name + " without a stack of the program"
	case name == "request":
		return "a request of " + stack.Short(g.Name)
	case name == "task":
		return "a task " + g.Name
	case name == "job":
		return "a job of " + stack.Short(g.Name)
	case name == "exchange":
		return "an exchange of " + stack.Short(g.Name)
	case name == "worker":
		return "a goroutine of " + stack.Short(g.Name)
	}
	return name + " " + stack.Short(g.Name)
}

// atPlace is where something is, as a clause.
func atPlace(s facts.UnitSite) string {
	if s.Frame.Func == "" {
		return ""
	}
	if s.Frame.Line == 0 {
		return " in " + stack.Short(s.Frame.Func)
	}
	return " in " + place(s.Frame)
}

// collects tells of stops of the world that they are those of a collection.
func (w *waiting) collects() bool {
	return w.kind == "stop_the_world" && strings.HasPrefix(w.what, "GC ")
}

func waitingFinding(r *Rule, in *Input, t *traced, w *waiting) Finding {
	g := w.group
	ownStacks(in, t, w)
	why, reason := w.meanwhile(in.code), w.reason()
	n := time.Duration(max(1, g.Wall.Count))
	what := w.clause
	if w.what != "" {
		what += " (" + w.what + ")"
	}
	where := atPlace(w.site)
	if w.kind == "stop_the_world" && why != "" {
		where = ""
	}
	if len(w.more) > 0 {
		where += fmt.Sprintf(" and %s", unit.Plural(int64(len(w.more)), "further line"))
	}
	why, part := heldText(w, reason, n, why)
	text := fmt.Sprintf("%s spends %s of its time %s%s%s: %s of %s", unitOf(g), unit.Percent(w.share()), what, where, why, unit.Duration(w.time/n), unit.Duration(g.All.Wall/n))
	text += overUnits(g)
	calls := w.calls()
	if waits := float64(w.count) / float64(n); waits >= 1.5 && w.kind != "process" {
		noun := "waits"
		if w.kind == "file_call" {
			noun = "calls"
		}
		text += fmt.Sprintf(", in %s %s%s", meanCount(w.count, int64(n)), noun, strings.TrimPrefix(inEach(g), " in"))
		if w.outside() && calls < waits/2 && w.kind != "file_call" {
			text += fmt.Sprintf(" for the pieces of %s", plurals(calls, "answer"))
		}
	}
	if w.kind == "time_limit" && w.limit == nil {
		text += w.limited(t)
	}
	idle, pushes := w.pushes(t)
	if pushes {
		text += idle.String()
	}
	many := calls >= r.param("calls")
	again := w.between(many)
	if again != nil {
		text += fmt.Sprintf(", between as many calls%s", atPlace(again.Site))
	}
	asking, asks := w.asks(in, t, many)
	if asks {
		text += fmt.Sprintf(asking.ends(), atFrame(asking.at))
	}
	text += part
	if slow := slowShare(w); g.Slow.Units > 0 && g.Wall.Count > 1 && (slow > w.share()+0.1 || slow < w.share()-0.1) {
		text += fmt.Sprintf("; in the slowest %s it is %s", unit.Count(g.Slow.Units), unit.Percent(slow))
	}
	f := titled(r.answer(Found, "%s", text), g)
	held := g.All.Share(heldFor(w, reason))
	f.Impact = exactly(ofAll(in, g, held), "share of the "+timeOfUnits(g))
	f.Score = score(held, r.param("share"), 0.9)
	f.Severity, f.waitsFor = Warning, reason
	f.Advice = waitAdvice(in, reason, w, many, t)
	if asks {
		f.Advice = asking.advice()
	}
	if at, ok := pauseSite(w, reason); ok && pausesFirst(in.code, at.Frame) && endsPolls(w, in.code, t, at.Frame) {
		f.Advice, again = lookFirst, nil
	}
	if tellLimiter(w, in, t, &f) || tellOwnRate(w, in.code, &f) || tellUntilSame(w, in.code, &f) {
		again = nil
	}
	adviseTries(w, in, t, &f)
	tellTimeLimit(in, t, w, reason, &f)
	if again != nil {
		f.Advice = againOf(again)
		f.Evidence = append(f.Evidence, t.seen(again.Site.Stack, "called again after each pause"))
		if what, ok := awaits(in.code, []stack.Frame{again.Site.Frame}); ok {
			f.Advice, f.Severity, w.there = what.advice, Info, what == ofThere
			f.Summary += "; the call " + what.says + ", going by the source"
		}
	}
	f.Verify = checkOfWait(w, in)
	f.Evidence, f.waits = append(w.evidence(in, t), f.Evidence...), w.rows
	tellPoolHolders(in, t, w, &f)
	f.Doubts = in.traceDoubts(t, "the goroutine may have other things to wait for at the same time: then less is gained than the length of the wait")
	switch {
	case pushes:
		f.Advice, f.Doubts, reason = pushedAdvice, append(f.Doubts, pushedDoubt), "pushed"
	case f.Advice == lookFirst:
		f.Doubts = append(f.Doubts, earlyDoubt)
	}
	w.weigh(r, in, t, &f, reason)
	if w.vain != nil {
		w.vain.tell(w, t, &f)
	}
	if many && w.outside() && !asks {
		tellKindOf(w, in, t, &f)
	}
	tellServing(in, t, w, pushes, &f)
	if a, ok := affinityIn(in, t, g, w.site); ok && w.kind == "channel" && (pushes || w.queues()) {
		f.Advice, f.Severity = a.advice(), Info
		f.Evidence = append(f.Evidence, a.Evidence)
		f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return d == pushedDoubt })
	}
	tellHeldFor(in, t, w, reason, &f)
	if g.Before > 0 {
		f.Doubts = append(f.Doubts, fmt.Sprintf("the wait that was under way when the trace began, %s of the time, has no stack: it is counted at the line of the later ones", unit.Duration(g.Before)))
	}
	tellBefore(w, &f)
	pausesBeforeLook(in, t, w, &f)
	if asks && asking.pages != noPages {
		f.Doubts = append(f.Doubts, pagesDoubt)
	}
	tellCadence(r, w, in, t, waitAdvice(in, reason, w, many, t), &f)
	tellSerial(in, t, w, reason, many, asks, &f)
	tellSource(in, t, w, reason, &f)
	tellLibrary(in, r, t, w, &f)
	if many && w.outside() {
		tellLimiterBeside(in, t, []stack.Frame{w.site.Frame}, w.count, &f)
	}
	namelessDoubt(in, g, &f)
	cutDoubt(in, g, &f)
	return f
}

// ownStacks sees to it that the causes are those of all who end the waits, and that the stacks are those of the
// group itself, where other units come by the same lines; then what the wait is by these.
func ownStacks(in *Input, t *traced, w *waiting) {
	gangOf(w, t)
	ownLimit(in, w)
	w.site.Stack = stackIn(in, t, w.group, w.site)
	for i := range w.causes {
		if at := &w.causes[i].Cause.Site; at.Frame.Func != "" {
			at.Stack = causeStack(in, t, w, *at)
		}
	}
	w.servers = serversWait(in, t, w)
	if w.library = withinLibrary(in, t, w); w.library != nil {
		w.library.begin(w)
	}
}

// between finds what a unit calls outside of the program before or after each of many
// pauses, in the same function: it tries, or asks, again and again.
func (w *waiting) between(many bool) *facts.UnitRow {
	if !many || w.kind != "sleep" && w.kind != "timer" {
		return nil
	}
	for i := range w.group.All.Rows {
		row := &w.group.All.Rows[i]
		calls := row.Kind.Outside() || row.Kind.Key() == "socket_call"
		if calls && row.Site.Frame.Func == w.site.Frame.Func && 5*row.Count >= 4*w.count && 2*row.Count <= 5*w.count {
			return row
		}
	}
	return nil
}

// asks finds the loop of the source that makes a call of the waits again until its answer
// suits.
func (w *waiting) asks(in *Input, t *traced, many bool) (asking, bool) {
	if !many || !w.outside() {
		return asking{}, false
	}
	for _, o := range outwards(w.group) {
		if o.path[0] == w.site.Frame && farOf(o.kind) == farOf(w.kind) {
			a, ok := askingAround(in.code, o.path)
			if at, chained := chainedAround(in.code, o.path, innerOf(t.Frames(o.stack), o.path)); chained && !ok {
				return asking{at: at, chained: true}, true
			}
			if first, ends := firstOf(in.code, o.path); ends && first.retries && !ok {
				return asking{at: first.at, seeks: true}, true
			}
			a.pauses = pausesBetween(t, w.group, a)
			return a, ok
		}
	}
	return asking{}, false
}

// pluralOf names units: "requests of main.handle".
func pluralOf(g facts.UnitGroup) string {
	switch name := g.Unit.String(); name {
	case "main":
		return name
	case "worker":
		return "the goroutines of " + stack.Short(g.Name)
	default:
		return name + "s"
	}
}

// timeOfUnits is the time that a share of a group's is of. A trace may have only a part of main.
func timeOfUnits(g facts.UnitGroup) string {
	if g.Unit.String() == "main" {
		return fmt.Sprintf("time of main in the trace (%s)", unit.Duration(g.Wall.Sum))
	}
	return "time of " + pluralOf(g)
}

// slowShare is the share of the same wait in the slow ones.
func slowShare(w *waiting) float64 {
	lines, causes := gather(w.group, w.group.Slow.Rows)
	if same := cmp.Or(lines[w.key], causes[w.key]); same != nil {
		return w.group.Slow.Share(same.time)
	}
	return 0
}

// peers are those across a network, or of the kernel: their time is not the program's.
var peers = []string{"network", "dial", "dns", "tls", "network_write", "file_call"}

// weigh judges how much a finding counts.
func (w *waiting) weigh(r *Rule, in *Input, t *traced, f *Finding, reason string) {
	g := w.group
	info := func(doubt string) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, doubt)
	}
	if g.All.Share(heldFor(w, reason)) < r.param("warning") {
		f.Severity = Info
	}
	calls := w.calls()
	if w.kind == "file_call" && syncs(t.Frames(w.site.Stack)) && calls >= r.param("calls") {
		w.weighSyncs(in, t, f)
	}
	switch {
	case slices.Contains(peers, reason) && calls < r.param("calls") && w.kind != "lock" && w.kind != "pool" && !w.queues():
		info(w.elsewhere(t, reason))
	case slices.Contains(peers, reason) && !w.outside() && w.kind != "lock" && w.kind != "pool" && !w.queues() && g.Unit.String() != "request":
		info(w.inItsPlace(t, reason))
	case w.kind == "file_call" && g.Unit.String() == "main" && f.Advice == fileMakes.advice() && makesFiles(in, userFrames(in.code, w.site.Frame, t.Frames(w.site.Stack)), innerOf(t.Frames(w.site.Stack), []stack.Frame{w.site.Frame})):
		info(ownFilesDoubt)
	case reason == "process" && g.Unit.String() == "main" && processesOf(in, t, w) == startsOutsideLoops:
		info("the time is spent by the other program, which no loop of the source starts again")
	case reason == "channel" || reason == "wait_group" || reason == "cond" || reason == "other" || reason == "unknown":
		info("the trace does not show what the goroutine that ended the wait did meanwhile, or it was waiting itself")
	}
	if starved := g.All.Of(ready(g)) + causedBy(g, "runnable"); g.All.Share(starved) >= r.param("starved") {
		info(fmt.Sprintf("%s of the time is waiting for a P (SC07): other waits may be long because of that", unit.Percent(g.All.Share(starved))))
	} else if slices.Contains([]string{"lock", "running", "channel", "wait_group", "cond", "other"}, reason) {
		full(in, f)
	}
	if (reason == "sleep" || reason == "timer") && reason != w.kind && w.kind != "lock" && g.Unit.String() == "request" {
		f.Doubts = append(f.Doubts, "a request that is meant to wait for an event (long polling) loses nothing")
	}
	switch {
	case w.limit != nil:
		w.limit.tell(in, t, f)
	case reason == "time_limit":
		f.Doubts = append(f.Doubts, "a call that waits for an event (long polling) may be meant to end so")
		tellPoll(in.code, w.calledFrames(t), f)
	}
	if reason == "process" {
		tellSameProcess(in, t, w, f)
	}
	fails := false
	if at, ok := eventOrTimer(in.code, w.site.Frame); ok && w.kind == "timer" {
		f.Evidence, f.Advice = append(f.Evidence, at), newsAdvice
		info("a wait for news that ends with the timer may be meant to (long polling): then it loses nothing")
	} else if why := ownPause(in.code, w.site.Frame); why != "" && w.vain == nil && (w.kind == "sleep" || w.kind == "timer") {
		info(why)
	} else if w.kind == "sleep" || w.kind == "timer" {
		var tries tried
		if tries, fails = w.triesBetween(in, t); w.vain != nil {
			fails = true
		} else if fails {
			w.tellTries(in, t, tries, f, info)
		} else if limiter, own := w.limiter(t); limiter != "" {
			if !own && !w.pace.bursts() && !w.spent {
				info(w.pace.doubt(limiter))
			}
		} else if paces(in.code, w.site.Frame) {
			info("the pause is in a loop that only its items, a count or the time ends: it may keep an intended rate")
		}
	}
	if limiter, own := w.limiter(t); limiter != "" && w.ofAnother(reason) && !own && !w.spent {
		info(w.pace.doubt(limiter))
	}
	if w.vain == nil && w.ofAnother(reason) && paces(in.code, w.causes[0].Cause.Site.Frame) && w.causes[0].Cause.Kind.Key() == "sleep" {
		info("the pause of the other goroutine is in a loop that only its items, a count or the time ends: it may keep an intended rate")
	}
	if window := w.kind == "timer" || w.ofAnother(reason); window && g.Unit.String() == "request" && w.each().Seconds() < r.param("window") {
		info("the timer may be the window in which a batch is gathered: each request gains " + unit.Duration(heldFor(w, reason)/unitCount(g)) + " at most")
	}
	tries, ok := w.asks(in, t, calls >= r.param("calls"))
	switch {
	case ok && tries.chained, ok && tries.leads, ok && tries.pages == pagesOfSession, ok && tries.pages == pagesCarried:
		f.Severity = Info // who waits can ask no sooner
	case ok && tries.seeks:
		info("the calls before the one that suits may be what the loop is there to save the others")
	}
	if ok && tries.retries && tries.pauses && tries.bounded {
		info("the failing call is retried with pauses and a limit: how long both should be depends on the peer")
	}
	if !fails && streams(t, g) && (w.kind == "timer" || w.kind == "channel" || w.kind == "sleep") {
		info("it keeps writing to its client: waiting for what it sends next may be its job")
	}
	if w.outside() && calls >= r.param("calls") && relays(t, g, int64(calls*float64(g.Wall.Count))) {
		info(relayDoubt)
	}
	if name := g.Unit.String(); name == "task" {
		in.public().weigh(f)
	}
}

// bufferAdvice is what to do about a great many short reads or writes of files by the units themselves.
func (w *waiting) bufferAdvice(t *traced) string {
	if !manyShortCalls(w) || !unbuffered(w.calledFrames(t)) {
		return ""
	}
	what := fmt.Sprintf("a call takes only %s, so that most of the time is the cost of calling, not of the disk", unit.Duration(w.time/time.Duration(w.count)))
	switch fileCallOf(w.calledFrames(t)) {
	case fileReads:
		return "Read through a buffer (bufio.NewReader), or larger blocks: " + what + "."
	case fileWrites:
		return "Write through a buffer (bufio.NewWriter, flushed at the end), or larger blocks: " + what + "."
	}
	return ""
}

// manyShortCalls tells whether the units themselves make a great many short system calls on files.
func manyShortCalls(w *waiting) bool {
	return w.kind == "file_call" && w.count >= manyShort*max(1, w.group.Wall.Count) && w.time/time.Duration(w.count) <= shortCall
}

// From manyShort system calls in a unit on, none longer than shortCall on average, they are what
// a buffer is for.
const (
	manyShort = 1000
	shortCall = 20 * time.Microsecond
)

// elsewhere says who spends the time of a wait for what is outside of the program.
func (w *waiting) elsewhere(t *traced, reason string) string {
	if manyShortCalls(w) {
		return "the trace makes short system calls longer: without it they are a smaller share of the time"
	}
	if reason == "file_call" {
		return "the time is spent in system calls, which may have to wait for the disk"
	}
	return "the time is spent by the responder, which may have good reasons for it"
}

// inItsPlace says how many others wait for what is outside of the program while the units wait for them.
func (w *waiting) inItsPlace(t *traced, reason string) string {
	if reason == "file_call" {
		return "other goroutines make the system calls in its place, which may have to wait for the disk"
	}
	at := w.causes[0].Cause.Site.Frame
	sum := time.Duration(0)
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return b.State == exectrace.Waiting && t.Site(b.Stack) == at }) {
		sum += b.Wait.Sum
	}
	text := "other goroutines wait for the peer in its place"
	if sum > 0 && at.Func != "" {
		text += fmt.Sprintf(": %s of them on average in %s", unit.Number(t.Share(sum)), place(at))
		if other, also := elsewhereOf(w, t, at); also >= sum/2 && also > 0 {
			text += fmt.Sprintf("; %s more wait in %s meanwhile", unit.Number(t.Share(also)), place(other))
		}
	}
	return text
}

// ready is the kind of waits for a P among the rows of a group.
func ready(g facts.UnitGroup) (k facts.UnitKind) {
	for i := range g.All.Rows {
		if g.All.Rows[i].Kind.Key() == "runnable" {
			return g.All.Rows[i].Kind
		}
	}
	return k
}

// causedBy is how long a group waited for goroutines that did one kind of thing.
func causedBy(g facts.UnitGroup, kind string) (sum time.Duration) {
	for i := range g.All.Rows {
		if g.All.Rows[i].Cause.Kind.Key() == kind {
			sum += g.All.Rows[i].Time
		}
	}
	return sum
}

// streams tells whether units write to connections from code of the user, more than once:
// a stream of events to the client, which may have been taken over from the server.
func streams(t *traced, g facts.UnitGroup) bool {
	n := int64(0)
	for i := range g.All.Rows {
		if row := &g.All.Rows[i]; row.Kind.Key() == "socket_call" && row.Site.User && writes(t.Frames(row.Site.Stack)) {
			n += row.Count
		}
	}
	return g.Unit.String() == "request" && n >= 2*g.Wall.Count
}

// writes tells whether a stack writes to a connection.
func writes(frames []stack.Frame) bool {
	return slices.ContainsFunc(frames, func(f stack.Frame) bool {
		return f.Func == "net.(*conn).Write" || f.Func == "internal/poll.(*FD).Write"
	})
}

// evidence shows the wait, what it was for, and the slowest one.
func (w *waiting) evidence(in *Input, t *traced) []Evidence {
	n := time.Duration(max(1, w.group.Wall.Count))
	list := []Evidence{seenIn(in, t, w.group, w.site, "%s, %s%s", w.clause, unit.Duration(w.time/n), inEach(w.group))}
	for i, row := range w.causes[:min(2, len(w.causes))] {
		cause := &row.Cause
		if cause.Site.Frame.Func == "" || cause.Kind.Key() == "unknown" {
			continue
		}
		e := t.seenAt(t.Frames(cause.Site.Stack), cause.Site.Frame, "meanwhile the goroutine it waits for is %s here: %s%s", cause.Kind.Clause(), unit.Duration(row.Time/n), inEach(w.group))
		if i == 0 && w.gang != nil {
			e = t.seenAt(t.Frames(cause.Site.Stack), cause.Site.Frame, "%s", w.gang.shown(cause.Kind.Clause()))
		}
		if list = append(list, e); i == 0 && w.ofAnother(w.reason()) { // the line to change comes first
			list[0], list[1] = list[1], list[0]
		}
	}
	if len(w.group.Slowest) > 0 {
		one := w.group.Slowest[0]
		list = append(list, seenIn(in, t, w.group, w.site, "the slowest took %s: loupe trace requests %d", unit.Duration(one.Span.Len()), one.ID).during(t, one.Span.Start, one.Span.End).ofGoroutine(one.G))
	}
	return list
}

// waitAdvices say what to do about a wait by what it is for.
var waitAdvices = map[string]string{
	"sleep":          "Do not sleep until something may be ready: let the producer signal it (a channel, a sync.Cond, a context), and wait for that. If the pause keeps a rate, use a limiter that waits only when the rate is exceeded; if it is between retries, limit them and omit the pause after the last one.",
	"timer":          "Let the event itself end the wait (a closed channel, a context), not a timer; if it has to be polled, check once before the first wait. If the timer gathers a batch, shorten its time, or go on as soon as the batch is full or nobody else can add to it; if it keeps a rate, raise the rate or ask for more in one call; if a timeout always fires, the event never happens.",
	"time_limit":     limitAdvice,
	"lock":           "Hold the lock for a shorter time: do under it only what needs it, or split what it guards.",
	"running":        "The holder computes under the lock: make that cheaper, or split what the lock guards; what neither reads nor changes what it guards can be done without it.",
	"pool":           "Too few connections for the load: raise the pool's limit (SetMaxOpenConns, MaxConnsPerHost), or release connections sooner (close rows and bodies, shorter transactions).",
	"network":        "The peer's response takes the time: look at the peer, cache answers that do not change, or ask earlier and do other work meanwhile.",
	"dial":           "Reuse connections (keep-alive): one client for all requests, bodies read to the end and closed, enough idle connections (MaxIdleConnsPerHost).",
	"dns":            "Resolve once and keep the connection: one client for all requests; look at the resolver where it is slow.",
	"tls":            "Reuse connections (keep-alive), so that handshakes are rare: one client and one tls.Config for all requests.",
	"network_write":  "The peer reads too slowly: send less, or look at the peer.",
	"mark_assist":    "Allocate less where the time goes (-phases allocs says where), or give the collector more room (GOGC, GOMEMLIMIT).",
	"collector":      "Allocate less, or give the collector more room (GOGC, GOMEMLIMIT); do not call runtime.GC while others wait.",
	"stop_the_world": "Stop the world less often: calling runtime.ReadMemStats, taking a goroutine profile or changing GOMAXPROCS on each request stops all other goroutines too; runtime/metrics does not.",
	"wait_group":     "Look at what the last goroutine it waits for does: start that one first, split it up, or do not wait for it.",
}

// calledFrames are those of the wait itself, or of what the one does meanwhile that ends it.
func (w *waiting) calledFrames(t *traced) []stack.Frame {
	if w.reason() != w.kind && len(w.causes) > 0 {
		return t.Frames(w.causes[0].Cause.Site.Stack)
	}
	return t.Frames(w.site.Stack)
}

// weighSyncs looks at what follows the syncs that a unit makes one after another.
func (w *waiting) weighSyncs(in *Input, t *traced, f *Finding) {
	for _, o := range outwards(w.group) {
		if o.path[0] == w.site.Frame && farOf(o.kind) == farFiles && o.each() > 1 {
			weighSync(in.code, o.path, f)
			return
		}
	}
}

// ofAnother tells whether it is another goroutine that pauses, which then ends the wait.
func (w *waiting) ofAnother(reason string) bool {
	return (reason == "sleep" || reason == "timer") && w.kind != "sleep" && w.kind != "timer" && w.kind != "lock"
}

// anotherPauses is what to do about the pause of another goroutine, of which a trace does not
// show what it is for.
const anotherPauses = "Look at the pause of the goroutine that ends this wait, and at what it is for. If it polls, let the event itself wake it (a channel, a sync.Cond, a context). If it gathers a batch, shorten the time, or go on as soon as the batch is full or nobody else can add to it. If it keeps a rate, raise the rate, or ask for more in one call. If it is the pace at which data arrives, waiting is the job."

// These name no fault: only who is waited for.
const (
	lookAtOther   = "Look at the goroutine that ends this wait: what it does until then is what everyone waits for (loupe trace requests ID shows it in order)."
	peersOfOthers = "The goroutines waited for here are waiting for a peer's responses: look at the peer; and where only some of them ask at a time, let more ask at once, as far as the peer can handle it."
)

// namesNoFault tells of a finding that it says only that units wait, and for whom.
func namesNoFault(f *Finding) bool {
	return f.Rule == wt01.ID && (strings.HasSuffix(f.Advice, limitAdvice) || slices.Contains([]string{lookAtOther, peersOfOthers, allAtOnce, shareOne, differentCalls, waitAdvices["network"], waitAdvices["wait_group"], fileMakes.advice()}, f.Advice))
}

// waitAdvice is what to do.
func waitAdvice(in *Input, reason string, w *waiting, many bool, t *traced) string {
	text := waitAdvices[reason]
	if reason == "process" {
		text = processAdvice(in, t, w)
	}
	if reason == "file_call" {
		text = fileCallOf(w.calledFrames(t)).advice()
		if buffered := w.bufferAdvice(t); buffered != "" {
			text = buffered
			var beside Finding
			if strings.HasPrefix(buffered, "Write") && adviseTouched(newDerivations(in.code), &beside, w.site.Frame) {
				text = beside.Advice
			}
		}
	}
	if reason == "collector" && slices.ContainsFunc(t.Frames(w.site.Stack), facts.ForcesCollection) {
		return "Delete the call (runtime.GC, debug.FreeOSMemory), which waits for a whole collection: the runtime collects on its own. More room (GOGC) does not make a forced collection rarer or shorter. To keep memory below a bound, set GOMEMLIMIT."
	}
	if w.collects() {
		text = "These stops belong to collections: the fewer there are, the fewer stops (GC03 and GC04 say what they cost, and the allocs profile where the garbage comes from). On a machine whose CPUs are busy with other programs a stop takes longer."
	}
	if text == "" {
		text = lookAtOther
	}
	switch {
	case many && w.outside() && (reason == "network" || reason == "dial"):
		text = callsAdvice(in, w)
	case w.ofAnother(reason):
		text = anotherPauses
	case w.kind == "cond" && syncs(w.calledFrames(t)), groupedSyncs(w, t):
		text = groupedAdvice
	case !w.outside() && w.kind != "lock" && reason == "network":
		text = peersOfOthers
		if sharesCall(t.Frames(w.site.Stack)) {
			text = shareOne
		} else if askAtOnce(w, in, t) {
			text = allAtOnce
		}
	}
	if w.queues() && w.kind != "lock" {
		return "What they wait for here (a semaphore, a channel, a pool) lets in fewer at once than the load asks for. Let in more, as far as what is behind it can handle that. If it protects something else, or what is done inside needs the CPUs, this is where the limit is."
	}
	if w.kind == "lock" && reason != "lock" && len(w.causes) > 0 {
		return lockWaitedFor(in, t, w).advice
	}
	return text
}
