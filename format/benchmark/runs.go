package benchmark

import (
	"bytes"
	"fmt"
	"slices"

	"golang.org/x/perf/benchfmt"
)

// Keys of the configuration that say which version was measured. The first two are those of
// the proposal of the format (golang.org/design/14313-benchmark-format).
const (
	CommitKey     = "commit"
	CommitTimeKey = "commit-time"
	// EditedKey is "true" where the working tree was not what the commit has.
	EditedKey = "commit-edited"
	// ToolchainKey is the version of Go that has built the benchmarks.
	ToolchainKey = "toolchain"
	// ProcsKey is GOMAXPROCS, CommandKey the command of a benchmark that is one.
	ProcsKey   = "gomaxprocs"
	CommandKey = "command"
	// BuildKey are the flags of go build.
	BuildKey = "build"
)

// versionKeys are the keys in which results of different versions differ for that reason
// alone.
var versionKeys = []string{CommitKey, CommitTimeKey, EditedKey, ToolchainKey}

// Figure is one figure of a benchmark in one file, under one configuration.
type Figure struct {
	// Config are the lines in front of the results, by key. Figures with the same lines
	// share it.
	Config map[string]string
	// Name is as the file has it, with the number of Ps behind it, and "Benchmark" in front
	// of it.
	Name string
	// Unit is as the file has it, such as ns/op. Better is +1 where more is better, -1
	// where less is, 0 where nobody knows.
	Unit   string
	Better int
	// Values are those of all results, in their order.
	Values []float64
}

// Limits of what one file may hold.
const (
	maxFigures = 100_000
	maxValues  = 100_000 // of a figure
)

// Figures reads one file. What cannot be read is told, and the rest goes on; so is that go test
// has failed.
func Figures(f File) (all []*Figure, problems []string, failed string) {
	text, problem := unwrap(f.Data)
	if problem != "" {
		problems = append(problems, problem)
	}
	type key struct {
		config     string
		name, unit string
	}
	configs, index := map[string]map[string]string{}, map[key]*Figure{}
	bad, first, dropped := 0, "", 0
	r := benchfmt.NewReader(bytes.NewReader(text), f.Name)
	for r.Scan() {
		if wrong, ok := r.Result().(*benchfmt.SyntaxError); ok {
			if bad++; bad == 1 {
				first = wrong.Msg
				if _, line := wrong.Pos(); line > 0 {
					first = fmt.Sprintf("line %d: %s", line, wrong.Msg)
				}
			}
			continue
		}
		one, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		under := configOf(one)
		if configs[under] == nil {
			configs[under] = map[string]string{}
			for _, c := range one.Config {
				configs[under][c.Key] = string(c.Value)
			}
		}
		for _, v := range one.Values {
			if v.OrigUnit != "" {
				v.Value, v.Unit = v.OrigValue, v.OrigUnit
			}
			k := key{under, one.Name.String(), v.Unit}
			at := index[k]
			if at == nil && len(all) == maxFigures || at != nil && len(at.Values) == maxValues {
				dropped++
				continue
			}
			if at == nil {
				at = &Figure{Config: configs[under], Name: "Benchmark" + k.name, Unit: k.unit}
				index[k], all = at, append(all, at)
			}
			at.Values = append(at.Values, v.Value)
		}
	}
	if err := r.Err(); err != nil {
		problems = append(problems, err.Error())
	}
	if bad > 0 {
		problems = append(problems, fmt.Sprintf("%s (%d such)", first, bad))
	}
	if dropped > 0 {
		problems = append(problems, fmt.Sprintf("%d values are left out: a file may have %d figures, each of %d values", dropped, maxFigures, maxValues))
	}
	for _, one := range all {
		one.Better = r.Units().GetBetter(one.Unit)
	}
	return all, problems, failure(text)
}

// configOf is the configuration of a result as one text.
func configOf(r *benchfmt.Result) string {
	var lines []string
	for _, c := range r.Config {
		if c.File {
			lines = append(lines, c.Key+": "+string(c.Value)+"\n")
		}
	}
	slices.Sort(lines)
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(l)
	}
	return b.String()
}
