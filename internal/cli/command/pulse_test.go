package command

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPulse: something is shown in every second, with what goes on, and nothing stays.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		p := startPulse(&shown, func() int { return 60 })
		p.do("building")
		p.expect(time.Minute)
		for i := range 30 {
			before := shown.Len()
			time.Sleep(time.Second)
			synctest.Wait()
			if shown.Len() == before {
				t.Fatalf("nothing in second %d", i)
			}
		}
		if !strings.HasSuffix(shown.String(), "\r\x1b[K30 s of about 60 s  building, for 30 s") {
			t.Errorf("the last line is %q", shown.String()[max(0, shown.Len()-60):])
		}
		p.Note("a line\n")
		p.stop()
		if !strings.Contains(shown.String(), "\r\x1b[Ka line\n30 s") || !strings.HasSuffix(shown.String(), "\r\x1b[K") {
			t.Errorf("at the end there is %q", shown.String()[max(0, shown.Len()-80):])
		}
	})
}
