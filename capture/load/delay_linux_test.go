package load

import (
	"runtime"
	"testing"
	"time"
)

func TestParseSchedStat(t *testing.T) {
	f := func(text string, ran, waited time.Duration, want bool) {
		t.Helper()
		s, ok := parseSchedStat([]byte(text))
		if ok != want || ok && (s.ran != ran || s.waited != waited) {
			t.Errorf("%q is %v, %v", text, s, ok)
		}
	}
	f("102938 1970000000 12\n", 102938, 1970*time.Millisecond, true)
	f("0 0 0\n", 0, 0, false)
	f("", 0, 0, false)
	f("1 2", 0, 0, false)
	f("1 -2 3", 0, 0, false)
	f("1 x 3", 0, 0, false)
}

func TestRunDelay(t *testing.T) {
	before := runDelay{"a": {0, 5}, "gone": {0, 100}}
	if d, ok := (runDelay{"a": {0, 7}, "new": {0, 3}}).since(before); d != 5 || !ok {
		t.Errorf("the delay is %v, %v", d, ok)
	}
	if _, ok := takeRunDelay().since(nil); ok {
		t.Error("a delay without a beginning")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, known := threadDelay()
	if all := takeRunDelay(); known != (all != nil) {
		t.Errorf("of this thread %v, of all %v", own, all)
	}
}
