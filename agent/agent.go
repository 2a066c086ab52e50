// Package agent holds the code that loupe builds into a recorded program.
//
// The code lives in the package inject, compiled and tested there like any
// other; [Files] gives it as files of package main (or of a package under
// test) for `go build -overlay`. It uses the standard library alone, compiles
// with Go 1.16 and later at any language version, touches no global of the
// program and sleeps until it is asked. Without the environment variable
// LOUPE_AGENT it does nothing at all.
package agent

import (
	_ "embed"
	"strings"
)

// Environment variables through which the injected code is steered. It
// removes them from the program's environment, so that children do not see
// them.
const (
	// SocketEnv names the Unix socket that the agent listens on.
	SocketEnv = "LOUPE_AGENT"
	// WholeEnv asks for one capture over the whole life of the program,
	// as "kind:path": cpu, trace, or a profile that is written at exit.
	WholeEnv = "LOUPE_AGENT_WHOLE"
)

//go:embed inject/inject.go
var injectSource string

//go:embed inject/exit_go119.go.txt
var exitGo119 string

//go:embed inject/exit_go123.go.txt
var exitGo123 string

// File is one file to add to the program's main package.
type File struct {
	Name string
	Text string
}

// LinkFlag must be among the linker's flags for the exit hook of Go 1.23 and
// later: the runtime offers its list of exit hooks to its own coverage code
// only, and this opens the door.
const LinkFlag = "-checklinkname=0"

// Files returns the agent as files of the given package. With exitHook it
// also learns of the program's end through os.Exit or the return from main,
// which a capture over the whole life of a short program needs; that takes an
// assembly file, so it is not possible in a package that uses cgo, and
// [LinkFlag] when building with Go 1.23 or later.
func Files(pkg string, test, exitHook bool) []File {
	suffix := ".go"
	if test {
		suffix = "_test.go"
	}
	rename := func(text string) string {
		return strings.Replace(text, "\npackage inject\n", "\npackage "+pkg+"\n", 1)
	}
	files := []File{{"zz_loupe_agent" + suffix, rename(injectSource)}}
	if exitHook {
		files = append(files,
			File{"zz_loupe_exit_go119" + suffix, rename(exitGo119)},
			File{"zz_loupe_exit_go123" + suffix, rename(exitGo123)},
			// A function without a body is legal only in a package
			// with assembly.
			File{"zz_loupe_empty.s", "// Lets the compiler accept functions that the linker resolves.\n"})
	}
	return files
}
