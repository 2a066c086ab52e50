package collect

import (
	"testing"
	"time"
)

func TestMonotonic(t *testing.T) {
	now := time.Now()
	a, boot := Monotonic(now)
	b, _ := Monotonic(now.Add(-time.Hour))
	if a == 0 || boot == "" {
		t.Fatalf("Monotonic = %d, %q", a, boot)
	}
	if d := time.Duration(a - b); (d - time.Hour).Abs() > time.Second {
		t.Errorf("an hour is %v on the monotonic clock", d)
	}
}
