package compare

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/format/benchmark"
)

// order makes runs of files, in the order of time. A file has several where it holds results of
// several commits.
func (h *History) order(files []HistoryFile) (runs []runFigures) {
	type key struct{ commit, time, edited string }
	for _, f := range files {
		in := map[key]int{}
		for _, one := range f.Figures {
			k := key{one.Config[benchmark.CommitKey], one.Config[benchmark.CommitTimeKey], one.Config[benchmark.EditedKey]}
			at, ok := in[k]
			if !ok {
				at = len(runs)
				in[k], runs = at, append(runs, runFigures{run: newRun(f, k.commit, k.time, k.edited == "true")})
			}
			runs[at].figures = append(runs[at].figures, one)
		}
	}
	h.clocks(runs)
	slices.SortStableFunc(runs, func(a, b runFigures) int {
		return cmp.Or(a.run.Time.Compare(b.run.Time), a.run.at.Compare(b.run.at), natural(a.run.File, b.run.File))
	})
	if more := len(runs) - maxHistoryRuns; more > 0 {
		h.Notes = append(h.Notes, fmt.Sprintf("The newest %d of %d runs are looked at.", maxHistoryRuns, len(runs)))
		runs = runs[more:]
	}
	return runs
}

// newRun is the run of a file, with the best time that is known of it.
func newRun(f HistoryFile, commit, at string, edited bool) HistoryRun {
	r := HistoryRun{File: f.Name, Commit: commit, Edited: edited, Time: f.Modified, Clock: FileClock}
	if named, ok := timeInName(filepath.Base(f.Name)); ok {
		r.Time, r.Clock, r.at = named, NameClock, named
	}
	// The second form is that of the proposal of the format.
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05-0700"} {
		if t, err := time.Parse(layout, at); err == nil {
			r.Time, r.Clock = t, CommitClock
			break
		}
	}
	return r
}

// together is how far apart files are written at most that a checkout has written, or a copy:
// those times say nothing of when they were measured.
const together = 10 * time.Second

// clocks decides on the clock of runs whose files alone tell a time, and says of the order what
// may be wrong with it.
func (h *History) clocks(runs []runFigures) {
	by := map[Clock]int{}
	var first, last time.Time
	for _, r := range runs {
		by[r.run.Clock]++
		if r.run.Clock != FileClock {
			continue
		}
		if first.IsZero() || r.run.Time.Before(first) {
			first = r.run.Time
		}
		if r.run.Time.After(last) {
			last = r.run.Time
		}
	}
	switch files := by[FileClock]; {
	case files == len(runs) && files > 1 && last.Sub(first) <= together:
		for i := range runs {
			runs[i].run.Time, runs[i].run.Clock = time.Time{}, NoClock
		}
		h.Notes = append(h.Notes, "Runs are in the order of the names of their files: no commit time is in them, no date in their names, and all were written within ten seconds, as by a checkout.")
	case files > 1 && files == len(runs):
		h.Notes = append(h.Notes, "Runs are in the order in which their files were written last, because neither commit times nor dates in names are known.")
	case files > 0 && files < len(runs):
		h.Notes = append(h.Notes, fmt.Sprintf("Without a commit time or a date in the name: %d of %d runs. They stand where their files were written last.", files, len(runs)))
	case by[NameClock] > 0 && by[CommitClock] > 0:
		h.Notes = append(h.Notes, "Runs with a commit time stand at that, the others at the date in their names.")
	}
}

// dated is a date in the name of a file, with or without a time of day.
var dated = regexp.MustCompile(`(?:^|[^0-9A-Za-z])(\d{4})-?(\d{2})-?(\d{2})(?:[T_. -]?(\d{2})[:.-]?(\d{2})(?:[:.-]?(\d{2}))?)?Z?(?:[^0-9A-Za-z]|$)`)

// timeInName reads the date in the name of a file.
func timeInName(name string) (time.Time, bool) {
	m := dated.FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, false
	}
	text := m[1] + m[2] + m[3]
	for _, part := range m[4:] {
		if part == "" {
			part = "00"
		}
		text += part
	}
	t, err := time.Parse("20060102150405", text)
	return t, err == nil && t.Year() >= 2009 && t.Year() < 2200
}

// natural compares names so that run2 comes before run10.
func natural(a, b string) int {
	x, y := chunks(a), chunks(b)
	for i := range min(len(x), len(y)) {
		n, err1 := strconv.ParseUint(x[i], 10, 64)
		m, err2 := strconv.ParseUint(y[i], 10, 64)
		c := cmp.Compare(x[i], y[i])
		if err1 == nil && err2 == nil {
			c = cmp.Or(cmp.Compare(n, m), c)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

var chunk = regexp.MustCompile(`\d+|\D+`)

func chunks(name string) []string { return chunk.FindAllString(name, -1) }

// tellApart notes in which keys the results of series differ besides.
func (h *History) tellApart() {
	kinds := map[string]bool{}
	for _, s := range h.Series {
		kinds[s.Machine] = true
	}
	if len(kinds) > 1 {
		h.Notes = append(h.Notes, fmt.Sprintf("There are %d kinds of machines. What was measured on one is never compared with what was measured on another.", len(kinds)))
	}
	few, fewest := 0, 0
	for _, s := range h.Series {
		if s.Needs > 0 {
			few, fewest = few+1, max(fewest, s.Needs)
		}
	}
	if few > 0 {
		h.Notes = append(h.Notes, fmt.Sprintf("Too few runs for a verdict: %d of %d series. Each needs %d runs at least (up to %d more here), because the rounds of one run share the state of the machine and count once.", few, len(h.Series), FewestRuns, fewest))
	}
	var unsure []string
	for _, s := range h.Series {
		if slices.ContainsFunc(s.Changes, func(c LevelChange) bool { return c.Unsure }) {
			unsure = append(unsure, strings.TrimPrefix(s.Name, "Benchmark")+" "+s.Unit)
		}
	}
	if len(unsure) > 0 {
		h.Notes = append(h.Notes, "Unsure: neighbouring runs resemble each other even within a level, and a machine whose speed wanders for days looks like this. Compare the two revisions side by side to be certain (loupe bench -vs): "+listed(unsure)+".")
	}
}

// listed is the begin of a list.
func listed(all []string) string {
	const most = 5
	if more := len(all) - most; more > 0 {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(all, ", ")
}
