package check

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/capture/bench"
	"loupe/format/yamlfile"
	"loupe/internal/cli/record"
)

// ConfigName is the file that says what is checked, in the folder of go.mod.
const ConfigName = ".loupe.yml"

// config says what is checked, and what it may grow by.
type config struct {
	path, dir string // as the user named it, and the folder that all of it is seen from
	// base is the revision, or "" for that of git.
	base string
	// keep is where baselines are kept, seen from dir.
	keep   string
	budget time.Duration
	// undecided tells that what is undecided fails.
	undecided  bool
	findings   string
	allow      allowance
	benchmarks []benchmarks
	loads      []loads
}

// allowance is what figures may get worse by, as shares: by the words of the file, and the
// metrics that benchmarks report of themselves, by their units (see [compare.Allowance]).
type allowance struct{ words, metrics map[string]float64 }

// benchmarks are a group of them.
type benchmarks struct {
	line     int
	packages []string
	bench    string
	pattern  bench.Pattern
	length   time.Duration // of a round
	times    int64         // or operations of one
	timeout  time.Duration
	build    []string
	allow    allowance
}

// loads is one load: a program that loupe run runs.
type loads struct {
	line         int
	name, target string
	args, flags  []string
	url, phases  string
	rounds       int
	findings     string
	allow        allowance
}

// usualAllowance is what may be of a unit that the file says nothing of. Times of identical
// code lie a few percent apart by the layout of a binary alone; allocations do not.
func usualAllowance() allowance {
	return allowance{map[string]float64{"time": 0.10, "cpu": 0.05, "B/op": 0.01, "allocs/op": 0}, map[string]float64{}}
}

// unitsOf are the units of Go's benchmark format that a word of the file stands for.
var unitsOf = map[string][]string{
	"time": {"ns/op"}, "cpu": {bench.CPU, bench.ProcessCPU}, "B/op": {"B/op"}, "allocs/op": {"allocs/op"},
}

// forBenchmarks is what figures of benchmarks may get worse by.
func (a allowance) forBenchmarks() compare.Allowance {
	out := compare.Allowance(maps.Clone(a.metrics))
	for word, units := range unitsOf {
		for _, u := range units {
			if share, ok := a.words[word]; ok {
				out[u] = share
			}
		}
	}
	return out
}

// readConfig reads the file that says what is checked.
func readConfig(path string) (*config, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s: loupe check -init writes one, -config FILE names another", path)
	}
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	c, err := parseConfig(path, data)
	if err != nil {
		return nil, err
	}
	c.dir = filepath.Dir(abs)
	return c, nil
}

// parseConfig reads the text of the file. An error names the line.
func parseConfig(path string, data []byte) (*config, error) {
	c := &config{path: path, keep: ".loupe/baseline", findings: "critical", allow: usualAllowance(), budget: usualBudget}
	r, doc, err := yamlfile.Parse(path, data)
	if errors.Is(err, yamlfile.ErrEmpty) {
		return nil, fmt.Errorf("%w: loupe check -init writes an example", err)
	}
	if err != nil {
		return nil, err
	}
	p := parser{r}
	var groups, programs *yamlfile.Node
	err = p.Fields(doc, yamlfile.Keys{
		"base": p.Text(&c.base), "keep": p.Text(&c.keep), "budget": p.Duration(&c.budget),
		"undecided": p.Word("undecided", []string{"pass", "fail"}, func(w string) { c.undecided = w == "fail" }),
		"findings":  p.Word("findings", severities, func(w string) { c.findings = w }),
		"allow":     p.allowance(c.allow),
		// What they take over from the file may stand behind them.
		"benchmarks": func(n *yamlfile.Node) error { groups = n; return nil },
		"loads":      func(n *yamlfile.Node) error { programs = n; return nil },
	})
	if err != nil {
		return nil, err
	}
	if err := p.Each(groups, func(n *yamlfile.Node) error { return c.addBenchmarks(p, n) }); err != nil {
		return nil, err
	}
	if err := p.Each(programs, func(n *yamlfile.Node) error { return c.addLoad(p, n) }); err != nil {
		return nil, err
	}
	if len(c.benchmarks)+len(c.loads) == 0 {
		return nil, fmt.Errorf("%s names neither benchmarks nor loads: there is nothing to check", path)
	}
	return c, nil
}

// severities are those from which findings may fail.
var severities = []string{"info", "warning", "critical", "never"}

// usualLength is how long a benchmark runs in a round.
const usualLength = 100 * time.Millisecond

func (c *config) addBenchmarks(p parser, n *yamlfile.Node) error {
	g := benchmarks{line: n.Line, bench: ".", length: usualLength, timeout: 10 * time.Minute, allow: c.allow.clone()}
	err := p.Fields(n, yamlfile.Keys{
		"packages": p.Texts(&g.packages), "bench": p.Text(&g.bench), "build": p.words(&g.build),
		"timeout": p.Duration(&g.timeout), "allow": p.allowance(g.allow),
		"benchtime": func(n *yamlfile.Node) (err error) {
			if count, ok := strings.CutSuffix(n.Value, "x"); ok {
				if g.times, err = strconv.ParseInt(count, 10, 64); err != nil || g.times < 1 {
					return p.Errorf(n, "benchtime: %q is not a number of operations such as 100x", n.Value)
				}
				return nil
			}
			return p.Duration(&g.length)(n)
		},
	})
	if err != nil {
		return err
	}
	if len(g.packages) == 0 {
		return p.Errorf(n, "packages are missing, such as ./...")
	}
	for _, name := range g.packages {
		if strings.HasPrefix(name, "-") {
			return p.Errorf(n, "packages: %q looks like a flag: flags for go build belong in build", name)
		}
	}
	if g.pattern, err = bench.ParsePattern(g.bench); err != nil {
		return p.Errorf(n, "bench: %v", err)
	}
	c.benchmarks = append(c.benchmarks, g)
	return nil
}

func (c *config) addLoad(p parser, n *yamlfile.Node) error {
	l := loads{line: n.Line, phases: "bare", rounds: 10, findings: c.findings, allow: c.allow.clone()}
	err := p.Fields(n, yamlfile.Keys{
		"name": p.Text(&l.name), "target": p.Text(&l.target), "args": p.words(&l.args), "flags": p.words(&l.flags),
		"url": p.Text(&l.url), "phases": p.Text(&l.phases),
		"allow":    func(n *yamlfile.Node) error { return p.Fields(n, p.limits(l.allow)) },
		"findings": p.Word("findings", severities, func(w string) { l.findings = w }),
		"rounds": func(n *yamlfile.Node) (err error) {
			if l.rounds, err = strconv.Atoi(n.Value); err != nil || l.rounds < compare.EnoughRounds {
				return p.Errorf(n, "rounds: want a number of at least %d, not %q: with fewer there is no verdict", compare.EnoughRounds, n.Value)
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	if l.target == "" {
		return p.Errorf(n, "target is missing: the package or file of a program, such as ./cmd/server")
	}
	if strings.HasPrefix(l.target, "-") {
		return p.Errorf(n, "target: %q looks like a flag: flags of loupe run belong in flags", l.target)
	}
	if l.name == "" {
		l.name = record.TargetName(l.target)
	}
	if slices.ContainsFunc(c.loads, func(o loads) bool { return record.SafeName(o.name) == record.SafeName(l.name) }) {
		return p.Errorf(n, "there is a load %q already: give this one another name", l.name)
	}
	for _, flag := range l.flags {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if strings.HasPrefix(flag, "-") && slices.Contains([]string{"o", "vs", "rounds", "load", "phases", "json"}, name) {
			return p.Errorf(n, "flags: -%s is set by loupe check", name)
		}
	}
	c.loads = append(c.loads, l)
	return nil
}

func (a allowance) clone() allowance {
	return allowance{maps.Clone(a.words), maps.Clone(a.metrics)}
}

// parser reads what is of loupe check alone.
type parser struct{ yamlfile.Reader }

// words reads a list, or a text that is split as a shell would.
func (p parser) words(to *[]string) yamlfile.Value {
	return func(n *yamlfile.Node) error {
		if yamlfile.IsText(n) {
			*to = record.SplitFlags(n.Value)
			return nil
		}
		return p.Texts(to)(n)
	}
}

// allowance reads what figures may get worse by, over what is there.
func (p parser) allowance(to allowance) yamlfile.Value {
	return func(n *yamlfile.Node) error {
		known := p.limits(to)
		known["metrics"] = func(n *yamlfile.Node) error { return p.metrics(n, to.metrics) }
		return p.Fields(n, known)
	}
}

// limits are the words of the file that may have a limit.
func (p parser) limits(to allowance) yamlfile.Keys {
	known := yamlfile.Keys{}
	for word := range unitsOf {
		known[word] = p.share(word, to.words, 0)
	}
	return known
}

// metrics reads the limits of what benchmarks report of themselves.
func (p parser) metrics(n *yamlfile.Node, to map[string]float64) error {
	known := yamlfile.Keys{}
	for _, unit := range yamlfile.Names(n) {
		if i := slices.IndexFunc(slices.Sorted(maps.Keys(unitsOf)), func(w string) bool { return slices.Contains(unitsOf[w], unit) }); i >= 0 {
			return p.Errorf(n, "metrics: the limit of %s is that of %s, beside metrics", unit, slices.Sorted(maps.Keys(unitsOf))[i])
		}
		if !compare.Holdable(unit) {
			return p.Errorf(n, "metrics: %s follows from other figures, or is too coarse: it has no verdict", unit)
		}
		known[unit] = p.share(unit, to, -1)
	}
	return p.Fields(n, known)
}

// share reads a limit: a percentage of at least some share, or any.
func (p parser) share(name string, to map[string]float64, least float64) yamlfile.Value {
	return func(n *yamlfile.Node) error {
		if n.Value == "any" {
			delete(to, name)
			return nil
		}
		number, ok := strings.CutSuffix(n.Value, "%")
		percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !ok || err != nil || !(percent/100 >= least && percent > -100 && percent < 1e6) || least == 0 && math.Signbit(percent) {
			return p.Errorf(n, "%s: want a percentage such as 5%%, or any, not %q", name, n.Value)
		}
		to[name] = percent / 100
		return nil
	}
}
