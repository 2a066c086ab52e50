package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Card is one cause: the finding that names it, what is to be had where it is gone, and
// the findings that show the same or follow from it.
type Card struct {
	// Finding and Symptoms are positions among the findings.
	Finding  int   `json:"finding"`
	Symptoms []int `json:"symptoms,omitempty"`
	Gain     *Gain `json:"gain,omitempty"`
	// Through is, of hot functions of which none has most of the CPU time, the line that has most of it.
	Through *Through `json:"through,omitempty"`
	// Most is, of the first card where none is a warning, what takes most of something, where it is about that.
	Most *Most `json:"-"`
}

// Gain is what a cause takes, as far as that was seen at its lines. It is no bound of what a fix saves: what waits
// for the cause, or for a CPU beside it, goes as well.
type Gain struct {
	// Of is what becomes less: "CPU time".
	Of string `json:"of"`
	// Share is the part that goes, with its interval.
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Request is the same of the CPU time of one request in ns, where there was a load.
	Request float64 `json:"per_request_ns,omitempty"`
	// Lines is how many lines it is at, where the first that is named has only a part of it; 0 where that has all.
	Lines int `json:"lines,omitempty"`
	// Line is the share that goes through the first line that is named, where there are Lines.
	Line float64 `json:"line,omitempty"`
	// More tells of a known part of the cost that falls elsewhere and is not counted.
	More bool `json:"more,omitempty"`
	// Beyond says in words what that is; and where the program used little of a CPU, what the share is of the run.
	Beyond string `json:"beyond,omitempty"`
}

// Cards makes one card of each cause among the answers of [Run]: what is broken first, then
// faults, then remarks, and of each those first that are worth most. What a measurement is worth (see [Rule]) is no cause.
//
// A finding goes under another where the same CPU samples, the same line or the table
// [follows] say so; it keeps what it says. So what stands on a card beside its cause was
// seen with it, and may have further causes.
func Cards(in *Input, all []Finding) []Card {
	c := newCausal(in, all)
	for _, i := range c.found {
		c.under[i] = c.causeOf(i)
	}
	cards, through := map[int]*Card{}, throughOf(in, c.spent, all)
	for _, i := range c.found {
		root := c.root(i)
		if cards[root] == nil {
			cards[root] = &Card{Finding: root, Gain: c.gain(in, root)}
		}
		if all[i].Rule == cp01.ID {
			cards[root].Through = through
		}
		if root != i {
			cards[root].Symptoms = append(cards[root].Symptoms, i)
			c.rank[root] = max(c.rank[root], c.rank[i])
			if c.sameCost(i, root) && c.mostOf(root, i) && cards[root].Gain == nil {
				cards[root].Gain = c.gain(in, i)
			}
		}
	}
	out := make([]Card, 0, len(cards))
	for _, i := range c.found { // in the order of the findings where the rank is the same
		if card := cards[i]; card != nil {
			out = append(out, *card)
		}
	}
	c.capped(out)
	c.leaksFirst(out)
	needlessFirst(c, out)
	c.preparingFirst(out)
	slices.SortStableFunc(out, func(a, b Card) int {
		fa, fb := all[a.Finding], all[b.Finding]
		return cmp.Or(cmp.Compare(fb.Severity.rank(), fa.Severity.rank()), cmp.Compare(c.rank[b.Finding], c.rank[a.Finding]))
	})
	c.lead(out)
	memoryBehind(c, out)
	return out
}

// justBelow is what is left of a rank that may not reach another one.
const justBelow = 0.999

// capped sees to it that what clearly takes less CPU time goes behind what takes more, however far it is above the
// threshold of its rule, as a line is that has nearly all of the bytes beside one that has most of the time. Cards that
// are about waits as well are worth more than the CPU time.
func (c *causal) capped(cards []Card) {
	ofCPU := func(card *Card) bool {
		return card.Gain != nil && card.Gain.Of == "CPU time" && !slices.ContainsFunc(append([]int{card.Finding}, card.Symptoms...), func(i int) bool {
			_, of, _ := measured(&c.all[i])
			return strings.HasPrefix(of, "time of ") || len(c.all[i].waits) > 0
		})
	}
	var all []*Card
	for i := range cards {
		if ofCPU(&cards[i]) {
			all = append(all, &cards[i])
		}
	}
	c.belowWaits(all, cards)
	slices.SortStableFunc(all, func(a, b *Card) int { return cmp.Compare(b.Gain.Share, a.Gain.Share) })
	for i, less := range all {
		for _, more := range all[:i] {
			if less.Gain.High < more.Gain.Low && c.all[less.Finding].Severity == c.all[more.Finding].Severity {
				c.rank[less.Finding] = min(c.rank[less.Finding], justBelow*c.rank[more.Finding])
			}
		}
	}
}

// belowWaits puts cards about CPU time behind one about waits, where the program uses so little of a CPU that all of that
// is less of the run than the waits are of the time of its units.
func (c *causal) belowWaits(ofCPU []*Card, cards []Card) {
	if c.spent == nil || c.spent.cpus <= 0 || c.spent.keepsUp() >= busyCPU {
		return
	}
	for _, wait := range cards {
		share, of, ok := measured(&c.all[wait.Finding])
		if !ok || !strings.HasPrefix(of, "time of ") {
			continue
		}
		for _, less := range ofCPU {
			if less.Gain.High*c.spent.keepsUp() < share && c.all[less.Finding].Severity == c.all[wait.Finding].Severity {
				c.rank[less.Finding] = min(c.rank[less.Finding], justBelow*c.rank[wait.Finding])
			}
		}
	}
}

// mostOf tells whether a finding is about most of the CPU time that its cause is about, as far as samples show: what a
// smaller part is worth is not what the cause is worth.
func (c *causal) mostOf(cause, i int) bool {
	whole, part := c.marks[cause], c.marks[i]
	return whole == nil || part == nil || c.spent.within(whole, part) >= halfOfAll
}

// AboutMeasurement tells of a rule, by its id, that it judges the measurement and not the
// program.
func AboutMeasurement(id string) bool {
	return slices.ContainsFunc(Rules(), func(r *Rule) bool { return r.ID == id && r.Measurement })
}

// IsAside tells of a rule, by its id, that it names something to try that is the cause of
// nothing that was seen.
func IsAside(id string) bool {
	return slices.ContainsFunc(Rules(), func(r *Rule) bool { return r.ID == id && r.Aside })
}

// beside tells of a rule that what it finds is no cause.
func beside(id string) bool { return AboutMeasurement(id) || IsAside(id) }

// causal is the search for what follows from what.
type causal struct {
	all   []Finding
	found []int // positions of the findings about the program
	spent *spent
	marks map[int][]bool // CPU samples that a finding is about; none where that is unknown
	held  map[int][]bool // of findings about a lock: samples of the work that keeps it
	rank  map[int]float64
	under map[int]int // the finding that one goes under; -1 is none
	full  bool        // the CPUs were all in use
	// leisure is the part of one CPU that the program used, where it waited for most of the run by itself; else 0.
	leisure float64
	bytes   map[string]float64 // what each line of the program allocates, as a share of all bytes
	below   map[string]float64 // the same, with what it calls in the program
}

func newCausal(in *Input, all []Finding) *causal {
	c := &causal{all: all, spent: spentOf(in), marks: map[int][]bool{}, rank: map[int]float64{}, under: map[int]int{}, full: in.Facts.Noise().Full()}
	c.bytes, c.below = bytesByLine(in)
	c.leisure = leisureOf(in, c.spent)
	for i, f := range all {
		if f.State != Found || beside(f.Rule) {
			continue
		}
		c.found = append(c.found, i)
		if gc := in.Facts.Collector(); f.Rule == gc12.ID && c.spent != nil && gc.Collections > 0 {
			c.spent.unforced = c.spent.collector * (1 - float64(gc.Forced)/float64(gc.Collections))
		}
		if m := c.spent.mark(f.costs); m != nil {
			c.marks[i] = m
		}
	}
	c.held = lockWork(in, c)
	for _, i := range c.found {
		c.rank[i] = c.rankOf(i)
	}
	return c
}

// bytesByLine is the part of all allocated bytes that each line of the program allocates itself, with the
// libraries that it calls, and that with what else it calls.
func bytesByLine(in *Input) (itself, below map[string]float64) {
	w, err := in.Facts.Weights(facts.Allocations, "alloc_space")
	if err != nil {
		return nil, nil
	}
	itself, below = map[string]float64{}, map[string]float64{}
	v, all := in.view(w.Profile), int64(0)
	for _, n := range w.Profile.Samples(w.Index) {
		all += n
	}
	for id, n := range w.Profile.Samples(w.Index) {
		share := float64(n) / float64(max(1, all))
		frames, seen := v.t.Frames(id), map[string]bool{}
		for at := nextUser(v, frames, 0); at >= 0; at = nextUser(v, frames, at+1) {
			f := v.t.Frame(frames[at])
			line := evidenceLine(Evidence{File: f.File, Line: f.Line})
			if len(seen) == 0 {
				itself[line] += share
			}
			if !seen[line] { // it may call itself
				seen[line] = true
				below[line] += share
			}
		}
	}
	return itself, below
}

// How much the score of a rule counts against a gain that was measured, by severity.
// Chosen: the score says how far above its threshold a figure is and not what fixing it is
// worth; a grave warning goes before a gain of half of the CPU time, a remark after one of
// some hundredths.
var scoreWeight = map[Severity]float64{Critical: 1, Warning: 0.5, Info: 0.1}

// busyCPU is the part of one CPU from which on less CPU time means less time; below it
// gains of CPU time count for less in proportion.
const busyCPU = 0.8

// hotAlone is the part of the time of a function that is hot which may be saved, where nothing
// says what is wrong with it. Chosen: what is known to be saved comes first, unless it is less
// than a third of that.
const hotAlone = 1. / 3

// waitsAlone is what a remark about the time of units counts: among remarks, what takes the
// time comes first.
const waitsAlone = 0.12

// rankOf is what a finding is worth, between 0 and 1.
func (c *causal) rankOf(i int) float64 {
	f := &c.all[i]
	worth := scoreWeight[f.Severity] * float64(f.Score) / 100
	if g, ok := c.cpuGain(i); ok {
		share := g.Estimate
		if f.Rule == cp01.ID && f.Severity == Info {
			share *= hotAlone
		}
		if c.spent.cpus > 0 {
			share *= min(1, c.spent.keepsUp()/busyCPU)
		}
		worth = max(worth, share)
	}
	if allocatesMuch(f) && c.free(i) {
		worth = min(worth, scoreWeight[Info]*float64(f.Score)/100)
	}
	if share, _, ok := measured(f); ok {
		worth = max(worth, share)
	}
	if f.Severity == Info && f.Impact != nil && strings.HasPrefix(f.Impact.Unit, "share of the time of ") {
		worth = max(worth, waitsAlone*f.Impact.Value)
	}
	if f.Severity.AtLeast(Warning) {
		worth = max(worth, f.felt)
	}
	return worth
}

// enoughOfCPU is how many samples of a CPU profile show that something takes next to none of
// the time. Chosen: of 100, none is less than three in a hundred.
const enoughOfCPU = 100

// free tells of a finding about allocated bytes that a CPU profile shows no time for it,
// neither at its line nor, where the program forces its collections, in the collector.
func (c *causal) free(i int) bool {
	if c.spent == nil || c.spent.total < enoughOfCPU || !c.all[i].saves || len(c.all[i].costs) == 0 {
		return false
	}
	forced := slices.ContainsFunc(c.found, func(j int) bool { return c.all[j].Rule == gc12.ID && c.all[j].Severity.AtLeast(Warning) })
	_, any := c.cpuGain(i)
	return !any && (forced || c.spent.collector == 0)
}

// measured is the share of time that a grave finding is about, where it says itself what
// that is a share of.
func measured(f *Finding) (share float64, of string, ok bool) {
	if f.Impact == nil || !f.Severity.AtLeast(Warning) {
		return 0, "", false
	}
	of, ok = strings.CutPrefix(f.Impact.Unit, "share of the ")
	if !ok || of != "busy time" && of != "CPU time" && !strings.HasPrefix(of, "time of ") {
		return 0, "", false
	}
	return f.Impact.Value, of, true
}

// cpuGain is the CPU time that a finding is about, and for what allocates, its part of
// what the collector takes. Of findings whose costs stay when the advice is followed, as
// the loop whose bounds are checked, it is unknown.
func (c *causal) cpuGain(i int) (stats.Interval, bool) {
	f := &c.all[i]
	m := c.marks[i]
	if m == nil || !f.saves && f.Rule != cp01.ID {
		return stats.Interval{}, false
	}
	g := c.spent.interval(m)
	if f.handsOver > 0 {
		g = c.spent.handedOver(m, f.handsOver)
	}
	if f.part > 0 {
		g.Estimate, g.Low, g.High = f.part*g.Estimate, f.part*g.Low, f.part*g.High
	}
	if f.Impact != nil && f.Impact.Unit == "share of allocated bytes" {
		g = raised(g, c.spent.collector*f.Impact.Value)
	}
	return g, true
}

// needless is the part of the CPU time for work that a warning says need not be done.
func (c *causal) needless(i int) float64 {
	f := &c.all[i]
	if !f.saves || !f.Severity.AtLeast(Warning) {
		return 0
	}
	share := 0.0
	if g, ok := c.cpuGain(i); ok {
		share = g.Low
	}
	if f.Impact != nil && f.Impact.Unit == cpuSamples {
		share = max(share, f.Impact.Low)
	}
	return share
}

// cpuSamples is the unit of a part of the CPU time.
const cpuSamples = "share of CPU samples"

// gain is what a card says of its cause.
func (c *causal) gain(in *Input, i int) *Gain {
	if share, of, ok := measured(&c.all[i]); ok {
		g := c.beyond(i, &Gain{Of: of, Share: share, Low: c.all[i].Impact.Low, High: c.all[i].Impact.High})
		sayWhich(in, &c.all[i], g)
		return g
	}
	if !c.all[i].saves {
		return nil
	}
	share, ok := c.cpuGain(i)
	if !ok || allocatesMuch(&c.all[i]) && c.spent.unforced < c.spent.collector {
		return nil // what a forced collection costs less with less garbage is not known
	}
	collects := c.collects(i)
	share = raised(share, collects)
	g := &Gain{Of: "CPU time", Share: share.Estimate, Low: share.Low, High: share.High}
	g.Request = cpuPerRequest(in.Facts) * share.Estimate
	g.Lines, g.Line = c.linesOf(i)
	if c.all[i].handsOver > 0 {
		g.Lines, g.Line, g.Beyond = 0, 0, scheduledBeyond
		return g
	}
	if g = c.beyond(i, g); collects >= noticed && !g.More {
		g.More, g.Beyond = true, garbageBeyond
	}
	if c.leisure > 0 && ofCPUAlone(&c.all[i]) {
		g.More, g.Beyond = false, fmt.Sprintf("as the program mostly waits, that is %s of the run", unit.Percent(g.Share*c.leisure))
	}
	return g
}

// linesOf tells at how many lines the CPU time of a finding is, and the share of that which it names first; nothing
// where that has nearly all of it.
func (c *causal) linesOf(i int) (lines int, share float64) {
	f, first := &c.all[i], firstLine(&c.all[i])
	of := map[string][]cost{}
	for _, x := range f.costs {
		if x.line == 0 {
			return 0, 0
		}
		at := evidenceLine(Evidence{File: x.file, Line: x.line})
		of[at] = append(of[at], x)
	}
	if len(of) < 2 || of[first] == nil {
		return 0, 0
	}
	for at, costs := range of {
		m := c.spent.mark(costs)
		if m == nil {
			continue
		}
		if lines++; at == first {
			share = c.spent.share(m)
		}
	}
	if lines < 2 || share >= allButLittle*c.spent.share(c.marks[i]) {
		return 0, 0
	}
	if f.part > 0 {
		share *= f.part
	}
	return lines, share
}

// allButLittle is the part of a cost from which on the line that has it may stand for all of it: chosen.
const allButLittle = 0.95

// noticed is the share of the CPU time from which on a gain tells of the garbage in it; chosen, as less is not seen in a
// figure of three digits beside its interval.
const noticed = 0.01

// scheduledBeyond says what a gain in handing over counts.
const scheduledBeyond = "that is the operations on these channels and their part of the scheduler"

// garbageBeyond says what a gain in allocation counts.
const garbageBeyond = "its part of garbage collection is included, page faults and cache misses come on top"

// collects is the share of the CPU time that the collector takes because of what the line of a finding allocates, where
// the finding is about work and not about the bytes, which [causal.cpuGain] counts.
func (c *causal) collects(i int) float64 {
	if c.spent == nil || allocatesMuch(&c.all[i]) {
		return 0
	}
	switch f := &c.all[i]; {
	case f.arguments: // all that is made for them goes
		return c.spent.unforced * c.below[firstLine(f)]
	case f.belows:
		sum, seen := 0.0, map[string]bool{}
		for _, e := range f.Evidence {
			if at := evidenceLine(e); e.File != "" && !seen[at] {
				seen[at] = true
				sum += c.below[at]
			}
		}
		return c.spent.unforced * min(1, sum)
	}
	return c.spent.unforced * c.bytes[firstLine(&c.all[i])]
}

// raised adds to a share.
func raised(g stats.Interval, share float64) stats.Interval {
	return stats.Interval{Estimate: min(1, g.Estimate+share), Low: min(1, g.Low+share), High: min(1, g.High+share)}
}

// beyond says of a gain what it does not count: then it is no bound.
func (c *causal) beyond(i int, g *Gain) *Gain {
	f := &c.all[i]
	switch {
	case f.more:
		g.Beyond = "what it costs elsewhere comes on top"
	case f.grows:
		g.Beyond = "more as the input grows"
	case allocatesMuch(f) && g.Of == "CPU time":
		g.Beyond = garbageBeyond
	}
	g.More = g.Beyond != ""
	return g
}

// cpuPerRequest is the CPU time of one request of the load in ns; 0 without one.
func cpuPerRequest(f *facts.Facts) float64 {
	cpu, responses := 0.0, 0.0
	for i := range f.Rounds {
		if r := &f.Rounds[i]; r.Load != nil && r.CPU > 0 {
			cpu += float64(r.CPU)
			responses += float64(r.Load.Responses)
		}
	}
	return cpu / max(responses, 1)
}

// root is the finding whose card one stands on.
func (c *causal) root(i int) int {
	for range c.found { // a circle ends
		next, ok := c.under[i]
		if !ok || next < 0 {
			return i
		}
		i = next
	}
	return i
}

// leadsTo tells whether the way up from a finding comes to another.
func (c *causal) leadsTo(i, to int) bool {
	for range c.found {
		if i == to {
			return true
		}
		next, ok := c.under[i]
		if !ok || next < 0 {
			return false
		}
		i = next
	}
	return true
}

// causeOf finds what one finding follows from; -1 is nothing.
func (c *causal) causeOf(i int) int {
	best := -1
	for _, j := range c.found {
		if i == j || !c.follows(i, j) || c.leadsTo(j, i) {
			continue
		}
		if best < 0 || c.rank[j] > c.rank[best] {
			best = j
		}
	}
	return best
}

// sameWait tells whether i is about what j is about: the same parts of the time of units.
// What says only that it waits there goes under what says why, unless that is of less
// weight.
func (c *causal) sameWait(i, j int) bool {
	a, b := &c.all[i], &c.all[j]
	if len(a.waits) == 0 || len(b.waits) == 0 {
		return false
	}
	if order := cmp.Or(cmp.Compare(a.Severity.rank(), b.Severity.rank()), cmp.Compare(classOf(a), classOf(b)), cmp.Compare(c.rank[i], c.rank[j]), cmp.Compare(j, i)); order >= 0 {
		return false
	}
	return sharedWaits(a, b) >= halfOfAll
}

// sharedWaits is the part of the time that a finding is about which another one is about as well.
func sharedWaits(a, b *Finding) float64 {
	both, all := int64(0), int64(0)
	for _, row := range a.waits {
		if all += int64(row.Time); slices.Contains(b.waits, row) {
			both += int64(row.Time)
		}
	}
	return float64(both) / float64(max(1, all))
}

// busiest is the finding that is about the most CPU time; -1 where none is about much.
func (c *causal) busiest() int {
	best, most := -1, muchOfAll
	for _, i := range c.found {
		if g, ok := c.cpuGain(i); ok && g.Estimate >= most {
			best, most = i, g.Estimate
		}
	}
	return best
}

// The classes of findings about where CPU time or memory goes: what says what is done
// there comes before what says only that it is much, and that before hints at a detail.
const (
	hint = iota
	general
	specific
)

func classOf(f *Finding) int {
	if f.Rule == al18.ID && f.Severity.AtLeast(Warning) || f.Title == missesTitle || ofQuery(f) {
		return specific
	}
	if f.unexplained {
		return general
	}
	switch f.Rule {
	case "CP07", "CP08", "AL18":
		return hint
	case "CP01", "CP06", "CP14", "CP16", "AL01", "AL02", "LK01", "WT01":
		return general
	}
	return specific
}

// Parts of a finding's CPU samples from which on it shows the same as another: chosen.
const (
	muchOfAll = 0.25
	halfOfAll = 0.5
	nearlyAll = 0.8
)

// sameCost tells whether i is about what j is about: the same CPU samples, or the same
// line.
func (c *causal) sameCost(i, j int) bool {
	a, b := &c.all[i], &c.all[j]
	if a.Severity.AtLeast(Warning) && !b.Severity.AtLeast(Warning) {
		return false // what is known to be wrong is not told under a remark
	}
	if a.Rule == gc16.ID && b.Rule != gc08.ID {
		return false // memory that is kept is another cost than the work of making it, and of collecting
	}
	if ma, mb := c.marks[i], c.marks[j]; a.arguments != b.arguments && ma != nil && mb != nil && c.spent.within(ma, mb) >= halfOfAll {
		return b.arguments // that it is done at all is the cause, however it is done
	}
	ca, cb := classOf(a), classOf(b)
	if ca > cb || ca == cb && (c.rank[i] > c.rank[j] || c.rank[i] == c.rank[j] && i < j) {
		return false
	}
	if ma, mb := c.marks[i], c.marks[j]; ma != nil && mb != nil {
		least := halfOfAll
		if ca == cb {
			least = nearlyAll
		}
		if c.spent.within(ma, mb) >= least {
			return true
		}
	}
	if len(a.waits) > 0 && len(b.waits) > 0 {
		return false // sameWait has said so
	}
	return family(a.Rule) == family(b.Rule) && b.Severity.rank() >= a.Severity.rank() && costLine(a) != "" && costLine(a) == costLine(b)
}

// family is what a rule is about, by its letters: AL and CP are about lines that work, LK
// and WT about those that wait.
func family(rule string) string {
	switch letters := rule[:min(2, len(rule))]; {
	case letters == "AL", letters == "CP":
		return "work"
	case letters == "LK", letters == "WT", rule == sc18.ID:
		return "waits"
	default:
		return letters
	}
}

// shows tells whether a line is among the evidence of a finding.
func shows(f *Finding, line string) bool {
	return line != "" && slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.File != "" && evidenceLine(e) == line })
}

// evidenceLine names the line of a piece of evidence.
func evidenceLine(e Evidence) string { return fmt.Sprintf("%s:%d", e.File, e.Line) }

// firstLine names the line at which a finding is seen first.
func firstLine(f *Finding) string {
	for _, e := range f.Evidence {
		if e.File != "" {
			return evidenceLine(e)
		}
	}
	return ""
}

// allocatesMuch tells of a finding that a line allocates much.
func allocatesMuch(f *Finding) bool {
	return f.Rule != al01.ID && strings.HasPrefix(f.Rule, "AL") && f.Impact != nil && f.Impact.Unit == "share of allocated bytes"
}

// allocated is the part of all bytes that the lines of findings allocate.
func (c *causal) allocated() (sum float64) {
	seen := map[string]bool{}
	for _, i := range c.found {
		if f := &c.all[i]; allocatesMuch(f) && !seen[firstLine(f)] {
			seen[firstLine(f)] = true
			sum += f.Impact.Value
		}
	}
	return min(sum, 1)
}
