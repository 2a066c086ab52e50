package bench

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func add(a, b int) int { return a + b }

// What is not used the compiler leaves out: the loop does nothing.
func BenchmarkSlowBM01(b *testing.B) {
	for i := 0; i < b.N; i++ {
		add(i, 1)
	}
}

func BenchmarkFixedBM01(b *testing.B) {
	text := strings.Repeat("all is well ", 100)
	for b.Loop() {
		strings.Count(text, "well")
	}
}

var unsorted = func() (all []int) {
	for i := range 1000 {
		all = append(all, i*7919%1009)
	}
	return all
}()

// The timer is stopped in each turn.
func BenchmarkSlowBM02(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		all := slices.Clone(unsorted)
		b.StartTimer()
		slices.Sort(all)
	}
}

func BenchmarkFixedBM02(b *testing.B) {
	all := slices.Clone(unsorted)
	for b.Loop() {
		copy(all, unsorted)
		slices.Sort(all)
	}
}

var late bool

// Each other run waits three hundred times as long: which it is depends on what ran before.
func BenchmarkSlowBM03(b *testing.B) {
	if b.N == 1 { // a run begins with one turn
		late = !late
	}
	wait := time.Millisecond
	if late {
		wait *= 300
	}
	for i := 0; i < b.N; i++ {
		time.Sleep(wait)
	}
}

func BenchmarkFixedBM03(b *testing.B) {
	for b.Loop() {
		work(1000)
	}
}

//go:noinline
func work(turns int) (x uint64) {
	for i := range turns {
		x = x*6364136223846793005 + uint64(i)
	}
	return x
}

var (
	seen  []int
	found int
)

// What a run has added stays for the next one, and is searched from the begin.
func BenchmarkSlowBM04(b *testing.B) {
	if b.N == 1 {
		seen = append(seen, make([]int, len(seen)+100)...)
	}
	for i := 0; i < b.N; i++ {
		found = slices.Index(seen, -1)
	}
}

func BenchmarkFixedBM04(b *testing.B) {
	own := slices.Clone(unsorted)
	for b.Loop() {
		found = slices.Index(own, -1)
	}
}
