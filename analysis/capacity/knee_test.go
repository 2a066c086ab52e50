package capacity

import (
	"fmt"
	"testing"
	"time"
)

func TestKnee(t *testing.T) {
	const ms = time.Millisecond
	f := func(want string, steps ...Step) {
		t.Helper()
		last, beyond, ok := Knee(steps, KneeMore)
		if got := fmt.Sprint(last, beyond, ok); got != want {
			t.Errorf("Knee = %s, want %s", got, want)
		}
	}
	step := func(offered, rps float64, p99 time.Duration) Step { return Step{Offered: offered, RPS: rps, P99: p99} }
	f("2 3 true", step(1000, 1000, 5*ms), step(2000, 2000, 5*ms), step(4000, 3900, 50*ms), step(8000, 4000, 500*ms))
	f("1 2 true", step(1000, 1000, 5*ms), step(2000, 2000, 5*ms), step(2400, 2010, 50*ms))
	f("0 0 false", step(1000, 1000, 5*ms), step(2000, 2000, 5*ms), step(2300, 2010, 50*ms))
	f("0 0 false", step(1000, 1000, 5*ms), step(2000, 2000, 50*ms))
	// A stall on the way up, and a service that answers less when it is full.
	f("2 3 true", step(375, 375, 3*ms), step(730, 344, 670*ms), step(2000, 2000, 9*ms), step(3000, 1500, 900*ms))
	f("0 0 false")
}

func TestTidy(t *testing.T) {
	for in, want := range map[float64]string{0: "0", 0.12345: "0.123", 99.96: "100", 1234.5: "1230", 65536: "65500"} {
		if got := fmt.Sprint(tidy(in)); got != want {
			t.Errorf("tidy(%v) = %s, want %s", in, got, want)
		}
	}
}
