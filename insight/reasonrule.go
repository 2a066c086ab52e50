package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/why"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// The rules AL02 to AL08, AL10 and AL19 look at lines of the user's code that
// allocate, and at the reason. A place that allocates is one rule's only, that
// of the narrowest reason; AL02 has what is left, and the lines that are too
// small for their own rule and large enough for it.

// reasonLimit is the share from which a line is a finding.
type reasonLimit struct {
	share float64
	of    []string // "bytes", "objects": the one that is larger counts
}

// reasonLimits are those of the catalogue, by rule.
var reasonLimits = map[string]reasonLimit{
	"AL02": {0.10, []string{inBytes, inObjects}},
	"AL03": {0.05, []string{inObjects}},
	"AL04": {0.05, []string{inBytes, inObjects}},
	"AL05": {0.05, []string{inBytes}},
	"AL06": {0.05, []string{inBytes}},
	"AL07": {0.05, []string{inObjects}},
	"AL08": {0.05, []string{inBytes}},
	"AL10": {0.05, []string{inBytes}},
	"AL19": {0.05, []string{inObjects}},
}

const (
	inBytes   = "allocated bytes"
	inObjects = "allocated objects"
)

// warnShare is the share from which a line is worth acting on whatever else the
// program does.
const warnShare = 0.25

// minBytes is the share of the bytes that a line has at least, and lightBytes
// the one below which many objects are no warning.
const (
	minBytes   = 0.01
	lightBytes = 0.05
)

// minRate is how much a program allocates at least, in bytes a second, before
// any of its lines matters: at two nanoseconds a byte (small objects cost 20 to
// 40 ns for 16 bytes) it is about 1 % of one CPU, the floor of guard g6.
const minRate = 4 << 20

// reasonParams are the parameters of a rule about reasons.
func reasonParams(id, source string) []Param {
	l := reasonLimits[id]
	return []Param{
		{"share", l.share, "share of " + strings.Join(l.of, " or "), source + "; the lower bound of the interval counts"},
		{"samples", 50, "samples", "research, guard g0: below this a share may be chance"},
		{"floor", minBytes, "share of allocated bytes", "research, guard g6: many objects with next to no bytes cost next to nothing"},
		{"rate", minRate, "B/s", "research, guard g6: at 2 ns a byte it is about 1% of one CPU"},
	}
}

// kindOf names the rule that a place that allocates belongs to; empty when its
// reason is not known.
func (r *reasons) kindOf(in *Input, s *allocSite) string {
	if !r.trusted(s) {
		return ""
	}
	all := func(match func(*allocSite, *why.Cause) bool) bool {
		for i := range s.Causes {
			if !match(s, &s.Causes[i]) {
				return false
			}
		}
		return true
	}
	switch {
	case in.code.defersInLoop(s):
		return "AL19"
	case all(isConcat) && in.code.growingText(s) != "":
		return "AL08"
	case all(isConversion):
		return "AL10"
	case all(isAppend):
		return "AL06"
	case all(throughReader):
		return "AL04"
	case all(isClosure) && !in.code.parse(s.at.File).startsGoroutine(s.at.Line):
		return "AL07"
	case all(isBox):
		return "AL03"
	case all(isSizedAtRunTime):
		return "AL05"
	}
	return "AL02"
}

// trusted tells whether the answer can be relied on: the compiler has been
// asked about the package, or the binary says what is called.
func (r *reasons) trusted(s *allocSite) bool {
	if s.Certainty == why.Unexplained || s.Stale || len(s.Causes) == 0 {
		return false
	}
	return s.Runtime != "" || r.set.Packages[stack.Package(s.Frames[len(s.Frames)-1].Func)]
}

// reasonLine is a line of the user's code that allocates for one rule's reason.
type reasonLine struct {
	kind string
	at   stack.Frame
	allocated
	sites []*allocSite // the heaviest first
	share stats.Interval
	of    string // what it is a share of
}

// judged are the lines that are findings, and how much each rule has seen.
type judged struct {
	found map[string][]*reasonLine
	seen  map[string]*allocated // by rule, in findings and out of them
	known allocated             // of all lines whose reason is known
	// unknown are the lines whose reason is not known, by rule: "" for those
	// that may be any rule's.
	unknown map[string][]*reasonLine
}

// judge gives every line to one rule.
func (r *reasons) judge(in *Input) *judged {
	j := &judged{found: map[string][]*reasonLine{}, seen: map[string]*allocated{}, unknown: map[string][]*reasonLine{}}
	for id := range reasonLimits {
		j.seen[id] = &allocated{}
	}
	type key struct {
		kind, function, file string
		line                 int
	}
	groups, list := map[key]*reasonLine{}, []*reasonLine{}
	put := func(kind string, s *allocSite) {
		k := key{kind, s.at.Func, s.at.File, s.at.Line}
		g, ok := groups[k]
		if !ok {
			g = &reasonLine{kind: kind, at: s.at}
			groups[k] = g
			if isRule := reasonLimits[kind].share > 0; isRule {
				list = append(list, g)
			} else {
				j.unknown[strings.TrimPrefix(kind, mayBe)] = append(j.unknown[strings.TrimPrefix(kind, mayBe)], g)
			}
		}
		g.sites = append(g.sites, s)
		g.add(s.allocated)
	}
	for i := range r.sites {
		s := &r.sites[i]
		if isPoolNew(in.code, s.at) {
			continue // AL15 looks at how often a pool makes new ones
		}
		if kind := r.kindOf(in, s); kind != "" {
			put(kind, s)
			j.seen[kind].add(s.allocated)
			j.known.add(s.allocated)
			if kind == "AL02" && in.code.parse(s.at.File) == nil && !slices.ContainsFunc(s.Causes, func(c why.Cause) bool { return !isConcat(s, &c) }) {
				put(mayBe+"AL08", s) // only the source says whether it is in a loop
			}
			continue
		}
		put(mayBe, s)
	}
	for _, g := range list { // what is put to AL02 meanwhile comes below
		if g.kind != "AL02" && !r.isFound(g) {
			for _, s := range g.sites {
				put("AL02", s)
			}
		}
	}
	for _, g := range list {
		if r.isFound(g) {
			slices.SortStableFunc(g.sites, func(a, b *allocSite) int { return cmp.Compare(b.bytes, a.bytes) })
			j.found[g.kind] = append(j.found[g.kind], g)
		}
	}
	for _, lines := range j.found {
		slices.SortFunc(lines, func(a, b *reasonLine) int {
			return cmp.Or(cmp.Compare(b.share.Estimate, a.share.Estimate), strings.Compare(a.at.File, b.at.File),
				a.at.Line-b.at.Line, strings.Compare(a.at.Func, b.at.Func))
		})
	}
	return j
}

// mayBe begins the kind of a line that may be a rule's: what would tell is
// missing.
const mayBe = "may be "

// hidden returns the largest line that might be a finding of a rule if its
// reason were known, or nil.
func (j *judged) hidden(r *reasons, id string) (most *reasonLine) {
	for _, g := range slices.Concat(j.unknown[""], j.unknown[id]) {
		one := *g
		if one.kind = id; !r.isLarge(&one) {
			continue
		}
		if most == nil || one.share.Estimate > most.share.Estimate {
			most = &one
		}
	}
	return most
}

// isFound applies the limits of a line's rule.
func (r *reasons) isFound(g *reasonLine) bool {
	return r.isLarge(g) && (g.kind != "AL06" || r.isLadder(g))
}

// isLarge tells whether a line is large enough for its rule, and sets its share.
func (r *reasons) isLarge(g *reasonLine) bool {
	limit := reasonLimits[g.kind]
	for _, of := range limit.of {
		share := r.shareOf(g.allocated, of)
		if g.of == "" || share.Low > g.share.Low {
			g.of, g.share = of, share
		}
	}
	return g.samples >= minLineSamples && g.share.Low >= limit.share && r.shareOf(g.allocated, inBytes).Estimate >= minBytes
}

// minLineSamples is how many samples a line rests on at least: of fewer than ten, one
// more or less is a tenth of its share.
const minLineSamples = 10

// shareOf is a part of the profile with the doubt of sampling. Samples differ
// in weight, one of small objects stands for many of them, so the profile says
// less than the number of its samples (Kish's effective size).
func (r *reasons) shareOf(a allocated, of string) stats.Interval {
	part, whole, n := a.bytes, r.total.bytes, r.effective[0]
	if of == inObjects {
		part, whole, n = a.objects, r.total.objects, r.effective[1]
	}
	share := float64(part) / float64(max(whole, 1))
	return stats.Wilson(share*n, n, compare.Confidence)
}

// effectiveSize is the number of samples of one weight that would say as much:
// (Σw)² / Σw², of observations that share the weight of their row.
func effectiveSize(weights, counts []int64) float64 {
	sum, squares := 0.0, 0.0
	for i, w := range weights {
		if w > 0 && counts[i] > 0 {
			sum += float64(w)
			squares += float64(w) * float64(w) / float64(counts[i])
		}
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}

// lifetime is how long the process ran whose allocations the profile holds.
func lifetime(in *Input, e recording.Entry) time.Duration {
	if runs := in.Session.Manifest().Target.Runs; e.Run >= 0 && e.Run < len(runs) {
		end := runs[e.Run].Span.End
		if p, ok := in.Session.Manifest().PhaseNamed(e.Phase); ok && p.Span.End > 0 && (end == 0 || p.Span.End < end) {
			end = p.Span.End
		}
		return end.Sub(runs[e.Run].Span.Start)
	}
	return 0
}

// publishing is how many collections it takes until a profile has an allocation (runtime/mprof.go): what comes in one cycle is
// added when the next but one begins.
const publishing = 2

// loadUnseen tells of a profile of allocations that it has none of those under load, and how many collections ended since that
// began. It is false without a load, and where the metrics do not tell.
func loadUnseen(in *Input, e recording.Entry) (collections int64, unseen bool) {
	start := timeline.Time(-1)
	for i := range in.Facts.Rounds {
		if r := &in.Facts.Rounds[i]; r.Load != nil && r.Phase.Run == e.Run && (start < 0 || r.Phase.Span.Start < start) {
			start = r.Phase.Span.Start
		}
	}
	set, err := in.Session.Metrics(e.Run)
	if start < 0 || err != nil || e.Span.Start <= start {
		return 0, false
	}
	cycles := set.Series("/gc/cycles/total:gc-cycles")
	first, last, known := 0.0, 0.0, false
	for i, at := range cycles.Times {
		switch {
		case at > e.Span.Start:
		case at <= start:
			first, last, known = cycles.Values[i], cycles.Values[i], true
		case known:
			last = cycles.Values[i]
		}
	}
	return int64(last - first), known && last-first < publishing
}

// telling is what a rule has to say of a line.
type telling func(in *Input, r *reasons, g *reasonLine, f *Finding)

// mostLines bounds the findings of one rule.
const mostLines = 5

// reasoned makes the findings of a rule about reasons. what names the thing
// that it looks for: "values that are put into interfaces".
func (rule *Rule) reasoned(in *Input, what string, tell telling) []Finding {
	r := in.reasons()
	switch {
	case r.damaged:
		return []Finding{rule.answer(TooLittle, "%s", r.missing)}
	case r.missing != "":
		return []Finding{rule.answer(NotApplicable, "%s", r.missing)}
	case r.total.samples < int64(rule.param("samples")):
		return []Finding{rule.short("%s rests on %d allocation samples; %g are needed: %s", r.entry.Path, r.total.samples, rule.param("samples"), askMore(in))}
	}
	if d := lifetime(in, r.entry); d > 0 {
		if rate := float64(r.total.bytes) / d.Seconds(); rate < rule.param("rate") {
			return []Finding{rule.answer(Fine, "the program allocates %s a second, less than %s: no line of it matters (or it had too little work)",
				unit.BytesOf(rate), unit.BytesOf(rule.param("rate")))}
		}
	}
	if n, unseen := loadUnseen(in, r.entry); unseen {
		return []Finding{rule.answer(TooLittle, "%s shows what was allocated before the load: the profile leaves out what came since the collection before the last one, and %s ended between the start of the load and the profile; record for longer, or under more load", r.entry.Path, unit.Plural(n, "collection"))}
	}
	lines := r.judged.found[rule.ID]
	if len(lines) == 0 {
		if g := r.judged.hidden(r, rule.ID); g != nil {
			return []Finding{rule.answer(TooLittle, "cannot tell: it is not known why %s:%d in %s allocates, which is %s of the %s: %s", baseName(g.at.File), g.at.Line,
				stack.Short(g.at.Func), unit.Percent(g.share.Estimate), g.of, r.whyUnknown(in, g))}
		}
		of := reasonLimits[rule.ID].of[0]
		seen := r.shareOf(*r.judged.seen[rule.ID], of)
		return []Finding{rule.answer(Fine, "%s take %s of the %s, but no single line enough to matter; the reason is known for %s",
			what, unit.Percent(seen.Estimate), of, unit.Percent(r.shareOf(r.judged.known, of).Estimate))}
	}
	var found []Finding
	for _, g := range lines[:min(len(lines), mostLines)] {
		found = append(found, rule.line(in, r, g, tell))
	}
	return found
}

// whyUnknown says what would tell why a line allocates.
func (r *reasons) whyUnknown(in *Input, g *reasonLine) string {
	s := g.sites[0]
	pkg := stack.Package(s.Frames[len(s.Frames)-1].Func)
	switch {
	case s.Stale:
		return "its source does not match the recording: record again"
	case len(r.set.Packages) == 0:
		return "the compiler was not asked; record with loupe run of the package"
	case !r.set.Packages[pkg]:
		return "the compiler was not asked about package " + pkg + "; record with loupe run within the module of that package"
	case in.code.parse(g.at.File) == nil:
		return "the recording has no source of it; record where the source is"
	}
	return "what the compiler says about it matches no allocation there"
}

// line makes the finding of a line.
func (rule *Rule) line(in *Input, r *reasons, g *reasonLine, tell telling) Finding {
	f := rule.answer(Found, "%s of the %s (%s in %s objects) at %s:%d in %s: %s", unit.Percent(g.share.Estimate), g.of,
		unit.BytesOf(float64(g.bytes)), unit.Count(g.objects), baseName(g.at.File), g.at.Line, stack.Short(g.at.Func), g.sites[0].said())
	limit := rule.param("share")
	f.Severity, f.Score = Info, score(g.share.Estimate, 2*limit, 0.5)
	if g.share.Low >= warnShare && r.shareOf(g.allocated, inBytes).Estimate >= lightBytes {
		f.Severity = Warning
	}
	f.Impact = &Impact{g.share.Estimate, "share of " + g.of, g.share.Low, g.share.High}
	f.Evidence = r.evidence(in, g)
	f.costs, f.saves = g.costs(), true
	f.Verify = "Record again under the same load: this line should be gone from loupe pprof -top -sample_index alloc_space, and allocations per request should fall by as much."
	tell(in, r, g, &f)
	return f
}

// takesAlone are functions of the runtime in which all is done that an allocation takes, filling it included.
var takesAlone = map[string]bool{
	"slicebytetostring": true, "stringtoslicebyte": true, "slicerunetostring": true, "stringtoslicerune": true, "newobject": true,
	"convT": true, "convT64": true, "convTstring": true, "convTslice": true,
}

// costs are the CPU time of taking the memory, and of what fills it: in the line itself, or in the function that
// allocates for it.
func (g *reasonLine) costs() (all []cost) {
	for _, s := range g.sites {
		c := cost{file: g.at.File, line: g.at.Line, allocating: true}
		if inner := s.Frames[0].Func; inner != g.at.Func {
			c.maker = stack.FoldGenerics(inner)
		}
		if takesAlone[strings.TrimPrefix(s.Runtime, "runtime.")] { // what else the line allocates stays
			c.callee = "runtime." + strings.TrimPrefix(s.Runtime, "runtime.")
		}
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// said is the reason in words, with its doubt.
func (s *allocSite) said() string {
	switch {
	case s.Certainty == why.Ambiguous:
		words := make([]string, 0, 3)
		for _, c := range s.Causes[:min(len(s.Causes), 2)] {
			words = append(words, c.Reason)
		}
		if n := len(s.Causes) - len(words); n > 0 {
			words = append(words, fmt.Sprintf("%d more", n))
		}
		return "one or all of: " + strings.Join(words, "; ")
	case s.call != "":
		return s.saidOfCall()
	case len(s.Frames) > 1 && s.at != s.Frames[0]:
		return s.Causes[0].Reason + ", in " + stack.Short(s.Frames[0].Func) + ", which is inlined here"
	}
	return s.Causes[0].Reason
}

// certaintyWords say where an answer comes from.
var certaintyWords = map[why.Certainty]string{
	why.Exact: "exact, according to the compiler", why.Runtime: "done by the runtime, whatever the compiler proves", why.Ambiguous: "ambiguous: several things on the line allocate",
}

// evidence shows the places of a line: one for each reason, however many
// functions it was inlined into.
func (r *reasons) evidence(in *Input, g *reasonLine) (out []Evidence) {
	source := in.code.text(g.at.File, g.at.Line)
	type reason struct {
		*allocSite
		samples int64
		sizes   []int64
	}
	var list []*reason
	for _, s := range g.sites {
		i := slices.IndexFunc(list, func(o *reason) bool { return o.said() == s.said() && o.Certainty == s.Certainty })
		if i < 0 {
			if len(list) > 0 && s.bytes < g.bytes/20 && s.objects < g.objects/20 {
				continue
			}
			list, i = append(list, &reason{allocSite: s}), len(list)
		}
		list[i].samples += s.samples
		list[i].sizes = append(list[i].sizes, s.Sizes...)
	}
	for _, s := range list[:min(len(list), 3)] {
		slices.Sort(s.sizes)
		e := Evidence{
			Text: fmt.Sprintf("%s (%s; %d of %d samples%s)", s.said(), certaintyWords[s.Certainty], s.samples, r.total.samples, sizeWords(slices.Compact(s.sizes))),
			Path: r.entry.Path, Phase: r.entry.Phase, File: g.at.File, Line: g.at.Line, Function: g.at.Func, Source: source,
		}
		if p, ok := in.Session.Manifest().PhaseNamed(r.entry.Phase); ok && p.Span.End > p.Span.Start {
			e.Span = span(p.Span)
		}
		if len(s.Frames) > 1 {
			e.Stack = evidenceStack(s.Frames)
		}
		out = append(out, e)
	}
	return out
}

// sizeWords tell the sizes of objects.
func sizeWords(sizes []int64) string {
	switch len(sizes) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("; %s each", unit.BytesOf(float64(sizes[0])))
	}
	return fmt.Sprintf("; %d sizes from %s to %s", len(sizes), unit.BytesOf(float64(sizes[0])), unit.BytesOf(float64(sizes[len(sizes)-1])))
}

// objectSizes adds up the objects of a line by their size, which the runtime
// writes into the label "bytes".
func (r *reasons) objectSizes(g *reasonLine) map[int64]allocated {
	by := map[int64]allocated{}
	for _, s := range g.sites {
		for _, n := range s.Samples {
			for _, l := range r.profile.Labels(r.profile.SetOf(int(n))) {
				if l.Key == "bytes" {
					a := by[l.Num]
					a.add(r.of(int(n)))
					by[l.Num] = a
				}
			}
		}
	}
	return by
}

// flowHas tells whether a step of the way to the heap is of a kind.
func flowHas(c *why.Cause, match func(how, expr string) bool) bool {
	if c.Diagnostic == nil {
		return false
	}
	for _, f := range c.Diagnostic.Flow {
		for _, s := range f.Steps {
			if match(s.Why, s.Expr) {
				return true
			}
		}
	}
	return false
}
