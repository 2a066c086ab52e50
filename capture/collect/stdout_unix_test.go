//go:build unix

package collect

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"loupe/recording"
)

// TestStdoutLate: what a program has printed before it ended is kept, though nobody came
// to read it before the time for that was over, as on a busy machine.
func TestStdoutLate(t *testing.T) {
	store := &recording.Memory{}
	w, err := recording.Begin(store, recording.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := newStdoutLog(w, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Dup(int(l.child.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	child := os.NewFile(uintptr(fd), "child")
	defer child.Close() // somebody else holds the pipe
	fmt.Fprintln(child, "the answer")
	if err := l.ours.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	close(ended)
	l.begin(ended)
	if err := l.wait(); err != nil {
		t.Fatal(err)
	}
	if text, err := w.ReadFile("stdout.log"); err != nil || string(text) != "the answer\n" {
		t.Errorf("kept is %q, %v", text, err)
	}
}
