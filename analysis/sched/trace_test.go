package sched_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"sync"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
)

// traces returns the traces to test with: that of a small program, and those in
// the folder that LOUPE_TRACES names.
func traces(t *testing.T) []string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(os.Getenv("LOUPE_TRACES"), "*.trace"))
	return append(files, ownTrace(t))
}

// ownTrace is the trace of a process that does a little of everything: it
// blocks on channels, locks and the network, in system calls and for a P, and
// it collects garbage before, while and after the trace begins. It is that of
// testdata, which LOUPE_RECORD=1 makes anew.
var ownTrace = func() func(t *testing.T) string {
	var once sync.Once
	var data []byte
	return func(t *testing.T) string {
		t.Helper()
		once.Do(func() { data = recorded(t) })
		name := filepath.Join(t.TempDir(), "own.trace")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
}()

const ownFile = "testdata/own.trace.gz"

// recorded returns the trace in testdata.
func recorded(t *testing.T) []byte {
	t.Helper()
	if os.Getenv("LOUPE_RECORD") != "" {
		data := record(t)
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		w.Write(data)
		w.Close()
		if err := os.WriteFile(ownFile, packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packed, err := os.ReadFile(ownFile)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// record traces this process.
func record(t *testing.T) []byte {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { allocate(stop) })
	wg.Go(func() { transfer(t) })
	wg.Go(func() { lock() })
	wg.Go(func() { hand(100) })
	f, err := os.CreateTemp(t.TempDir(), "own")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := trace.Start(f); err != nil {
		t.Skipf("cannot trace this process: %v", err)
	}
	if pprof.StartCPUProfile(io.Discard) == nil { // its samples are in the trace
		defer pprof.StopCPUProfile()
	}
	trace.WithRegion(context.Background(), "work", func() {
		wg.Go(func() { transfer(t) })
		wg.Go(func() { lock() })
		wg.Go(func() { trace.WithRegion(context.Background(), "hand", func() { hand(300) }) })
		for range 2 {
			runtime.GC()
			f.Sync() // a system call that takes a while
		}
	})
	close(stop)
	wg.Wait()
	parked := make(chan struct{})
	go func() { <-parked }() // still waits when the trace ends
	runtime.Gosched()
	trace.Stop()
	close(parked)
	data, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDamaged feeds everything that takes events with traces in which some
// bytes are wrong: there is no promise but that nothing breaks.
func TestDamaged(t *testing.T) {
	whole, err := os.ReadFile(ownTrace(t))
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	resets := 0
	for range 300 {
		data := slices.Clone(whole[:len(whole)-rnd.IntN(2)*rnd.IntN(len(whole)/2)])
		for range 1 + rnd.IntN(4) {
			data[16+rnd.IntN(len(data)-16)] ^= 1 << rnd.IntN(8)
		}
		tr, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			continue
		}
		r := tr.Reader()
		gs := sweep.NewGoroutines(r)
		p := sched.NewStateProfiler(gs, sched.StateProfileOptions{})
		compat := sched.NewStateProfiler(gs, sched.StateProfileOptions{Compat: true})
		const all = sched.CommonLosses | sched.LossSweep
		ms := []*sched.Mutator{
			sched.NewMutator(gs, sched.MutatorOptions{Count: all}), sched.NewMutator(gs, sched.MutatorOptions{Count: all, Compat: true}),
			sched.NewMutator(gs, sched.MutatorOptions{Count: all, PerProc: true}),
		}
		for r.Next() {
			e := r.Event()
			if e.Reset() {
				resets++
			}
			gs.Event(e)
			p.Event(e)
			compat.Event(e)
			for _, m := range ms {
				m.Event(e)
			}
		}
		p.Finish()
		compat.Finish()
		p.Profile(sched.ProfileOffCPU)
		for _, m := range ms {
			c := m.Curve()
			if mmu := c.MMU(time.Millisecond); mmu < 0 || mmu > 1 {
				t.Errorf("MMU = %v", mmu)
			}
			c.MUD(time.Millisecond, []float64{0.5})
			c.Examples(time.Microsecond, 3)
		}
	}
	if resets == 0 {
		t.Error("no trace was damaged such that the reader began anew")
	}
}

type tree struct{ left, right *tree }

func grow(depth int) *tree {
	if depth == 0 {
		return nil
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

// allocate keeps the collector busy.
func allocate(stop chan struct{}) {
	var keep *tree
	for {
		select {
		case <-stop:
			runtime.KeepAlive(keep)
			return
		default:
			keep = grow(13)
		}
	}
}

// hand passes a number between two goroutines n times.
func hand(n int) {
	c := make(chan int)
	go func() {
		for i := range n {
			c <- i
		}
		close(c)
	}()
	for range c {
	}
}

// lock lets goroutines wait for a mutex.
func lock() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				mu.Lock()
				time.Sleep(50 * time.Microsecond)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// transfer sends bytes over a connection.
func transfer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Error(err)
		return
	}
	defer l.Close()
	go func() {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return
		}
		defer c.Close()
		for range 50 {
			time.Sleep(20 * time.Microsecond)
			c.Write([]byte("hello"))
		}
	}()
	c, err := l.Accept()
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	buf := make([]byte, 5)
	for {
		if _, err := c.Read(buf); err != nil {
			return
		}
	}
}
