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

//go:embed inject/flight.go
var flightSource string

//go:embed inject/exit_go119.go.txt
var exitGo119 string

//go:embed inject/exit_go123.go.txt
var exitGo123 string

// File is one file to add to the program's main package.
type File struct {
	Name string
	Text string
}

// Hook is a way to learn of the program's end, through os.Exit or the return
// from main: a capture over the whole life of a program needs one.
type Hook int

// The hooks, by the Go version that brought them.
const (
	NoHook Hook = iota
	HookGo119
	HookGo123
)

// HookFor returns the hook of a toolchain by its minor version, 26 for Go
// 1.26.
func HookFor(minor int) Hook {
	switch {
	case minor >= 23:
		return HookGo123
	case minor >= 19:
		return HookGo119
	}
	return NoHook
}

// LinkFlag must be among the linker's flags for [HookGo123]: the runtime offers
// its list of exit hooks to its own coverage code only, and this opens the
// door.
const LinkFlag = "-checklinkname=0"

// Files returns the agent as files of the given package, or of its tests.
//
// Note: the hook is a function without a body, which the compiler accepts
// because it has a linkname (golang/go#23311); no assembly file is needed, so
// that cgo does not stand in the way.
func Files(pkg string, test bool, hook Hook) []File {
	suffix := ".go"
	if test {
		suffix = "_test.go"
	}
	rename := func(text string) string {
		return strings.Replace(text, "\npackage inject\n", "\npackage "+pkg+"\n", 1)
	}
	// Older toolchains leave the second one out, by its build constraint.
	files := []File{{"zz_loupe_agent" + suffix, rename(injectSource)}, {"zz_loupe_flight" + suffix, rename(flightSource)}}
	switch hook {
	case HookGo119:
		files = append(files, File{"zz_loupe_exit" + suffix, rename(exitGo119)})
	case HookGo123:
		files = append(files, File{"zz_loupe_exit" + suffix, rename(exitGo123)})
	}
	return files
}
