package labs_test

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// buildLoupe builds loupe into a folder and returns its name.
func buildLoupe(t *testing.T, dir string) string {
	t.Helper()
	loupe := filepath.Join(dir, "loupe")
	if runtime.GOOS == "windows" {
		loupe += ".exe"
	}
	output(t, "go", "build", "-o", loupe, "loupe/cmd/loupe")
	return loupe
}

// output runs a program and returns what it says.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// says checks that a text has all of the words.
func says(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in:\n%s", w, text)
		}
	}
}

// TestStreamWhy asks of the benchmark's own profile why algorithm one
// allocates, with the commands that the lab's doc.go names.
func TestStreamWhy(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds loupe and compiles what the benchmark uses once more")
	}
	dir := t.TempDir()
	loupe, binary, profile := buildLoupe(t, dir), filepath.Join(dir, "stream.test"), filepath.Join(dir, "mem.out")
	says(t, output(t, "go", "test", "-run", "none", "-bench", "One", "-benchmem", "-benchtime", "10000x", "-memprofile", profile, "-memprofilerate", "1", "-o", binary, "loupe/labs/stream"),
		"2 allocs/op")
	says(t, output(t, loupe, "pprof", "-list", "replaceOne|bytes.NewBuffer", "-why", "-alloc_space", binary, profile),
		"make([]byte, len(find)) escapes: window := make([]byte, len(find)), ", "passed to io.ReadAtLeast(",
		"&bytes.Buffer{...} escapes: ", "in := …, converted to an interface, ")
}

// TestBlockProfiles takes block and mutex profiles of tests with the commands
// that the docs of the labs name, and looks for the lines that wait.
func TestBlockProfiles(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds loupe and the tests of two labs")
	}
	dir := t.TempDir()
	loupe := buildLoupe(t, dir)
	f := func(lab string, args []string, words ...string) {
		t.Helper()
		binary := filepath.Join(dir, lab+".test")
		// TestWaits waits whatever the machine does; what is short is not left out.
		output(t, "go", "test", "-run", "TestModes|TestWaits", "-count", "3", "-blockprofile", filepath.Join(dir, "block.out"),
			"-mutexprofile", filepath.Join(dir, "mutex.out"), "-mutexprofilefraction", "1", "-o", binary, "loupe/labs/"+lab)
		args[len(args)-1] = filepath.Join(dir, args[len(args)-1])
		says(t, output(t, loupe, append([]string{"pprof"}, append(args[:len(args)-1], binary, args[len(args)-1])...)...), words...)
	}
	f("mutex", []string{"-list", "heldCache", "block.out"}, "c.mu.Lock()")
	f("mutex", []string{"-top", "-cum", "-nodefraction=0", "mutex.out"}, "Type: delay", "sync.(*Mutex).Unlock", "mutex.(*heldCache).get")
	f("blocking", []string{"-top", "-cum", "-nodefraction=0", "block.out"}, "Type: delay", "database/sql.(*DB).conn", "blocking.lookUp")
}
