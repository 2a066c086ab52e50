//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/store/block"
	"loupe/store/intake"
	"loupe/store/storetest/corpus"
)

// live is a fleet whose profiles come as they do to loupe serve: packed, several at once, each decoded
// and taken in by itself, counters as what was counted since the start of the process.
type live struct {
	targets, services int
	every, span       time.Duration
	kinds             []string
	writers           int // profiles that are taken in at once
	pool              int // profiles of a service and kind

	labels []store.Labels
	at     []time.Duration // when in the interval
	packed map[string][][][]byte
	bytes  int64 // of what is packed
}

// names are what the kinds are called in the store.
var names = map[string]string{"cpu": "process_cpu", "heap": "memory", "goroutine": "goroutine"}

// prepare draws what the targets send.
func (l *live) prepare(from *profile.Profile) error {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range l.targets {
		l.labels = append(l.labels, store.LabelsOf(store.ServiceLabel, fmt.Sprintf("service-%d", i%l.services), "pod", fmt.Sprintf("pod-%04d", i),
			"region", fmt.Sprintf("region-%d", i%3), store.VersionLabel, "v1"))
		l.at = append(l.at, time.Duration(r.Int64N(int64(l.every))))
	}
	l.packed = map[string][][][]byte{}
	for _, kind := range l.kinds {
		if names[kind] == "" {
			return fmt.Errorf("there is no kind %q: want cpu, heap or goroutine", kind)
		}
		for number := range l.services {
			service := corpus.NewService(from, uint64(number), spread)
			r := rand.New(rand.NewPCG(1, uint64(number)))
			var list [][]byte
			var sums map[int]int64
			for range l.pool {
				var b bytes.Buffer
				p := service.Draw(r, draws, begin)
				switch kind {
				case "heap":
					p, sums = grown(from, service, r, sums)
				case "goroutine":
					p.SampleTypes = []profile.ValueType{{Type: "goroutine", Unit: "count"}}
					p.PeriodType, p.Period, p.Duration = p.SampleTypes[0], 1, 0
					p.Values = p.Values[:1]
				}
				if err := p.Encode(&b); err != nil {
					return err
				}
				list = append(list, b.Bytes())
				l.bytes += int64(b.Len())
			}
			l.packed[kind] = append(l.packed[kind], list)
		}
	}
	return nil
}

// grown is a heap profile after some more allocations, of which a sample stands for 512 kB.
func grown(from *profile.Profile, s *corpus.Service, r *rand.Rand, before map[int]int64) (*profile.Profile, map[int]int64) {
	sums := s.Counts(r, draws)
	for row, n := range before {
		sums[row] += n
	}
	p := &profile.Profile{Values: make([][]int64, 4), Time: begin, Period: 512 << 10, PeriodType: profile.ValueType{Type: "space", Unit: "bytes"},
		SampleTypes: []profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"},
			{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"}}}
	p.Stacks = from.Stacks
	for row := range from.Len() {
		if n := sums[row]; n > 0 {
			p.StackIDs = append(p.StackIDs, from.StackIDs[row])
			for column, v := range []int64{n * 64, n * 512 << 10, n % 7 * 64, n % 7 * 512 << 10} {
				p.Values[column] = append(p.Values[column], v)
			}
		}
	}
	return p, sums
}

// sent is what came in a run.
type sent struct {
	mu       sync.Mutex
	profiles int
	samples  int64
	cpu      int64 // the total of the CPU profiles
	err      error
}

// one takes a profile in as loupe serve does one that was pushed.
func (l *live) one(in *intake.Intake, target int, kind string, round int, now time.Time, to *sent) {
	list := l.packed[kind][target%l.services]
	p, err := profile.Decode(list[(target/l.services+round)%len(list)], profile.Options{MaxBytes: 1 << 30})
	samples, cpu := int64(0), int64(0)
	if err == nil {
		samples = int64(p.Len())
		if kind == "cpu" {
			cpu = p.Total(1)
		}
		err = in.Add(context.Background(), &intake.Arrival{Labels: l.labels[target], Name: names[kind], Profile: p, At: now, Duration: p.Duration,
			ID: store.IDOf([]byte(kind), []byte(strconv.Itoa(target)), []byte(strconv.Itoa(round)))})
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	to.profiles++
	to.samples += samples
	to.cpu += cpu
	if to.err == nil {
		to.err = err
	}
}

// second takes in what comes in a second, several at once, and returns when all of it is on the disk.
func (l *live) second(in *intake.Intake, now time.Time, to *sent) {
	turns := make(chan struct{}, l.writers)
	var all sync.WaitGroup
	since := now.Sub(begin) % l.every
	round := int(now.Sub(begin) / l.every)
	for i := range l.targets {
		if l.at[i] < since || l.at[i] >= since+time.Second {
			continue
		}
		for _, kind := range l.kinds {
			turns <- struct{}{}
			all.Go(func() {
				l.one(in, i, kind, round, now.Add(l.at[i]-since), to)
				<-turns
			})
		}
	}
	all.Wait()
}

// run passes the time, lets the store age as its policy says, and prints what that took.
func (l *live) run(w io.Writer, from *profile.Profile) error {
	if err := l.prepare(from); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e, err := block.Open(dir, block.Options{})
	if err != nil {
		return err
	}
	defer e.Close()
	in, got := intake.New(e), &sent{}
	heap, before, begun := held(), usage(), time.Now()
	end := begin.Add(l.span)
	most, large := int64(0), int64(0)
	for now := begin; now.Before(end); now = now.Add(time.Second) {
		l.second(in, now, got)
		if got.err != nil {
			return got.err
		}
		if now.Second() == 59 {
			if err := e.Maintain(context.Background(), store.Policy{}, now); err != nil {
				return err
			}
			most = max(most, disk(dir))
		}
		if now.Sub(begin)%(3*time.Minute+37*time.Second) == 0 {
			large = max(large, held()-heap)
		}
	}
	cpu, wall := usage()-before, time.Since(begun)
	n := float64(got.profiles)
	fmt.Fprintf(w, "\n%d targets of %d services, %v, %s every %v: %d profiles, %d million samples\n", l.targets, l.services, l.span, strings.Join(l.kinds, ", "), l.every, got.profiles, got.samples/1e6)
	fmt.Fprintf(w, "CPU                     %.2f ms a profile, %.1f s in all, %.1f %% of one CPU over the time that passed\n", cpu.Seconds()*1e3/n, cpu.Seconds(), cpu.Seconds()/l.span.Seconds()*100)
	fmt.Fprintf(w, "took                    %v, %.2f of the time that passed\n", wall.Round(100*time.Millisecond), wall.Seconds()/l.span.Seconds())
	fmt.Fprintf(w, "live heap of the store  %.1f MB at most\n", float64(large)/1e6)
	fmt.Fprintf(w, "resident, at most       %s, with %.1f MB of profiles to send\n", resident(), float64(l.bytes)/1e6)
	fmt.Fprintf(w, "disk                    %.1f MB, %.1f at most, %.2f B/sample\n", float64(disk(dir))/1e6, float64(most)/1e6, float64(disk(dir))/float64(got.samples))
	for i, age := range []struct {
		name string
		time.Duration
	}{{"sealed and merged", time.Hour}, {"as sums of 5 minutes", 8 * 24 * time.Hour}, {"as sums of an hour", 31 * 24 * time.Hour}} {
		if l.one(in, 0, l.kinds[0], 1<<30+i, end.Add(age.Duration), got); got.err != nil { // without news nothing grows old
			return got.err
		}
		from := usage()
		for k := range 3 { // blocks are merged before they are thinned out
			if err := e.Maintain(context.Background(), store.Policy{}, end.Add(age.Duration+time.Duration(k)*11*time.Minute)); err != nil {
				return err
			}
		}
		took := usage() - from
		fmt.Fprintf(w, "%-22s  %.1f MB, %.2f B/sample; %.2f s of CPU, %.3f ms a profile\n", age.name, float64(disk(dir))/1e6, float64(disk(dir))/float64(got.samples), took.Seconds(), took.Seconds()*1e3/n)
	}
	return l.check(e, end, got)
}

// check holds the total of the CPU profiles against what was sent.
func (l *live) check(e store.Engine, end time.Time, got *sent) error {
	typ := store.Type{Name: "process_cpu", Sample: "cpu", Unit: "nanoseconds", Period: "cpu", PeriodUnit: "nanoseconds"}
	top, err := e.Top(context.Background(), store.TopQuery{Selection: store.Selection{Type: typ, Range: store.Range{Start: begin.Add(-time.Hour), End: end.Add(60 * 24 * time.Hour)}, Limits: store.Limits{Samples: -1}}})
	if err != nil {
		return err
	}
	if top.Total != got.cpu {
		return fmt.Errorf("the total of CPU is %d, want %d", top.Total, got.cpu)
	}
	return nil
}

// resident is the most memory of the process that was in RAM, as the system says it; "" where it does not.
func resident() string {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.Join(strings.Fields(rest), " ")
		}
	}
	return "unknown"
}
