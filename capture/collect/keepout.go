package collect

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A program without the agent gets GODEBUG through its environment, and so does
// everything that it starts. For most that is harmless. The go command is
// different: it keeps what the compiler prints with what the compiler made, and
// every later build of the user would print it again.

// environmentNote tells of it.
const environmentNote = "without the agent GODEBUG is in the program's environment: Go programs that it starts print their traces as well, but for the go command"

// isToolchain tells whether the program is a part of Go's own toolchain.
func (p *Program) isToolchain() bool {
	return p.Target.Go != "" && strings.HasPrefix(p.Target.Package, "cmd/")
}

// debugs returns the GODEBUG that is set for loupe: none for a toolchain.
func (p *Program) debugs(want string) string {
	if p.isToolchain() {
		return ""
	}
	return want
}

// keepOut makes a folder with a go command that does not have loupe's GODEBUG,
// and returns the PATH which finds that before the user's. users is the GODEBUG
// that the user has set, "=value" or "-". An empty path means that there is no
// go command.
func keepOut(dir, path, users string) (string, error) {
	if runtime.GOOS == "windows" {
		return "", nil
	}
	real, err := exec.LookPath("go")
	if err != nil {
		return "", nil
	}
	if real, err = filepath.Abs(real); err != nil {
		return "", err
	}
	restore := "unset GODEBUG"
	if value, ok := strings.CutPrefix(users, "="); ok {
		restore = "export GODEBUG=" + shellQuote(value)
	}
	bin := filepath.Join(dir, "bin-go")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return "", err
	}
	text := fmt.Sprintf("#!/bin/sh\n# loupe sets GODEBUG for the program that it records, not for the toolchain.\n%s\nPATH=${PATH#%s:}\nexec %s \"$@\"\n",
		restore, bin, shellQuote(real))
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(text), 0o700); err != nil {
		return "", err
	}
	return bin + string(filepath.ListSeparator) + path, nil
}

// shellQuote makes a word of s for a shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
