package calltree_test

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/value/stack"
)

// benchProfile is a made-up heap profile, or the one that LOUPE_BENCH_PROFILE
// names.
func benchProfile(b *testing.B) *profile.Profile {
	data := profiletest.Synthetic(50000, 5000)
	if name := os.Getenv("LOUPE_BENCH_PROFILE"); name != "" {
		var err error
		if data, err = os.ReadFile(name); err != nil {
			b.Fatal(err)
		}
	}
	p, err := profile.Decode(data, profile.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func BenchmarkTop(b *testing.B) {
	p := benchProfile(b)
	b.ReportAllocs()
	for b.Loop() {
		r := calltree.Top(p.Stacks, p.Samples(1), calltree.PprofDefaults)
		if err := calltree.WriteTop(io.Discard, calltree.Header{Unit: "bytes"}, r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPeer is the processor time of go tool pprof -top as a whole, next to
// reading the same file and BenchmarkTop.
func BenchmarkPeer(b *testing.B) {
	name := os.Getenv("LOUPE_BENCH_PROFILE")
	if name == "" {
		b.Skip("LOUPE_BENCH_PROFILE names no profile")
	}
	out, err := exec.Command("go", "tool", "-n", "pprof").Output()
	if err != nil {
		b.Skipf("there is no go tool pprof: %v", err)
	}
	var used time.Duration
	for b.Loop() {
		cmd := exec.Command(strings.TrimSpace(string(out)), "-symbolize=none", "-top", "-sample_index=1", name)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	b.ReportMetric(float64(used.Milliseconds())/float64(b.N), "cpu-ms/op")
}

func BenchmarkGraph(b *testing.B) {
	p := benchProfile(b)
	tree, dot, all := calltree.PprofDefaults, calltree.PprofDefaults, calltree.Options{}
	tree.NodeCount, dot.NodeCount, dot.Visual = 80, 80, true
	for name, opt := range map[string]calltree.Options{
		"tree": tree, "dot": dot, "peek": all,
		"callgrind": {Granularity: calltree.Addresses, Modules: true},
		"contexts":  {Granularity: calltree.Addresses, Modules: true, CallTree: true},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				calltree.New(p.Stacks, calltree.Plain(p.Samples(1)), opt)
			}
		})
	}
}

func BenchmarkFlame(b *testing.B) {
	p := benchProfile(b)
	for name, opt := range map[string]calltree.FlameOptions{
		"pixels":   {MinShare: 1.0 / 2000},
		"all":      {},
		"inverted": {MinShare: 1.0 / 2000, Inverted: true},
		"packages": {MinShare: 1.0 / 2000, Group: calltree.ByPackage},
		"folded":   {MinShare: 1.0 / 2000, FoldRecursion: true, FoldGenerics: true},
		"diff":     {MinShare: 1.0 / 2000, Base: p.Samples(0)},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var g *calltree.FlameGraph
			for b.Loop() {
				g = calltree.Flame(p.Stacks, p.Samples(1), opt)
			}
			b.ReportMetric(float64(len(g.Boxes)), "boxes")
		})
	}
	b.Run("zoom", func(b *testing.B) {
		g := calltree.Flame(p.Stacks, p.Samples(1), calltree.FlameOptions{MinShare: 1.0 / 2000})
		b.ReportAllocs()
		for b.Loop() {
			g.Zoom(len(g.Boxes)/10, 1.0/2000)
		}
	})
}

func BenchmarkList(b *testing.B) {
	p := benchProfile(b)
	match := regexp.MustCompile(`Method4\d\b`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := calltree.List(p.Stacks, calltree.Plain(p.Samples(1)), match, nil, calltree.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSites(b *testing.B) {
	p := benchProfile(b)
	lower := func(f stack.Frame) bool { return f.StartLine == 5 }
	b.ReportAllocs()
	for b.Loop() {
		calltree.Sites(p.Stacks, p.Samples(1), calltree.SiteOptions{Callee: lower})
	}
}
