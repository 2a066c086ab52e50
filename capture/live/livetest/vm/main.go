//go:build linux

// Command vm runs the tests of live processes and cores in a virtual machine: on
// another processor, or under a kernel that is set to refuse. It needs QEMU, a
// kernel as Debian packs it (dpkg-deb -x linux-image-*-cloud-arm64_*.deb DIR) and a
// static busybox of the same architecture (busybox-static); nothing is installed in
// the machine but what it makes of them: a file system in memory with the test
// binaries, and with programs that several versions of Go have built.
//
//	go run ./capture/live/livetest/vm -arch arm64 -kernel DIR -busybox DIR/bin/busybox -go go1.21.13,go1.25.5
//
// The tests build the programs that they look into. The machine has no Go: its "go
// build" copies the program that was built ahead from the same source with the
// same flags.
//
// With -script a shell script runs instead of the tests; loupe and the labs leak and
// stacktrace are there, the files that the command line names are in /files, and
// what the script leaves in /out comes back in the folder of -out.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("vm: ")
	var m machine
	flag.StringVar(&m.arch, "arch", "arm64", "`architecture`: arm64 or amd64")
	flag.StringVar(&m.kernel, "kernel", "", "`folder` that a package linux-image was unpacked into")
	flag.StringVar(&m.busybox, "busybox", "", "`file`: a static busybox for that architecture")
	flag.StringVar(&m.loader, "loader", "", "`file`: the loader of that architecture (ld-linux-*.so.* of package libc6), without\nwhich position-independent programs do not start")
	flag.StringVar(&m.options, "append", "", "more `options` for the kernel")
	flag.StringVar(&m.cpu, "cpu", "", "`model` of the processor, as QEMU calls it")
	flag.StringVar(&m.out, "out", "", "`folder` for what is left in /out")
	flag.IntVar(&m.memory, "memory", 2048, "memory in `MiB`")
	flag.DurationVar(&m.patience, "timeout", 20*time.Minute, "`time` after which the machine is stopped")
	versions := flag.String("go", runtime.Version(), "`versions` of Go that build the programs which are looked into")
	tests := flag.String("run", "", "run only the tests whose names match this `pattern`")
	script := flag.String("script", "", "shell `script` to run instead of the tests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &m, strings.Split(*versions, ","), *tests, *script, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, m *machine, versions []string, tests, script string, files []string) error {
	dir, err := os.MkdirTemp("", "loupe-vm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root := filepath.Join(dir, "root")
	b := builder{ctx: ctx, arch: m.arch, root: root}
	if err := b.programs(); err != nil {
		return err
	}
	text := testScript(versions, tests)
	if script == "" {
		if err := b.tests(versions); err != nil {
			return err
		}
	} else {
		b, err := os.ReadFile(script)
		if err != nil {
			return err
		}
		text = string(b)
	}
	if err := m.furnish(root, text, files); err != nil {
		return fmt.Errorf("cannot make the file system: %w", err)
	}
	return m.boot(ctx, dir)
}
