// Command bench measures how execution traces are read: by the standard
// library's reader and summarizer, by go tool trace, and by loupe.
//
//	go run ./format/exectrace/exectracetest/bench                        10 MB of every workload
//	go run ./format/exectrace/exectracetest/bench -sizes 10MB,100MB -workloads mixed,p32 -dir DIR -keep
//	go run ./format/exectrace/exectracetest/bench FILE...                traces that exist
//
// It makes the traces (see mktrace), runs every way of reading them as a
// process of its own, in turns, and prints tables for docs/benchmarks.md.
// Everything but go tool trace has one P, so that CPU time is that of one core.
//
// On Linux the peak memory of a process counts the pages of a mapped file.
// "Beyond the file" leaves them out: it is the largest anonymous memory that
// our reader sees of itself while it reads. Elsewhere it is not known.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"loupe/format/exectrace/exectracetest"
	"loupe/value/unit"
)

// options are the flags.
type options struct {
	sizes, workloads, ways string
	dir                    string
	keep                   bool
	rounds                 int
	viewer, viewerMemory   amount
	child, profile         string
}

// amount is a flag in bytes.
type amount struct{ unit.Bytes }

// Set reads an amount.
func (a *amount) Set(s string) (err error) {
	a.Bytes, err = unit.ParseBytes(s)
	return err
}

func main() {
	o := options{viewer: amount{20e6}, viewerMemory: amount{6 << 30}}
	flag.StringVar(&o.sizes, "sizes", "10MB", "make traces of these `sizes`")
	flag.StringVar(&o.workloads, "workloads", "mixed,http,chan,tasks,mutex,p32,idle", "of these `workloads`: those of mktrace, p32 (mixed on 32 Ps), cpu (mixed with samples)")
	flag.StringVar(&o.ways, "ways", "", "measure these `ways` alone: "+strings.Join(wayNames(), ", "))
	flag.StringVar(&o.dir, "dir", "", "keep traces in this `folder`, and use those that are there")
	flag.BoolVar(&o.keep, "keep", false, "do not remove the temporary folder")
	flag.IntVar(&o.rounds, "rounds", 5, "run everything `n` times")
	flag.Var(&o.viewer, "viewer", "run go tool trace on traces up to this `size`")
	flag.Var(&o.viewerMemory, "viewer-memory", "and let it have this much address `space`")
	flag.StringVar(&o.child, "child", "", "read FILE in this process: `read, summarize, analyze or page`")
	flag.StringVar(&o.profile, "cpuprofile", "", "with -child: write a CPU profile to this `file`")
	flag.Parse()
	run := bench
	if o.child != "" {
		run = child
	}
	if err := run(&o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench measures traces, those that exist or new ones.
func bench(o *options, files []string) error {
	tmp, err := os.MkdirTemp("", "trace-bench-")
	if err != nil {
		return err
	}
	if o.keep {
		fmt.Fprintln(os.Stderr, "everything is kept in", tmp)
	} else {
		defer os.RemoveAll(tmp)
	}
	tools, err := buildTools(tmp)
	if err != nil {
		return err
	}
	defer exectracetest.Cleanup()
	if len(files) == 0 {
		if o.dir == "" {
			o.dir = tmp
		}
		if files, err = makeTraces(tools, o); err != nil {
			return err
		}
	}
	var results []*result
	for _, f := range files {
		r, err := measureTrace(tools, o, f)
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	printTables(os.Stdout, results)
	return nil
}

// tools are the programs that are run.
type tools struct {
	self, mktrace, loupe, oracle, viewer string
	tmp                                  string
}

func buildTools(tmp string) (*tools, error) {
	t := &tools{mktrace: filepath.Join(tmp, "mktrace"), loupe: filepath.Join(tmp, "loupe"), tmp: tmp}
	var err error
	if t.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if t.oracle, err = exectracetest.Build(); err != nil {
		return nil, fmt.Errorf("cannot build the oracle: %w", err)
	}
	for path, pkg := range map[string]string{t.mktrace: "loupe/format/exectrace/exectracetest/mktrace", t.loupe: "loupe/cmd/loupe"} {
		if out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("cannot build %s (is this the folder of loupe?): %w:\n%s", pkg, err, out)
		}
	}
	// The tool itself, so that its memory and time are not those of go tool.
	out, err := exec.Command("go", "tool", "-n", "trace").Output()
	if err != nil {
		return nil, fmt.Errorf("cannot find go tool trace: %w", err)
	}
	t.viewer = strings.TrimSpace(string(out))
	return t, nil
}

// makeTraces makes the traces that are not there yet, smallest first.
func makeTraces(t *tools, o *options) (files []string, err error) {
	for size := range strings.SplitSeq(o.sizes, ",") {
		for name := range strings.SplitSeq(o.workloads, ",") {
			file := filepath.Join(o.dir, name+"-"+size+".trace")
			files = append(files, file)
			if _, err := os.Stat(file); err == nil {
				continue
			}
			args := []string{"-size", size, "-o", file}
			switch name {
			case "p32":
				args = append(args, "-workload", "mixed", "-procs", "32")
			case "cpu":
				args = append(args, "-workload", "mixed", "-cpu")
			default:
				args = append(args, "-workload", name)
			}
			fmt.Fprintln(os.Stderr, "making", file)
			if out, err := exec.Command(t.mktrace, args...).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("cannot make %s: %w: %s", file, err, out)
			}
		}
	}
	return files, nil
}

// result is what was measured on one trace.
type result struct {
	name    string
	bytes   int64
	events  int64
	samples map[string][]sample // by way
}

// measureTrace runs all ways in turns. The first one of a round changes, so
// that no way always follows the same other one.
func measureTrace(t *tools, o *options, file string) (*result, error) {
	// Now the file is in the system's cache for all alike. This process must not
	// hold it: Linux counts the memory of a parent as the child's before exec.
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &result{name: strings.TrimSuffix(filepath.Base(file), ".trace"), samples: map[string][]sample{}}
	if r.bytes, err = io.Copy(io.Discard, f); err != nil {
		return nil, err
	}
	var turn []way
	for _, w := range ways {
		wanted := o.ways == "" || slices.Contains(strings.Split(o.ways, ","), w.name)
		if wanted && !(w.name == viewerWay && r.bytes > int64(o.viewer.Bytes)) {
			turn = append(turn, w)
		}
	}
	for round := range o.rounds {
		for i := range turn {
			w := turn[(i+round)%len(turn)]
			s, err := w.run(t, o, file)
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", w.name, file, err)
			}
			r.events = max(r.events, s.events)
			r.samples[w.name] = append(r.samples[w.name], s)
			fmt.Fprintf(os.Stderr, "%s %d/%d %s: %.2f s CPU, %.2f s, %s\n", r.name, round+1, o.rounds, w.name, s.cpu, s.wall, unit.Bytes(s.rss))
		}
	}
	return r, nil
}
