package symbol

import (
	"bufio"
	"fmt"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"loupe/internal/long"
)

// TestObjdump holds every instruction of whole programs against go tool
// objdump, which prints through the same code as go tool pprof.
func TestObjdump(t *testing.T) {
	t.Parallel()
	checkObjdump(t, linux.build(t), `^net/`, true)
}

// TestObjdumpEverywhere does so for other systems and processors, and for all of a
// program: it takes go tool objdump minutes.
func TestObjdumpEverywhere(t *testing.T) {
	long.Only(t, "it builds for other systems, and disassembles millions of instructions twice")
	for _, tt := range []struct {
		target
		re  string
		gnu bool
	}{
		{target: linux, re: `^([a-b]|run|net/h|type)`},
		{target: target{goos: "linux", goarch: "amd64", flags: "-buildmode=pie -trimpath"}, re: `^[e-h]`},
		{target: target{goos: "linux", goarch: "arm64"}, re: `^(in|m|s)`},
		{target: target{goos: "linux", goarch: "arm64"}, re: `^net/`, gnu: true},
		{target: target{goos: "darwin", goarch: "arm64"}, re: `^(ru)`},
		{target: target{goos: "darwin", goarch: "amd64"}, re: `^[d-fn]`},
		{target: target{goos: "windows", goarch: "amd64"}, re: `^(run|os)`},
		{target: target{goos: "linux", goarch: "386"}, re: `^run`},
		{target: target{goos: "linux", goarch: "arm"}, re: `^run`},
	} {
		name := fmt.Sprint(tt.target, tt.re, tt.gnu)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkObjdump(t, tt.build(t), tt.re, tt.gnu)
		})
	}
}

func checkObjdump(t *testing.T, name, re string, gnu bool) {
	t.Helper()
	args := []string{"tool", "objdump", "-s", re}
	syntax := GoSyntax
	if gnu {
		args, syntax = append(args, "-gnu"), BothSyntaxes
	}
	cmd := exec.Command("go", append(args, name)...)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	want := bufio.NewScanner(pipe)
	want.Buffer(nil, 1<<20)
	next := func() string {
		for want.Scan() {
			if line := want.Text(); line != "" {
				return strings.Join(strings.FieldsFunc(line, func(r rune) bool { return r == '\t' }), "\t")
			}
		}
		return "(end)"
	}
	b := openFile(t, name, Options{})
	syms, err := b.Symbols(regexp.MustCompile(re))
	if err != nil {
		t.Fatal(err)
	}
	var funcs, insts, bad int
	check := func(got string) {
		t.Helper()
		want := next()
		if rest, ok := strings.CutPrefix(got, "  :-1\t"); ok {
			// C code has no table of lines; objdump reads what is at offset 0.
			_, want, _ = strings.Cut(want, "\t")
			got = rest
		}
		if got != want {
			if bad++; bad <= 10 {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		}
	}
	text := b.img.section(".text")
	for _, s := range syms {
		switch s.Name {
		case "runtime.text", "text", "_text", "runtime.etext", "etext", "_etext":
			continue
		}
		if !s.IsText() || s.Addr < text.addr || s.Addr+s.Size <= text.addr || s.Addr >= text.addr+text.size {
			continue
		}
		funcs++
		file, _ := b.Line(s.Addr)
		check(fmt.Sprintf("TEXT %s(SB) %s", s.Name, file))
		list, err := b.Disassemble(s.Addr, s.Addr+s.Size, syntax)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range list {
			line := in.Line
			if line == 0 {
				line = -1 // so says objdump of what has no position
			}
			check(fmt.Sprintf("  %s:%d\t%#x\t%s\t%s", base(in.File), line, in.PC, b.Words(in), in.Text))
		}
		insts += len(list)
		if bad > 10 {
			break
		}
	}
	if got := next(); got != "(end)" && bad == 0 {
		t.Errorf("objdump goes on: %s", got)
	}
	if err := cmd.Process.Kill(); err == nil {
		cmd.Wait()
	}
	if funcs < 500 {
		t.Errorf("only %d functions matched", funcs)
	}
	t.Logf("%d functions, %d instructions", funcs, insts)
}

func base(file string) string {
	if file == "" {
		return ""
	}
	return path.Base(file)
}
