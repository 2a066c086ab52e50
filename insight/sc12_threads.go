package insight

import (
	"loupe/analysis/facts"
	"loupe/value/unit"
)

var sc12 = &Rule{
	ID: "SC12", Title: "The program has very many threads",
	About: "A goroutine in a system call or in C keeps its thread, and the runtime starts another for the rest. Threads are never released: each has its own stack, and the kernel schedules all of them. At 10,000 " +
		"threads the runtime ends the program.",
	Asks: []facts.Question{facts.Host},
	Params: []Param{
		{"per_proc", 10, "threads for each P", "research, SC12"},
		{"least", 100, "threads", "chosen: this many do no harm on any machine"},
		{"warn", 1000, "threads", "chosen: a tenth of what the runtime allows (debug.SetMaxThreads)"},
	},
	Part:  true,
	Check: checkThreads,
}

func checkThreads(r *Rule, in *Input) []Finding {
	t, ok := facts.CountThreads(in.Facts)
	if !ok {
		return []Finding{r.short("nothing in %s says how many threads there were", in.where())}
	}
	n, procs := t.Most, max(1, t.Procs)
	if n < r.param("least") || n <= r.param("per_proc")*float64(procs) {
		return []Finding{r.answer(Fine, "there were at most %s, for %d Ps", unit.Plural(int64(n), "thread"), procs)}
	}
	f := r.answer(Found, "there were %s threads for %d Ps", unit.Count(int64(n)), procs)
	f.Impact = exactly(n, "threads")
	f.Severity, f.Score = Info, score(n, r.param("least"), r.param("warn"))
	if n >= r.param("warn") {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{Evidence{Text: "by " + t.What, Path: t.Entry.Path}.at(t.Round)}
	lines, from := facts.InSystemCalls(in.Facts)
	held := int64(0)
	for i, l := range lines {
		if held += l.Weight; i < 3 {
			f.Evidence = append(f.Evidence, in.fileAt(from.Entry, l.At, l.Frames, "%s in a system call or in C here, each with a thread", unit.Plural(l.Weight, "goroutine")))
		}
	}
	if 2*held >= int64(n) {
		f.Severity = Warning
		f.Summary += "; most of them are kept by " + unit.Count(held) + " goroutines in system calls, at " + place(lines[0].At)
	}
	f.Advice = "Limit how many goroutines are in system calls or in C at once, with a semaphore (a channel of that capacity) around the call; and make files that can wait non-blocking, so that the runtime's poller waits for them (os.NewFile of a non-blocking pipe or socket)."
	f.Verify = "Record again under the same load: the number of threads should stay close to the number of Ps."
	if from == nil {
		f.Doubts = append(f.Doubts, "a goroutine profile shows where they are (record with -phases goroutine)")
	} else if 2*held >= int64(n) {
		tellUnlimited(in, lines, &f)
	}
	return []Finding{f}
}
