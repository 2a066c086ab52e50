package form_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime/trace"
	"testing"

	"loupe/labs/form"
)

func TestChoose(t *testing.T) {
	forms := map[string]int{"slow": 1, "fixed": 2}
	if got, err := form.Choose(forms, "fixed"); err != nil || got != 2 {
		t.Errorf("Choose = %d, %v", got, err)
	}
	const want = `unknown -mode "fast": there are fixed, slow`
	if _, err := form.Choose(forms, "fast"); err == nil || err.Error() != want {
		t.Errorf("Choose = %v, want %s", err, want)
	}
}

// TestTraced: the trace is there also after work that failed.
func TestTraced(t *testing.T) {
	failed := errors.New("failed")
	for _, want := range []error{nil, failed} {
		file := filepath.Join(t.TempDir(), "trace.out")
		err := form.Traced(file, func() error {
			if !trace.IsEnabled() {
				t.Error("the work is not traced")
			}
			return want
		})
		if !errors.Is(err, want) {
			t.Errorf("Traced = %v, want %v", err, want)
		}
		if data, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(data, []byte("go 1.")) || trace.IsEnabled() {
			t.Errorf("%d bytes of trace, %v", len(data), err)
		}
	}
}

func TestNotTraced(t *testing.T) {
	worked := false
	err := form.Traced("", func() error {
		worked = true
		if trace.IsEnabled() {
			t.Error("the work is traced")
		}
		return nil
	})
	if err != nil || !worked {
		t.Errorf("Traced = %v, worked: %v", err, worked)
	}
	if err := form.Traced(filepath.Join(t.TempDir(), "none", "trace.out"), func() error {
		t.Error("the work was done without its trace")
		return nil
	}); err == nil {
		t.Error("a trace was written into a folder that does not exist")
	}
}
