package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var wt04 = &Rule{
	ID: "WT04", Title: "Requests queue for a semaphore, worker pool or connection pool that is too small",
	About: "Requests (or tasks) wait for a slot that other requests hold: in a semaphore, a pool, or a set of workers that do one thing at a time. The goroutine that ends a wait was working " +
		"for another request until then. The number inside when one has to wait is the capacity.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"share", 0.2, "share of the time", "chosen: less is rarely the first thing to change"},
		{"warning", 0.4, "share of the time", "chosen: a factor of two is within reach"},
		{"waits", 10, "waits", "chosen: fewer are a momentary effect"},
		{"each", 200e-6, "s", "chosen: a unit's wait for others; less is scheduler overhead"},
		{"slots", 0.5, "share of the time of the slots", "chosen: of a semaphore, those inside wait for the world outside for most of it"},
		unitsParam,
		groupParam,
	},
	Part:  true,
	Check: onUnits(checkNarrow),
}

// narrow is where the units of a group wait for others.
type narrow struct {
	group  facts.UnitGroup
	gate   *facts.UnitGate
	also   []*facts.UnitGate // more of them, where the same goroutines end the waits
	rows   []*facts.UnitRow  // the largest first
	queued time.Duration
}

func (q *narrow) share() float64 { return q.group.All.Share(q.queued) }

// queuesOf are those of a group, the longest first. To hand an item to a worker and to wait for
// its answer are one.
func queuesOf(u *facts.Units, t *traced, g facts.UnitGroup) (all []*narrow) {
	for i := range g.All.Rows {
		row := &g.All.Rows[i]
		if row.Queued <= 0 {
			continue
		}
		n := slices.IndexFunc(all, func(q *narrow) bool { return q.gate.Kind == row.Kind && q.gate.Site == row.Site })
		if n < 0 {
			at := slices.IndexFunc(u.Gates, func(x facts.UnitGate) bool { return x.Kind == row.Kind && x.Site == row.Site })
			if at < 0 {
				continue // a part of a wait that has another kind
			}
			n, all = len(all), append(all, &narrow{group: g, gate: &u.Gates[at]})
		}
		all[n].rows = append(all[n].rows, row)
		all[n].queued += row.Queued
	}
	slices.SortStableFunc(all, func(a, b *narrow) int { return int(min(max(b.queued-a.queued, -1), 1)) })
	for i := 0; i < len(all); i++ {
		q := all[i]
		all = slices.DeleteFunc(all, func(o *narrow) bool {
			if o == q || o.queued > q.queued || !q.sameWorkers(t, o) {
				return false
			}
			q.also, q.rows, q.queued = append(q.also, o.gate), append(q.rows, o.rows...), q.queued+o.queued
			return true
		})
	}
	return all
}

// sameWorkers tells of two queues that goroutines which began with the same function end both, as
// many of them.
func (q *narrow) sameWorkers(t *traced, o *narrow) bool {
	if !q.gate.Workers || !o.gate.Workers || q.gate.Kind != o.gate.Kind || q.gate.Kind.Key() != "channel" || q.gate.Width != o.gate.Width {
		return false
	}
	a, b := t.Frames(q.gate.Frees.Stack), t.Frames(o.gate.Frees.Stack)
	return len(a) > 0 && len(b) > 0 && a[len(a)-1].Func == b[len(b)-1].Func
}

// place is where the units of the group wait.
func (q *narrow) place() string {
	text := atPlace(q.gate.Site)
	if len(q.also) > 0 {
		text += " and " + unit.Plural(int64(len(q.also)), "further line")
	}
	return text
}

// gates are all of it, belongs whether the source chooses the channel of one of them by a key.
func (q *narrow) gates() []*facts.UnitGate { return append([]*facts.UnitGate{q.gate}, q.also...) }

func (q *narrow) belongs(in *Input, t *traced) (a affinity, ok bool) {
	for _, gate := range q.gates() {
		if a, ok = affinityIn(in, t, q.group, gate.Site); ok && q.gate.Workers {
			return a, true
		}
	}
	return a, false
}

func checkNarrow(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	all := queuesOf(in.Facts.Units(), t, g)
	for _, q := range all {
		enough := q.share() >= r.param("share") && (q.queued/unitCount(g)).Seconds() >= r.param("each")
		if enough && float64(q.gate.Waits) >= r.param("waits") && !q.database(t) {
			return []Finding{narrowFinding(r, in, t, q)}, ""
		}
	}
	if f, ok := checkSemaphore(r, in, t, g); ok {
		return []Finding{f}, ""
	}
	if len(all) == 0 {
		return nil, unitOf(g) + " waits for no slot held by another"
	}
	return nil, fmt.Sprintf("%s waits %s of its time%s for others", unitOf(g), unit.Percent(all[0].share()), atPlace(all[0].gate.Site))
}

// database tells of a queue for connections of database/sql, which LK06 is about.
func (q *narrow) database(t *traced) bool {
	return slices.ContainsFunc(t.Frames(q.gate.Site.Stack), func(f stack.Frame) bool { return f.Func == poolWait })
}

// width is how many go on at once, in words.
func (q *narrow) width() string {
	n := int64(q.gate.Width)
	switch {
	case q.gate.Workers && n == 1:
		return "one goroutine serves all of them"
	case q.gate.Workers && q.gate.Kind.Key() == "pool":
		return unit.Plural(n, "connection") + " for all of them"
	case q.gate.Workers:
		return fmt.Sprintf("%s serve all of them", unit.Plural(n, "goroutine"))
	case q.gate.Steady < 0.5:
		return ""
	case n == 1:
		return "only one gets through at a time"
	}
	return fmt.Sprintf("%d get through at a time", n)
}

// crew are the goroutines that do the same as those who serve, where these are only some of
// them.
func (q *narrow) crew(t *traced) (f crew, several bool) {
	if !q.gate.Workers || q.gate.Kind.Key() == "pool" {
		return f, false
	}
	f, several = crewOf(t, q.gate.Frees.Stack)
	return f, several && f.members > int64(q.gate.Width)
}

// computes tells whether those who are inside are mostly running, or ready to.
func (q *narrow) computes() bool {
	busy := time.Duration(0)
	for _, row := range q.rows {
		if kind := row.Cause.Kind.Key(); kind == "running" || kind == "runnable" {
			busy += row.Queued
		}
	}
	return 2*busy >= q.queued
}

func narrowFinding(r *Rule, in *Input, t *traced, q *narrow) Finding {
	g, first := q.group, q.rows[0]
	text := fmt.Sprintf("%s waits %s of its time%s until others are done: %s of %s", unitOf(g), unit.Percent(q.share()), q.place(), unit.Duration(q.queued/unitCount(g)), unit.Duration(g.All.Wall/unitCount(g)))
	text += overUnits(g)
	servers, several := q.crew(t)
	if width := q.width(); several {
		text += "; " + servers.who(int64(q.gate.Width))
	} else if width != "" {
		text += "; " + width
	}
	others, waits := q.behind(in, t)
	meanwhile, does := "the others are", first.Cause
	switch {
	case waits:
		if text += "; these " + others.says(in.code); others.lock {
			meanwhile, does = "the holder of the lock is", others.cause
		} else {
			meanwhile = "the one that they wait for is"
		}
	case first.Cause.Kind.Key() != "unknown" && first.Cause.Kind.Key() != "none":
		at := ""
		if first.Cause.Site.User {
			at = atPlace(first.Cause.Site)
		}
		how := "mostly"
		if 2*first.Queued < q.queued {
			how = "often"
		}
		text += fmt.Sprintf("; these are %s %s%s meanwhile", how, first.Cause.Kind.Clause(), at)
	}
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(ofAll(in, g, q.share()), "share of the "+timeOfUnits(g))
	f.Score = score(q.share(), r.param("share"), 0.9)
	f.Severity = Warning
	if q.share() < r.param("warning") {
		f.Severity = Info
	}
	f.Evidence = []Evidence{seenIn(in, t, g, q.gate.Site, "%s for others in each", unit.Duration(q.queued/unitCount(g)))}
	if does.Site.User && others.work == "" {
		f.Evidence = append(f.Evidence, t.seen(does.Site.Stack, "meanwhile %s %s here", meanwhile, does.Kind.Clause()))
	}
	if q.gate.Frees.Frame.Func != "" && q.gate.Frees.User {
		f.Evidence = append(f.Evidence, t.seen(q.gate.Frees.Stack, "a wait is ended here"))
	}
	f.Advice = narrowAdvice(q, q.ofDatabase(t))
	f.Verify = "Record again under the same load with more at once: this wait should shrink, and requests per second grow, until what is behind it is the limit."
	f.Doubts = in.traceDoubts(t, "the limit may be there to protect what is behind it: then that has to become faster, or the load is too high")
	limit := len(f.Doubts) - 1
	if title := f.Title; waits {
		others.tell(in, t, &f)
		f.Doubts = slices.Delete(f.Doubts, limit, limit+1) // they are enough
	} else if q.tellLimit(in, t, &f) {
		f.Doubts = slices.Delete(f.Doubts, limit, limit+1) // this is what it is there for
	} else if q.tellServers(in, t, &f) {
		f.Title = "Requests queue for the worker that their key belongs to"
	} else if f.Title != title {
		f.Doubts = slices.Delete(f.Doubts, limit, limit+1) // they are enough
	}
	if q.computes() && !waits {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "those inside compute: more at once help only if CPUs are free")
		full(in, &f)
	}
	if s := gateOfCPUs(in, t, q); s != nil && !waits {
		if why := s.needsCPU(in, t); why != "" {
			f.Title = "Requests queue for a semaphore"
			doubtLimit(in, &f, why)
		}
	}
	q.tellPauses(in, t, &f)
	f.waits = q.rows
	return titled(f, g)
}

// tellServers says what the source and the trace know of who serves the queue: whether each item
// belongs to a certain one of them, whether others of them have nothing to do, and what they keep. It tells whether the first is so.
func (q *narrow) tellServers(in *Input, t *traced, f *Finding) (chosen bool) {
	if !q.gate.Workers {
		return false
	}
	if belongs, chosen := q.belongs(in, t); chosen {
		f.Advice, f.Severity = belongs.advice(), Info
		f.Evidence = append(f.Evidence, belongs.Evidence)
		f.Verify = "Record again under the same load: this wait should shrink, and requests per second grow."
		return true
	}
	if d, ok := q.dealt(in, t); ok {
		d.tell(t, f)
		return false
	}
	if servers, several := q.crew(t); several && servers.mostlyIdle() {
		f.Advice = "Find out why so few of them serve those who wait here, while others have nothing to do. If each has a channel of its own, let all of them receive from one, so that whoever is free takes the next."
		f.Doubts = append(f.Doubts, pushedDoubt)
	} else if q.gate.Kind.Key() != "pool" {
		tellWorkers(in, t, q, f)
	}
	return false
}

// servedAt is the queue of a group for goroutines that serve one after another, where it is what a
// wait is for; nil where it is none.
func servedAt(in *Input, t *traced, w *waiting) *narrow {
	if w.kind != "channel" && w.kind != "cond" {
		return nil
	}
	for _, q := range queuesOf(in.Facts.Units(), t, w.group) {
		if q.gate.Workers && slices.ContainsFunc(w.rows, func(row *facts.UnitRow) bool { return slices.Contains(q.rows, row) }) {
			return q
		}
	}
	return nil
}

// databasePool is what to do about a pool of package database/sql.
const databasePool = "Allow more connections to the database (SetMaxOpenConns), as far as it can serve them, and keep as many idle ones (SetMaxIdleConns); or hold each for a shorter time: close rows at once, and keep transactions short."

// ofDatabase tells whether the wait, or what ends it, is in package database/sql.
func (q *narrow) ofDatabase(t *traced) bool {
	return slices.ContainsFunc(slices.Concat(t.Frames(q.gate.Site.Stack), t.Frames(q.gate.Frees.Stack)), func(f stack.Frame) bool { return stack.Package(f.Func) == "database/sql" })
}

// narrowAdvice is what to do, by what the slot is of.
func narrowAdvice(q *narrow, database bool) string {
	switch {
	case q.gate.Kind.Key() == "pool" && database:
		return databasePool
	case q.gate.Kind.Key() == "pool":
		return "Allow more connections to the peer (http.Transport.MaxConnsPerHost), and keep as many idle ones (MaxIdleConnsPerHost); or hold each for a shorter time: read bodies to the end at once and close them."
	case q.gate.Workers:
		return "Start more workers, as many as what they wait for can serve at once; or let each request do the work on its own goroutine behind a semaphore of larger capacity."
	case q.gate.Width == 1:
		return "Let more of them in at once: a channel of capacity 1, or a single token, is a lock. Do the slow part outside it, and guard only what must not run concurrently."
	}
	return "Let more of them in at once: raise the capacity of the semaphore or channel as far as what is behind it can handle; or hold the slot for a shorter time, only around the call that it protects."
}

// maxTouched is how many variables of a worker are named.
const maxTouched = 3

// tellWorkers says what the loop of those who serve keeps from one turn to the next: more of
// them would split that, or race for it.
func tellWorkers(in *Input, t *traced, q *narrow, f *Finding) {
	state := stateOf(in.code, t.Frames(q.gate.Frees.Stack))
	if !state.known {
		state = stateOf(in.code, t.Frames(q.rows[0].Cause.Site.Stack))
	}
	touched := state.touched[:min(maxTouched, len(state.touched))]
	var names []string
	for _, x := range touched {
		what := "the serving loop changes %s, which is declared before it"
		if x.open {
			what = "the serving loop uses %s, which is opened before it"
		}
		f.Evidence = append(f.Evidence, in.code.shownAt(x.file, x.line, what, x.name))
		names = append(names, x.name)
	}
	kept := strings.Join(names, ", ")
	switch {
	case !state.known:
		f.Doubts = append(f.Doubts, "the server goroutine may have its own state, or keep an order: then more workers, or a goroutine per request, would split the state, race on it or break the order")
	case len(touched) == 0:
		f.Doubts = append(f.Doubts, "more workers finish in a different order: check whether anything relies on it")
	case q.gate.Width > 1 && !slices.ContainsFunc(touched, func(x touch) bool { return !x.own }):
		f.Advice = "Start more workers, each with " + kept + " of its own, as many as what they wait for can serve at once. If each serves its own keys, redistribute the keys."
		f.Doubts = append(f.Doubts, "each worker may have to process related items in order")
	default:
		f.Advice = fmt.Sprintf("Do not just start more workers: according to the source, the loop keeps %s from one iteration to the next. More of them would split that, race on it, or break its order. ", kept) + shorterTurns(q) +
			" Or start one worker per partition of the keys, with its own state, if different keys do not depend on each other."
		f.Verify = "Record again under the same load: this wait should shrink, and requests per second grow."
		f.Doubts = append(f.Doubts, "the order of the requests may matter too: then one worker is right, and only shorter iterations help")
	}
}

// shorterTurns is how one worker gets through more, by what its turns wait for.
func shorterTurns(q *narrow) string {
	const take = "Make each iteration shorter: take all waiting requests at once, "
	switch q.rows[0].Cause.Kind.Key() {
	case "file_call":
		return take + "write them, and flush or fsync once for all before they are answered (group commit)."
	case "network", "socket_call":
		return take + "send them together, and wait once for the answers (a batch or a pipeline)."
	case "running", "runnable":
		return "Make each iteration shorter: compute what does not need this state before a request is handed over."
	case "sleep", "timer":
		return "Find out what the pause of each iteration is for. If it is a rate, or what the worker has needs a rest, only a shorter pause or more of what needs it lets more through; if it waits for something to be ready, let that wake the worker."
	}
	return take + "and do the slow part once for all of them; do what does not need this state outside."
}
