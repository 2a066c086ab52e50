// Package agent holds the code that loupe builds into a recorded program.
//
// The code lives in the package inject, compiled and tested there like any
// other; [Options.Files] gives it as files of package main (or of a package
// under test) for `go build -overlay`, and [Options.Std] changes three places of
// the standard library in the same way. It uses the standard library alone,
// compiles with Go 1.17 and later at any language version, touches no global of
// the program and sleeps until it is asked. Without the environment variable
// LOUPE_AGENT it does nothing at all.
//
// A program with the agent behaves as it does without: what the agent needs is
// taken out of the environment before the program can see it, its goroutines
// count as those of the runtime, a deadlock ends the program with the runtime's
// own words, and a profile or trace that the program takes itself goes before
// the agent's. `loupe doctor -agent` holds both builds of a program against each
// other.
package agent

import (
	"embed"
	"fmt"
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
	// OwnEnv names a directory for what the program captures of itself:
	// files cpu-BEGIN-END and trace-BEGIN-END, in ns of the wall clock; one
	// without an END was not ended by the program.
	OwnEnv = "LOUPE_AGENT_OWN"
	// GodebugEnv is the GODEBUG that the program has without loupe, with "="
	// before it, or "-" where there is none.
	GodebugEnv = "LOUPE_AGENT_GODEBUG"
)

//go:embed inject/inject.go inject/deadlock.go inject/tap.go inject/peak.go inject/flight.go inject/vars.go inject/socket_*.go inject/*.go.txt std/*.go.txt repeats/*.go repeats/*.s repeats/*.txt
var sources embed.FS

// File is one file to add to a package.
type File struct {
	Name string
	Text string
}

// Options say what is built, and how far its toolchain lets the agent go.
type Options struct {
	// Package is the name of the package that takes the agent, Test tells
	// that it is built for its tests.
	Package string
	Test    bool
	// OS is the GOOS of the program.
	OS string
	// Minor is the minor version of the toolchain, 26 for Go 1.26.
	Minor int
	// Hook lets the agent reach into the runtime, with [Options.Hooked]:
	// it sees the end of the program, and a deadlock.
	Hook bool
	// Vars has it read the variables that the program publishes: it imports expvar.
	Vars bool
	// Share joins it to what [Options.Std] changes.
	Share bool
}

// Hooked tells whether the toolchain has what [Options.Hook] needs, and which
// flag the linker must be given for it: the runtime offers its exit hooks to its
// own coverage code only, and the flag opens the door.
func (o Options) Hooked() (ok bool, linkFlag string) {
	switch {
	case o.Minor >= 23:
		return true, "-checklinkname=0"
	case o.Minor >= 20:
		return true, ""
	}
	return false, ""
}

// Files returns the agent as files of the package, or of its tests.
//
// Note: a hook is a function without a body, which the compiler accepts
// because it has a linkname (golang/go#23311); no assembly file is needed, so
// that cgo does not stand in the way.
func (o Options) Files() []File {
	names := []string{"inject.go", "deadlock.go", "tap.go", "peak.go"}
	switch o.OS {
	case "linux":
		names = append(names, "socket_unix.go", "socket_linux.go")
	case "windows", "plan9", "js", "wasip1":
		names = append(names, "socket_net.go")
	default:
		names = append(names, "socket_unix.go", "socket_bsd.go")
	}
	if o.Minor >= 25 {
		names = append(names, "flight.go")
	}
	if o.Vars {
		names = append(names, "vars.go")
	}
	if o.Hook {
		names = append(names, "runtime.go.txt")
		if o.Minor >= 23 {
			names = append(names, "exit_go123.go.txt")
		} else {
			names = append(names, "exit_go120.go.txt")
		}
	}
	if o.Share {
		names = append(names, "share.go.txt")
		if o.Minor >= 25 {
			names = append(names, "share_flight.go.txt")
		}
	}
	suffix := ".go"
	if o.Test {
		suffix = "_test.go"
	}
	var files []File
	for _, name := range names {
		base, _, _ := strings.Cut(name, ".")
		// What stands before the package clause is for readers, and tags for
		// what has been chosen here.
		_, text, _ := strings.Cut("\n"+source("inject/"+name), "\npackage inject\n")
		text = "package " + o.Package + "\n" + text
		// A name that ends in a system would be left out on the others.
		files = append(files, File{"zz_loupe_" + strings.ReplaceAll(base, "_", "") + suffix, text})
	}
	return files
}

func source(name string) string {
	text, err := sources.ReadFile(name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(text)
}

// Change is how one package of the standard library is built for the agent.
type Change struct {
	// Package is its import path.
	Package string
	// Rename has functions of the package get another name: their
	// declarations, up to the parameters, by file.
	Rename map[string][]Renamed
	// Add are files of the package.
	Add []File
}

// Renamed is a declaration and what it becomes.
type Renamed struct{ From, To string }

// envPackage is a package of the standard library that is empty, but for an
// experiment: nobody imports it, it may have any import, and its path sorts before
// nearly all others, so that it is initialized before them.
//
// Note: a package of our own would do the same, but Go before 1.26 looks for
// those of the standard library in the file system alone.
const envPackage = "arena"

// Std returns how the standard library is built for [Options.Share]. A program
// that profiles or traces itself gets its way, and loupe a copy of it.
func (o Options) Std() []Change {
	own := func(pkg, what string) File {
		return File{"zz_loupe_own.go", strings.NewReplacer("PACKAGE", pkg, "WHAT", what).Replace(source("std/own.go.txt"))}
	}
	trace := Change{
		Package: "runtime/trace",
		Rename: map[string][]Renamed{"trace.go": {
			{"func Start(", "func loupeBegin("}, {"func Stop(", "func loupeEnd("},
		}},
		Add: []File{own("trace", "an execution trace"), {"zz_loupe_trace.go", source("std/trace.go.txt")}},
	}
	if o.Minor >= 25 {
		trace.Rename["flightrecorder.go"] = []Renamed{{"func (fr *FlightRecorder) Start(", "func (fr *FlightRecorder) loupeStart("}}
		trace.Add = append(trace.Add, File{"zz_loupe_flight.go", source("std/flight.go.txt")})
	}
	return []Change{
		{Package: envPackage, Add: []File{{"zz_loupe_env.go", source("std/env.go.txt")}}},
		{
			Package: "runtime/pprof",
			Rename: map[string][]Renamed{
				"pprof.go": {{"func StartCPUProfile(", "func loupeBegin("}, {"func StopCPUProfile(", "func loupeEnd("}},
				"proto.go": {{"func newProfileBuilder(", "func loupeNewBuilder("}},
			},
			Add: []File{own("pprof", "a CPU profile"), {"zz_loupe_pprof.go", source("std/pprof.go.txt")}},
		},
		trace,
	}
}

// Apply renames what the change renames in the text of a file.
func (c Change) Apply(file, text string) (string, error) {
	for _, r := range c.Rename[file] {
		if strings.Count("\n"+text, "\n"+r.From) != 1 {
			return "", fmt.Errorf("cannot change %s/%s: it has no %s…", c.Package, file, r.From)
		}
		text = strings.TrimPrefix(strings.Replace("\n"+text, "\n"+r.From, "\n"+r.To, 1), "\n")
	}
	return text, nil
}
