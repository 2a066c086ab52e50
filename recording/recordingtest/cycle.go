package recordingtest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Cycle is one collection, to be printed as the runtime prints it. The zero
// value of a field is what a small healthy program has.
type Cycle struct {
	N  int
	At time.Duration // since the program's start
	// The wall time of the phases; 20 µs, 500 µs and 20 µs when zero.
	STW1, Mark, STW2 time.Duration
	// The time of the Ps; zero is zero.
	Assist, Background, Idle time.Duration
	// Sizes in MB; 4, 4, 2 and 4 when zero.
	Start, End, Live, Goal int
	Procs                  int // 4 when zero
	Forced                 bool
	// Percent is the collector's share of all time since the program's start;
	// [Cycles] fills it in.
	Percent int
}

// String returns the line of gctrace=1 as Go 1.18 and later print it.
func (c Cycle) String() string {
	ms := func(d time.Duration) string { return strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64) }
	stw1, mark, stw2 := or(c.STW1, 20*time.Microsecond), or(c.Mark, 500*time.Microsecond), or(c.STW2, 20*time.Microsecond)
	procs := or(c.Procs, 4)
	forced := ""
	if c.Forced {
		forced = " (forced)"
	}
	return fmt.Sprintf("gc %d @%.3fs %d%%: %s+%s+%s ms clock, %s+%s/%s/%s+%s ms cpu, %d->%d->%d MB, %d MB goal, 0 MB stacks, 0 MB globals, %d P%s",
		c.N, c.At.Seconds(), c.Percent, ms(stw1), ms(mark), ms(stw2),
		ms(stw1*time.Duration(procs)), ms(c.Assist), ms(c.Background), ms(c.Idle), ms(stw2*time.Duration(procs)),
		or(c.Start, 4), or(c.End, 4), or(c.Live, 2), or(c.Goal, 4), procs, forced)
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Cycles prints n collections, one every pace from the first one on, each
// changed by change, which may be nil. The collector's share since the start is
// what they add up to.
func Cycles(n int, first, pace time.Duration, change func(i int, c *Cycle)) string {
	var b strings.Builder
	var took time.Duration
	for i := range n {
		c := Cycle{N: i + 1, At: first + time.Duration(i)*pace}
		if change != nil {
			change(i, &c)
		}
		procs := time.Duration(or(c.Procs, 4))
		clock := or(c.STW1, 20*time.Microsecond) + or(c.Mark, 500*time.Microsecond) + or(c.STW2, 20*time.Microsecond)
		took += c.Assist + c.Background + procs*(or(c.STW1, 20*time.Microsecond)+or(c.STW2, 20*time.Microsecond))
		c.Percent = or(c.Percent, int(100*took/max(1, procs*(c.At+clock))))
		fmt.Fprintln(&b, c)
	}
	return b.String()
}

// Sched is one sample of the scheduler, to be printed as the runtime prints it.
type Sched struct {
	At                            time.Duration
	Procs, Idle, Spinning, Queued int
}

// String returns the line of schedtrace as Go 1.25 and later print it.
func (s Sched) String() string {
	zeros := "[" + strings.Repeat(" 0", s.Procs) + " ]"
	return fmt.Sprintf("SCHED %dms: gomaxprocs=%d idleprocs=%d threads=%d spinningthreads=%d needspinning=0 idlethreads=0 runqueue=%d %s schedticks=%s",
		s.At.Milliseconds(), s.Procs, s.Idle, s.Procs+2, s.Spinning, s.Queued, zeros, zeros)
}

// Scheds prints one sample a second from the first second on, with this many
// Ps running a goroutine in each.
func Scheds(procs int, running ...int) string {
	var b strings.Builder
	for i, n := range running {
		fmt.Fprintln(&b, Sched{At: time.Duration(i+1) * time.Second, Procs: procs, Idle: procs - n})
	}
	return b.String()
}
