package collect

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
)

// TestGone: a look that fails because there is no program any more ends the phase, and any other
// failure is one.
func TestGone(t *testing.T) {
	r := &running{src: &httpSource{}}
	for err, want := range map[error]bool{
		fmt.Errorf("cannot fetch: %w", syscall.ECONNREFUSED): true, fmt.Errorf("cannot keep it: %w", io.ErrUnexpectedEOF): true,
		fmt.Errorf("cannot ask: %w", errNoAgent): true, errors.New("404 Not Found"): false, syscall.ENOSPC: false,
	} {
		if got := r.gone(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
	if r.gone(nil) {
		t.Error("without a failure")
	}
}
