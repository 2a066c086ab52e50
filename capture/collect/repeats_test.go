package collect

import (
	"testing"
	"time"
)

// TestBeforeGenerics: the versions of the language that a go.mod names.
func TestBeforeGenerics(t *testing.T) {
	for version, want := range map[string]bool{"": true, "1.9": true, "1.16": true, "1.17": true, "1.17.3": true, "1.18": false, "1.21": false, "1.100": false, "1.22.0": false, "1.21rc2": false, "2.0": false} {
		if got := beforeGenerics.MatchString(version); got != want {
			t.Errorf("%q: %t", version, got)
		}
	}
}

// TestQuietLog: the line with which a program failed is told as a whole, though the runtime writes it in parts.
func TestQuietLog(t *testing.T) {
	for _, c := range []struct {
		want    string
		packets []string
	}{
		{" (fatal error: all goroutines are asleep - deadlock!)", []string{"gc 1 @0.1s\n", "fatal error: ", "all goroutines are asleep - deadlock!", "\n", "\n", "goroutine 1 [select]:\n"}},
		{" (panic: boom)", []string{"panic: boom\n", "goroutine 1 [running]:\n", "panic: other\n"}},
		{"; its last words were: sorry", []string{"sorry\n"}},
		{"", nil},
	} {
		l := &quietLog{done: make(chan struct{})}
		for _, p := range c.packets {
			l.packet([]byte(p), time.Time{}, 0)
		}
		if got := l.words(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
