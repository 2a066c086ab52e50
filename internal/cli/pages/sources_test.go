package pages

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestFilesState follows a file that grows, ends, and goes away.
func TestFilesState(t *testing.T) {
	name := filepath.Join(t.TempDir(), "trace.out")
	write := func(text string, age time.Duration) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write("go 1.26 trace", 0)
	look := filesState([]string{name})
	before, live := look()
	if live {
		t.Error("a file that has not changed is being written, it says")
	}
	step := func(what string, wantLive bool) {
		t.Helper()
		state, live := look()
		if state == before {
			t.Errorf("%s: the state is what it was", what)
		}
		if live != wantLive {
			t.Errorf("%s: live is %t, want %t", what, live, wantLive)
		}
		before = state
	}
	write("go 1.26 trace and more", 0)
	step("it grows", true)
	write("go 1.26 trace and more", 2*quiet)
	step("it has not grown for a while", false)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	step("it is gone", false)
}
