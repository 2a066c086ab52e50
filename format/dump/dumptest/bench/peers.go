package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// buildPeers builds what loupe is measured against, in a module of its own.
func buildPeers(tmp, binary string) error {
	dir := filepath.Join(tmp, "module")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"go.mod": peersModule, "main.go": peersMain} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"mod", "tidy"}, {"build", "-o", binary, "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build the other parsers (they come from the network; -ways loupe,loupe-stream does without): %w:\n%s", err, out)
		}
	}
	return nil
}

const peersModule = `module peers

go 1.25

require (
	github.com/DataDog/gostackparse v0.7.0
	github.com/maruel/panicparse/v2 v2.5.0
)
`

const peersMain = `package main

import (
	"fmt"
	"io"
	"os"

	"github.com/DataDog/gostackparse"
	"github.com/maruel/panicparse/v2/stack"
)

func main() {
	file, err := os.Open(os.Args[2])
	if err != nil {
		panic(err)
	}
	if os.Args[1] == "gostackparse" {
		goroutines, _ := gostackparse.Parse(file)
		fmt.Println(len(goroutines), -1)
		return
	}
	opts := stack.DefaultOpts()
	opts.GuessPaths, opts.AnalyzeSources, opts.NameArguments = false, false, false
	s, _, err := stack.ScanSnapshot(file, io.Discard, opts)
	if s == nil {
		panic(err)
	}
	if os.Args[1] == "panicparse" {
		fmt.Println(len(s.Goroutines), -1)
		return
	}
	fmt.Println(len(s.Goroutines), len(s.Aggregate(stack.AnyValue).Buckets))
}
`
