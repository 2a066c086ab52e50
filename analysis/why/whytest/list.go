package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// benchmark is one run of a package's tests and benchmarks with a profile of
// every allocation.
type benchmark struct {
	name string
	// module is the one to copy from the module cache; "" is this module.
	module string
	pkg    string // of the module, as a path from its root
	run    string // which tests; "" for none
	bench  string // which benchmarks
	// extra is a file to put into the copy: the name and the text.
	extra, text string
}

// goldmarkBenchmark stands for the module's own, which is no part of what the
// module proxy gives.
const goldmarkBenchmark = `package goldmark_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

func BenchmarkConvert(b *testing.B) {
	src, err := os.ReadFile("_benchmark/cmark/_data.md")
	if err != nil {
		b.Fatal(err)
	}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	for b.Loop() {
		var out bytes.Buffer
		if err := md.Convert(src, &out); err != nil {
			b.Fatal(err)
		}
	}
}
`

var benchmarks = []benchmark{
	{name: "gin", module: "github.com/gin-gonic/gin@v1.10.0", pkg: ".", bench: "."},
	{name: "goldmark", module: "github.com/yuin/goldmark@v1.7.8", pkg: ".", bench: "Convert", extra: "loupe_test.go", text: goldmarkBenchmark},
	{name: "go-json", module: "github.com/goccy/go-json@v0.10.5", pkg: ".", run: ".", bench: "306"},
	{name: "bbolt", module: "go.etcd.io/bbolt@v1.4.0", pkg: ".", run: "TestBucket|TestTx", bench: "CreateBucketIfNotExists"},
	{name: "compress/flate", module: "github.com/klauspost/compress@v1.17.11", pkg: "./flate", bench: "Encode|Decode"},
	{name: "compress/zstd", module: "github.com/klauspost/compress@v1.17.11", pkg: "./zstd", bench: "Encoder_EncodeAllSimple|Decoder_DecodeAll"},
	{name: "loupe/analysis/calltree", pkg: "./analysis/calltree", run: ".", bench: "."},
	{name: "loupe/format/exectrace", pkg: "./format/exectrace", run: "Test"},
}

// runList runs the benchmarks whose name contains a text. What is in the work
// directory already is not run again.
func runList(ctx context.Context, m measurement, only, work string) error {
	if work == "" {
		dir, err := os.MkdirTemp("", "whytest-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		work = dir
	}
	for _, b := range benchmarks {
		if !strings.Contains(b.name, only) {
			continue
		}
		dir, err := b.checkout(ctx, work)
		if err != nil {
			return err
		}
		base := filepath.Join(work, strings.ReplaceAll(b.name, "/", "-"))
		m.name, m.dir, m.target, m.profile = b.name, dir, b.pkg, base+".mem.pb.gz"
		if _, err := os.Stat(m.profile); err != nil {
			run := b.run
			if run == "" {
				run = "^$"
			}
			cmd := exec.CommandContext(ctx, "go", "test", "-run", run, "-bench", b.bench+"|^$", "-benchtime", "20x", "-o", base+".test",
				"-memprofile", m.profile, "-memprofilerate", "1", b.pkg)
			if b.bench == "" {
				cmd.Args = append(cmd.Args[:4], cmd.Args[6:]...)
			}
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				fmt.Printf("%s: %v\n%s", b.name, err, out[max(0, len(out)-2000):]) // a failed test leaves a profile, too
			}
		}
		for _, binary := range []string{"", base + ".test"} {
			m.binary = binary
			m.name = b.name + map[bool]string{true: " without the binary", false: " with the binary"}[binary == ""]
			if err := m.explain(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkout copies the module, for the tests of some write files.
func (b benchmark) checkout(ctx context.Context, work string) (string, error) {
	if b.module == "" {
		return filepath.Abs(".")
	}
	path, _, _ := strings.Cut(b.module, "@")
	dir := filepath.Join(work, filepath.Base(path))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", b.module)
	cmd.Dir = work
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("cannot get %s: %w", b.module, err)
	}
	var info struct{ Dir string }
	if err := json.Unmarshal(out, &info); err != nil {
		return "", err
	}
	err = filepath.WalkDir(info.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(info.Dir, name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
	if err == nil && b.extra != "" {
		err = os.WriteFile(filepath.Join(dir, b.extra), []byte(b.text), 0o644)
	}
	return dir, err
}
