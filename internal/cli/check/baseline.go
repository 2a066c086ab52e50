package check

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"loupe/analysis/compare"
	"loupe/capture/bench"
	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/internal/cli/record"
)

// machine is what kind of machine measures: figures of another kind are other figures.
type machine struct {
	cpu, goos, goarch, version string
	cpus                       float64 // that may be used
}

// thisMachine is the kind of this one, with the Go that builds in a folder.
func thisMachine(ctx context.Context, temp, dir string) (machine, error) {
	host := collect.HostFacts()
	m := machine{cpu: host.CPU, goos: runtime.GOOS, goarch: runtime.GOARCH, cpus: float64(host.CPUs)}
	if host.Quota > 0 {
		m.cpus = min(m.cpus, host.Quota)
	}
	if m.cpu == "" {
		m.cpu = "unknown CPU"
	}
	m.cpu = strings.Join(strings.Fields(m.cpu), " ")
	var err error
	m.version, err = collect.GoVersion(ctx, temp, dir)
	return m, err
}

// String names the kind.
func (m machine) String() string {
	cores := "CPUs"
	if m.cpus == 1 {
		cores = "CPU"
	}
	return fmt.Sprintf("%s, %s %s, %s/%s, %s", m.cpu, strconv.FormatFloat(m.cpus, 'g', -1, 64), cores, m.goos, m.goarch, m.version)
}

// config are the lines of Go's benchmark format that tell the kind.
func (m machine) config() map[string]string {
	return map[string]string{
		"machine-cpu": m.cpu, "machine-cpus": strconv.FormatFloat(m.cpus, 'g', -1, 64), "machine-os": m.goos, "machine-arch": m.goarch, "machine-go": m.version,
	}
}

// machineOf reads them.
func machineOf(config map[string]string) (machine, bool) {
	cpus, err := strconv.ParseFloat(config["machine-cpus"], 64)
	m := machine{config["machine-cpu"], config["machine-os"], config["machine-arch"], config["machine-go"], cpus}
	return m, err == nil && m.cpu != "" && m.version != ""
}

// file is where the baseline of the kind is kept in a folder.
func (m machine) file(dir string) string {
	name := strings.ToLower(fmt.Sprintf("%s-%s-%gcpus-%s-%s", m.goos, m.goarch, m.cpus, m.version, m.cpu))
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name = strings.Trim(b.String(), "-")
	return filepath.Join(dir, name[:min(150, len(name))]+".txt")
}

// baseline are rounds that were kept.
type baseline struct {
	path    string
	machine machine
	commit  string
	kept    string // when, in UTC
	rounds  map[string][]map[string]float64
}

// keyOf names a benchmark of a package.
func keyOf(pkg, name string) string { return pkg + "\x00" + name }

// keptRounds is how many rounds a baseline has.
const keptRounds = 20

// write keeps the rounds of cases, through a temporary name.
func writeBaseline(path string, m machine, commit string, now time.Time, cases []*bench.Case) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# loupe check -keep, %s\n", command.Version())
	for _, key := range []string{"machine-cpu", "machine-cpus", "machine-os", "machine-arch", "machine-go"} {
		fmt.Fprintf(&b, "%s: %s\n", key, m.config()[key])
	}
	fmt.Fprintf(&b, "kept: %s\n", now.UTC().Format(time.RFC3339))
	if commit != "" {
		fmt.Fprintf(&b, "commit: %s\n", commit)
	}
	w := bench.NewWriter(&b, nil)
	for _, c := range cases {
		for n := range c.Rounds() {
			one := *c
			one.Sides = []bench.Side{{Results: c.Sides[0].Results[:n+1]}}
			if err := w.Round(&one); err != nil {
				return err
			}
		}
	}
	err := command.WriteFile(path, func(w *bufio.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
	if info, serr := os.Stat(path); err == nil && serr == nil && info.Mode().IsRegular() {
		err = os.Chmod(path, 0o644) // it is committed: whoever checks it out reads it
	}
	return err
}

// readBaseline reads what was kept in a file.
func readBaseline(path string) (*baseline, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b := &baseline{path: path, rounds: map[string][]map[string]float64{}}
	r := benchfmt.NewReader(file, path)
	for r.Scan() {
		one, ok := r.Result().(*benchfmt.Result)
		if !ok {
			if bad, ok := r.Result().(*benchfmt.SyntaxError); ok {
				return nil, fmt.Errorf("the baseline is damaged: %w: keep another one (loupe check -keep)", bad)
			}
			continue
		}
		if b.machine.cpu == "" {
			config := map[string]string{}
			for _, c := range one.Config {
				config[c.Key] = string(c.Value)
			}
			if b.machine, ok = machineOf(config); !ok {
				return nil, fmt.Errorf("%s does not say on what kind of machine it was measured: keep another one (loupe check -keep)", path)
			}
			b.commit, b.kept = config["commit"], config["kept"]
		}
		pkg, values := one.GetConfig("pkg"), map[string]float64{}
		for _, v := range one.Values {
			unit, x := v.Unit, v.Value
			if v.OrigUnit != "" {
				unit, x = v.OrigUnit, v.OrigValue
			}
			values[unit] = x
		}
		key := keyOf(pkg, "Benchmark"+string(one.Name))
		b.rounds[key] = append(b.rounds[key], values)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if len(b.rounds) == 0 {
		return nil, fmt.Errorf("the baseline %s has no results: keep another one (loupe check -keep)", path)
	}
	return b, nil
}

// keptOn finds the baseline of a kind of machine in a folder. One of another kind is an error
// that says so, none at all is os.ErrNotExist.
func keptOn(dir, shown string, m machine) (*baseline, error) {
	b, err := readBaseline(m.file(dir))
	if err == nil && b.machine != m {
		return nil, otherKind(b.path, b.machine, m)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return b, err
	}
	all, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, path := range all {
		if other, err := readBaseline(path); err == nil {
			return nil, otherKind(filepath.Join(shown, filepath.Base(path)), other.machine, m)
		}
	}
	return nil, fmt.Errorf("there is no baseline in %s: loupe check -keep creates one for this machine: %w", shown, os.ErrNotExist)
}

// otherKind refuses a baseline.
func otherKind(path string, other, m machine) error {
	return fmt.Errorf("the baseline %s was measured on a different kind of machine (%s) from this one (%s): figures from different machines are not compared; keep one here (loupe check -keep), or compare with a revision (-vs)", path, other, m)
}

// apart is by how much more the CPU time of a baseline has to be beyond its limit. Identical code
// that was measured at two times, one after the other, had CPU times up to 4 % apart in the
// middle of windows on a busy machine, and wall times 17 % (docs/statistics.md): those fail
// nothing.
const apart = 0.20

// apartAllowance is what is allowed against a baseline.
func apartAllowance(a compare.Allowance) compare.Allowance {
	out := compare.Allowance{}
	for unit, share := range a {
		switch unit {
		case "ns/op":
		case bench.CPU, bench.ProcessCPU:
			out[unit] = share + apart
		default:
			out[unit] = share
		}
	}
	return out
}

// against holds a case against the rounds that were kept of it; false without any.
func (b *baseline) against(m compare.Measured, c *bench.Case) (compare.Measured, bool) {
	kept := b.rounds[keyOf(c.Package, c.Name)]
	m.Apart, m.Blocks = true, nil
	for i := range min(len(kept), c.Rounds()) {
		after := map[string]float64{}
		for _, v := range c.Sides[0].Results[i].Values {
			after[v.Unit] = v.Number
		}
		m.Blocks = append(m.Blocks, compare.Block{Before: kept[i], After: after})
	}
	return m, len(m.Blocks) > 0
}

// title names the baseline in a sentence.
func (b *baseline) title() string {
	text := "the baseline kept on this kind of machine"
	if b.kept != "" {
		text += ", " + b.kept
	}
	if b.commit != "" {
		text += ", of commit " + short(b.commit)
	}
	return text
}

// baselineDir is the folder of baselines, and how it is shown.
func (c *config) baselineDir() (dir, shown string) {
	if filepath.IsAbs(c.keep) {
		return c.keep, c.keep
	}
	return filepath.Join(c.dir, c.keep), c.keep
}

// fileName is the name of the folder of a load's recordings.
func (l *loads) fileName() string { return "load-" + record.SafeName(l.name) }
