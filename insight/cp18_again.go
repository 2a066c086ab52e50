package insight

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var cp18 = &Rule{
	ID: "CP18", Title: "Repeated work that could be done once",
	About: "Parsing a template, loading a time zone or a key, reading a configuration file, seeding a random source, starting a process: work whose result is the same every time, done within a " +
		"request, in a worker, or in a loop. What the program does once, at startup or under a sync.Once, is not counted.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.03, "share of CPU time", "chosen: guard g6 asks for 1%"},
		{"warn", 0.10, "share of CPU time", "chosen"},
		{"derived", 0.10, "share of CPU time", "chosen: of a value that is computed again; the lower bound of the interval counts"},
		{"derived-warn", 0.15, "share of CPU time", "chosen: of the samples in which nothing speaks against the same value"},
		{"table", 0.20, "share of CPU time", "chosen: of a table that is made of files again; the lower bound of the interval counts"},
		g0,
	},
	Check: func(r *Rule, in *Input) []Finding {
		all := withRereads(readsAgain(r, in), mergeAgain(r, makesAgain(r, in)))
		if slices.ContainsFunc(all, func(f Finding) bool { return f.State == Found && f.saves }) {
			return withDerived(r, in, all) // that says what the work is
		}
		calls := slices.DeleteFunc(callsAgain(r, in), func(f Finding) bool { // what was told already
			return slices.ContainsFunc(all, func(told Finding) bool { return told.State == Found && firstLine(&told) == firstLine(&f) })
		})
		return withDerived(r, in, withRereads(calls, all))
	},
}

var makesAgain = check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "again", skip: []string{"startup"}, unless: doneOnce,
	perLine: true, foreign: true, accept: repeated, reason: againReason, what: "went into repeating the same work", tell: tellAgain})

// withRereads puts what is read again before what else is made again; that nothing else is
// tells nothing where something is.
func withRereads(reads, all []Finding) []Finding {
	if len(reads) == 0 {
		return all
	}
	return append(reads, slices.DeleteFunc(all, func(f Finding) bool { return f.State != Found })...)
}

// mergeAgain makes one finding of those about the same kind of work: a template that is parsed
// at one line is escaped at another, where it is executed first.
func mergeAgain(r *Rule, all []Finding) (merged []Finding) {
	for _, f := range all {
		i := slices.IndexFunc(merged, func(m Finding) bool {
			return m.State == Found && m.Advice == f.Advice && (m.saves == f.saves || m.Evidence[0].Function == f.Evidence[0].Function)
		})
		if i < 0 {
			merged = append(merged, f)
			continue
		}
		m := &merged[i]
		m.Summary += "; and " + f.Summary
		m.Evidence = append(m.Evidence, f.Evidence...)
		m.costs = append(m.costs, f.costs...)
		m.Impact = &Impact{min(1, m.Impact.Value+f.Impact.Value), m.Impact.Unit, min(1, m.Impact.Low+f.Impact.Low), min(1, m.Impact.High+f.Impact.High)}
		m.Score = score(m.Impact.Value, 0.10, 0.40)
		if f.Severity.AtLeast(m.Severity) {
			m.Severity = f.Severity
		}
		if m.Title == settingsTitle && m.saves && m.Impact.Low >= r.param("warn") {
			m.Severity = Warning // one line has little of them, as a rule
		}
	}
	return merged
}

// again is a kind of work whose result can be kept. The sets of signatures have its names.
type again struct {
	set, what, advice, doubt string
}

// agains are looked up in this order.
var agains = []again{
	{"again.template", "parsing templates", "Parse the template once, in a package variable or at startup (template.Must(template.ParseFS(…))), and execute it for each request: Execute is safe for concurrent use.", "if each text is different, only a bounded cache of parsed templates keyed by text saves anything"},
	{"again.zone", "loading a time zone", "Load each time.Location once and keep it: time.LoadLocation reads and parses a file every time.", ""},
	{"again.certificate", "reading keys and certificates", "Read keys and certificates once and keep the tls.Config, the x509.CertPool or the parsed key; GetCertificate can load a renewed one when the file has changed.", ""},
	{"again.encoding", "encoding keys", "A key does not change: encode it once, when it is made or read, and keep the bytes with it. To compare two keys use their method Equal, and to find one a map by its bytes.", "if each is another key, there is nothing to keep"},
	{"again.key", "generating keys", "Generate a key only when a new one is needed, not for each request: keep one to sign with, and renew it periodically.", "if each response needs its own key, this is its price"},
	{"again.password", "hashing passwords", "A password hash is slow on purpose: check it once, at login, and hand out a session or a signed token that is cheap to check.", "a lower cost makes stolen hashes easier to guess"},
	{"again.random", "seeding random sources", "Use the functions of math/rand/v2, which need no seed and no lock; or keep one source for each worker.", "a test that needs reproducible numbers keeps its own source"},
	{"again.connection", "making connections", "Create one client and keep it: it pools connections and is safe for concurrent use.", ""},
	{"again.validator", "making validators and learning types", "Make one and keep it, with all that is registered on it: it remembers what it has learned about types, and several goroutines may use it at once.", ""},
	{"again.process", "starting processes", "Do not start a process for each item: do the work in Go, keep one process and talk to it through a pipe, or give it many items at a time.", "the process's own CPU time comes on top"},
	{"again.names", "looking up users and hosts", "Cache what was looked up for some time: the files and servers behind it seldom change.", "names may change while the program runs: cache them for seconds or minutes, not forever"},
	{againSettings, "looking up settings", settingsAdvice, "if settings change while the program runs (a file that is watched, viper.Set), what was read has to be read again then"},
	{"again.config", "parsing configuration", "Parse it once and keep the result; read it again when the file has changed.", "if it is the data of the request itself, there is nothing to cache"},
	{"again.table", "building tables", "Build the table once, in a package variable: it is safe for concurrent use.", "if every one is different, nothing can be cached"},
	{againProgram, "compiling expressions, queries and schemas", "Compile each text once, when it is loaded or first used, and keep the compiled form, in a map by its text if there are several: evaluating it costs a fraction of that.", "if each text is different, only a bounded cache of compiled forms saves anything; check that the compiled form may be used by several goroutines"},
	{againLazy, "initialising values that are thrown away", "Create the value once and keep it: it initialises itself on first use, so a new value for each call repeats that work on each call. Several goroutines may share it only if the documentation of its type says so; otherwise keep " + eachItsOwn + ".", "if every value is made from different data, nothing can be kept"},
	{"again.stack", "writing stack traces", "Take a stack trace only for the unexpected, not as part of ordinary responses; runtime.Callers costs a tenth of it.", ""},
}

// againReason says which kind of work a stack does.
func againReason(t *stack.Table, frames []stack.FrameID) string {
	for _, a := range agains {
		if a.set != againLazy && slices.ContainsFunc(frames, func(f stack.FrameID) bool { return inSet(a.set, t.Frame(f).Func) }) {
			return a.set
		}
	}
	if _, ok := setsUp(t, frames); ok {
		return againLazy
	}
	return "-"
}

// againProgram is the kind of what a library compiles.
const againProgram = "again.program"

// compiles tells of a function, by its name, that it compiles a text: one that is not in the table,
// nor of the standard library, whose expressions have a rule of their own.
func compiles(fn string) bool {
	return compilers.MatchString(ownName(fn)) && strings.Contains(strings.SplitN(stack.Package(fn), "/", 2)[0], ".")
}

// compilers are such names.
var compilers = lazily(`^(Must)?Compile([A-Z].*)?$`)

// againLazy is the kind of what a value of a library sets up when it is used first.
const againLazy = "again.lazy"

// setsUp finds, in what the program has called, the method of a library's type that sets its
// value up by a sync.Once of the value's own, as that of a strings.Replacer does: where that
// is seen often, the value is made anew each time. The sync.Once of a package is called by
// a plain function, and that of the program by the program: they run once. What is closed by
// one comes to its end and not to its begin.
func setsUp(t *stack.Table, frames []stack.FrameID) (method string, ok bool) {
	for i := len(frames) - 1; i >= 0; i-- {
		if !inSet("once", t.Frame(frames[i]).Func) {
			continue
		}
		for i++; i < len(frames) && stack.Package(t.Frame(frames[i]).Func) == "sync"; i++ {
		}
		if i == len(frames) {
			return "", false
		}
		name := t.Frame(frames[i]).Func
		at := strings.LastIndex(name, ").")
		if at < 0 || !strings.Contains(name, ".(*") || endings.MatchString(name[at+2:]) {
			return "", false
		}
		return name, true
	}
	return "", false
}

// endings are the names of methods that a value has for its end.
var endings = lazily(`^(?i:close|stop|cancel|shutdown|finish|done|release|free)`)

// doneOnce tells whether the program does what a stack shows once: under a sync.Once that is
// not that of a value of a library. Below outside there is nothing of the user's.
func doneOnce(t *stack.Table, frames []stack.FrameID, outside int) bool {
	once := func(f stack.FrameID) bool { return inSet("once", t.Frame(f).Func) }
	if slices.ContainsFunc(frames[outside:], once) {
		return true
	}
	_, ok := setsUp(t, frames[:outside])
	return !ok && slices.ContainsFunc(frames[:outside], once)
}

// repeated tells whether a line does the same more than once: some caller's line is in a loop, or,
// on a goroutine other than main's, somebody calls back, as a server does for each request; and it
// is not for another item each time.
func repeated(h *hit, line *hitLine) bool {
	v, frames, at := stackOf(h, line)
	return at >= 0 && repeatsFrom(h.in.code, v, frames, at) && !filledOnce(h.in.code, v, frames) &&
		itemsOf(byWeight(line.reasons)[0].name, h.in.code, v, frames, at) != eachItem
}

// stackOf is the heaviest stack of a line, and the position of the line in it; -1 for none.
func stackOf(h *hit, line *hitLine) (v *view, frames []stack.FrameID, at int) {
	t := h.p.Stacks
	frames = t.Frames(line.heavy)
	return h.in.view(h.p), frames, slices.IndexFunc(frames, func(id stack.FrameID) bool {
		f := t.Frame(id)
		return f.Func == line.Caller.Func && f.File == line.Caller.File && f.Line == line.Caller.Line
	})
}

// filledOnce tells whether one of the calls on a stack is made only where its result is not there yet.
func filledOnce(c *code, v *view, frames []stack.FrameID) bool {
	for i, f := range frames[1:] {
		if v.origins[f] == stack.User && fillsOnce(c, v.t.Frame(f), v.t.Frame(frames[i]).Func) {
			return true
		}
	}
	return false
}

// openers are functions of the standard library that make a connection for a pool.
var openers = []string{sqlConn, sqlOpens, httpDials}

// opensConnection finds on a stack what makes a connection for a pool.
func opensConnection(t *stack.Table, frames []stack.FrameID) (opener string, ok bool) {
	for _, f := range frames {
		if name := t.Frame(f).Func; slices.Contains(openers, name) {
			return name, true
		}
	}
	return "", false
}

// fromOpener are the frames of a stack from what makes a connection on.
func fromOpener(t *stack.Table, frames []stack.FrameID) (all []stack.Frame) {
	for _, id := range frames {
		if f := t.Frame(id); len(all) > 0 || slices.Contains(openers, f.Func) {
			all = append(all, f)
		}
	}
	return all
}

// returnsConnection finds on a stack a function of the program that, by its source, returns a connection.
func returnsConnection(c *code, v *view, frames []stack.FrameID) (opener string) {
	for _, id := range frames {
		f := v.t.Frame(id)
		if v.origins[id] != stack.User || opener != "" {
			continue
		}
		if d := c.function(f); d != nil && d.Type.Results != nil && len(d.Type.Results.List) > 0 &&
			strings.HasSuffix(strings.ToLower(types.ExprString(d.Type.Results.List[0].Type)), "conn") {
			opener = f.Func
		}
	}
	return opener
}

// tellAgain says what is done again, and what to do about it.
func tellAgain(h *hit, f *Finding) {
	i := slices.IndexFunc(agains, func(a again) bool { return a.set == h.reasons[0].name })
	a := &agains[i]
	f.Summary = strings.Replace(f.Summary, h.what, "went into "+a.what, 1)
	if method, ok := setsUp(h.p.Stacks, h.p.Stacks.Frames(h.lines[0].heavy)); ok {
		f.Summary = strings.Replace(f.Summary, ", calling sync.(*Once).doSlow", ", calling "+stack.Short(method)+", which does it once for each value", 1)
	}
	f.Advice = a.advice
	if a.doubt != "" {
		f.Doubts = append(f.Doubts, a.doubt)
	}
	if e, ok := eagerOf(h, h.lines[0]); ok {
		f.Advice, f.Doubts = e.advice("it is done"), []string{eagerDoubt}
		return
	}
	if tellCached(h, f) {
		return
	}
	if calls, ok := neverTwice(h); ok && a.set == "again.config" {
		f.Severity, f.saves = Info, false
		f.Summary += fmt.Sprintf("; in the run that counts it was called %s, and never with the arguments of an earlier call", unit.Plural(calls, "time"))
		f.Advice = itemAdvice
		return
	}
	v, frames, at := stackOf(h, h.lines[0])
	if opener, ok := opensConnection(v.t, frames[max(at, 0):]); ok {
		f.Severity, f.saves = Info, false
		f.Advice = "It is done for each new connection, in " + stack.Short(opener) + ": keep connections open between uses (of database/sql: SetMaxIdleConns, which is 2 unless the program sets it, and SetConnMaxLifetime; of net/http: MaxIdleConnsPerHost, also 2)."
		if opener != httpDials {
			f.Advice += " " + statsAdvice
		}
		f.Doubts = []string{"that of the first connections is no fault: rule LD06 says whether new ones are opened all the time, from a trace"}
		tellProbe(h.in, f, fromOpener(v.t, frames))
		return
	}
	if opener := returnsConnection(h.in.code, v, frames[max(at, 0):]); opener != "" && a.set == "again.password" {
		f.Severity, f.saves = Info, false
		f.Advice = "It is done for each new connection, in " + stack.Short(opener) + ", which returns one: keep connections open between uses; a check that has to log in anew can do so less often."
		f.Doubts = []string{"that of the first connections is no fault"}
		return
	}
	if itemsOf(a.set, h.in.code, v, frames, at) == otherItem {
		if !tellItemsSeen(h, f) {
			f.Severity, f.saves = Info, false
			f.Advice = itemAdvice
			f.Doubts = append(f.Doubts, itemDoubt)
		}
		return
	}
	if way, _ := v.program(frames[max(at, 0):]); len(way) > 0 {
		if a.set == "again.random" {
			tellSeeds(h.in.code, way, f)
		} else {
			tellEdited(h.in.code, way, f)
		}
	}
	switch a.set {
	case "again.template":
		tellExtended(h, f)
	case againSettings:
		tellLookUps(h, f)
	case "again.table":
		if strings.Contains(h.lines[0].Callee, "/collate.") {
			f.Advice = "Keep what was built: a Collator serves one goroutine at a time, so " + eachItsOwn + "."
		}
	}
	tellBound(h, a.set, f)
}

// tellExtended says of a template that is parsed what to do where the program adds to it later: one that was executed takes
// nothing more.
func tellExtended(h *hit, f *Finding) {
	line := h.lines[0]
	d := newDerivations(h.in.code)
	in, found := d.at(line.Caller)
	if !found {
		return
	}
	for _, call := range d.callsOn(in, line.Caller, ownName(line.Callee)) {
		at, method, ok := configuredLater(d, in, call, func(name string) bool { return configures.MatchString(name) || extends.MatchString(name) })
		if !ok {
			continue
		}
		f.Advice = "Parse this part once, in a package variable, and take a Clone of it for each use: " + at.text() + " calls " + method + " on it later, which is an error after Execute of html/template, and would add to it for all. If that adds the same each time, do it once as well."
		return
	}
}

// itemAdvice is what to do about such work.
const itemAdvice = "If some of these are the same, make each once and keep it, in a map by its text or its key, with a bound; if each is another, this is the work itself."

// itemDoubt is what speaks against work that may be for another item each time.
const itemDoubt = "the source makes it from what a loop goes through: if each of these is another, and comes only once, there is nothing to keep"
