package clickhouse_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/store/clickhouse"
	"loupe/store/clickhouse/clickhousetest"
	"loupe/value/stack"
)

// writerJob tells a process of the fault test what to write: it is started by the test
// and killed by it.
type writerJob struct {
	Address string
	Number  int
	Lanes   []int // the next profile of each lane
}

const writerVariable = "LOUPE_TEST_WRITER"

var countedType = store.Type{Name: "process_cpu", Sample: "samples", Unit: "count", Period: "cpu", PeriodUnit: "nanoseconds"}

// counted makes profile k of a lane of a writer, whose total is its number.
func counted(writer, lane, k int) *store.Profile {
	p := &profile.Profile{Stacks: new(stack.Table), Values: [][]int64{nil}}
	for i := range 3 {
		f := p.Stacks.InternFrame(stack.Frame{Func: fmt.Sprint("main.f", (k+i)%50), File: "main.go", Line: i + 1})
		p.StackIDs = append(p.StackIDs, p.Stacks.Intern([]stack.FrameID{f}))
		p.Values[0] = append(p.Values[0], int64(i))
	}
	p.Values[0][0] = int64(k + 1)
	return &store.Profile{ID: store.IDOf(fmt.Append(nil, writer, lane, k)), Types: []store.Type{countedType}, Samples: p, Duration: time.Second,
		Labels: store.LabelsOf(store.ServiceLabel, "counted", "pod", fmt.Sprint(k%7), "writer", fmt.Sprint(writer)),
		Time:   time.Date(2026, 3, 14, 23, 50, 0, 0, time.UTC).Add(time.Duration(k*10+lane) * time.Second)}
}

const countedTotal = 3 // of the samples besides the first

// writeCounted is the process: it writes, prints what was acknowledged, and ends when its
// input does.
func writeCounted(text string) error {
	var job writerJob
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		return err
	}
	at, err := clickhouse.ParseAddress(job.Address)
	if err != nil {
		return err
	}
	ctx := context.Background()
	var e *clickhouse.Engine
	for e == nil { // a shard may be down
		if e, err = clickhouse.Open(ctx, at, clickhouse.Options{Every: 20 * time.Millisecond, Patience: 500 * time.Millisecond, Settle: 3 * time.Second}); err != nil {
			time.Sleep(100 * time.Millisecond)
		}
	}
	stopping := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stopping)
	}()
	var lanes sync.WaitGroup
	for lane, k := range job.Lanes {
		lanes.Go(func() {
			for ; ; k++ {
				select {
				case <-stopping:
					return
				default:
				}
				// Every tenth is sent again although it was acknowledged.
				for range 1 + max(0, 1-k%10) {
					for {
						err := e.Write(ctx, []*store.Profile{counted(job.Number, lane, k)})
						if err == nil {
							break
						}
						fmt.Fprintln(os.Stderr, err)
					}
				}
				fmt.Println(lane, k)
			}
		})
	}
	lanes.Wait()
	return e.Close()
}

// writers are the processes of the fault test, and what they have acknowledged.
type writers struct {
	t       *testing.T
	address string

	mu     sync.Mutex
	next   [][]int
	acked  int
	errors int
	cmds   []*exec.Cmd
	ends   []io.Closer
	read   []*sync.WaitGroup
}

func (w *writers) start(number int) {
	w.mu.Lock()
	job, err := json.Marshal(writerJob{w.address, number, w.next[number]})
	w.mu.Unlock()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerVariable+"="+string(job))
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	reading := new(sync.WaitGroup)
	reading.Go(func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			var lane, k int
			if n, _ := fmt.Sscan(s.Text(), &lane, &k); n != 2 {
				continue // cut by the kill
			}
			w.mu.Lock()
			w.next[number][lane] = k + 1
			w.acked++
			w.mu.Unlock()
		}
	})
	reading.Go(func() {
		for s := bufio.NewScanner(said); s.Scan(); {
			w.mu.Lock()
			w.errors++
			w.mu.Unlock()
		}
	})
	w.cmds[number], w.ends[number], w.read[number] = cmd, in, reading
}

// wait waits until so many more are acknowledged.
func (w *writers) wait(more int) {
	w.mu.Lock()
	want := w.acked + more
	w.mu.Unlock()
	for until := time.Now().Add(3 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		w.mu.Lock()
		acked := w.acked
		w.mu.Unlock()
		if acked >= want {
			return
		}
		if time.Now().After(until) {
			w.t.Fatalf("%d profiles are acknowledged, and no more come", acked)
		}
	}
}

// TestKills ends shards and writers with kill -9 while two writers, such as two loupe
// serve, write to both shards. What is there at the end is each acknowledged profile once
// and nothing else: the count is the proof. LOUPE_KILLS says how often, 12 times otherwise.
func TestKills(t *testing.T) {
	nodes, address := clickhousetest.Shards(t, "")
	rounds := 12
	if n, err := strconv.Atoi(os.Getenv("LOUPE_KILLS")); err == nil {
		rounds = n
	}
	const processes, lanes = 2, 4
	w := &writers{t: t, address: address(clickhousetest.Name(t)), cmds: make([]*exec.Cmd, processes), ends: make([]io.Closer, processes), read: make([]*sync.WaitGroup, processes)}
	for range processes {
		w.next = append(w.next, make([]int, lanes))
	}
	for n := range processes {
		w.start(n)
	}
	r := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	for round := range rounds {
		w.wait(10 + r.IntN(60))
		switch victim := r.IntN(3); victim {
		case 2:
			n := r.IntN(processes)
			w.cmds[n].Process.Kill()
			w.read[n].Wait()
			w.cmds[n].Wait()
			w.start(n)
		default:
			nodes[victim].Kill()
			time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond) // how long it is down
			if err := nodes[victim].Start(); err != nil {
				t.Fatal(err)
			}
		}
		w.mu.Lock()
		t.Logf("round %d: %d acknowledged, %d errors", round, w.acked, w.errors)
		w.mu.Unlock()
	}
	w.wait(40)
	for n := range processes {
		w.ends[n].Close()
		w.read[n].Wait()
		if err := w.cmds[n].Wait(); err != nil {
			t.Errorf("writer %d: %v", n, err)
		}
	}
	profiles, total := int64(0), int64(0)
	for _, next := range w.next {
		for _, n := range next {
			profiles += int64(n)
			total += int64(n) * int64(n+1) / 2
		}
	}
	total += profiles * countedTotal
	e := open(t, w.address, quick)
	defer e.Close()
	s, err := e.Stacks(t.Context(), store.StacksQuery{Selection: store.Selection{Type: countedType}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Profiles[0] != profiles || s.Total(0) != total {
		t.Errorf("there are %d profiles with %d samples, want %d with %d", s.Profiles[0], s.Total(0), profiles, total)
	}
	t.Logf("%d profiles were acknowledged, of %d kills; %d are there, with %d samples of %d", profiles, rounds, s.Profiles[0], s.Total(0), total)
}

// TestMaintainFails ends the housekeeping in front of its first statement, its second, and
// so on until it gets to the end. Whatever it left, nothing is lost and nothing doubled.
func TestMaintainFails(t *testing.T) {
	_, address := clickhousetest.Shards(t, "")
	at := address(clickhousetest.Name(t))
	e := open(t, at, quick)
	defer e.Close()
	var list []*store.Profile
	profiles, total := int64(0), int64(0)
	for k := range 80 {
		p := counted(0, 0, k)
		p.Time = p.Time.Add(time.Duration(k/4) * 24 * time.Hour)
		list = append(list, p)
		profiles, total = profiles+1, total+int64(k+1)+countedTotal
	}
	if err := e.Write(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	now := list[len(list)-1].Time
	policy := store.Policy{Bytes: -1, Raw: 5 * 24 * time.Hour, FiveMinutes: 12 * 24 * time.Hour, Hours: -1}
	gone := errors.New("the process ends here")
	check := func(when string) {
		t.Helper()
		s, err := e.Stacks(t.Context(), store.StacksQuery{Selection: store.Selection{Type: countedType}})
		if err != nil {
			t.Fatal(err)
		}
		if s.Profiles[0] != profiles || s.Total(0) != total {
			t.Fatalf("%s there are %d profiles with %d samples, want %d with %d", when, s.Profiles[0], s.Total(0), profiles, total)
		}
	}
	steps := 1
	for ; ; steps++ {
		left, armed := steps, false
		h := open(t, at, clickhouse.Hooked(clickhouse.Options{Grace: time.Nanosecond}, func(statement string) error {
			switch {
			case !armed || strings.Contains(statement, "claim/"):
				return nil // who dies keeps the claim for a while: it is not what is tested
			case left == 0:
				return gone
			}
			left--
			return nil
		}))
		armed = true
		err := h.Maintain(t.Context(), policy, now)
		if err == nil {
			break
		}
		if !errors.Is(err, gone) {
			t.Fatal(err)
		}
		check(fmt.Sprintf("after an end at statement %d", steps))
	}
	check("at the end")
	if err := e.Maintain(t.Context(), policy, now); err != nil {
		t.Fatal(err)
	}
	check("a round later")
	// What was thinned out is not written again.
	if err := open(t, at, quick).Write(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	check("written again")
	q := store.TotalsQuery{Selection: store.Selection{Type: countedType, Range: store.Range{End: now.Add(-13 * 24 * time.Hour)}}, By: []string{"pod"}}
	lines, err := e.Totals(t.Context(), q)
	if err != nil || len(lines) != 1 || lines[0].Labels != (store.Labels{}) {
		t.Errorf("of what is old there is %v, %v: want one line without pods", lines, err)
	}
	t.Logf("the housekeeping was ended %d times", steps-1)
}

// TestRacing writes the same profiles from two engines at the same moment, again and again.
func TestRacing(t *testing.T) {
	_, address := clickhousetest.Shards(t, "")
	a, b := open(t, address(clickhousetest.Name(t)), quick), open(t, address(clickhousetest.Name(t)), quick)
	defer a.Close()
	defer b.Close()
	total := int64(0)
	const n = 40
	for k := range n {
		var both sync.WaitGroup
		begin := make(chan struct{})
		for _, e := range []*clickhouse.Engine{a, b} {
			both.Go(func() {
				<-begin
				if err := e.Write(t.Context(), []*store.Profile{counted(0, 0, k)}); err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		both.Wait()
		total += int64(k+1) + countedTotal
	}
	s, err := a.Stacks(t.Context(), store.StacksQuery{Selection: store.Selection{Type: countedType}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Profiles[0] != n || s.Total(0) != total {
		t.Errorf("there are %d profiles with %d samples, want %d with %d", s.Profiles[0], s.Total(0), n, total)
	}
}
