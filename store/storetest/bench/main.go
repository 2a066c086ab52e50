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
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/store/block"
	"loupe/store/clickhouse"
	"loupe/value/stack"
)

const (
	pods, points = 20, 50
	draws        = 1990 // samples of a profile, many of the same stack
)

var begin = time.Date(2026, 3, 14, 8, 0, 0, 0, time.UTC)

func main() {
	base := flag.String("base", "", "profiles to draw stacks from (default: those of this repository)")
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
	measure(dir, *address)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// makeCorpus writes the profiles.
func makeCorpus(base, dir string) error {
	files := strings.Split(base, ",")
	if base == "" {
		var err error
		if files, err = filepath.Glob("analysis/compare/testdata/regexp/*.pb.gz"); err != nil || len(files) == 0 {
			return fmt.Errorf("there are no profiles: run this in the root of the repository, or name some (%v)", err)
		}
	}
	var all profile.Merger
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		p, err := profile.Decode(data, profile.Options{})
		if err != nil {
			return err
		}
		if err := all.Add(p); err != nil {
			return err
		}
	}
	from, err := all.Profile()
	if err != nil {
		return err
	}
	for pod := range pods {
		r := rand.New(rand.NewPCG(1, uint64(pod)))
		weights := rand.New(rand.NewPCG(2, uint64(pod%4)))
		sums, sum := make([]float64, from.Len()), 0.0
		for i := range sums {
			sum += math.Exp(2.5 * weights.NormFloat64())
			sums[i] = sum
		}
		for point := range points {
			f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%02d-%02d.pb.gz", pod, point)))
			if err != nil {
				return err
			}
			if err := draw(r, from, sums).Encode(f); err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// draw makes one profile.
func draw(r *rand.Rand, from *profile.Profile, sums []float64) *profile.Profile {
	counts := map[int]int64{}
	for range draws {
		at, _ := slices.BinarySearch(sums, r.Float64()*sums[len(sums)-1])
		counts[at]++
	}
	p := &profile.Profile{Stacks: new(stack.Table), Values: make([][]int64, 2), Period: 10_000_000, Duration: 10 * time.Second,
		PeriodType:  profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		SampleTypes: []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}}
	for i := range from.Len() {
		n := counts[i]
		if n == 0 {
			continue
		}
		var frames []stack.FrameID
		for _, id := range from.Stacks.Frames(from.StackIDs[i]) {
			frames = append(frames, p.Stacks.InternFrame(from.Stacks.Frame(id)))
		}
		p.StackIDs = append(p.StackIDs, p.Stacks.Intern(frames))
		p.Values[0] = append(p.Values[0], n)
		p.Values[1] = append(p.Values[1], n*p.Period)
	}
	return p
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

// subject is a store that is measured.
type subject struct {
	store.Engine
	size  func() int64 // bytes on the disk
	clock func() time.Duration
	unit  string
	// rounds are of each question, of which the best counts: more where the time is that of
	// the wall, which others are busy in.
	rounds int
}

// open opens what is measured: blocks in a folder, or a database.
func open(dir, address string) subject {
	if address == "" {
		e, err := block.Open(dir, block.Options{})
		check(err)
		return subject{e, func() int64 { return size(dir) }, cpu, "CPU", 7}
	}
	at, err := clickhouse.ParseAddress(address)
	check(err)
	e, err := clickhouse.Open(context.Background(), at, clickhouse.Options{Every: time.Millisecond})
	check(err)
	begun := time.Now()
	return subject{e, func() (n int64) {
		for _, host := range at.Hosts {
			n += ask(host, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '"+at.Database+"'")
		}
		return n
	}, func() time.Duration { return time.Since(begun) }, "wall", 40}
}

// ask asks one server for a number.
func ask(host, statement string) int64 {
	resp, err := http.Post("http://"+host+"/?default_format=TabSeparated", "text/plain", strings.NewReader(statement))
	check(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	check(err)
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		log.Fatalf("%s: %s", statement, text)
	}
	return n
}

// settle lets a database merge what it has.
func settle(address string) {
	if address == "" {
		return
	}
	at, err := clickhouse.ParseAddress(address)
	check(err)
	for _, host := range at.Hosts {
		for _, table := range []string{"profiles", "stacks", "locations", "names", "seen"} {
			resp, err := http.Post("http://"+host+"/", "text/plain", strings.NewReader("OPTIMIZE TABLE "+at.Database+"."+table+" FINAL"))
			check(err)
			resp.Body.Close()
		}
	}
}

func measure(corpus, address string) {
	packed := size(corpus)
	e := open(filepath.Join(corpus, "store"), address)
	ctx := context.Background()
	started, most, samples, total := cpu(), int64(0), 0, int64(0)
	var waits []time.Duration
	var mu sync.Mutex
	write := func(p *store.Profile) {
		from := time.Now()
		check(e.Write(ctx, []*store.Profile{p}))
		mu.Lock()
		defer mu.Unlock()
		waits = append(waits, time.Since(from))
	}
	for point := range points {
		var writing sync.WaitGroup
		for pod := range pods {
			data, err := os.ReadFile(filepath.Join(corpus, fmt.Sprintf("%02d-%02d.pb.gz", pod, point)))
			check(err)
			p, err := profile.Decode(data, profile.Options{})
			check(err)
			samples += p.Len()
			total += p.Total(1)
			one := &store.Profile{ID: store.IDOf(data), Types: store.TypesOf(p, ""), Samples: p, Duration: p.Duration,
				Time: begin.Add(time.Duration(point)*5*time.Minute + time.Duration(pod)*time.Second),
				Labels: store.LabelsOf(store.ServiceLabel, fmt.Sprintf("service-%d", pod%4), "pod", fmt.Sprintf("pod-%02d", pod),
					"region", fmt.Sprintf("region-%d", pod%3), store.VersionLabel, fmt.Sprintf("v%d", point/25))}
			if address == "" {
				write(one)
				continue
			}
			writing.Go(func() { write(one) }) // a server gets what comes at the same time
		}
		writing.Wait()
		most = max(most, e.size())
	}
	slices.Sort(waits)
	used := cpu() - started
	fmt.Printf("corpus                 %d profiles, %.1f MB packed, %d samples each\n", pods*points, float64(packed)/1e6, samples/(pods*points))
	fmt.Printf("CPU a profile          %.2f ms (decoding included)\n", used.Seconds()*1e3/(pods*points))
	fmt.Printf("acknowledged, p50      %.2f ms\n", waits[len(waits)/2].Seconds()*1e3)
	fmt.Printf("disk while ingesting   %.2f MB\n", float64(most)/1e6)
	fmt.Printf("peak RSS               %.1f MB\n", float64(peak())/1e6)
	started = e.clock()
	for i := range 2 {
		check(e.Maintain(ctx, store.Policy{Raw: -1, FiveMinutes: -1, Hours: -1}, begin.Add(time.Duration(48+i)*time.Hour)))
	}
	settle(address)
	fmt.Printf("merged                 %.2f MB, %.2f B/sample, %.0f ms %s to write\n", float64(e.size())/1e6, float64(e.size())/float64(samples), (e.clock()-started).Seconds()*1e3, e.unit)
	queries(ctx, e, total)
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
