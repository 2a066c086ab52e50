package symbol

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// binDir holds the binaries that the tests build, each once.
var binDir string

func TestMain(m *testing.M) {
	var err error
	if binDir, err = os.MkdirTemp("", "symbol-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(binDir)
	os.Exit(code)
}

// target is one way of building a program.
type target struct {
	goos, goarch string
	flags        string // of go build, separated by blanks
	pkg          string // "./testdata/prog" if empty
	toolchain    string // GOROOT of another Go
	cgo          bool
}

func (g target) String() string {
	name := g.goos + "-" + g.goarch
	if g.toolchain != "" {
		name = strings.TrimPrefix(filepath.Base(g.toolchain), "toolchain@v0.0.1-")
	}
	if g.pkg != "" {
		name += "-" + filepath.Base(g.pkg)
	}
	return strings.NewReplacer(" ", "", "/", "_", "\"", "").Replace(name + g.flags)
}

var linux = target{goos: "linux", goarch: "amd64"}

var (
	builtMu sync.Mutex
	built   = map[string]func() (string, error){}
)

// build returns the path of the binary.
func (g target) build(t testing.TB) string {
	t.Helper()
	builtMu.Lock()
	once, ok := built[g.String()]
	if !ok {
		once = sync.OnceValues(g.run)
		built[g.String()] = once
	}
	builtMu.Unlock()
	name, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func (g target) run() (string, error) {
	name := filepath.Join(binDir, g.String())
	goCommand := "go"
	env := append(os.Environ(), "GOOS="+g.goos, "GOARCH="+g.goarch, "GOTOOLCHAIN=local", "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0")
	pkg := "./testdata/prog"
	if g.pkg != "" {
		pkg = g.pkg
	}
	if g.toolchain != "" {
		// An old Go knows neither this module nor the flags.
		goCommand = filepath.Join(g.toolchain, "bin", "go")
		env = append(env, "GOROOT="+g.toolchain, "GO111MODULE=off", "GOFLAGS=", "GOENV=off", "GOPATH="+binDir)
	}
	if g.cgo {
		env = append(env, "CGO_ENABLED=1")
	}
	args := append(append([]string{"build", "-o", name}, fields(g.flags)...), pkg)
	cmd := exec.Command(goCommand, args...)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", &buildError{g.String(), err, out}
	}
	return name, nil
}

// fields splits flags at blanks outside quotes.
func fields(s string) (out []string) {
	for i, part := range strings.Split(s, `"`) {
		if i%2 == 1 {
			out[len(out)-1] += part
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

type buildError struct {
	what string
	err  error
	out  []byte
}

func (e *buildError) Error() string {
	return "cannot build " + e.what + ": " + e.err.Error() + "\n" + string(bytes.TrimSpace(e.out))
}

// open builds and opens.
func (g target) open(t testing.TB) *Binary {
	t.Helper()
	return openFile(t, g.build(t), Options{})
}

func openFile(t testing.TB, name string, opt Options) *Binary {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	b, err := Open(f, opt)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
