package bench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/capture/bench"
	"loupe/internal/cli/bench/profiled"
	"loupe/internal/cli/command"
	"loupe/internal/cli/record"
	"loupe/value/stats"
	"loupe/value/unit"
)

// causeRuns is how often each profiler runs on each side where a cause is looked for. By
// six runs a side a row that is the same in all of a side is told from chance among some
// twenty (2/924); by five it is not.
const causeRuns = 6

// profile runs the benchmarks again with profilers, when all is measured.
func (m *measurement) profile(e *command.Env, r *bench.Runner, temp string) error {
	f := m.flags
	if len(f.profilers) == 0 {
		return nil
	}
	if e.Ctx.Err() != nil {
		m.notes = append(m.notes, "There are no profiles because the measurement was interrupted.")
		return nil
	}
	dir, _ := record.Place(f.recording, "bench")
	changes := m.changes()
	for _, c := range m.cases {
		if c.Failed != nil || c.Rounds() == 0 {
			continue
		}
		if err := m.profileCase(e, r, c, changes[c], dir, temp); err != nil {
			if e.Ctx.Err() != nil {
				m.notes = append(m.notes, "Profiling was interrupted: what was collected is in "+dir+".")
				return nil
			}
			m.failed = errors.Join(m.failed, fmt.Errorf("%s%w", packagePrefix(c), err))
		}
	}
	m.notes = append(m.notes, m.kept(dir))
	if !m.several() {
		e.Progress(f.quiet)("%s", m.kept(dir))
	}
	return nil
}

// kept says where the profiles are.
func (m *measurement) kept(dir string) string {
	if len(m.recordings) == 0 {
		return "There are no profiles."
	}
	last := m.recordings[len(m.recordings)-1]
	return fmt.Sprintf("The profiles are in %s: loupe report %s", dir, command.ShellWord(last))
}

// profileCase profiles one benchmark, and tells the causes of its changes.
func (m *measurement) profileCase(e *command.Env, r *bench.Runner, c *bench.Case, changes []profiled.Change, dir, temp string) error {
	plan := bench.ProfilePlan{
		Profilers: m.flags.profilers, Runs: 1, Temp: temp, Tool: command.Version(),
		Order: stats.Order{Seed: rand.Uint64()}, Diagnose: record.Diagnosis(),
	}
	if len(changes) > 0 {
		plan.Runs = causeRuns
	}
	for i := range m.titles {
		plan.Dirs = append(plan.Dirs, m.folder(c, i, dir))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("cannot keep profiles: %w", err)
	}
	m.recordings = append(m.recordings, plan.Dirs...)
	got, err := r.Profile(e.Ctx, c, plan)
	if err != nil || len(changes) == 0 || len(got) != 2 {
		return err
	}
	pair, err := profiled.Open([2]bench.Profiled{got[0], got[1]})
	if err != nil {
		return err
	}
	defer pair.Close()
	for _, change := range changes {
		m.causes = append(m.causes, pair.Causes(change)...)
	}
	return nil
}

// folder is where the recording of a side of a case goes: below dir, by its name.
func (m *measurement) folder(c *bench.Case, side int, dir string) string {
	name := strings.TrimPrefix(c.Name, "Benchmark")
	if slices.ContainsFunc(m.cases, func(o *bench.Case) bool { return o.Package != c.Package }) {
		name = path.Base(c.Package) + "." + name
	}
	name = record.SafeName(name)
	if m.several() {
		name += "-" + m.sides[side]
	}
	free := filepath.Join(dir, name)
	for n := 2; slices.Contains(m.recordings, free); n++ {
		free = filepath.Join(dir, fmt.Sprintf("%s-%d", name, n))
	}
	return free
}

// changes are the figures of each case that have changed, and whose cause is to be told: of
// its times one, the CPU time where that has.
func (m *measurement) changes() map[*bench.Case][]profiled.Change {
	out := map[*bench.Case][]profiled.Change{}
	if len(m.titles) != 2 || m.same {
		return out
	}
	figures := m.figures(1)
	for _, c := range m.cases {
		timed := false
		for _, unit := range []string{"cpu-ns/op", "process-cpu-ns/op", "ns/op", "B/op", "allocs/op"} {
			i := slices.IndexFunc(figures, func(f compare.Figure) bool { return f.Package == c.Package && f.Name == c.Name && f.Unit == unit })
			if i < 0 || !changed(figures[i].Verdict) || timed && strings.HasSuffix(unit, "ns/op") {
				continue
			}
			timed = timed || strings.HasSuffix(unit, "ns/op")
			f := &figures[i]
			out[c] = append(out[c], profiled.Change{
				Package: c.Package, Name: c.Name, Unit: f.Unit, Before: f.Before, After: f.After, Words: inWords(f),
			})
		}
	}
	return out
}

func changed(v compare.Verdict) bool {
	return slices.Contains([]compare.Verdict{compare.Faster, compare.Slower, compare.Less, compare.More}, v)
}

// inWords says what became of a figure: "slower, +61%".
func inWords(f *compare.Figure) string {
	if !f.Ratio.Known() {
		return string(f.Verdict)
	}
	return fmt.Sprintf("%s, %s", f.Verdict, unit.Change(float64(f.Ratio)))
}
