//go:build unix

// Command bench measures package block on a corpus of profiles that are drawn from real
// stacks: 20 pods of 4 services, 50 profiles each, five minutes apart. With -store it
// measures package clickhouse on a database, which must be empty; what the server uses
// of the CPU is not counted then, so that times are those of the wall.
//
//	go run ./store/storetest/bench [-base FILE[,FILE…]] [-store clickhouse://host/database]
//
// The stacks come from the base, CPU profiles of this repository unless others are
// named. Each profile is a fresh draw with weights of its service and its own table of
// symbols, packed as runtime/pprof does.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"sync"
	"syscall"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/store/storetest/corpus"
)

const (
	pods, points = 20, 50
	draws        = 1990 // samples of a profile, many of the same stack
)

var begin = time.Date(2026, 3, 14, 8, 0, 0, 0, time.UTC)

func main() {
	base := flag.String("base", "", "profiles to draw stacks from (default: those of this repository)")
	cpuprofile := flag.String("cpuprofile", "", "write a CPU profile of the ingestion and one of the queries (.queries)")
	generate := flag.String("generate", "", "only write the corpus into this folder")
	address := flag.String("store", "", "measure a database of ClickHouse instead")
	flag.Parse()
	if *generate != "" {
		check(makeCorpus(*base, *generate))
		return
	}
	dir, err := os.MkdirTemp("", "loupe-store-bench")
	check(err)
	defer os.RemoveAll(dir)
	// In a process of its own, so that the memory measured is that of the store.
	cmd := exec.Command(os.Args[0], "-generate", dir, "-base", *base)
	cmd.Stderr = os.Stderr
	check(cmd.Run())
	measure(dir, *address, *cpuprofile)
}

// profiled runs a part with a CPU profile of it, where one is wanted.
func profiled(name string, part func()) {
	if name == "" {
		part()
		return
	}
	f, err := os.Create(name)
	check(err)
	check(pprof.StartCPUProfile(f))
	part()
	pprof.StopCPUProfile()
	check(f.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// makeCorpus writes the profiles.
func makeCorpus(base, dir string) error {
	from, err := corpus.Base(base)
	if err != nil {
		return err
	}
	for pod := range pods {
		r := rand.New(rand.NewPCG(1, uint64(pod)))
		service := corpus.NewService(from, uint64(pod%4), 2.5)
		for point := range points {
			f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%02d-%02d.pb.gz", pod, point)))
			if err != nil {
				return err
			}
			if err := service.Draw(r, draws, time.Time{}).Encode(f); err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// cpu is what the process has used so far.
func cpu() time.Duration {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak is the most memory that the process has had, in bytes.
func peak() int64 {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return u.Maxrss * 1024
}

func size(dir string) (n int64) {
	list, err := os.ReadDir(dir)
	check(err)
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// ingested is what writing the corpus came to.
type ingested struct {
	waits   []time.Duration // for each profile, until it was durable
	samples int
	total   int64 // of the CPU time in all profiles
	most    int64 // bytes on the disk
	cpu     time.Duration
}

func ingest(e subject, files string) (in ingested) {
	started := cpu()
	var mu sync.Mutex
	write := func(p *store.Profile) {
		from := time.Now()
		check(e.Write(context.Background(), []*store.Profile{p}))
		mu.Lock()
		defer mu.Unlock()
		in.waits = append(in.waits, time.Since(from))
	}
	for point := range points {
		var writing sync.WaitGroup
		for pod := range pods {
			data, err := os.ReadFile(filepath.Join(files, fmt.Sprintf("%02d-%02d.pb.gz", pod, point)))
			check(err)
			p, err := profile.Decode(data, profile.Options{})
			check(err)
			in.samples += p.Len()
			in.total += p.Total(1)
			one := &store.Profile{ID: store.IDOf(data), Types: store.TypesOf(p, ""), Samples: p, Duration: p.Duration,
				Time: begin.Add(time.Duration(point)*5*time.Minute + time.Duration(pod)*time.Second),
				Labels: store.LabelsOf(store.ServiceLabel, fmt.Sprintf("service-%d", pod%4), "pod", fmt.Sprintf("pod-%02d", pod),
					"region", fmt.Sprintf("region-%d", pod%3), store.VersionLabel, fmt.Sprintf("v%d", point/25))}
			if e.local {
				write(one)
				continue
			}
			writing.Go(func() { write(one) }) // a server gets what comes at the same time
		}
		writing.Wait()
		in.most = max(in.most, e.size())
	}
	slices.Sort(in.waits)
	in.cpu = cpu() - started
	return in
}

func measure(files, address, cpuprofile string) {
	packed := size(files)
	e := open(filepath.Join(files, "store"), address)
	ctx := context.Background()
	var in ingested
	profiled(cpuprofile, func() { in = ingest(e, files) })
	fmt.Printf("corpus                 %d profiles, %.1f MB packed, %d samples each\n", pods*points, float64(packed)/1e6, in.samples/(pods*points))
	fmt.Printf("CPU a profile          %.2f ms (decoding included)\n", in.cpu.Seconds()*1e3/(pods*points))
	fmt.Printf("acknowledged, p50      %.2f ms\n", in.waits[len(in.waits)/2].Seconds()*1e3)
	fmt.Printf("disk while ingesting   %.2f MB\n", float64(in.most)/1e6)
	fmt.Printf("peak RSS               %.1f MB\n", float64(peak())/1e6)
	started := e.clock()
	for i := range 2 {
		check(e.Maintain(ctx, store.Policy{Raw: -1, FiveMinutes: -1, Hours: -1}, begin.Add(time.Duration(48+i)*time.Hour)))
	}
	settle(address)
	fmt.Printf("merged                 %.2f MB, %.2f B/sample, %.0f ms %s to write\n", float64(e.size())/1e6, float64(e.size())/float64(in.samples), (e.clock()-started).Seconds()*1e3, e.unit)
	if cpuprofile != "" {
		cpuprofile += ".queries"
	}
	profiled(cpuprofile, func() { queries(ctx, e, in.total) })
	check(e.Close())
}

// queries measures the best of some rounds: what a question needs.
func queries(ctx context.Context, e subject, total int64) {
	typ := store.Type{Name: "process_cpu", Sample: "cpu", Unit: "nanoseconds", Period: "cpu", PeriodUnit: "nanoseconds"}
	s := store.Selection{Type: typ, Range: store.Range{Start: begin, End: begin.Add(5 * time.Hour)}}
	best := func(name string, ask func()) {
		took := time.Hour
		for range e.rounds {
			from := e.clock()
			ask()
			took = min(took, e.clock()-from)
		}
		fmt.Printf("%-22s %.2f ms %s\n", name, took.Seconds()*1e3, e.unit)
	}
	best("merge of all", func() {
		got, err := e.Stacks(ctx, store.StacksQuery{Selection: s})
		check(err)
		if sum := got.Inclusive(0)[0]; sum != total {
			log.Fatalf("the total is %d, want %d", sum, total)
		}
	})
	m, err := store.ParseMatchers(`{pod="pod-07"}`)
	check(err)
	one := s
	one.Matchers = m
	best("merge of one pod", func() {
		_, err := e.Stacks(ctx, store.StacksQuery{Selection: one})
		check(err)
	})
	best("series by pod", func() {
		_, err := e.Totals(ctx, store.TotalsQuery{Selection: s, Step: 5 * time.Minute, By: []string{"pod"}})
		check(err)
	})
	best("values of a label", func() {
		_, err := e.LabelValues(ctx, "pod", s)
		check(err)
	})
}
