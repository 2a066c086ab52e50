package insight

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/gc"
	"loupe/recording"
)

// Answer says whether a change has mended what a finding is about.
type Answer string

// The answers.
const (
	// Yes: what the finding is about has become less, beyond chance, and it is no longer found.
	Yes Answer = "yes"
	// No: it is still found, or what it is about has not become less.
	No Answer = "no"
	// Unproven: more rounds, or another recording, may tell.
	Unproven Answer = "undecided"
)

// Because says why an answer is what it is.
type Because string

// The reasons.
const (
	Fell      Because = "fell"       // what it is about has become less, and it is gone
	TooSmall  Because = "too_small"  // so little is left that the rule has nothing to judge
	Still     Because = "found"      // it is still found
	NotLess   Because = "not_less"   // it is gone, and what it is about is not less
	Moved     Because = "moved"      // it is gone there, and found as large elsewhere
	SameBuild Because = "same_build" // nothing was changed
	Unseen    Because = "not_seen"   // it is not found in what is before either
	Open      Because = "open"       // more rounds may tell
	Blind     Because = "blind"      // the rule could not look
	NoFigure  Because = "no_figure"  // the rounds do not have what it is about
	Failing   Because = "failed"     // a program failed
	Unsteady  Because = "unsteady"   // it is found in one of two looks at what is after
	Little    Because = "little"     // it is gone, and far less is gone than what it had cost
)

// Trial is what was measured to find out whether a finding is mended.
type Trial struct {
	Finding *Finding
	// Table has the rounds of what is before and what is after; Before and After are what all
	// rules say of them.
	Table         *compare.Table
	Before, After []Finding
	// Again is what all rules say of a second recording of what is after; nil without one. What a
	// rule finds lies beyond a threshold, and what lies near one is found by chance.
	Again []Finding
	// SameBuild tells that both sides are the same program, run in the same way. Failed
	// tells that one of them failed.
	SameBuild, Failed bool
}

// Proof is what came of it.
type Proof struct {
	Answer  Answer  `json:"answer"`
	Because Because `json:"because"`
	// Figure is the row that the finding is about; nil where the rounds have none.
	Figure *compare.Row `json:"figure,omitempty"`
	// Rounds are those of the side that has fewer.
	Rounds int `json:"rounds"`
	// FoundBefore and FoundAfter are the finding as it is now on each side, nil where it is
	// not found.
	FoundBefore *Finding `json:"found_before,omitempty"`
	FoundAfter  *Finding `json:"found_after,omitempty"`
	// Confirmed tells that what is after was recorded a second time.
	Confirmed bool `json:"confirmed,omitempty"`
	// Elsewhere are findings of the same rule that only what is after has.
	Elsewhere []Finding `json:"elsewhere,omitempty"`
	// Worse are figures that users feel, and that got worse.
	Worse []compare.Row `json:"worse,omitempty"`
	// Needs is about how many more pairs of rounds would decide, 0 where nobody knows; each of
	// them takes Each.
	Needs int           `json:"needs,omitempty"`
	Each  time.Duration `json:"pair_ns,omitempty"`
}

// Place is what a finding is told from others of its rule by, whatever line it has moved to: the
// file, without its folders, and the function of the first evidence that has one.
func (f *Finding) Place() (file, function string) {
	for _, e := range f.Evidence {
		if e.Function != "" {
			return path.Base(strings.ReplaceAll(e.File, "\\", "/")), e.Function
		}
	}
	return "", ""
}

// Same tells whether two findings, of two versions of a program, are about the same: the same
// rule, in the same function where it has one.
func (f *Finding) Same(other *Finding) bool {
	file, function := f.Place()
	otherFile, otherFunction := other.Place()
	return f.Rule == other.Rule && file == otherFile && function == otherFunction
}

// The rows that findings are about, by their ids: the first that both sides have counts. All of
// them are better when they are less.
var (
	ofCPU        = []string{"cpu_per_request", "cpu"}
	ofBytes      = []string{"bytes_per_request", "allocated"}
	ofObjects    = []string{"objects_per_request", "objects"}
	ofTime       = []string{"latency_p50", "wall_time"}
	ofTail       = []string{"latency_p99", "wall_time"}
	ofLocks      = []string{"lock_wait_per_request", "lock_wait", "latency_p50", "wall_time"}
	ofMemory     = []string{"peak_heap", "max_rss"}
	ofResident   = []string{"max_rss"}
	ofPauses     = []string{"stw_max"}
	ofGoroutines = []string{"goroutines"}
	ofErrors     = []string{"error_share"}
)

// figures has the rows of each rule whose findings can be proved. The rules of allocations and of
// CPU time that are not here are about what the impact is a share of.
var figures = map[string][]string{
	"GC01": ofPauses, "GC02": ofPauses, "GC03": ofCPU, "GC04": ofCPU, "GC05": ofCPU, "GC06": ofCPU, "GC07": ofCPU,
	"GC08": ofMemory, "GC09": ofMemory, "GC10": ofResident, "GC11": ofResident, "GC12": ofCPU, "GC13": ofCPU,
	"GC15": ofMemory, "GC16": ofMemory, "GC17": ofCPU, "GC18": ofCPU,
	"AL20": ofMemory,
	"SC01": ofTime, "SC02": ofCPU, "SC03": ofCPU, "SC04": ofGoroutines, "SC05": ofTime, "SC06": ofTail, "SC07": ofTail,
	"SC08": ofTail, "SC09": ofTime, "SC10": ofGoroutines, "SC11": ofGoroutines, "SC12": ofResident, "SC13": ofCPU,
	"SC14": ofTail, "SC15": ofCPU, "SC16": ofCPU, "SC17": ofTime, "SC18": ofCPU,
	"LK01": ofLocks, "LK02": ofLocks, "LK03": ofCPU, "LK04": ofLocks, "LK06": ofTime, "LK07": ofTime, "LK08": ofTime,
	"WT01": ofTime, "WT02": ofTime, "WT03": ofTime, "WT04": ofTime, "WT05": ofTail, "WT06": ofTime, "WT07": ofTime,
	"WT08": ofTail, "WT09": ofCPU, "WT10": ofTail, "WT11": ofTime,
	"LD02": ofTail, "LD05": ofErrors, "LD06": ofCPU, "LD07": ofResident,
	"BE05": ofCPU, "BE09": ofCPU, "BE10": ofCPU, "BE11": ofCPU, "SC19": ofCPU, "CP21": ofCPU, "CP22": ofCPU,
}

// unprovable are the rules whose findings no rounds of a recording prove: they are about the
// measurement, about benchmarks, or about what a figure does not tell.
var unprovable = map[string]bool{
	"FA01": true, "FA02": true, "GC14": true, "LK05": true, "LD01": true, "LD03": true, "LD04": true,
	"BE01": true, "BE02": true, "BE03": true, "BE04": true, "BE06": true, "BE08": true,
	"BM01": true, "BM02": true, "BM03": true, "BM04": true,
}

// Figures are the ids of the rows of a comparison that the finding is about: of them the first that
// both sides have counts. It is empty where no rounds prove it, and [Finding.Verify] says what
// does.
func (f *Finding) Figures() []string {
	of, ok := figures[f.Rule]
	switch {
	case ok:
		return of
	case unprovable[f.Rule]:
		return nil
	case f.Impact != nil && strings.HasPrefix(f.Impact.Unit, "share of ") && strings.Contains(f.Impact.Unit, "objects"):
		return ofObjects
	case f.Impact != nil && strings.HasPrefix(f.Impact.Unit, "share of ") && strings.Contains(f.Impact.Unit, "bytes"):
		return ofBytes
	}
	return ofCPU
}

// felt are the figures that users feel.
var felt = []string{"error_share", "requests_per_sec", "wall_time", "latency_p50", "latency_p99", "cpu_per_request", "cpu", "peak_heap", "max_rss"}

// figureOf is the row of a comparison that a finding is about; nil where it has none.
func figureOf(f *Finding, t *compare.Table) *compare.Row {
	for _, id := range f.Figures() {
		row, ok := t.Row(id)
		if ok && len(row.Changes) > 0 && row.Cells[0].Median.Known() && row.Cells[1].Median.Known() {
			return &row
		}
	}
	return nil
}

// Prove judges a trial. It says yes only where both hold: what the finding is about has become
// less beyond chance, and the rule, which could look, no longer finds it there. Either alone
// proves nothing: a finding goes away when its line moves to another function, and a figure falls
// for other reasons.
func Prove(t Trial) *Proof {
	p := &Proof{Figure: figureOf(t.Finding, t.Table), Rounds: slices.Min(t.Table.Rounds), Confirmed: len(t.Again) > 0}
	p.FoundBefore, p.FoundAfter = find(t.Finding, t.Before), find(t.Finding, t.After)
	for _, f := range t.After {
		if f.State == Found && f.Rule == t.Finding.Rule && !f.Same(t.Finding) && find(&f, t.Before) == nil {
			p.Elsewhere = append(p.Elsewhere, f)
		}
	}
	for _, r := range t.Table.Rows {
		if Felt(r.ID) && len(r.Changes) > 0 && r.Changes[0].Verdict == compare.Regressed {
			p.Worse = append(p.Worse, r)
		}
	}
	p.Answer, p.Because = p.judge(&t)
	if p.Because == Open {
		p.Needs = p.Figure.Changes[0].Needs
		if p.Needs == 0 && p.Rounds < compare.EnoughRounds {
			p.Needs = compare.EnoughRounds - p.Rounds
		}
	}
	return p
}

func (p *Proof) judge(t *Trial) (Answer, Because) {
	switch {
	case t.SameBuild:
		return No, SameBuild
	case t.Failed:
		return Unproven, Failing
	case p.FoundAfter != nil:
		return No, Still
	case p.FoundBefore == nil && couldLook(t.Finding.Rule, t.Before):
		return Unproven, Unseen
	case p.Figure == nil:
		return Unproven, NoFigure
	}
	switch moved(p.Figure) {
	case 0:
		if p.Figure.Changes[0].Verdict != compare.Same {
			return Unproven, Open
		}
		return No, NotLess
	case 1:
		return No, NotLess
	}
	if p.elsewhere() {
		return No, Moved
	}
	if couldLook(t.Finding.Rule, t.After) {
		switch again := find(t.Finding, t.Again); {
		case again != nil:
			return Unproven, Unsteady
		case p.little(cmp.Or(p.FoundBefore, t.Finding)):
			return Unproven, Little
		}
		return Yes, Fell
	}
	if less(p.Figure, cmp.Or(p.FoundBefore, t.Finding)) {
		return Yes, TooSmall
	}
	return Unproven, Blind
}

// moved is -1 where a row has become less, beyond chance, 1 where it has become more, and 0 where
// neither is proven.
func moved(r *compare.Row) int {
	c := &r.Changes[0]
	switch c.Verdict {
	case compare.Improved:
		return -1
	case compare.Regressed:
		return 1
	case compare.Changed:
		if c.Ratio.Known() && c.Ratio < 1 || !c.Ratio.Known() && r.Cells[1].Median < r.Cells[0].Median {
			return -1
		}
		return 1
	}
	return 0
}

// elsewhere tells whether what is after has the same fault at another place, where it costs at
// least half of what it had cost: the code was moved. A share that is larger because the rest has
// become less is no such fault.
func (p *Proof) elsewhere() bool {
	if p.FoundBefore == nil || p.FoundBefore.Impact == nil {
		return false
	}
	ratio := float64(p.Figure.Cells[1].Median) / float64(p.Figure.Cells[0].Median)
	return slices.ContainsFunc(p.Elsewhere, func(f Finding) bool {
		return f.Impact != nil && f.Impact.Unit == p.FoundBefore.Impact.Unit && f.Impact.Value*ratio >= p.FoundBefore.Impact.Value/2
	})
}

// find is the finding among the answers of rules; nil where it is not found.
func find(f *Finding, all []Finding) *Finding {
	for i := range all {
		if all[i].State == Found && all[i].Same(f) {
			return &all[i]
		}
	}
	return nil
}

// couldLook tells whether a rule had what it needs.
func couldLook(rule string, all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Rule == rule && (f.State == Found || f.State == Fine) })
}

// less tells of a figure that has become less whether all that is left of it is less than what the
// finding alone was before: then it is mended, whether or not the rule can see what is left. Of a
// finding that is no share of the figure half of it is taken.
func less(r *compare.Row, f *Finding) bool {
	before, after := float64(r.Cells[0].Median), float64(r.Cells[1].Median)
	left := r.Changes[0].High
	if !left.Known() && before > 0 {
		left = gc.Figure(after / before)
	}
	share := 0.5
	if i := f.Impact; i != nil && strings.HasPrefix(i.Unit, "share of ") && i.Low > 0 && i.Low <= 1 && f.ofFigure(r) {
		share = i.Low
	}
	return left.Known() && !math.IsNaN(float64(left)) && float64(left) < share
}

// littleOf is the part of what a finding had cost that has to be gone at least where it is said to
// be fixed: what is written instead costs something, too.
const littleOf = 0.25

// little tells of a figure that has become less whether that is far less than what the finding was
// of it, at the least: then something else has become less, and the rule may be blind to what the
// finding has become.
func (p *Proof) little(f *Finding) bool {
	i, ratio := f.Impact, p.Figure.Changes[0].Ratio
	return i != nil && strings.HasPrefix(i.Unit, "share of ") && i.Low > 0 && i.Low <= 1 && f.ofFigure(p.Figure) &&
		ratio.Known() && 1-float64(ratio) < littleOf*i.Low
}

// ofFigure tells whether the finding's impact is a share of what a row has.
func (f *Finding) ofFigure(r *compare.Row) bool {
	switch {
	case slices.Contains(ofObjects, r.ID):
		return strings.Contains(f.Impact.Unit, "objects")
	case slices.Contains(ofBytes, r.ID):
		return strings.Contains(f.Impact.Unit, "bytes")
	case slices.Contains(ofCPU, r.ID):
		return f.Impact.Unit == "share of CPU time" || f.Impact.Unit == "share of CPU samples"
	}
	return false
}

// Name is what a finding among others is called on a command line: its rule, and where several
// findings are of one rule also its place: "AL03@main.go:17".
func (f *Finding) Name(among []Finding) string {
	n := 0
	for i := range among {
		if among[i].State == Found && among[i].Rule == f.Rule {
			n++
		}
	}
	for _, e := range f.Evidence {
		if n > 1 && e.File != "" {
			return fmt.Sprintf("%s@%s:%d", f.Rule, path.Base(strings.ReplaceAll(e.File, "\\", "/")), e.Line)
		}
	}
	return f.Rule
}

// proveCommands says of each finding how it is proved that a change has helped, where what was
// recorded can be run again.
func proveCommands(in *Input, all []Finding) {
	made := in.Session.Manifest().Made
	if made == nil || made.Masked {
		return
	}
	for i := range all {
		if f := &all[i]; f.State == Found && len(f.Figures()) > 0 {
			f.Prove = "loupe prove " + f.Name(all) + " RECORDING"
			if made.Input == recording.FileInput || made.Input == recording.StreamInput {
				f.Prove += " < INPUT"
			}
		}
	}
}

// againUnderLoad begins what to do to see that a mend has helped.
const againUnderLoad = "Record again under the same load"

// withoutLoad leaves the load out of that for a program that ends by itself, and that none was put on.
func withoutLoad(in *Input, all []Finding) {
	m := in.Session.Manifest()
	ends := func(r recording.Run) bool { return r.Exit != "" && !r.Stopped }
	if len(m.Of(recording.Load)) > 0 || !slices.ContainsFunc(m.Target.Runs, ends) {
		return
	}
	for i := range all {
		if rest, ok := strings.CutPrefix(all[i].Verify, againUnderLoad); ok {
			all[i].Verify = "Record again" + rest
		}
	}
}

// Named are the findings that a name of [Finding.Name] stands for: what follows the @ is a file, a
// file and a line, or a function, each with or without what stands in front of it.
func Named(name string, all []Finding) (found []*Finding) {
	rule, place, placed := strings.Cut(name, "@")
	for i := range all {
		f := &all[i]
		if f.State != Found || !strings.EqualFold(f.Rule, rule) {
			continue
		}
		if !placed || slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.named(place) }) {
			found = append(found, f)
		}
	}
	return found
}

// named tells whether a place names the evidence.
func (e *Evidence) named(place string) bool {
	ends := func(whole string) bool {
		rest, ok := strings.CutSuffix(whole, place)
		return ok && (rest == "" || strings.HasSuffix(rest, "/") || strings.HasSuffix(rest, "."))
	}
	file := strings.ReplaceAll(e.File, "\\", "/")
	return place != "" && (file != "" && (ends(file) || ends(fmt.Sprintf("%s:%d", file, e.Line))) || e.Function != "" && ends(e.Function))
}

// Felt tells of a row of a comparison, by its id, that users feel it.
func Felt(id string) bool { return slices.Contains(felt, id) }
