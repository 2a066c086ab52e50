package insight

import (
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestUnreadableError: a standard error that cannot be read is not fine.
func TestUnreadableError(t *testing.T) {
	r := recordingtest.New("title x\nphase bare 0s..10s\n")
	r.Put(recording.Entry{Path: "stderr.log", Kind: recording.Stderr}, []byte("x"))
	delete(r.Files, "stderr.log")
	for _, f := range examine(t, r) {
		if f.Rule == "FA01" && f.State != TooLittle {
			t.Errorf("FA01 is %s (%s)", f.State, f.Summary)
		}
	}
}
