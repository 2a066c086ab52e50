// Command whytest measures how much of real heap profiles package why can
// explain. It takes copies of modules, runs benchmarks in them with every
// allocation profiled, compiles the packages of the profile again and prints
// the share of the bytes by certainty, and what has no answer.
//
//	go run ./analysis/why/whytest                      # the modules of the list
//	go run ./analysis/why/whytest -run gin -show 20
//	go run ./analysis/why/whytest -profile m.pb.gz -dir MODULE -target PACKAGE
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"loupe/analysis/why"
	"loupe/capture/collect"
	"loupe/format/profile"
	"loupe/value/stack"
)

func main() {
	var m measurement
	flag.StringVar(&m.profile, "profile", "", "explain this heap profile of a test binary instead of running the list")
	flag.StringVar(&m.dir, "dir", ".", "with -profile: the directory of the module")
	flag.StringVar(&m.target, "target", ".", "with -profile: the package that the tests are of")
	flag.StringVar(&m.binary, "binary", "", "with -profile: the test binary, whose calls tell what of a line allocates")
	flag.StringVar(&m.cache, "cache", "", "keep the answers of the compiler in this directory")
	flag.IntVar(&m.show, "show", 10, "print this many sites without an answer")
	flag.IntVar(&m.sample, "sample", 0, "print this many random sites with their answer and source line, to be checked by hand")
	flag.Uint64Var(&m.seed, "seed", 1, "of the random sites")
	run := flag.String("run", "", "only the modules whose name contains this")
	keep := flag.String("work", "", "keep modules, profiles and binaries in this directory")
	flag.Parse()
	ctx := context.Background()
	var err error
	if m.profile != "" {
		err = m.explain(ctx)
	} else {
		err = runList(ctx, m, *run, *keep)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "whytest:", err)
		os.Exit(1)
	}
}

// measurement is one profile to explain.
type measurement struct {
	name, profile, dir, target, binary, cache string
	show, sample                              int
	seed                                      uint64
}

// explain prints the shares of one profile.
func (m measurement) explain(ctx context.Context) error {
	data, err := os.ReadFile(m.profile)
	if err != nil {
		return err
	}
	p, err := profile.Decode(data, profile.Options{})
	if err != nil {
		return err
	}
	index, err := p.Index("alloc_space")
	if err != nil {
		return err
	}
	opt := why.Options{Source: os.ReadFile}
	if m.binary != "" {
		f, err := os.Open(m.binary)
		if err != nil {
			return err
		}
		defer f.Close()
		if opt.Callee, err = why.Calls(f); err != nil {
			return err
		}
	}
	start := time.Now()
	packages := why.Packages(p)
	c, err := collect.Compile(ctx, collect.CompileOptions{Dir: m.dir, Target: m.target, Test: true, Packages: packages, Cache: m.cache})
	if err != nil {
		return err
	}
	compiled := time.Since(start)
	start = time.Now()
	r := why.Explain(p, index, c.Set, opt)
	fmt.Printf("%s: %d packages (%d fresh, %d cached) in %.1fs, %d diagnostics, %d sites in %.2fs\n",
		m.name, len(packages), c.Fresh, c.Cached, compiled.Seconds(), c.Set.Len(), len(r.Sites), time.Since(start).Seconds())
	stale := 0
	for i := range r.Sites {
		if r.Sites[i].Stale {
			stale++
		}
	}
	if stale > 0 {
		fmt.Printf("  %d sites in sources that have changed\n", stale)
	}
	for pkg, reason := range c.Failed {
		fmt.Printf("  not compiled: %s: %s\n", pkg, reason)
	}
	percent := func(w int64) float64 { return 100 * float64(w) / float64(max(r.Total, 1)) }
	fmt.Printf("  explained %.2f%% of %d bytes: exact %.2f%%, runtime %.2f%%, ambiguous %.2f%%, unexplained %.2f%%\n",
		100*r.Explained(), r.Total, percent(r.Share[why.Exact]), percent(r.Share[why.Runtime]), percent(r.Share[why.Ambiguous]), percent(r.Share[why.Unexplained]))
	if opt.Callee != nil {
		check(why.Explain(p, index, c.Set, why.Options{Source: os.ReadFile}), opt.Callee)
	}
	m.printOpen(r)
	m.printSample(r)
	return nil
}

// printOpen prints the heaviest sites without one answer.
func (m measurement) printOpen(r *why.Report) {
	left := m.show
	for i := range r.Sites {
		s := &r.Sites[i]
		if s.Certainty > why.Ambiguous {
			continue
		}
		if left--; left < 0 {
			return
		}
		m.printSite(r, s)
	}
}

func (m measurement) printSample(r *why.Report) {
	if m.sample == 0 {
		return
	}
	fmt.Println("  random sites:")
	order := rand.New(rand.NewPCG(m.seed, 0)).Perm(len(r.Sites))
	slices.Sort(order[:min(m.sample, len(order))])
	for _, i := range order[:min(m.sample, len(order))] {
		m.printSite(r, &r.Sites[i])
	}
}

func (m measurement) printSite(r *why.Report, s *why.Site) {
	f := s.Frame()
	fmt.Printf("  %5.2f%% %s %s %s:%d sizes %v runtime %q\n", 100*float64(s.Weight)/float64(max(r.Total, 1)), s.Certainty, stack.Short(f.Func), f.File, f.Line, s.Sizes, s.Runtime)
	if text, err := os.ReadFile(f.File); err == nil {
		lines := strings.Split(string(text), "\n")
		if f.Line >= 1 && f.Line <= len(lines) {
			fmt.Printf("        | %s\n", strings.TrimSpace(lines[f.Line-1]))
		}
	}
	for _, outer := range s.Frames[1:] {
		fmt.Printf("        inlined into %s %s:%d\n", stack.Short(outer.Func), outer.File, outer.Line)
	}
	for _, c := range s.Causes {
		fmt.Printf("        %d: [%s] %s\n", c.Pos.Col, c.Mechanism, c.Reason)
	}
}

// check holds the answers that were found without the binary against the calls
// in it: an answer that names another mechanism is wrong.
func check(r *why.Report, callee func(uint64) string) {
	checked, wrong := 0, 0
	for i := range r.Sites {
		s := &r.Sites[i]
		f := s.Frame()
		if s.Certainty <= why.Ambiguous || s.Runtime != "" || f.Address == 0 {
			continue
		}
		called := callee(f.Address + 1)
		if called == "" {
			continue
		}
		checked++
		if !s.Causes[0].Agrees(called) {
			wrong++
			fmt.Printf("  WRONG without the binary: %s %s:%d %v: %s, but it calls %s\n", f.Func, f.File, f.Line, s.Sizes, s.Causes[0].Reason, called)
		}
	}
	fmt.Printf("  %d answers without the binary agree with its calls, %d do not\n", checked-wrong, wrong)
}
