package check

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"loupe/analysis/compare"
	"loupe/capture/bench"
	"loupe/internal/cli/command"
	"loupe/internal/cli/record"
	"loupe/value/unit"
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

// maxConfig bounds the file.
const maxConfig = 1 << 20

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
	p := parser{path}
	if len(data) > maxConfig {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, maxConfig)
	}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s is empty: loupe check -init shows what stands in it", path)
	case err != nil:
		return nil, p.syntax(err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s has more than one document (---)", path)
	}
	var groups, programs *yaml.Node
	err := p.fields(doc.Content[0], map[string]func(*yaml.Node) error{
		"base": p.text(&c.base), "keep": p.text(&c.keep), "budget": p.duration(&c.budget),
		"undecided": p.word("undecided", []string{"pass", "fail"}, func(w string) { c.undecided = w == "fail" }),
		"findings":  p.word("findings", severities, func(w string) { c.findings = w }),
		"allow":     p.allowance(c.allow),
		// What they take over from the file may stand behind them.
		"benchmarks": func(n *yaml.Node) error { groups = n; return nil },
		"loads":      func(n *yaml.Node) error { programs = n; return nil },
	})
	if err != nil {
		return nil, err
	}
	if err := p.each(groups, func(n *yaml.Node) error { return c.addBenchmarks(p, n) }); err != nil {
		return nil, err
	}
	if err := p.each(programs, func(n *yaml.Node) error { return c.addLoad(p, n) }); err != nil {
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

func (c *config) addBenchmarks(p parser, n *yaml.Node) error {
	g := benchmarks{line: n.Line, bench: ".", length: usualLength, timeout: 10 * time.Minute, allow: c.allow.clone()}
	err := p.fields(n, map[string]func(*yaml.Node) error{
		"packages": p.list(&g.packages), "bench": p.text(&g.bench), "build": p.words(&g.build),
		"timeout": p.duration(&g.timeout), "allow": p.allowance(g.allow),
		"benchtime": func(n *yaml.Node) (err error) {
			if count, ok := strings.CutSuffix(n.Value, "x"); ok {
				if g.times, err = strconv.ParseInt(count, 10, 64); err != nil || g.times < 1 {
					return p.errorf(n, "benchtime: %q is no number of operations, such as 100x", n.Value)
				}
				return nil
			}
			return p.duration(&g.length)(n)
		},
	})
	if err != nil {
		return err
	}
	if len(g.packages) == 0 {
		return p.errorf(n, "packages are missing, such as ./...")
	}
	for _, name := range g.packages {
		if strings.HasPrefix(name, "-") {
			return p.errorf(n, "packages: %q looks like a flag: flags for go build stand in build", name)
		}
	}
	if g.pattern, err = bench.ParsePattern(g.bench); err != nil {
		return p.errorf(n, "bench: %v", err)
	}
	c.benchmarks = append(c.benchmarks, g)
	return nil
}

func (c *config) addLoad(p parser, n *yaml.Node) error {
	l := loads{line: n.Line, phases: "bare", rounds: 10, findings: c.findings, allow: c.allow.clone()}
	err := p.fields(n, map[string]func(*yaml.Node) error{
		"name": p.text(&l.name), "target": p.text(&l.target), "args": p.words(&l.args), "flags": p.words(&l.flags),
		"url": p.text(&l.url), "phases": p.text(&l.phases),
		"allow":    func(n *yaml.Node) error { return p.fields(n, p.limits(l.allow)) },
		"findings": p.word("findings", severities, func(w string) { l.findings = w }),
		"rounds": func(n *yaml.Node) (err error) {
			if l.rounds, err = strconv.Atoi(n.Value); err != nil || l.rounds < compare.EnoughRounds {
				return p.errorf(n, "rounds: want a number of at least %d, not %q: with fewer there is no verdict", compare.EnoughRounds, n.Value)
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	if l.target == "" {
		return p.errorf(n, "target is missing: the package or file of a program, such as ./cmd/server")
	}
	if strings.HasPrefix(l.target, "-") {
		return p.errorf(n, "target: %q looks like a flag: flags of loupe run stand in flags", l.target)
	}
	if l.name == "" {
		l.name = record.TargetName(l.target)
	}
	if slices.ContainsFunc(c.loads, func(o loads) bool { return record.SafeName(o.name) == record.SafeName(l.name) }) {
		return p.errorf(n, "there is a load %q already: give this one another name", l.name)
	}
	for _, flag := range l.flags {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if strings.HasPrefix(flag, "-") && slices.Contains([]string{"o", "vs", "rounds", "load", "phases", "json"}, name) {
			return p.errorf(n, "flags: -%s is set by loupe check", name)
		}
	}
	c.loads = append(c.loads, l)
	return nil
}

func (a allowance) clone() allowance {
	return allowance{maps.Clone(a.words), maps.Clone(a.metrics)}
}

// parser reads nodes of a file; its errors name the line.
type parser struct{ path string }

func (p parser) errorf(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.path, n.Line, fmt.Sprintf(format, args...))
}

// syntax words an error of the library: "yaml: line 3: …".
func (p parser) syntax(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		return fmt.Errorf("%s:%s", p.path, rest)
	}
	return fmt.Errorf("%s: %s", p.path, text)
}

// whole is what a node stands for.
func whole(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// fields hands the values of a mapping to what knows them by their keys.
func (p parser) fields(n *yaml.Node, known map[string]func(*yaml.Node) error) error {
	n = whole(n)
	if n.Kind != yaml.MappingNode {
		return p.errorf(n, "want keys and values (%s)", strings.Join(sorted(known), ", "))
	}
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], whole(n.Content[i+1])
		read := known[key.Value]
		if read == nil {
			if near := command.Nearest(key.Value, sorted(known)); near != "" {
				return p.errorf(key, "unknown key %q, did you mean %q?", key.Value, near)
			}
			return p.errorf(key, "unknown key %q: there are %s", key.Value, strings.Join(sorted(known), ", "))
		}
		if seen[key.Value] > 0 {
			return p.errorf(key, "%s stands in line %d already", key.Value, seen[key.Value])
		}
		seen[key.Value] = key.Line
		if value.Tag == "!!null" {
			return p.errorf(key, "%s has no value", key.Value)
		}
		if err := read(value); err != nil {
			return err
		}
	}
	return nil
}

func sorted[V any](m map[string]V) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// each hands the entries of a list on.
func (p parser) each(n *yaml.Node, one func(*yaml.Node) error) error {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return p.errorf(n, "want a list: each entry begins with -")
	}
	for _, e := range n.Content {
		if err := one(whole(e)); err != nil {
			return err
		}
	}
	return nil
}

func (p parser) text(to *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode {
			return p.errorf(n, "want a text")
		}
		*to = n.Value
		return nil
	}
}

// list reads one text or several.
func (p parser) list(to *[]string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind == yaml.ScalarNode {
			*to = []string{n.Value}
			return nil
		}
		*to = nil
		return p.each(n, func(n *yaml.Node) error {
			one := ""
			if err := p.text(&one)(n); err != nil {
				return err
			}
			*to = append(*to, one)
			return nil
		})
	}
}

// words reads a list, or a text that is split as a shell would.
func (p parser) words(to *[]string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind == yaml.ScalarNode {
			*to = record.SplitFlags(n.Value)
			return nil
		}
		return p.list(to)(n)
	}
}

func (p parser) duration(to *time.Duration) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		d, err := unit.ParseDuration(n.Value)
		if err != nil || d <= 0 {
			return p.errorf(n, "want a time such as 2m, not %q", n.Value)
		}
		*to = d
		return nil
	}
}

func (p parser) word(key string, known []string, set func(string)) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if !slices.Contains(known, n.Value) {
			return p.errorf(n, "%s: want %s, not %q", key, strings.Join(known, ", "), n.Value)
		}
		set(n.Value)
		return nil
	}
}

// allowance reads what figures may get worse by, over what is there.
func (p parser) allowance(to allowance) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		known := p.limits(to)
		known["metrics"] = func(n *yaml.Node) error { return p.metrics(n, to.metrics) }
		return p.fields(n, known)
	}
}

// limits are the words of the file that may have a limit.
func (p parser) limits(to allowance) map[string]func(*yaml.Node) error {
	known := map[string]func(*yaml.Node) error{}
	for word := range unitsOf {
		known[word] = p.share(word, to.words, 0)
	}
	return known
}

// metrics reads the limits of what benchmarks report of themselves.
func (p parser) metrics(n *yaml.Node, to map[string]float64) error {
	known := map[string]func(*yaml.Node) error{}
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			unit := n.Content[i].Value
			if i := slices.IndexFunc(slices.Sorted(maps.Keys(unitsOf)), func(w string) bool { return slices.Contains(unitsOf[w], unit) }); i >= 0 {
				return p.errorf(n, "metrics: the limit of %s is that of %s, beside metrics", unit, slices.Sorted(maps.Keys(unitsOf))[i])
			}
			if !compare.Holdable(unit) {
				return p.errorf(n, "metrics: %s follows from other figures, or is too coarse: it has no verdict", unit)
			}
			known[unit] = p.share(unit, to, -1)
		}
	}
	return p.fields(n, known)
}

// share reads a limit: a percentage of at least some share, or any.
func (p parser) share(name string, to map[string]float64, least float64) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Value == "any" {
			delete(to, name)
			return nil
		}
		number, ok := strings.CutSuffix(n.Value, "%")
		percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !ok || err != nil || !(percent/100 >= least && percent > -100 && percent < 1e6) || least == 0 && math.Signbit(percent) {
			return p.errorf(n, "%s: want a percentage such as 5%%, or any, not %q", name, n.Value)
		}
		to[name] = percent / 100
		return nil
	}
}
