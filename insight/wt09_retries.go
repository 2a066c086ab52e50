package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var wt09 = &Rule{
	ID: "WT09", Title: "Retry loop: a failing call is retried repeatedly",
	About: "A refused connection is retried as fast as the program can, or a held lock is polled (TryLock in a loop): this keeps a CPU busy, and the peer is flooded when it comes back. Attempts are " +
		"connections on one goroutine, one after another, over which nothing is sent; and the calls of a request in a loop that, according to the source, ends depending on the returned error or status.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"tries", 100, "tries", "chosen: fewer are a momentary effect"},
		{"rate", 100, "attempts a second", "chosen: nothing can recover that quickly, and that often"},
		{"warning", 500, "attempts a second", "chosen: at some 50 µs each, more than 2% of a CPU"},
		{"pause", 0.02, "s", "chosen: between two attempts on average; a longer wait is deliberate"},
		{"again", 3, "attempts in one", "chosen: for a request that calls a peer until its answer is accepted"},
		{"share", 0.2, "share of the time", "chosen: for such a request; less is rarely the first thing to change"},
		{"spin", 0.1, "share of CPU time", "chosen: for a loop that polls a lock; the lower bound of the interval counts"},
		g0,
	},
	Check: onTrace(checkRetries),
}

func checkRetries(r *Rule, in *Input, t *traced) (found []Finding) {
	units := in.Facts.Units()
	if units.Err != nil {
		return []Finding{r.answer(TooLittle, "%v", units.Err)}
	}
	fine := "no goroutine failed to connect several times in a row"
	for i := range units.Tries {
		x := &units.Tries[i]
		rate, pause := t.Rate(x.Count), x.Pause/time.Duration(max(1, x.Count-x.Rows))
		if float64(x.Count) >= r.param("tries") && rate >= r.param("rate") && pause.Seconds() < r.param("pause") {
			found = append(found, retriesFinding(r, in, t, units, x))
		} else if i == 0 {
			fine = fmt.Sprintf("at least %s connection attempts failed%s, %s apart", unit.Count(x.Count), atFrame(x.Path[0]), unit.Duration(pause))
		}
	}
	found = append(found, spinsOnLocks(r, in)...)
	found = append(found, answersAgain(r, in, t, units)...)
	if len(found) == 0 {
		return []Finding{r.answer(Fine, "%s", fine)}
	}
	return found[:min(2, len(found))]
}

func retriesFinding(r *Rule, in *Input, t *traced, units *facts.Units, x *facts.UnitTries) Finding {
	loop, known := retryAround(in.code, x.Path)
	at := x.Path[0]
	if known {
		at = loop.at
	}
	rate, pause := t.Rate(x.Count), x.Pause/time.Duration(max(1, x.Count-x.Rows))
	text := fmt.Sprintf("connections were attempted %s times a second%s, one after another on the same goroutine, and nothing was sent over them", unit.Number(rate), atFrame(x.Path[0]))
	if at != x.Path[0] {
		text += fmt.Sprintf("; the retry loop is%s", atFrame(at))
	}
	text += fmt.Sprintf(": %s attempts, up to %s in a row, %s apart", unit.Count(x.Count), unit.Count(x.Longest), unit.Duration(pause))
	if g, share, spent := triedIn(units, x.Path[0]); spent {
		text += fmt.Sprintf("; %s spends %s of its time there", unitOf(g), unit.Percent(share))
	}
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(rate, "attempts a second")
	f.Score = score(rate, r.param("warning"), 10*r.param("warning"))
	f.Severity = Info
	if known && rate >= r.param("warning") {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{t.seenAt(t.Frames(x.Stack), at, "%s attempts to connect, %s apart", unit.Count(x.Count), unit.Duration(pause))}
	f.Advice = "Wait before the next attempt, longer after each failure, and not all at the same time (exponential backoff with jitter); stop after a few, or when the caller's context ends; and if something signals that the peer is back, wait for that."
	if known && loop.pauses {
		f.Advice = "The loop has a pause, which is too short or skipped: " + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
	}
	if known && !loop.bounded {
		f.Advice += " Nothing ends the loop while the peer is down: give it a limit."
	}
	f.Verify = "Record again while the peer is down: only a few attempts a second should be left, and the CPU time should fall."
	f.Doubts = in.traceDoubts(t)
	if !known {
		f.Doubts = append(f.Doubts, "the source shows no loop that retries until it succeeds: connections opened in advance, or to check whether anything is listening, look the same")
	}
	f.costs, f.saves = []cost{{file: at.File, line: at.Line}}, true
	return f
}

// answersAgain finds what units ask a peer again and again until the answer suits, and
// what it looks at is an error or a status.
func answersAgain(r *Rule, in *Input, t *traced, units *facts.Units) (found []Finding) {
	for _, g := range units.Judged {
		for _, o := range outwards(g) {
			loop, asks := askingAround(in.code, o.path)
			if !asks || !loop.retries || o.each() < r.param("again") || o.share() < r.param("share") || o.kind == "file_call" {
				continue
			}
			loop.pauses = pausesBetween(t, g, loop)
			f := r.answer(Found, "%s calls a peer %s times, one after another, until the answer is accepted,%s, retried%s: %s of its time, %s each%s",
				unitOf(g), timesOf(o.each()), atFrame(o.path[0]), atFrame(loop.at), unit.Percent(o.share()), unit.Duration(o.one()), onAverage(g))
			f.Impact = exactly(ofAll(in, g, o.share()), "share of the "+timeOfUnits(g))
			f.Score, f.Severity = score(o.share(), r.param("share"), 0.9), Warning
			if loop.pauses && loop.bounded {
				f.Severity = Info
				f.Doubts = append(f.Doubts, "the loop has pauses and a limit: how long both should be depends on the peer")
			}
			f.Evidence = []Evidence{t.seenAt(t.Frames(o.stack), loop.at, "%s attempts in each", timesOf(o.each()))}
			f.Advice = loop.advice()
			if !loop.bounded {
				f.Advice += " Nothing ends the loop until the answer is accepted: give it a limit."
			}
			f.Verify = "Record again under the same load: loupe trace requests should show few attempts per request."
			f.Doubts = append(f.Doubts, in.traceDoubts(t)...)
			namelessDoubt(in, g, &f)
			f.waits = o.rows()
			found = append(found, f)
		}
	}
	return found
}

// pausesBetween tells whether units slept, as seen, in a loop: a pause that the source has may
// be left out, and one that it does not show may stand in a function that it calls.
func pausesBetween(t *traced, g facts.UnitGroup, a asking) bool {
	return slices.ContainsFunc(g.All.Rows, func(row facts.UnitRow) bool {
		kind := row.Kind.Key()
		return (kind == "sleep" || kind == "timer") && a.around(t.Frames(row.Site.Stack))
	})
}

// triedIn is the group of units that spends most at a line, and its share.
func triedIn(units *facts.Units, at stack.Frame) (best facts.UnitGroup, share float64, found bool) {
	for _, g := range units.Judged {
		sum := time.Duration(0)
		for i := range g.All.Rows {
			if g.All.Rows[i].Site.Frame == at {
				sum += g.All.Rows[i].Time
			}
		}
		if s := g.All.Share(sum); s > share && s >= 0.01 {
			best, share, found = g, s, true
		}
	}
	return best, share, found
}

// spinsOnLocks finds the lines of the CPU profile that ask for a lock in a loop until they
// get it.
func spinsOnLocks(r *Rule, in *Input) (found []Finding) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return nil
	}
	v := in.view(w.Profile)
	lines, total := map[stack.Frame]int64{}, int64(0)
	for id, n := range w.Profile.Samples(w.Index) {
		total += n
		frames := v.t.Frames(id)
		if at := nextUser(v, frames, 0); at >= 0 {
			lines[v.t.Frame(frames[at])] += n
		}
	}
	if float64(total) < r.param("samples") {
		return nil
	}
	for at, n := range lines {
		share := stats.Wilson(float64(n), float64(total), compare.Confidence)
		loop, ok := retryAround(in.code, []stack.Frame{at})
		if !ok || share.Low < r.param("spin") || !asksForLock(in.code, at) {
			continue
		}
		f := r.answer(Found, "%s of the CPU time goes into a loop that polls for a lock or a slot until it gets it%s", unit.Percent(share.Estimate), atFrame(at))
		f.Impact = &Impact{share.Estimate, "share of CPU samples", share.Low, share.High}
		f.Severity, f.Score = Warning, score(share.Estimate, 0.1, 0.4)
		f.Evidence = []Evidence{in.lineAt(w.Entry, at, "%d of %d samples", n, total)}
		f.Advice = "Do not spin: Lock waits without using a CPU until the mutex is free; a channel as a semaphore, or golang.org/x/sync/semaphore with a context, does the same for slots. TryLock is for work that can be skipped if the lock is held."
		if loop.pauses {
			f.Advice += " A pause in the loop makes it cheaper but slower; waiting for the lock is both cheaper and faster."
		}
		f.Verify = "Record again under the same load: the CPU time of this line should vanish."
		f.costs, f.saves = []cost{{file: at.File, line: at.Line}}, true
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b Finding) int { return b.Score - a.Score })
	return found
}
