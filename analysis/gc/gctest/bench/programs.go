package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program is one that ends by itself and does the same work each time.
type program struct {
	name string
	// prepare builds it below a folder and returns how it is started.
	prepare func(ctx context.Context, dir string) ([]string, error)
}

var programs = []program{
	{"trees", own("trees")},
	{"cache", own("cache")},
	{"paced", own("paced")},
	{"json", own("json")},
	{"growing", own("growing")},
	{"gofmt", gofmt},
	{"compile", compile},
	{"check", check},
}

func names() (out []string) {
	for _, p := range programs {
		out = append(out, p.name)
	}
	return out
}

// own is one of the ways of the program work.
func own(way string) func(context.Context, string) ([]string, error) {
	return func(ctx context.Context, dir string) ([]string, error) {
		file := filepath.Join(dir, "target")
		_, err := run(ctx, "", "go", "build", "-pgo=off", "-o", file, "loupe/analysis/gc/gctest/bench/target")
		return []string{file, way}, err
	}
}

// gofmt formats the standard library.
func gofmt(ctx context.Context, dir string) ([]string, error) {
	file := filepath.Join(dir, "gofmt")
	if _, err := run(ctx, "", "go", "build", "-o", file, "cmd/gofmt"); err != nil {
		return nil, err
	}
	// Folders would do, but for test data that is no Go.
	files, err := run(ctx, "", "go", "list", "-f", "{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}\n{{end}}", "std", "cmd/compile/...")
	return append([]string{file, "-l"}, strings.Fields(files)...), err
}

// compile is the Go compiler at work on net/http. It starts with a larger heap
// by default, which GOGC in its environment switches off.
func compile(ctx context.Context, dir string) ([]string, error) {
	const target = "net/http"
	exports, err := run(ctx, "", "go", "list", "-export", "-deps", "-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}", target)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "importcfg")
	// Inside the standard library a package is imported by its vendored name.
	var maps bytes.Buffer
	for line := range strings.Lines(exports) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "packagefile "), "=")
		if short, ok := strings.CutPrefix(name, "vendor/"); ok {
			fmt.Fprintf(&maps, "importmap %s=%s\n", short, name)
		}
	}
	if err := os.WriteFile(config, append(maps.Bytes(), exports...), 0o666); err != nil {
		return nil, err
	}
	files, err := run(ctx, "", "go", "list", "-f", "{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}\n{{end}}", target)
	if err != nil {
		return nil, err
	}
	tool, err := run(ctx, "", "go", "tool", "-n", "compile")
	if err != nil {
		return nil, err
	}
	command := []string{strings.TrimSpace(tool), "-p", target, "-std", "-complete", "-importcfg", config, "-o", filepath.Join(dir, "out.a")}
	return append(command, strings.Fields(files)...), nil
}

// check is staticcheck, of the module proxy, at work on the standard library.
func check(ctx context.Context, dir string) ([]string, error) {
	module := filepath.Join(dir, "check")
	if err := os.MkdirAll(module, 0o777); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"mod", "init", "check"}, {"get", "honnef.co/go/tools/cmd/staticcheck@v0.6.1"},
		{"build", "-pgo=off", "-o", "staticcheck", "honnef.co/go/tools/cmd/staticcheck"},
	} {
		if _, err := run(ctx, module, "go", args...); err != nil {
			return nil, err
		}
	}
	// It looks for facts in a cache, which would make the second run a
	// different one.
	wrapper := filepath.Join(module, "fresh")
	script := "#!/bin/sh\nrm -rf cache\nSTATICCHECK_CACHE=$PWD/cache ./staticcheck -checks none net/http || true\n"
	return []string{"sh", "-c", "cd " + module + " && " + strings.TrimPrefix(script, "#!/bin/sh\n")}, os.WriteFile(wrapper, []byte(script), 0o777)
}

func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	var out, failed bytes.Buffer
	c.Stdout, c.Stderr = &out, &failed
	if err := c.Run(); err != nil {
		return "", errors.Join(fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err), errors.New(failed.String()))
	}
	return out.String(), nil
}
