// Command bench measures loupe pprof against go tool pprof.
//
//	go run ./format/profile/profiletest/bench                    everything, five rounds
//	go run ./format/profile/profiletest/bench -only S,R -dir DIR
//	go run ./format/profile/profiletest/bench -loupe FILE        an executable that exists
//
// It makes the profiles, builds both programs, runs them in turns and prints a
// table for docs/benchmarks.md: user and system time together, and the largest
// resident set, each as median (least–most), and how many times less ours is.
//
// The profiles are: S and cpus, CPU profiles of the compiler; R, a heap profile
// of the compiler; L, a heap profile of 20 MB that is generated from R; T and t,
// CPU profiles in which every sample has labels of its own (pprof does not get
// through T unless it leaves the labels out); shards, a thousand heap profiles
// of 500 samples.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"loupe/source/system"
	"loupe/value/unit"
)

// options are the flags.
type options struct {
	dir, only, loupe string
	keep, make       bool
	rounds           int
}

// task is one thing that both programs do.
type task struct {
	group, name string
	inputs      func(*inputs) ([]string, error)
	args        []string // OUT is a file
	pprof       []string // if they are others; none means that it does not do that
}

var tasks = []task{
	{"S", "S -top", (*inputs).small, []string{"-top"}, []string{"-top"}},
	{"R", "R -top", (*inputs).real, []string{"-top"}, []string{"-top"}},
	{"L", "L -top", (*inputs).large, []string{"-top"}, []string{"-top"}},
	{"T", "t -top", (*inputs).tagged100, []string{"-top"}, []string{"-top"}},
	{"T", "T -top -taghide=.", (*inputs).tagged, []string{"-top", "-taghide=."}, []string{"-top", "-taghide=."}},
	{"T", "T -top (pprof: -taghide=.)", (*inputs).tagged, []string{"-top"}, []string{"-top", "-taghide=."}},
	{"merge", "1000 shards -proto", (*inputs).shards, []string{"-proto", "-output=OUT"}, []string{"-proto", "-output=OUT"}},
	{"merge", "1000 shards -top", (*inputs).shards, []string{"-top"}, []string{"-top"}},
	{"merge", "1000 CPU -proto", (*inputs).manyCPUs, []string{"-proto", "-output=OUT"}, []string{"-proto", "-output=OUT"}},
	{"merge", "1000 CPU -top", (*inputs).manyCPUs, []string{"-top"}, []string{"-top"}},
	{"flame", "R -flame", (*inputs).real, []string{"-flame", "-output=OUT"}, nil},
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "keep profiles in this `folder`, and use those that are there")
	flag.StringVar(&o.only, "only", "", "measure these `groups` alone: S, R, L, T, merge, flame")
	flag.StringVar(&o.loupe, "loupe", "", "measure this `executable` instead of one of this folder")
	flag.BoolVar(&o.keep, "keep", false, "do not remove the temporary folder")
	flag.BoolVar(&o.make, "make", false, "make the profiles and measure nothing")
	flag.IntVar(&o.rounds, "rounds", 5, "run everything `n` times")
	flag.Parse()
	if err := bench(&o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// programs are what is measured, and where they may write.
type programs struct{ loupe, pprof, tmp string }

func bench(o *options) error {
	tmp, err := os.MkdirTemp("", "profile-bench-")
	if err != nil {
		return err
	}
	if o.keep {
		fmt.Fprintln(os.Stderr, "everything is kept in", tmp)
	} else {
		defer os.RemoveAll(tmp)
	}
	if o.dir == "" {
		o.dir = tmp
	} else if o.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	if o.make {
		return o.each(func(*task, []string) error { return nil })
	}
	// Another process makes them: Linux counts the memory of a parent as the
	// child's before exec.
	self, err := os.Executable()
	if err != nil {
		return err
	}
	maker := exec.Command(self, "-make", "-dir="+o.dir, "-only="+o.only)
	if maker.Stderr = os.Stderr; maker.Run() != nil {
		return errors.New("cannot make the profiles")
	}
	b := &programs{loupe: o.loupe, pprof: filepath.Join(tmp, "pprof"), tmp: tmp}
	// The tool itself, so that its memory and time are not those of go tool.
	build := map[string]string{b.pprof: "cmd/pprof"}
	if b.loupe == "" {
		b.loupe = filepath.Join(tmp, "loupe")
		build[b.loupe] = "loupe/cmd/loupe"
	}
	for path, pkg := range build {
		if out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build %s (is this the folder of loupe?): %w:\n%s", pkg, err, out)
		}
	}
	var results []result
	err = o.each(func(t *task, files []string) error {
		r, err := measure(b, t, files, o.rounds)
		results = append(results, r)
		return err
	})
	if err != nil {
		return err
	}
	return printTable(os.Stdout, results)
}

// each calls the function with the tasks that are wanted and their profiles.
func (o *options) each(do func(t *task, files []string) error) error {
	in := &inputs{dir: o.dir}
	any := false
	for i := range tasks {
		t := &tasks[i]
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), t.group) {
			continue
		}
		any = true
		files, err := t.inputs(in)
		if err != nil {
			return err
		}
		if err := do(t, files); err != nil {
			return err
		}
	}
	if !any {
		return errors.New("-only: there is no such group (S, R, L, T, merge, flame)")
	}
	return nil
}

// sample is what one process took.
type sample struct {
	cpu float64 // seconds of user and system time
	rss int64   // bytes
}

// result is what was measured of one task.
type result struct {
	task        *task
	size        int64 // of the inputs
	output      int64 // of loupe
	loupe, tool []sample
}

// measure runs both programs in turns. Who begins changes.
func measure(b *programs, t *task, files []string, rounds int) (result, error) {
	r := result{task: t}
	for _, f := range files { // which also brings them into the cache
		info, err := os.Stat(f)
		if err != nil {
			return r, err
		}
		r.size += info.Size()
	}
	for round := range rounds {
		for i := range 2 {
			ours := (i+round)%2 == 0
			if !ours && t.pprof == nil {
				continue
			}
			args, list := append([]string{b.loupe, "pprof"}, t.args...), &r.loupe
			if !ours {
				args, list = append([]string{b.pprof}, t.pprof...), &r.tool
			}
			s, output, err := b.run(args, files)
			if err != nil {
				return r, fmt.Errorf("%s: %w", t.name, err)
			}
			if *list = append(*list, s); ours {
				r.output = output
			}
			fmt.Fprintf(os.Stderr, "%s %d/%d %s: %.3f s, %s\n", t.name, round+1, rounds, filepath.Base(args[0]), s.cpu, unit.Bytes(s.rss))
		}
	}
	return r, nil
}

// run runs one process to its end and returns how much it has written.
func (b *programs) run(args, files []string) (s sample, output int64, err error) {
	out, err := os.Create(filepath.Join(b.tmp, "stdout"))
	if err != nil {
		return s, 0, err
	}
	defer out.Close()
	name := out.Name()
	for i, a := range args {
		if strings.Contains(a, "OUT") {
			name = filepath.Join(b.tmp, "output")
			args[i] = strings.ReplaceAll(a, "OUT", name)
		}
	}
	var stderr strings.Builder
	cmd := exec.Command(args[0], append(args[1:], files...)...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+b.tmp, "PPROF_BINARY_PATH="+filepath.Join(b.tmp, "none"))
	cmd.Stdout, cmd.Stderr = out, &stderr
	if err := cmd.Run(); err != nil {
		return s, 0, fmt.Errorf("%w: %s", err, &stderr)
	}
	p := cmd.ProcessState
	s = sample{cpu: (p.UserTime() + p.SystemTime()).Seconds(), rss: system.PeakMemory(p)}
	info, err := os.Stat(name)
	if err != nil {
		return s, 0, err
	}
	return s, info.Size(), nil
}
