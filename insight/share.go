package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/calltree"
	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// look is the shape that many rules share: how much of a profile goes through
// a set of functions, and which lines of the user's code cause it. A rule says
// what it looks for and what it has to say; the rest is here.
//
// A stack counts when one of the functions is on it with nothing but the
// standard library and the runtime between it and the leaf: what a callback of
// the user's own does below fmt.Sprintf is not formatting. It counts for the
// user frame that is nearest (guard g5).
type look struct {
	of     facts.Question // CPU or Allocations
	sample string         // the sample type: "samples", "alloc_space", "alloc_objects"
	limit  string         // the parameter that holds the threshold of the share
	warn   string         // the parameter from which on the finding is a warning; may be ""
	set    string         // what is looked for, a set of the table of signatures
	// flat asks for stacks that end in the set. What the caller has called is
	// then named by the outermost frame of the set named.
	flat  bool
	named string
	// with is a set of which a function must be below the one looked for.
	with string
	// skip names sets of which no frame may be on the stack.
	skip []string
	// unless, which may be nil, leaves stacks out: outside is the position of the first
	// frame outside of what is looked for, as reason has it.
	unless func(t *stack.Table, frames []stack.FrameID, outside int) bool
	// direct asks that the function was called by somebody outside the
	// standard library, or through one of the packages of through.
	direct  bool
	through []string
	// byUser asks that it was the user's own code that called the function: what a library does so for itself, below a call
	// of the user, cannot be changed there. A function of another module whose name has the word byUser does it for the user.
	byUser string
	// foreign says that the functions belong to other modules: only frames of
	// the user end the search for them.
	foreign bool
	// leaf takes every stack that ends in the user's own code: what a line
	// does itself, or what a heap profile hides of the runtime below it.
	leaf bool
	// memory tells that what is saved is the memory that the function takes, and not the rest of what it does.
	memory bool
	// accept, which may be nil, looks at a line once more.
	accept func(h *hit, line *hitLine) bool
	// itself says that only what the functions do themselves, with the runtime below them, would be saved.
	itself bool
	// below lets code of the user stand between the function and the leaf, as
	// the New of a pool does: the function nearest to the leaf counts.
	below bool
	// anyone lets stacks without any code of the user count.
	anyone bool
	// perLine applies the threshold to every line alone and makes a finding
	// of each; otherwise it applies to all lines together.
	perLine bool
	// loop leaves out lines of which the source says that they are in none.
	loop bool
	// objects is how many objects a line has to allocate at least, by the
	// estimate of the profile: one buffer that has grown large is no habit.
	objects int64
	// sizes is how many sizes of objects a line has to allocate at least.
	sizes int
	// busy asks that the program used at least a tenth of its Ps.
	busy bool
	// background names a set of goroutines that do the same for themselves:
	// stacks with them do not count. Where they take as much of the profile as
	// what counts, the rest may be theirs too, and nothing is found; and what
	// the reason calls "yield" is theirs as soon as they are seen at all.
	background string
	// reason sorts the stacks into kinds that need different advice; a stack
	// with reason "-" does not count. It may be nil. frames are those from the
	// leaf up to the code outside the standard library.
	reason func(t *stack.Table, frames []stack.FrameID) string
	// what ends the sentence "12% of the CPU time ".
	what string
	// tell gives advice and doubts, and may say more in the summary.
	tell func(h *hit, f *Finding)
}

// hit is what a look has found: all of it, or one line.
type hit struct {
	*look
	rule    *Rule
	in      *Input
	p       *profile.Profile
	index   int
	entry   recording.Entry
	total   int64 // of the whole profile
	all     int64 // samples of the whole profile
	weight  int64
	samples int64
	lines   []*hitLine // the heaviest first; those without user code last
	reasons []weighed  // the heaviest first
	how     string     // of a line: the loop around it
	behind  int64      // the weight of the background
	objects []int64    // the objects of each sample, of an allocs profile
}

// hitLine is a line of the user's code and what goes through it.
type hitLine struct {
	calltree.Site
	via     string // the function of another module that makes the call
	heavy   stack.ID
	most    int64
	reasons map[string]int64
	library map[string]int64 // the part that the standard library hands over for the line, by its package
	count   int64            // objects
	sizes   map[int64]bool   // of the objects, in bytes
}

// weighed is a name with its weight.
type weighed struct {
	name   string
	weight int64
}

// ofUnit names what shares of a sample type are shares of.
var ofUnit = map[string]string{
	"samples": "CPU time", "alloc_space": "allocated bytes", "alloc_objects": "allocated objects",
}

// evidenceLines bounds how many lines a finding shows.
const evidenceLines = 4

// minHits is how many samples a finding and each line of its evidence rest on
// at least.
const minHits = 10

// check lets the looks of a rule answer together: each that finds something
// makes a finding, or else the rule is fine where one of them could tell.
func check(looks ...*look) func(*Rule, *Input) []Finding {
	return func(r *Rule, in *Input) []Finding {
		var found, fine, short []Finding
		for _, l := range looks {
			if in.Facts.Missing(l.of) != "" {
				continue
			}
			h, f := l.measure(r, in)
			if h == nil {
				short = append(short, f)
				continue
			}
			if got := h.findings(r); len(got) > 0 {
				found = append(found, got...)
				continue
			}
			if why := h.unsaid(); why != "" {
				short = append(short, r.answer(TooLittle, "%s", why))
				continue
			}
			f = r.answer(Fine, nothing+"%s", h.entry.Path)
			if h.weight > 0 {
				f.Summary = fmt.Sprintf("%s of the %s %s", unit.Percent(h.part(h.weight)), ofUnit[l.sample], l.what)
				switch enough := h.interval(h.weight).Low >= r.param(l.limit); {
				case enough && l.accept != nil:
					f.Summary += ", but at no line as this rule asks for"
				case enough:
					f.Summary += ", but no single line of it in a loop often enough"
				}
			}
			fine = append(fine, f)
		}
		return settle(found, fine, short)
	}
}

// nothing begins what a rule says of a profile without any trace of its fault.
// Rules say it in the same words, so that reports can put them together.
const nothing = "nothing of the kind in "

// settle makes one answer of those of several looks.
func settle(found, fine, short []Finding) []Finding {
	switch {
	case len(found) > 0:
		slices.SortStableFunc(found, func(a, b Finding) int { return b.Score - a.Score })
		// The same line in objects and in bytes is one finding.
		best := found[:1]
		for _, f := range found[1:] {
			same := slices.IndexFunc(best, func(b Finding) bool { return sameLine(b, f) })
			if same < 0 {
				best = append(best, f)
				continue
			}
			best[same].Evidence = append(best[same].Evidence, Evidence{Text: "also " + f.Summary, Path: f.Evidence[0].Path, Phase: f.Evidence[0].Phase})
		}
		return best[:min(len(best), 3)]
	case len(fine) > 0 && !slices.ContainsFunc(short, func(f Finding) bool { return !f.Short }):
		all := fine[0]
		for _, f := range fine[1:] {
			switch {
			case strings.HasPrefix(all.Summary, nothing) && f.Summary != all.Summary:
				all.Summary = f.Summary
			case !strings.HasPrefix(f.Summary, nothing):
				all.Summary += ", " + f.Summary
			}
		}
		return []Finding{all}
	}
	if at := slices.IndexFunc(short, func(f Finding) bool { return !f.Short }); at > 0 {
		return short[at : at+1]
	}
	return short[:1]
}

// sameLine tells whether two findings begin with the same line.
func sameLine(a, b Finding) bool {
	return a.Evidence[0].File == b.Evidence[0].File && a.Evidence[0].Line == b.Evidence[0].Line
}

// measure reads the profile and adds up what the look is for. Where there is
// too little it returns no hit and the answer.
func (l *look) measure(r *Rule, in *Input) (*hit, Finding) {
	from, err := in.Facts.Weights(l.of, l.sample)
	if err != nil {
		return nil, r.answer(TooLittle, "%v", err)
	}
	p, index, entry := from.Profile, from.Index, from.Entry
	h := &hit{look: l, rule: r, in: in, p: p, index: index, entry: entry}
	counts, _ := p.Observations(index)
	h.countObjects()
	v := in.view(p)
	ask := question{set: v.marks(l.set), named: v.marks(l.named), with: v.marks(l.with), background: v.marks(l.background)}
	for _, s := range l.skip {
		ask.skip = append(ask.skip, v.marks(s))
	}
	type key struct {
		function, file, callee, via string
		line                        int
	}
	lines := map[key]*hitLine{}
	reasons := map[string]int64{}
	kept := facts.StillInUse(p)
	for i, id := range p.StackIDs {
		w := p.Values[index][i]
		if w <= 0 {
			continue
		}
		h.total += w
		h.all += counts[i]
		if ask.background != nil && slices.ContainsFunc(p.Stacks.Frames(id), func(f stack.FrameID) bool { return ask.background[f] }) {
			h.behind += w
			continue
		}
		m, ok := l.match(v, p.Stacks.Frames(id), ask)
		if !ok || kept(i) {
			continue
		}
		k := key{callee: m.callee, via: m.via}
		if m.user >= 0 {
			f := p.Stacks.Frame(p.Stacks.Frames(id)[m.user])
			k.function, k.file, k.line = f.Func, f.File, f.Line
		}
		line, ok := lines[k]
		if !ok {
			line = &hitLine{via: m.via, reasons: map[string]int64{}, library: map[string]int64{}, sizes: map[int64]bool{}}
			line.Callee = m.callee
			if m.user >= 0 {
				line.Caller = p.Stacks.Frame(p.Stacks.Frames(id)[m.user])
			}
			lines[k] = line
		}
		line.Weight += w
		line.Samples += counts[i]
		line.reasons[m.reason] += w
		if m.library != "" {
			line.library[m.library] += w
		}
		h.addObjects(line, i)
		if w > line.most {
			line.most, line.heavy = w, id
		}
		h.weight += w
		h.samples += counts[i]
		reasons[m.reason] += w
	}
	if least := int64(r.param("samples")); h.all < least {
		what := "record longer (-phases cpu:30s) or under load"
		if l.of == facts.Allocations {
			what = askMore(h.in)
		}
		return nil, r.short("%s rests on %d samples; %d are needed: %s", entry.Path, h.all, least, what)
	}
	for _, line := range lines {
		h.lines = append(h.lines, line)
	}
	slices.SortFunc(h.lines, compareLines)
	h.reasons = byWeight(reasons)
	return h, Finding{}
}

// countObjects finds the column of objects of an allocs profile.
func (h *hit) countObjects() {
	if index, err := h.p.Index("alloc_objects"); err == nil && h.of == facts.Allocations {
		h.objects = h.p.Values[index]
	}
}

// addObjects counts the objects of a sample for its line. Go keeps objects of
// different sizes apart.
func (h *hit) addObjects(line *hitLine, sample int) {
	if h.objects == nil || h.objects[sample] <= 0 {
		return
	}
	line.count += h.objects[sample]
	if space, err := h.p.Index("alloc_space"); err == nil {
		line.sizes[h.p.Values[space][sample]/h.objects[sample]] = true
	}
}

// compareLines puts the heaviest line first, and those of nobody last.
func compareLines(a, b *hitLine) int {
	nobody := func(l *hitLine) int {
		if l.Caller.Func == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(nobody(a)-nobody(b), cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Caller.File, b.Caller.File),
		a.Caller.Line-b.Caller.Line, strings.Compare(a.Caller.Func, b.Caller.Func), strings.Compare(a.Callee, b.Callee), strings.Compare(a.via, b.via))
}

// byWeight lists names, the heaviest first.
func byWeight(weights map[string]int64) (out []weighed) {
	for name, w := range weights {
		out = append(out, weighed{name, w})
	}
	slices.SortFunc(out, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.name, b.name))
	})
	return out
}

// match is how a stack answers to a look.
type match struct {
	callee string
	user   int    // position of the user's frame; -1 is none
	via    string // the function of another module that is nearest, if it is not the user's
	reason string
	// library is the package of the standard library that calls the callee for the user.
	library string
}

// question is what a look asks of every frame, by frame.
type question struct {
	set, named, with, background []bool
	skip                         [][]bool
}

// match tells whether a stack counts, and for what.
func (l *look) match(v *view, frames []stack.FrameID, ask question) (match, bool) {
	m := match{user: -1}
	for _, skip := range ask.skip {
		if slices.ContainsFunc(frames, func(f stack.FrameID) bool { return skip[f] }) {
			return m, false
		}
	}
	if l.leaf {
		if len(frames) > 0 && v.origins[frames[0]] == stack.User {
			m.user = 0
		}
		return m, m.user == 0
	}
	callee, outside := l.callee(v, frames, ask.set)
	if callee < 0 || l.unless != nil && l.unless(v.t, frames, outside) {
		return m, false
	}
	m.user = nextUser(v, frames, callee+1)
	if m.user < 0 && !l.anyone || l.direct && !l.isDirect(v, frames[callee+1:outside]) || l.byUser != "" && !l.calledByUser(v, frames, outside) {
		return m, false
	}
	if ask.with != nil && !slices.ContainsFunc(frames[:callee], func(f stack.FrameID) bool { return ask.with[f] }) {
		return m, false
	}
	if ask.named != nil {
		for i, f := range frames[:outside] {
			if ask.named[f] {
				callee = i
			}
		}
	}
	m.callee = stack.FoldGenerics(v.t.Frame(frames[callee]).Func)
	if outside < len(frames) && v.origins[frames[outside]] != stack.User {
		m.via = stack.FoldGenerics(v.t.Frame(frames[outside]).Func)
	}
	if callee+1 < outside && v.origins[frames[callee+1]] == stack.Standard {
		m.library = stack.Package(v.t.Frame(frames[callee+1]).Func)
	}
	if l.reason != nil {
		m.reason = l.reason(v.t, frames[:outside])
	}
	return m, m.reason != "-"
}

// callee finds the function that is looked for, and the first frame above it
// that is outside the standard library; the callee is -1 where there is none.
func (l *look) callee(v *view, frames []stack.FrameID, inSet []bool) (callee, outside int) {
	if l.below {
		callee = slices.IndexFunc(frames, func(f stack.FrameID) bool { return inSet[f] })
		return callee, next(v, frames, callee+1, stack.Dependency, nil)
	}
	switch {
	case l.foreign:
		outside = next(v, frames, 0, stack.User, nil)
	default:
		outside = next(v, frames, 0, stack.Dependency, inSet)
	}
	callee = -1
	for i, f := range frames[:outside] {
		if inSet[f] {
			callee = i // the outermost
		}
		if l.flat {
			break
		}
	}
	return callee, outside
}

// isDirect tells whether nothing but the runtime and the packages of through
// is among the frames.
func (l *look) isDirect(v *view, frames []stack.FrameID) bool {
	return !slices.ContainsFunc(frames, func(f stack.FrameID) bool {
		return v.origins[f] == stack.Standard && !slices.Contains(l.through, stack.Package(v.t.Frame(f).Func))
	})
}

// calledByUser tells whether the first frame outside of the standard library is the user's, or that of a function which is called for
// what it does.
func (l *look) calledByUser(v *view, frames []stack.FrameID, outside int) bool {
	return outside < len(frames) && (v.origins[frames[outside]] == stack.User || strings.Contains(strings.ToLower(lastName(v.t.Frame(frames[outside]).Func)), l.byUser))
}

// next is the position of the first frame from one on that is of this origin
// or further from the machine, and not of a set; it is the length of the
// stack where there is none.
func next(v *view, frames []stack.FrameID, from int, origin stack.Origin, inSet []bool) int {
	for i := from; i < len(frames); i++ {
		if v.origins[frames[i]] >= origin && (inSet == nil || !inSet[frames[i]]) {
			return i
		}
	}
	return len(frames)
}

// nextUser is the position of the first frame of the user; -1 is none.
func nextUser(v *view, frames []stack.FrameID, from int) int {
	for i := from; i < len(frames); i++ {
		if v.origins[frames[i]] == stack.User {
			return i
		}
	}
	return -1
}

// ownLines are the lines of the program on a stack, the innermost first.
func (v *view) ownLines(id stack.ID) (frames []stack.Frame) {
	ids := v.t.Frames(id)
	for i := nextUser(v, ids, 0); i >= 0; i = nextUser(v, ids, i+1) {
		frames = append(frames, lineOnly(v.t.Frame(ids[i])))
	}
	return frames
}

// part is a weight's share of the profile.
func (h *hit) part(weight int64) float64 { return float64(weight) / float64(max(h.total, 1)) }

// interval is the share of a weight with the doubt of sampling.
func (h *hit) interval(weight int64) stats.Interval {
	return stats.Wilson(h.part(weight)*float64(h.all), float64(h.all), compare.Confidence)
}

// findings applies the threshold.
func (h *hit) findings(r *Rule) []Finding {
	if h.behind > 0 {
		h.drop("yield")
	}
	if h.busy && h.nearlyIdle() || h.background != "" && h.behind >= h.weight {
		return nil
	}
	if !h.perLine {
		if f, ok := h.finding(r); ok {
			return []Finding{f}
		}
		return nil
	}
	var found []Finding
	for _, line := range h.lines {
		one := *h
		one.lines, one.weight, one.samples, one.reasons = []*hitLine{line}, line.Weight, line.Samples, byWeight(line.reasons)
		if line.Caller.Func == "" || line.count < h.look.objects || len(line.sizes) < h.sizes || h.interval(line.Weight).Low < r.param(h.limit) {
			continue
		}
		if h.accept != nil && !h.accept(h, line) {
			continue
		}
		if h.loop {
			how, loop := h.in.code.loopAround(h.p.Stacks, h.p.Samples(h.index), line.Site, lineInOwnLoop)
			if loop == loopNo {
				continue
			}
			one.how = how
		}
		if f, ok := one.finding(r); ok {
			found = append(found, f)
		}
	}
	return found
}

// unsaid says why a share above the limit is neither a finding nor fine; empty
// where it is below, or where a line's source says that it is in order.
func (h *hit) unsaid() string {
	limit := h.rule.param(h.limit)
	if h.perLine || h.interval(h.weight).Low < limit {
		return ""
	}
	seen := fmt.Sprintf("%s of the %s %s", unit.Percent(h.part(h.weight)), ofUnit[h.sample], h.what)
	switch {
	case h.busy && h.nearlyIdle():
		used, _ := h.cpus()
		return fmt.Sprintf("%s, but the program used %.2f CPUs: that is an idle program; apply load to it", seen, used)
	case h.background != "" && h.behind >= h.weight:
		return fmt.Sprintf("%s, but as much of it is the collector's own, and the rest may be too: record a period with fewer collections", seen)
	}
	return seen + fmt.Sprintf(", which rests on %d samples; %d are needed: record longer or under load", h.samples, minHits)
}

// finding makes a finding of the hit where it is above the threshold.
func (h *hit) finding(r *Rule) (Finding, bool) {
	limit, share := r.param(h.limit), h.interval(h.weight)
	if share.Low < limit || h.samples < minHits || len(h.lines) == 0 {
		return Finding{}, false
	}
	f := r.answer(Found, "%s of the %s %s%s", unit.Percent(share.Estimate), ofUnit[h.sample], h.what, h.where())
	f.Severity, f.Score = Info, score(share.Estimate, 0.10, 0.40) // as AL09: what could be saved, not how far above the limit
	if h.warn != "" && share.Low >= r.param(h.warn) {
		f.Severity = Warning
	}
	f.Impact = &Impact{share.Estimate, "share of " + ofUnit[h.sample], share.Low, share.High}
	f.Evidence = h.evidence()
	f.costs = h.costs()
	f.saves = !h.anyone || float64(h.ofLines()) >= halfOfAll*float64(h.weight)
	f.Verify = "Record again under the same load: the share should fall below " + unit.Percent(limit) + "."
	h.tell(h, &f)
	if via := h.lines[0].via; via != "" && !h.foreign {
		f.Doubts = append(f.Doubts, "the call comes from "+via+", which is not your code: look for a setting or a newer version of it, or call it less often")
	}
	f.Doubts = append(f.Doubts, h.idle()...)
	return f, true
}

// costs are what the lines call; of a look at what the lines do themselves, what they
// allocate.
func (h *hit) costs() (all []cost) {
	for _, line := range h.lines {
		if line.Caller.Func != "" {
			c := cost{file: line.Caller.File, line: line.Caller.Line, callee: line.Callee, allocating: h.leaf || h.memory}
			switch { // the rest of what is called stays
			case h.itself:
				c.itself = h.set
			case h.flat && h.named != "":
				c.ends = h.set
			case h.named == "runtime":
				c.within, c.without = h.set, "profiler.block"
			case slices.Contains(h.skip, "descriptor"):
				c.without = "descriptor"
			case h.set == "fmt":
				c.formats = true
			}
			all = append(all, c)
		}
	}
	return all
}

// ofLines is the weight of stacks with a line of the program.
func (h *hit) ofLines() (sum int64) {
	for _, line := range h.lines {
		if line.Caller.Func != "" {
			sum += line.Weight
		}
	}
	return sum
}

// isSlight tells of a line that it has too little of what may be nobody's to stand for it.
func (h *hit) isSlight(line *hitLine) bool {
	return h.anyone && (line.Samples < minHits || line.Weight < h.weight/20)
}

// where names the heaviest line.
func (h *hit) where() string {
	top := h.lines[0]
	if top.Caller.Func == "" || h.isSlight(top) {
		return ""
	}
	text := fmt.Sprintf("%s:%d in %s", baseName(top.Caller.File), top.Caller.Line, stack.Short(stack.FoldGenerics(top.Caller.Func)))
	if top.Callee != "" {
		text += ", calling " + top.Callee
	}
	if h.how != "" {
		text += ", " + h.how
	}
	if len(h.lines) == 1 {
		return ": " + text
	}
	return fmt.Sprintf("; %s of it at %s", unit.Percent(float64(top.Weight)/float64(h.weight)), text)
}

// libraryOf is the package of the standard library that calls the function for most of a line; empty where the line calls it itself.
func libraryOf(line *hitLine) string {
	for pkg, w := range line.library {
		if float64(w) >= halfOfAll*float64(line.Weight) {
			return pkg
		}
	}
	return ""
}

// namedReason is the heaviest reason of the line that a finding names, so that its advice is for that; of one that names no line, that
// of all together.
func namedReason(h *hit) string {
	if top := h.lines[0]; top.Caller.Func != "" && !h.isSlight(top) {
		for _, x := range byWeight(top.reasons) {
			if slices.ContainsFunc(h.reasons, func(r weighed) bool { return r.name == x.name }) {
				return x.name
			}
		}
	}
	return h.reasons[0].name
}

// evidence shows the heaviest lines.
func (h *hit) evidence() (out []Evidence) {
	for i, line := range h.lines {
		if i > 0 && (line.Samples < minHits || line.Weight < h.weight/20 || i == evidenceLines) {
			break
		}
		if h.isSlight(line) && line.Caller.Func != "" {
			return append(out, Evidence{Text: fmt.Sprintf("%d of %d samples, at no line that has much of it", h.samples, h.all), Path: h.entry.Path, Phase: h.entry.Phase})
		}
		e := Evidence{
			Text: fmt.Sprintf("%d of %d samples", line.Samples, h.all), Path: h.entry.Path, Phase: h.entry.Phase,
			File: line.Caller.File, Line: line.Caller.Line, Function: line.Caller.Func,
		}
		if line.Callee != "" {
			e.Text += " in " + line.Callee
		}
		if line.via != "" {
			e.Text += ", called by " + line.via
		}
		source := h.in.code.text(line.Caller.File, line.Caller.Line)
		e.Source = source
		if p, ok := h.in.Session.Manifest().PhaseNamed(h.entry.Phase); ok {
			e.Span = span(p.Span)
		}
		out = append(out, e)
	}
	return out
}

// idleCPU is the part of one CPU below which a program has little to gain from
// using less. Source: research, CP05 ("idle at <10 % CPU").
const idleCPU = 0.10

// idle says that there is little CPU time to save at all.
func (h *hit) idle() []string {
	if used, ok := h.cpus(); ok && used < idleCPU && wanted(h, used) < busyCPU {
		return []string{fmt.Sprintf("the program used %s of one CPU while being profiled: there is little to save", unit.Percent(used))}
	}
	return nil
}

// drop takes a reason out of the hit, of a profile whose weights are samples.
func (h *hit) drop(reason string) {
	for _, line := range h.lines {
		w := line.reasons[reason]
		line.Weight, line.Samples = line.Weight-w, line.Samples-w
		h.weight, h.samples = h.weight-w, h.samples-w
	}
	h.lines = slices.DeleteFunc(h.lines, func(l *hitLine) bool { return l.Weight <= 0 })
	slices.SortFunc(h.lines, compareLines)
	h.reasons = slices.DeleteFunc(h.reasons, func(r weighed) bool { return r.name == reason })
}

// nearlyIdle tells that the program used less than a tenth of its Ps, when
// looking for work is what is left of the profile, and wanted no more.
func (h *hit) nearlyIdle() bool {
	used, ok := h.cpus()
	return ok && used < idleCPU*float64(max(h.in.Session.Manifest().Host.CPUs, 1)) && wanted(h, used) < busyCPU
}

// wanted is how many CPUs the program would have used that used some while it was profiled.
func wanted(h *hit, used float64) float64 {
	return h.in.Facts.NoiseOf(h.entry.Phase).Wanted(used)
}

// cpus is how many CPUs the program used while it was profiled.
func (h *hit) cpus() (float64, bool) {
	index, err := h.p.Index("cpu")
	if h.of != facts.CPU || err != nil || h.p.Duration <= 0 {
		return 0, false
	}
	sum := int64(0)
	for _, v := range h.p.Values[index] {
		sum += v
	}
	return float64(sum) / float64(h.p.Duration), true
}

// reasonShare is the part of the hit that has a reason.
func (h *hit) reasonShare(names ...string) float64 {
	sum := int64(0)
	for _, r := range h.reasons {
		if slices.Contains(names, r.name) {
			sum += r.weight
		}
	}
	return float64(sum) / float64(max(h.weight, 1))
}
