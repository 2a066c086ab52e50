package insight

import (
	"fmt"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/loadlog"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp30 = &Rule{
	ID: "CP30", Title: "Each request makes the same answer again",
	About: "The load compares some answers with the one before, and the source shows what of the request the handler reads. " +
		"An answer that takes much CPU time, depends on nothing in the request and hardly changes from one request to the next can be kept: as a whole, or by its parts, made again when what they show changes.",
	Asks: []facts.Question{facts.CPU, facts.Requests},
	Params: []Param{
		{"same", 0.95, "of an answer was in the one before", "chosen: changes of single objects are less"},
		{"drift", 0.80, "of the last answer was in the first one", "chosen: what changes all the time is not worth keeping"},
		{"compared", 3, "answers", "chosen"},
		{"content", 2048, "bytes of different content", "chosen: a short answer may be the same whatever was done"},
		{"through", 0.70, "of the samples of requests", "chosen: what makes the answer, and not what is around it"},
		{"share", 0.10, "share of CPU time", "as CP03"},
		{"warn", 0.25, "share of CPU time", "as CP03"},
		{"cost", 0.0005, "CPU seconds a request", "chosen: less is that of a small answer"},
		{"samples", 20, "samples of requests", "chosen"},
	},
	Check: checkSameAnswers,
}

func checkSameAnswers(r *Rule, in *Input) []Finding {
	a, why := sameAnswersOf(r, in)
	if why != "" {
		return []Finding{r.answer(a.state, "%s", why)}
	}
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	s := samplesServed(in, w)
	if float64(s.total) < r.param("samples") {
		return []Finding{r.short("the CPU profile has %s of requests; %g are needed", unit.Plural(s.total, "sample"), r.param("samples"))}
	}
	m := s.maker(in, r.param("through"))
	if m == nil {
		return []Finding{r.answer(Fine, "the answers are as before, but no part of the source that reads nothing of the request makes most of them")}
	}
	share := stats.Wilson(float64(m.samples), float64(w.Total()), compare.Confidence)
	cost := a.cost * share.Estimate
	if share.Estimate < r.param("share") || a.cost > 0 && cost < r.param("cost") {
		return []Finding{r.answer(Fine, "the answers are as before, and making them takes %s of the CPU time", unit.Percent(share.Estimate))}
	}
	return []Finding{a.finding(r, in, m, w, share, cost)}
}

// sameAnswers is what the loads say of the answers.
type sameAnswers struct {
	state State // where they say that there is nothing to tell
	load  loadRound
	path  string // "/metrics"
	loadlog.Likeness
	cost float64 // CPU seconds of the process for each request; 0 is unknown
}

// sameAnswersOf reads the loads; why says why there is nothing to tell.
func sameAnswersOf(r *Rule, in *Input) (a sameAnswers, why string) {
	a.state = NotApplicable
	n, cpu := int64(0), time.Duration(0)
	loads := in.Facts.Loads()
	for _, l := range loads {
		load := loadRound{l}
		if len(l.Log.Likeness) == 0 {
			continue
		}
		k := likenessOf(r, l.Log)
		if k == nil {
			a.state = Fine
			return a, "answers to the same request differ, or the load asks for several targets or for what changes"
		}
		if a.Compared == 0 {
			a.load, a.path = load, pathOf(comparedTarget(l.Log, k))
		}
		a.Join(*k)
		n, cpu = n+int64(l.Log.Len()), cpu+l.Log.ServiceCPU
	}
	switch {
	case a.Compared == 0 && (len(loads) == 0 || loads[0].Log.Len() < minRequests):
		a.state = TooLittle
		return a, "the load was too short to compare answers"
	case a.Compared == 0:
		return a, "the load compared no answers: its requests differ, or another version of loupe recorded it"
	case float64(a.Compared) < r.param("compared"):
		a.state = TooLittle
		return a, fmt.Sprintf("%s could be compared; %g are needed", unit.Plural(int64(a.Compared), "answer"), r.param("compared"))
	case float64(a.Bytes) < r.param("content")*float64(a.Compared):
		a.state = Fine
		return a, fmt.Sprintf("the answers have %s of content: they may be the same whatever was done", unit.BytesOf(float64(a.Bytes)/float64(a.Compared)))
	}
	if n > 0 {
		a.cost = cpu.Seconds() / float64(n)
	}
	return a, ""
}

// nearlyOnly is the part of the requests that one target has to have: of several, nobody knows whose answers the CPU time makes.
const nearlyOnly = 0.95

// likenessOf is how alike the answers to the one target of a load were; nil where there are several, it is not asked for with GET, or the
// answers differ.
func likenessOf(r *Rule, log *loadlog.Log) *loadlog.Likeness {
	counts, all := map[uint16]int{}, 0
	for q := range log.All() {
		counts[q.Target]++
		all++
	}
	for i := range log.Likeness {
		k := &log.Likeness[i]
		method := comparedTarget(log, k).Method
		if float64(counts[k.Target]) >= nearlyOnly*float64(all) && (method == "GET" || method == "") && k.Share() >= r.param("same") && k.ShareOfFirst() >= r.param("drift") {
			return k
		}
	}
	return nil
}

// comparedTarget is what was asked for where answers were compared.
func comparedTarget(log *loadlog.Log, k *loadlog.Likeness) loadlog.Target {
	return log.TargetOf(&loadlog.Request{Target: k.Target})
}

// pathOf is the path of a target.
func pathOf(t loadlog.Target) string {
	if _, rest, ok := strings.Cut(t.URL, "://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
		return "/"
	}
	return t.URL
}

func (a *sameAnswers) finding(r *Rule, in *Input, m *answerMaker, w *facts.Weights, share stats.Interval, cost float64) Finding {
	each := ""
	if a.cost > 0 {
		each = fmt.Sprintf(", %s per request", unit.Nanoseconds(cost*1e9))
	}
	f := r.answer(Found, "%s rebuilds the answer to %s for each request: it reads nothing of the request, and %s of the content was in the previous answer; that takes %s of the CPU time%s",
		m.name(), a.path, almostAll(a.Share()), unit.Percent(share.Estimate), each)
	f.Severity, f.Score = Info, score(share.Estimate, r.param("share"), 0.60)
	f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
	if share.Low >= r.param("warn") {
		f.Severity = Warning
	}
	f.Evidence = append(f.Evidence, m.evidence(in, w)...)
	f.Evidence = append(f.Evidence, a.load.seen(fmt.Sprintf("%s with the one before: %s the same; the last with the first, %s earlier: %s",
		unit.Plural(int64(a.Compared), "comparison"), unit.Percent(a.Share()), unit.Duration(a.Between), unit.Percent(a.ShareOfFirst()))))
	f.costs, f.saves = m.costs(), true
	f.Advice = m.advice()
	f.Verify = "Record again under the same load: CPU time per request, and the share of this line, should fall (loupe compare OLD NEW)."
	if len(m.besides.doubts) > 0 {
		f.Severity = Info
		f.Doubts = append(f.Doubts, m.besides.doubts[:min(3, len(m.besides.doubts))]...)
	}
	if m.besides.system != "" {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("it asks the system at %s: a copy has what it said then", m.besides.system))
	}
	if m.changes != "" {
		f.Doubts = append(f.Doubts, m.changes+": what is kept has to be made again then")
	}
	f.Doubts = append(f.Doubts, fmt.Sprintf("the answers were compared for %s, long ones in part: what changes less often than that looks the same", unit.Duration(a.Between)))
	return f
}

// almostAll is a share that is shown as all only where it is.
func almostAll(share float64) string {
	if share < 1 && share > 0.9995 {
		return "more than 99.9%"
	}
	return unit.Percent(share)
}

// answerMaker is the part of the source that makes most of the answers, and reads nothing of the request.
type answerMaker struct {
	samples int64
	// at is the line that makes them; callee is the function of the program that it calls, empty for none, and loop tells that it is a loop.
	at     stack.Frame
	callee string
	loop   bool
	shared bool // the function is called elsewhere, too
	// inner is the line of the innermost loop below that has most of it; zero where there is none.
	inner   stack.Frame
	lines   []stack.Frame // what the samples go through
	changes string        // what changes what the answers are made of; empty for nothing that the source shows
	besides answerBesides
	// handlers are variables of which each handler may have its own.
	handlers []string
	// owner is the type whose method serves the requests; empty where it is no method.
	owner string
}

// name says what makes the answers.
func (m *answerMaker) name() string {
	switch at := fileLine(m.at.File, m.at.Line); {
	case m.callee != "":
		return stack.Short(m.callee)
	case m.loop:
		return "the loop at " + at
	default:
		return at
	}
}

func (m *answerMaker) costs() (all []cost) {
	for _, l := range m.lines {
		all = append(all, cost{file: l.File, line: l.Line, callee: stack.FoldGenerics(m.callee)})
	}
	return all
}

func (m *answerMaker) evidence(in *Input, w *facts.Weights) (all []Evidence) {
	all = []Evidence{in.code.shownAt(m.at.File, m.at.Line, "%d of %d samples go through this", m.samples, w.Total())}
	all[0].Function, all[0].Path = m.at.Func, w.Entry.Path
	if m.inner.Line > 0 {
		e := in.code.shownAt(m.inner.File, m.inner.Line, "for each request, this loop goes through all elements")
		e.Function = m.inner.Func
		all = append(all, e)
	}
	return all
}

func (m *answerMaker) advice() string {
	again := "rebuild it when the data changes, or after a time for which a stale answer is acceptable"
	if m.changes == "" {
		again = "if the data can change, " + again
	}
	where := ""
	if m.shared {
		where = " for the call at " + fileLine(m.at.File, m.at.Line)
	}
	if m.owner != "" {
		where += fmt.Sprintf(" in the %s that serves the requests (each has its own)", m.owner)
	}
	text := fmt.Sprintf("Keep what %s builds%s, and let requests write that copy; %s, on one goroutine only.", m.name(), where, again)
	if m.inner.Line > 0 {
		text += fmt.Sprintf(" If only single elements change, keep what the loop at %s builds for each element, and rebuild that part when the element is added or changed.", fileLine(m.inner.File, m.inner.Line))
	}
	if len(m.handlers) > 0 {
		text += fmt.Sprintf(" Each handler has its own %s, so keep one copy for each.", strings.Join(m.handlers, " and "))
	}
	return text + " Keep separate copies for users who may see different data, and for each format and encoding."
}
