package exectrace_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/exectracetest"
	"loupe/format/exectrace/fixture"
)

// storm is a trace in which many Ms have started goroutines that, by the
// clock, another M wakes up only later: all of them are blocked at one time.
// Each M has some events of the collector's kind behind its start. Times are
// taken out of the first n units; the fewer they are, the more are equal.
func storm(t testing.TB, threads, units int) []byte {
	rng := rand.New(rand.NewPCG(uint64(threads), uint64(units)))
	var b strings.Builder
	b.WriteString("Trace Go1.26\nEventBatch m=0 time=10\nProcStatus dt=1 p=0 pstatus=running\nGoStatus dt=1 g=1 m=0 gstatus=running\n")
	order := rng.Perm(threads)
	for k, i := range order {
		if k%1000 == 0 { // a batch has 64 kB at most
			fmt.Fprintf(&b, "EventBatch m=0 time=12\n")
		}
		fmt.Fprintf(&b, "GoStatus dt=0 g=%d m=-1 gstatus=waiting\n", i+2)
	}
	for k, i := range order {
		if k%1000 == 0 {
			fmt.Fprintf(&b, "EventBatch m=0 time=%d\n", 10+units+k)
		}
		fmt.Fprintf(&b, "GoUnblock dt=1 g=%d g_seq=1\n", i+2)
	}
	for i := range threads {
		times := []int{rng.IntN(units), rng.IntN(units), 2 * rng.IntN(units)}
		slices.Sort(times[:2])
		fmt.Fprintf(&b, "EventBatch m=%d time=20\nProcStatus dt=%d p=%d pstatus=running\nGoStart dt=%d g=%d g_seq=2\nHeapAlloc dt=%d heapalloc_value=%d\nGoBlock dt=%d reason_string=\"sync\"\n",
			i+1, times[0], i+1, times[1]-times[0], i+2, times[2], i, rng.IntN(100))
	}
	return fixture.Trace(t, b.String())
}

// TestStorm compares the order of a storm with that of the standard library,
// with few and with many events of one time.
func TestStorm(t *testing.T) {
	for _, units := range []int{1 << 30, 1 << 20, 1 << 12, 50} {
		for _, threads := range []int{5, 12, 13, 49, 50, 51, 300, 1000} {
			data := storm(t, threads, units)
			file := filepath.Join(t.TempDir(), "trace")
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			want, err := exectracetest.Oracle(t, "events", file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := words(t, data, exectrace.Options{Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprintf("%d threads, %d units", threads, units), got, want)
		}
	}
}

// BenchmarkStorm reads storms of 5000 Ms, without and with equal times.
func BenchmarkStorm(b *testing.B) {
	for name, units := range map[string]int{"apart": 1 << 40, "together": 1 << 14} {
		b.Run(name, func(b *testing.B) {
			data := storm(b, 5000, units)
			n := 0
			for b.Loop() {
				n = 0
				r := open(b, data).Reader()
				for r.Next() {
					n++
				}
				if len(r.Problems()) != 0 {
					b.Fatal(r.Problems()[0])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
		})
	}
}
