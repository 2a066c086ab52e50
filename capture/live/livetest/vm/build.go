//go:build linux

package main

import (
	"context"
	"crypto/md5"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// packages have tests that look into processes or read what was left of them.
var packages = []string{"core", "program", "live", "heap"}

// looked are the programs that these tests look into, each with the flags that they
// are built with.
var looked = map[string][][]string{
	"capture/live/testdata/waiters":    {{}, {"-buildmode=pie"}, {"-ldflags=-w"}, {"-ldflags=-s -w"}, {"-ldflags=-s -w", "-buildmode=pie"}},
	"capture/live/testdata/burn":       {{}},
	"capture/live/testdata/heap":       {{}, {"-ldflags=-s -w"}},
	"capture/live/testdata/unprofiled": {{}, {"-ldflags=-s -w"}},
	"format/program/testdata/held":     {{}, {"-buildmode=pie", "-ldflags=-w"}, {"-buildmode=pie", "-ldflags=-s"}, {"-ldflags=-s"}, {"-gcflags=all=-N -l"}},
	"analysis/heap/heaptest/known":     {{}, {"-buildmode=pie"}},
	"analysis/heap/heaptest/held":      {{}, {"-trimpath"}, {"-buildmode=pie"}, {"-gcflags=all=-N -l"}},
	"analysis/heap/heaptest/busy":      {{"-trimpath"}, {"-gcflags=all=-N -l"}},
}

// builder fills the root of the machine's file system.
type builder struct {
	ctx        context.Context
	arch, root string
}

// programs builds what every machine has.
func (b *builder) programs() error {
	for _, program := range []string{"cmd/loupe", "labs/leak", "labs/stacktrace"} {
		if err := b.run("", "local", "build", "-pgo=off", "-o", filepath.Join(b.root, "bin", filepath.Base(program)), "./"+program); err != nil {
			return err
		}
	}
	return nil
}

// tests builds the tests, and the programs that they look into by some versions of
// Go.
func (b *builder) tests(versions []string) error {
	for _, pkg := range packages {
		if err := b.run("", "local", "test", "-pgo=off", "-c", "-o", filepath.Join(b.root, "src", pkg, "tests"), "./"+pkg); err != nil {
			return err
		}
		for _, data := range []string{"testdata", pkg + "test"} {
			from := filepath.Join(pkg, data)
			if _, err := os.Stat(from); err != nil {
				continue
			}
			if err := os.CopyFS(filepath.Join(b.root, "src", from), os.DirFS(from)); err != nil {
				return err
			}
		}
	}
	for source, ways := range looked {
		for _, version := range versions {
			for _, flags := range ways {
				if err := b.ahead(source, version, flags); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// ahead builds what a test in the machine will ask for.
func (b *builder) ahead(source, version string, flags []string) error {
	text, err := os.ReadFile(filepath.Join(source, "main.go"))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "loupe-vm-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), text, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+filepath.Base(source)+"\n\ngo 1.18\n"), 0o644); err != nil {
		return err
	}
	out := filepath.Join(b.root, "built", key(text, version, flags))
	args := slices.Concat([]string{"build", "-o", out}, flags, []string{"main.go"})
	return b.run(dir, version, args...)
}

// key names a program that was built ahead: the same as in goScript.
func key(source []byte, version string, flags []string) string {
	return strings.Join(slices.Concat([]string{fmt.Sprintf("%x", md5.Sum(source)), version}, flags), "_")
}

// goScript is the machine's go command.
const goScript = `#!/bin/sh
[ "$1" = build ] || { echo "there is no Go in this machine" >&2; exit 1; }
shift
case "$GOTOOLCHAIN" in ""|local) version=%s;; *) version=$GOTOOLCHAIN;; esac
key=$version
while [ $# -gt 1 ]; do
	case "$1" in
	-o) shift; out=$1;;
	-pgo=off) ;;
	*) key=${key}_$1;;
	esac
	shift
done
[ -d "$1" ] && source=$1/main.go || source=$1
cp "/built/$(md5sum <"$source" | cut -c 1-32)_$key" "$out"
`

// run runs the go command.
func (b *builder) run(dir, version string, args ...string) error {
	c := exec.CommandContext(b.ctx, "go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+b.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOTOOLCHAIN="+version)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
