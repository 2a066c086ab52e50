package loadlogtest_test

import (
	"testing"
	"time"

	"loupe/format/loadlog"
	"loupe/format/loadlog/loadlogtest"
)

func TestLog(t *testing.T) {
	l := loadlogtest.Log(`
		begin  service  late  status  bytes
		0s     12ms     0s    200     13
		5ms    10ms     2ms   404     7
		2×     8ms      3ms   0s      -       0     connection refused
	`)
	if l.Len() != 4 || l.Elapsed != 17*time.Millisecond || l.Summary().Latency.Min != 12*time.Millisecond || l.ServedLength != 20 {
		t.Errorf("log = %+v", l)
	}
	back, err := loadlog.Decode(loadlogtest.Encode(l))
	if err != nil {
		t.Fatal(err)
	}
	if s := back.Summary(); s.Responses != 2 || s.Status[404] != 1 || s.Errors["connection refused"] != 2 {
		t.Errorf("summary = %+v", s)
	}
}

func TestSteady(t *testing.T) {
	s := loadlogtest.Steady(100, 2*time.Second, time.Millisecond).Summary()
	if s.RPS != 50 || s.Responses != 100 || s.Latency.P50 != time.Millisecond {
		t.Errorf("summary = %+v", s)
	}
}
