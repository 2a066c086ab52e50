package gc

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// AdviceSchema is the version of the JSON form of [Advice].
const AdviceSchema = "loupe.gc-advice/1"

// Advice is what to set in a container: GOGC and GOMEMLIMIT, what they would do, and how far
// that is to be trusted.
type Advice struct {
	Schema string `json:"schema"`
	Phase  string `json:"phase,omitempty"` // of a recording
	// Container is the memory limit that it is for, in bytes, and From who says so.
	Container int64  `json:"container"`
	From      string `json:"from,omitempty"`
	// OutsideMB is the memory that the Go runtime does not know of, as measured; unknown in a
	// log. GoLimitMB is what is left for it, with a reserve.
	OutsideMB Figure   `json:"outside_mb"`
	GoLimitMB Figure   `json:"go_limit_mb"`
	Recorded  Recorded `json:"recorded"`
	// Run says which run of the log it is for; nil where there is only one.
	Run *RunOf `json:"run,omitempty"`
	// NeedMB is what the live heap takes with what is around it, at the least.
	NeedMB Figure `json:"need_mb"`
	// Refused says why nothing is advised; empty where something is.
	Refused string  `json:"refused,omitempty"`
	Verdict Verdict `json:"verdict,omitempty"`
	// Advised is nil where nothing is.
	Advised *Prediction `json:"advised"`
	// Confidence is "good", "fair" or "low", Why what it is lowered by.
	Confidence string   `json:"confidence,omitempty"`
	Why        []string `json:"why,omitempty"`
	// CPUConfidence is that of the CPU time, where runs have told it, and CPUWhy its reason; see
	// [Advice.WeighCPU].
	CPUConfidence string `json:"cpu_confidence,omitempty"`
	CPUWhy        string `json:"cpu_why,omitempty"`
	// Compared are other settings, the ones that are in force among them.
	Compared []Prediction `json:"compared"`
	// Outcomes are runs, where there were any: as it was, and as advised.
	Outcomes []Outcome `json:"outcomes,omitempty"`
	Notes    []Note    `json:"notes"`
}

// AdviceOptions say what the advice is for.
type AdviceOptions struct {
	// Container is the memory limit in bytes, From who says so: "-limit", "the cgroup".
	Container int64
	From      string
	// Outside is the memory that the Go runtime does not know of, in bytes; negative where
	// nobody has measured it.
	Outside float64
}

const (
	// outsideReserve is how much more of what is outside of Go there may be on another day,
	// outsideShare the part of a container that is left in any case where it was measured.
	outsideReserve, outsideShare = 1.25, 0.05
	// leastRoom is how far a memory limit must be above what the live heap takes: below it
	// collections follow each other without end.
	leastRoom = 1.15
)

// goLimit is what of a container the Go runtime may have, in whole MiB.
func goLimit(opt AdviceOptions) int64 {
	limit := containerLimit(opt.Container)
	if opt.Outside >= 0 {
		rest := float64(opt.Container)*(1-outsideShare) - outsideReserve*opt.Outside
		limit = min(limit, int64(max(rest, 0))>>20<<20)
	}
	return limit
}

// confidences are the words for grades.
var confidences = map[Grade]string{Good: "good", Fair: "fair", Poor: "low"}

// Advise says what to set in a container. It refuses where the recording cannot tell: the live
// heap rises, or leaves no room below the limit.
func Advise(r *Replay, opt AdviceOptions) *Advice {
	limit := goLimit(opt)
	a := &Advice{
		Schema: AdviceSchema, Container: opt.Container, From: opt.From, OutsideMB: Unknown(), GoLimitMB: Figure(float64(limit) / (1 << 20)),
		Recorded: r.recorded, Compared: []Prediction{}, Notes: []Note{},
	}
	if opt.Outside >= 0 {
		a.OutsideMB = Figure(opt.Outside / (1 << 20))
	}
	if r.of.Runs > 1 {
		of := r.of
		a.Run = &of
	}
	c := chooseWithin(r, opt.Container, limit)
	a.NeedMB, a.Verdict = c.NeedMB, c.Verdict
	room := float64(a.GoLimitMB) / float64(c.NeedMB)
	switch {
	case r.c.rises():
		when := "was still rising when the recording ended"
		if r.c.ended() < 0.95*r.c.lastThird() {
			when = "went up in the last third of the recording, and has not shown how far it goes"
		}
		a.Verdict, a.Refused = "", fmt.Sprintf("the live heap %s (%.0f MB on average, %.0f MB in the last third): what is right for it depends on where it stops", when, float64(r.recorded.LiveMB), r.c.lastThird()/(1<<20))
	case c.Verdict == TooSmall || room < leastRoom:
		a.Verdict = TooSmall
		a.Refused = fmt.Sprintf("the live heap and what is around it take about %.0f MB, and of the container %.0f MB are left for Go: a limit there would start collections without end", float64(c.NeedMB), float64(a.GoLimitMB))
	case float64(c.Prediction.MemoryMB.High) > float64(opt.Container)/(1<<20):
		a.Verdict = ""
		a.Refused = fmt.Sprintf("with %s memory could come to %.0f MB, more than the container has: give it more, or record longer, which narrows the prediction", c.Prediction.Settings, float64(c.Prediction.MemoryMB.High))
	}
	if a.Refused == "" {
		p := *c.Prediction
		a.Advised, a.Confidence, a.Why = &p, confidences[p.Grade], p.GradeWhy
	}
	a.compare(r, limit)
	a.Notes = r.notes(a.Compared)
	return a
}

// cpuNoise is by how much two runs of the same may differ in CPU time before what comes of
// such runs is not to be trusted.
const cpuNoise = 0.10

// WeighCPU says how far a predicted CPU time is to be trusted, by two runs with the same
// settings: what differs there without a reason differs in the runs that were predicted from,
// too.
func (a *Advice) WeighCPU(first, again time.Duration) {
	if a.Advised == nil || !a.Advised.CPUMS.Estimate.Known() || first <= 0 || again <= 0 {
		return
	}
	off := float64(again)/float64(first) - 1
	a.CPUConfidence = confidences[Fair]
	if math.Abs(off) > cpuNoise {
		a.CPUConfidence = confidences[Poor]
		a.CPUWhy = fmt.Sprintf("two runs with the same settings differ by %.0f%% in CPU time", 100*math.Abs(off))
	}
}

// compare predicts what one might set instead: the settings in force, each GOGC with the limit
// as a net, and the limit alone.
func (a *Advice) compare(r *Replay, limit int64) {
	var all []Settings
	add := func(s Settings) {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	if r.base != nil {
		add(*r.base)
	}
	for _, gogc := range SweepGOGC {
		add(Settings{GOGC: gogc, Limit: limit})
	}
	add(Settings{GOGC: GOGCOff, Limit: limit})
	if a.Advised != nil {
		add(a.Advised.Settings)
	}
	for _, s := range all {
		if s.Limit == limit && limit <= 0 {
			continue
		}
		a.Compared = append(a.Compared, r.Predict(s))
	}
}

// LimitStarts tells whether even at the least GOGC that is compared, with the limit as a net, the
// limit starts collections.
func (a *Advice) LimitStarts() bool {
	return slices.ContainsFunc(a.Compared, func(p Prediction) bool {
		return p.Settings.GOGC == SweepGOGC[0] && p.Settings.Limit > 0 && (p.State == Limited || p.State == Thrashing)
	})
}

// Exceeds tells whether settings may need more memory than the container has for Go.
func (a *Advice) Exceeds(p *Prediction) bool { return p.MemoryMB.Estimate > a.GoLimitMB }
