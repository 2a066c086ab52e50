package report

import (
	"fmt"
	"strings"
	"time"

	"loupe/recording"
	"loupe/value/stats"
	"loupe/value/unit"
)

// A program that ends by itself runs once for each phase. What one of these lives leaves behind, as a cache on disk, may
// make the next one another program.

// Lives are unlike each other from these on. Chosen: profilers and a busy machine make a run longer by a half, and short runs
// differ without a reason.
const (
	unlikeTimes = 2
	unlikeBy    = 500 * time.Millisecond
)

// unlikeLives says of the runs of a program that some took far longer than others, or failed while others did not, and which phases are of which; empty where
// they are alike, and of a program under a load or one that was stopped. On a noisy machine how long one takes depends on the others: their user times are compared,
// as what the kernel takes for the same work depends on them, and on its caches, too.
func unlikeLives(m *recording.Manifest, noisy bool) string {
	if wholeRun(m) == 0 {
		return ""
	}
	says := "took very different times"
	var well, failed []life
	for i, run := range m.Target.Runs {
		if run.Exit == "" || run.Stopped || !hasPhase(m, i) {
			continue
		}
		l := life{phasesOf(m, i), run.Span.Len()}
		if noisy {
			l.took, says = run.User, "used very different user CPU times"
		}
		if run.Exit == "exit status 0" {
			well = append(well, l)
		} else {
			failed = append(failed, l)
		}
	}
	list := func(all []life) string {
		var words []string
		for _, l := range all {
			words = append(words, l.name+" "+unit.Duration(l.took.Round(10*time.Millisecond)))
		}
		return strings.Join(words, ", ")
	}
	if len(well) > 0 && len(failed) > 0 {
		return fmt.Sprintf("Some runs of the program failed (%s) and others did not (%s): figures of the ones do not belong to those of the others. If it fails because of what a run before it left behind, clear that away before each run", list(failed), list(well))
	}
	all := byPhase(append(well, failed...))
	if len(all) < 2 {
		return ""
	}
	least, most := all[0].took, all[0].took
	for _, l := range all {
		least, most = min(least, l.took), max(most, l.took)
	}
	if most < unlikeTimes*least || most-least < unlikeBy {
		return ""
	}
	return fmt.Sprintf("The runs of the program %s (%s): figures of different phases do not belong together. What a run leaves behind (a cache, files) may make the next one shorter or longer: clear it away before each run, or run the program once before recording; a profiler and a busy machine only make it longer", says, list(all))
}

// life is a run of the program, by the phases that it is of.
type life struct {
	name string
	took time.Duration
}

// byPhase puts the lives of one phase together, which did the same: their median stands for them. Of many lives the longest is long by chance.
func byPhase(lives []life) (all []life) {
	took := map[string][]float64{}
	for _, l := range lives {
		if took[l.name] == nil {
			all = append(all, l)
		}
		took[l.name] = append(took[l.name], float64(l.took))
	}
	for i, l := range all {
		if n := len(took[l.name]); n > 1 {
			all[i] = life{fmt.Sprintf("%s (median of %d)", l.name, n), time.Duration(stats.Median(took[l.name]))}
		}
	}
	return all
}

// hasPhase tells of a run that something was recorded of it.
func hasPhase(m *recording.Manifest, run int) bool { return phasesOf(m, run) != "" }

// phasesOf are the names of the phases of a run.
func phasesOf(m *recording.Manifest, run int) string {
	var names []string
	for _, p := range m.Phases {
		if p.Has(run) {
			names = append(names, clean(p.Name))
		}
	}
	return strings.Join(names, "+")
}
