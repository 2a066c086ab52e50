package target

import (
	"fmt"
	"testing"
)

func TestOrder(t *testing.T) {
	f := func(want string, weights ...int) {
		t.Helper()
		o := NewOrder(weights)
		got := ""
		for i := range int64(12) {
			got += fmt.Sprint(o.At(i))
		}
		if got != want {
			t.Errorf("the order of %v is %s, want %s", weights, got, want)
		}
	}
	f("000000000000")
	f("000000000000", 5)
	f("012012012012", 0, 1, 1)
	f("001000100010", 3, 1)
	f("001000100010", 30, 10)
	f("012010120101", 2, 2, 1)

	o := NewOrder([]int{1, 1_000_003, 50})
	counts := [3]int{}
	for i := range int64(2 << 20) {
		counts[o.At(i)]++
	}
	if counts[0] == 0 || counts[1] < 2<<20-300 || counts[2] < 50 {
		t.Errorf("large weights give %v", counts)
	}
	if n := testing.AllocsPerRun(10, func() { o.At(77) }); n != 0 {
		t.Errorf("At allocates %v times", n)
	}
}
