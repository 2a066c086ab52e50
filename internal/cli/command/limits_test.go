package command

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"loupe/source/system"
)

// TestSurvive: a fault in a mapping is an error, and a nil pointer still a panic.
func TestSurvive(t *testing.T) {
	name := filepath.Join(t.TempDir(), "index")
	if err := os.WriteFile(name, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	data, unmap, err := system.Map(name)
	if err != nil {
		t.Fatal(err)
	}
	defer unmap()
	if err := os.Truncate(name, 0); err != nil {
		t.Fatal(err)
	}
	sum := byte(0)
	if err := survive(func() error { sum += data[len(data)-1]; return nil }); runtime.GOOS == "linux" && (err == nil || !strings.Contains(err.Error(), "became shorter")) {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a nil pointer is no panic")
		}
	}()
	var none *Env
	_ = survive(func() error { return none.Ctx.Err() })
}
