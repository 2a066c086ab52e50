package plan

import (
	"testing"
	"time"
)

func TestRepeat(t *testing.T) {
	p, err := Repeat(stages(t, "1s:10,1s:0", Options{}), 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if p.String() != "0 to 10.0/s to 0/s in 2 stages, 2s, again every 2s" || p.Peak() != 10 {
		t.Errorf("%s, peak %v", p, p.Peak())
	}
	once := all(stages(t, "1s:10,1s:0", Options{}), 0, 1)
	for _, of := range []int{1, 3} {
		parts := make([]Turns, of)
		for i := range parts {
			parts[i] = p.Part(i, of)
		}
		for round := range 3 {
			for n, want := range once {
				got, ok := parts[n%of].Next()
				if want.Due += time.Duration(round) * 2 * time.Second; !ok || got != want {
					t.Fatalf("round %d, turn %d of %d parts is %v, %v; want %v", round, n, of, got, ok, want)
				}
			}
		}
	}
	if n := testing.AllocsPerRun(5, func() { p.Part(0, 1).Next() }); n > 3 {
		t.Errorf("a part takes %v allocations", n)
	}

	// A thread without a part of a round gives up.
	one, err := Replay([]Turn{{Due: time.Second}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Repeat(one, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	if turn, ok := p.Part(1, 2).Next(); ok {
		t.Errorf("the second of two threads has turn %v of one", turn)
	}
	for _, every := range []time.Duration{0, -1, time.Second} {
		if _, err := Repeat(one, every); err == nil {
			t.Errorf("a plan without a turn is repeated every %v", every)
		}
	}
}
