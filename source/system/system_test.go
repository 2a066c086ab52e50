package system_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"loupe/source/system"
)

func TestMap(t *testing.T) {
	for _, size := range []int{0, 1, 1 << 20} {
		name := filepath.Join(t.TempDir(), "file")
		want := bytes.Repeat([]byte("x"), size)
		if err := os.WriteFile(name, want, 0o666); err != nil {
			t.Fatal(err)
		}
		data, unmap, err := system.Map(name)
		if err != nil || !bytes.Equal(data, want) {
			t.Errorf("%d bytes came as %d, %v", size, len(data), err)
			continue
		}
		if err := unmap(); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := system.Map(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there is mapped")
	}
}

// TestPeakMemory asks for the memory of a process that fills some.
func TestPeakMemory(t *testing.T) {
	const filled = 64 << 20
	if os.Getenv("LOUPE_TEST_FILL") != "" {
		block := make([]byte, filled)
		for i := range block {
			block[i] = byte(i)
		}
		fmt.Println(len(block), block[filled-1])
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=TestPeakMemory$")
	cmd.Env = append(os.Environ(), "LOUPE_TEST_FILL=1")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	peak := system.PeakMemory(cmd.ProcessState)
	if told := runtime.GOOS != "windows"; told && (peak < filled || peak > 4*filled) || !told && peak != 0 {
		t.Errorf("a process that filled %d bytes had %d", filled, peak)
	}
}

func ExampleMap() {
	name := filepath.Join(os.TempDir(), "loupe-example-map")
	defer os.Remove(name)
	os.WriteFile(name, []byte("mapped"), 0o600)
	data, unmap, err := system.Map(name)
	if err != nil {
		return
	}
	defer unmap()
	fmt.Println(string(data))
	// Output: mapped
}
