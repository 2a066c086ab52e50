package report

import (
	"fmt"
	"slices"
	"strings"

	"loupe/insight"
	"loupe/recording"
	"loupe/value/unit"
)

// What a verdict has to begin with where no rule names a fault, and the figures of the bare phase say that something is
// not in order all the same.

// waitsCPU is the part of its run for which a program has used a CPU, below which it mostly waits. Chosen.
const waitsCPU = 0.1

// leastRun is how long a run has to be for that to be worth a sentence, in seconds. Chosen.
const leastRun = 1

// mostlyWaits says of a program without a load that ended by itself that it has waited for nearly all of its run; empty
// for all others. A service has nothing to do without a load.
func mostlyWaits(r *Recording) string {
	if r.Manifest == nil || len(r.Manifest.Of(recording.Load)) > 0 {
		return ""
	}
	i := slices.IndexFunc(r.Manifest.Phases, func(p recording.Phase) bool { return p.Profiler == "" })
	if i < 0 {
		return ""
	}
	p := r.Manifest.Phases[i]
	runs := r.Manifest.Target.Runs
	if p.Run < 0 || p.Run >= len(runs) || runs[p.Run].Exit == "" || runs[p.Run].Stopped || p.Elsewhere {
		return ""
	}
	life, used := p.Span.Len(), p.User+p.System
	share := float64(used) / float64(max(1, life))
	if life.Seconds() < leastRun || used <= 0 || share >= waitsCPU {
		return ""
	}
	text := fmt.Sprintf("The program waited for %s of its run of %s", unit.Percent(1-share), unit.Duration(life))
	f := r.Findings[max(0, slices.IndexFunc(r.Findings, func(f insight.Finding) bool { return f.Rule == "WT01" }))]
	switch {
	case f.Rule != "WT01" || f.State == insight.Fine:
		return text + ", and no rule names a fault in that."
	case f.State == insight.Found:
		return text + ", and no rule names a fault in what it waits for."
	}
	return text + fmt.Sprintf(", and the recording does not show for what: record again with -phases bare,trace:%ds.", int(life.Seconds()+1))
}

// From how much memory on it is told first what most of it is. Chosen: much of a small machine, or of a container's usual limit.
const (
	muchHeap     = 512 << 20
	muchResident = 1 << 30
)

// holdsMostBegin is what [holdsMost] begins with.
const holdsMostBegin = "No rule names a fault, but the program takes"

// holdsMost says of a program that takes much memory which line has most of what is in use (GC16); empty where none has, or it is
// little: of all that the program takes, and of what that line has.
func holdsMost(r *Recording) string {
	var words []string
	heap := float64(muchHeap)
	if slices.ContainsFunc(r.Findings, func(f insight.Finding) bool { return f.Rule == "GC16" && insight.HoldsMuch(&f) }) {
		heap = 0 // the line alone has enough
	}
	if r.Figures != nil {
		for _, row := range r.Figures.Rows {
			if len(row.Cells) == 0 || row.Cells[0].NeverCame() {
				continue
			}
			value, least := float64(row.Cells[0].Median), map[string]float64{"peak_heap": heap, "max_rss": muchResident}
			if from, known := least[row.ID]; known && value >= from {
				words = append(words, strings.ToLower(row.Name[:1])+row.Name[1:]+" "+median(row.Unit, &row.Cells[0]))
			}
		}
	}
	if len(words) == 0 {
		return ""
	}
	for _, f := range r.Findings {
		if f.Rule != "GC16" || f.State != insight.Found || f.Impact == nil || f.Impact.Unit != "share of what is in use" || f.Impact.Value < 0.5 {
			continue
		}
		if at := seenAt(f); at != "" {
			return fmt.Sprintf(holdsMostBegin+" much memory (%s), and %s of what is in use in the heap profile was allocated at %s (GC16).", strings.Join(words, ", "), unit.Percent(f.Impact.Value), at)
		}
	}
	return ""
}

// keepsGrowing says of a heap that grew steadily, which GC08 has found and calls a remark, that it did.
func keepsGrowing(r *Recording) string {
	for _, f := range r.Findings {
		if f.Rule == "GC08" && f.State == insight.Found && f.Severity == insight.Info && strings.Contains(f.Summary, "still") {
			return "No rule names a fault, but the live heap kept growing to the end (GC08)."
		}
	}
	return ""
}
