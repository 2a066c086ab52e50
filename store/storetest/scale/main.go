//go:build unix

// Command scale writes what a fleet sends in days into a store on this disk, at accelerated
// time, and asks for it: what so many targets cost, and how a question grows with them.
//
//	go run ./store/storetest/scale [-base FILE[,FILE…]] [-targets 10,100,1000] [-every 5m] [-days 1]
//	go run ./store/storetest/scale -intake cpu,heap,goroutine -targets 1000 -every 15s -span 10m
//
// Each target sends a CPU profile every so often. Minutes pass as fast as the profiles are
// written: then the store does its housekeeping with the policy that loupe serve has, so that
// blocks are merged and thinned out as they would be. A target's profile is one of 20 that
// were drawn for its service.
//
// With -intake profiles are decoded and taken in one by one, sixteen at a time, as loupe serve does with
// them: what a fleet costs at its real rate. Afterwards the store ages by a month.
//
// Each write waits for the disk. TMPDIR may name a folder in memory, where that takes no time.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/store/block"
	"loupe/store/storetest/corpus"
)

const (
	draws, spread = 1990, 2.9
	pool          = 20
	batch         = 20 // profiles that share a flush, as when they come at once
)

// begin is a midnight: days are days of blocks.
var begin = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func main() {
	log.SetFlags(0)
	base := flag.String("base", "", "profiles to draw stacks from (default: those of this repository)")
	targets := flag.String("targets", "10,100,1000", "how many targets, one run for each")
	every := flag.Duration("every", 5*time.Minute, "time between two profiles of a target")
	days := flag.Float64("days", 1, "how many days pass")
	maintain := flag.Duration("maintain", time.Minute, "time between two runs of housekeeping; loupe serve has a minute")
	services := flag.Int("services", 0, "how many services the targets are of (default: a tenth of the targets, 10 at most)")
	kinds := flag.String("intake", "", "kinds of profiles (cpu,heap,goroutine) that come as to loupe serve: packed, at their time in -every, for -span")
	span := flag.Duration("span", 10*time.Minute, "with -intake: the time that passes")
	different := flag.Int("different", pool, "with -intake: how many profiles of a service and kind differ")
	cpuprofile := flag.String("cpuprofile", "", "write a CPU profile of the questions")
	flag.Parse()
	from, err := corpus.Base(*base)
	check(err)
	for text := range strings.SplitSeq(*targets, ",") {
		n, err := strconv.Atoi(text)
		check(err)
		of := *services
		if of <= 0 {
			of = min(10, max(1, n/10))
		}
		if *kinds != "" {
			l := &live{targets: n, services: of, every: *every, span: *span, kinds: strings.Split(*kinds, ","), writers: 16, pool: *different}
			check(profiled(*cpuprofile, func() error { return l.run(os.Stdout, from) }))
			continue
		}
		check(run(os.Stdout, from, n, of, *every, time.Duration(*days*24*float64(time.Hour)).Round(time.Minute), *maintain, *cpuprofile))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// profiled calls f with a CPU profile of it in a file, if there is to be one.
func profiled(name string, f func() error) error {
	if name == "" {
		return f()
	}
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return f()
}

// usage is the CPU time that the process has taken so far.
func usage() time.Duration {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// held is what a collection leaves on the heap, in bytes.
func held() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func disk(dir string) (n int64) {
	check(filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			info, err := e.Info()
			check(err)
			n += info.Size()
		}
		return err
	}))
	return n
}

// drawn are the profiles of the services, decoded as they would come.
func drawn(from *profile.Profile, services int) (all [][]*profile.Profile) {
	for number := range services {
		service := corpus.NewService(from, uint64(number), spread)
		r := rand.New(rand.NewPCG(1, uint64(number)))
		var list []*profile.Profile
		for range pool {
			var b bytes.Buffer
			check(service.Draw(r, draws, begin).Encode(&b))
			p, err := profile.Decode(b.Bytes(), profile.Options{})
			check(err)
			list = append(list, p)
		}
		all = append(all, list)
	}
	return all
}

// fleet is what sends.
type fleet struct {
	targets int
	every   time.Duration
	pools   [][]*profile.Profile
	labels  []store.Labels
	at      []time.Duration // when in the interval
	r       *rand.Rand
	samples int64
	total   int64
}

// minute writes what comes in a minute.
func (f *fleet) minute(e store.Engine, now time.Time) {
	var list []*store.Profile
	flush := func() {
		if len(list) > 0 {
			check(e.Write(context.Background(), list))
			list = list[:0]
		}
	}
	for i := range f.targets {
		since := now.Sub(begin) % f.every
		if f.at[i] < since || f.at[i] >= since+time.Minute {
			continue
		}
		of := f.pools[i%len(f.pools)]
		p := of[f.r.IntN(len(of))]
		f.samples += int64(p.Len())
		f.total += p.Total(1)
		list = append(list, &store.Profile{Labels: f.labels[i], Types: store.TypesOf(p, ""), Time: now.Add(f.at[i] - since), Duration: p.Duration, Samples: p})
		if len(list) == batch {
			flush()
		}
	}
	flush()
}

// run passes the time for so many targets, and prints what it took.
func run(w io.Writer, from *profile.Profile, targets, services int, every, span, maintain time.Duration, cpuprofile string) error {
	f := &fleet{targets: targets, every: every, pools: drawn(from, services), r: rand.New(rand.NewPCG(5, 6))}
	for i := range targets {
		f.labels = append(f.labels, store.LabelsOf(store.ServiceLabel, fmt.Sprintf("service-%d", i%services), "pod", fmt.Sprintf("pod-%04d", i),
			"region", fmt.Sprintf("region-%d", i%3), store.VersionLabel, "v1"))
		f.at = append(f.at, time.Duration(f.r.Int64N(int64(every))))
	}
	dir, err := os.MkdirTemp("", "scale")
	check(err)
	defer os.RemoveAll(dir)
	e, err := block.Open(dir, block.Options{})
	check(err)
	before := usage()
	heap := held()
	most, grown, begun := int64(0), int64(0), time.Now()
	end := begin.Add(span)
	for now := begin; now.Before(end); now = now.Add(time.Minute) {
		f.minute(e, now)
		if now.Sub(begin)%maintain == 0 || !now.Add(time.Minute).Before(end) {
			check(e.Maintain(context.Background(), store.Policy{}, now.Add(time.Minute)))
		}
		if now.Minute()%10 == 9 {
			most = max(most, disk(dir))
		}
		if now.Sub(begin)%(7*time.Hour+7*time.Minute) == 0 { // at all ages of what is in memory
			grown = max(grown, held()-heap)
		}
	}
	wrote := usage()
	profiles := f.samples
	n := span / every * time.Duration(targets)
	cpu := wrote - before
	fmt.Fprintf(w, "\n%d targets of %d services, %v, a profile every %v: %d profiles, %d million samples, in %v\n", targets, services, span, every, n, profiles/1e6, time.Since(begun).Round(time.Second))
	fmt.Fprintf(w, "CPU                     %.2f ms a profile, %.0f s in all, %.2f %% of one CPU over the time that passed\n", cpu.Seconds()*1e3/float64(n), cpu.Seconds(), cpu.Seconds()/span.Seconds()*100)
	fmt.Fprintf(w, "live heap of the store  %.1f MB at most\n", float64(grown)/1e6)
	fmt.Fprintf(w, "disk                    %.1f MB, %.1f at most, %.2f B/sample\n", float64(disk(dir))/1e6, float64(most)/1e6, float64(disk(dir))/float64(f.samples))
	if cpuprofile != "" {
		out, err := os.Create(fmt.Sprintf("%s.%d", cpuprofile, targets))
		check(err)
		check(pprof.StartCPUProfile(out))
		defer pprof.StopCPUProfile()
	}
	if err := f.questions(w, e, end); err != nil {
		return err
	}
	return e.Close()
}

// questions asks for the last hour, a day and all, and prints the least time of five. It is an
// error when the total is not that of what was written.
func (f *fleet) questions(w io.Writer, e store.Engine, end time.Time) error {
	ctx := context.Background()
	typ := store.Type{Name: "process_cpu", Sample: "cpu", Unit: "nanoseconds", Period: "cpu", PeriodUnit: "nanoseconds"}
	one, err := store.ParseMatchers(`{service_name="service-0"}`)
	check(err)
	// The end of the range is later than the last profile, as now is.
	sel := func(last time.Duration, m store.Matchers) store.Selection {
		return store.Selection{Type: typ, Matchers: m, Range: store.Range{Start: end.Add(-last), End: end.Add(time.Minute)}, Limits: store.Limits{Samples: -1}}
	}
	all := end.Sub(begin)
	ask := func(name string, question func()) {
		least := time.Duration(0)
		for round := range 5 {
			from := usage()
			wall := time.Now()
			question()
			to := usage()
			if took := min(to-from, time.Since(wall)); round == 0 || took < least {
				least = took
			}
			if least > 5*time.Second {
				break
			}
		}
		fmt.Fprintf(w, "%-40s %9.1f ms\n", name, least.Seconds()*1e3)
	}
	stacks := func(s store.Selection) func() {
		return func() {
			_, err := e.Stacks(ctx, store.StacksQuery{Selection: s})
			check(err)
		}
	}
	ask("flame graph of the last hour", stacks(sel(time.Hour, nil)))
	ask("of one service", stacks(sel(time.Hour, one)))
	ask("of one service, everything", stacks(sel(all, one)))
	ask("series by service, the last hour", func() {
		_, err := e.Totals(ctx, store.TotalsQuery{Selection: sel(time.Hour, nil), Step: time.Minute, By: []string{store.ServiceLabel}})
		check(err)
	})
	ask("series by service, everything", func() {
		_, err := e.Totals(ctx, store.TotalsQuery{Selection: sel(all, nil), Step: all / 300, By: []string{store.ServiceLabel}})
		check(err)
	})
	ask("values of a label", func() {
		_, err := e.LabelValues(ctx, "pod", sel(all, nil))
		check(err)
	})
	var total int64
	ask("top functions, everything", func() {
		got, err := e.Top(ctx, store.TopQuery{Selection: sel(all, nil)})
		check(err)
		total = got.Total
	})
	ask("top functions of one service", func() {
		_, err := e.Top(ctx, store.TopQuery{Selection: sel(all, one)})
		check(err)
	})
	if total != f.total {
		return fmt.Errorf("the total is %d, want %d", total, f.total)
	}
	return nil
}
