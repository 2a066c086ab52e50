package stack

import (
	"slices"
	"strings"
)

// Origin says whose code a function is.
type Origin uint8

// The origins of code, from the machine up to the user.
const (
	Native     Origin = iota // no Go package: assembly helpers, C, the kernel's vdso
	Runtime                  // the Go runtime: scheduler, allocator, garbage collector, maps
	Standard                 // the rest of the standard library
	Dependency               // another module
	User                     // the user's own module, and package main
)

var originNames = [...]string{"native", "runtime", "standard", "dependency", "user"}

// String returns the origin in lower case: "runtime".
func (o Origin) String() string {
	if int(o) < len(originNames) {
		return originNames[o]
	}
	return "unknown"
}

// Scope tells the user's code from that of others. The zero Scope knows no
// module: then all code that is not the standard library's is the user's.
type Scope struct {
	// Modules are the paths of the user's modules, as in go.mod. A name
	// without a dot ("project", "loupe") is fine.
	Modules []string
}

// Origin says whose code a function is, judging by its name.
func (s Scope) Origin(function string) Origin {
	pkg := Package(function)
	if pkg == "" {
		if isRuntimeHelper(function) {
			return Runtime
		}
		return Native
	}
	if isAgent(function[len(pkg):]) {
		return Standard
	}
	return s.byPackage(pkg)
}

// byPackage says whose code a package is.
func (s Scope) byPackage(pkg string) Origin {
	// The user comes first: a module may be called "log" or "internal/x".
	for _, module := range s.Modules {
		if within(pkg, module) || within(pkg, module+"_test") {
			return User
		}
	}
	switch {
	case pkg == "main" || within(pkg, "command-line-arguments"):
		return User
	case IsRuntime(pkg):
		return Runtime
	case IsStandard(pkg):
		return Standard
	case len(s.Modules) > 0:
		return Dependency
	}
	return User
}

// isAgent tells whether a function is of loupe's own agent, which is built into
// the user's package: names there begin so (package agent/inject). name is what
// stands behind the package: ".loupeServe", ".(*loupeTap).Write".
func isAgent(name string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "."), "(*"), "loupe")
	return ok && rest != "" && 'A' <= rest[0] && rest[0] <= 'Z'
}

// IsAgent says whether a function is of loupe's own agent, in whatever package it was built into.
func IsAgent(function string) bool { return isAgent(function[len(Package(function)):]) }

// AgentFiles begin the names of the files that loupe adds to a recorded program.
const AgentFiles = "zz_loupe_"

// IsAgentFrame says whether a frame is of loupe's own agent: of a file that loupe has added. A function of another file may
// have a name like those of the agent; only where no file is known, the name alone tells.
func IsAgentFrame(f Frame) bool {
	if f.File == "" {
		return IsAgent(f.Func)
	}
	return strings.HasPrefix(f.File[strings.LastIndexAny(f.File, `/\`)+1:], AgentFiles)
}

// IsUser says whether the frame runs the user's own code. It has the shape
// that calltree asks for.
func (s Scope) IsUser(f Frame) bool { return s.Of(f) == User }

// Of says whose code a frame runs: as [Scope.Origin], but by its file for loupe's own agent ([IsAgentFrame]), and for closures of what was inlined. Where strings.SplitSeq is inlined
// into main.parse, its closure has the name of one of the caller, "main.parse.SplitSeq.splitSeq.func1", and the file of its
// own: one of the standard library, or of the module cache.
func (s Scope) Of(f Frame) Origin {
	origin := s.Origin(f.Func)
	switch {
	case origin > Standard && IsAgentFrame(f):
		return Standard
	case origin == Standard && strings.Contains(f.Func, "loupe") && IsAgent(f.Func) && !IsAgentFrame(f):
		origin = s.byPackage(Package(f.Func)) // a function of the program's own whose name is like that
	}
	if n := len(f.Func); origin != User || n == 0 || f.Func[n-1] < '0' || f.Func[n-1] > '9' {
		return origin
	}
	end := strings.LastIndexByte(f.File, '/')
	if end < 0 || Enclosing(f.Func) == f.Func {
		return origin
	}
	dir := f.File[:end]
	if pkg := Package(f.Func); pkg == dir || pkg != "main" && strings.HasSuffix(dir, "/"+pkg[strings.LastIndexByte(pkg, '/')+1:]) {
		return origin
	}
	cached := strings.Contains(dir, "@v")
	if strings.HasPrefix(dir, "/") || strings.Contains(dir, ":/") {
		const root = "/src/"
		dir = strings.TrimPrefix(dir[strings.LastIndex(dir+"/", root)+1:], root[1:])
	}
	switch {
	case IsStandard(dir) && !within(dir, "cmd"): // commands are inlined nowhere
		return Standard
	case cached:
		return Dependency
	}
	return origin
}

// IsOutsideStandard says whether the frame runs code of the user or of a
// dependency: what somebody other than the Go team can change.
func (s Scope) IsOutsideStandard(f Frame) bool { return s.Of(f) >= Dependency }

// IsRuntime says whether a package is the Go runtime itself: the code that
// runs because of the language, not because somebody has called it by name.
// runtime/pprof and its neighbours are ordinary standard library.
func IsRuntime(pkg string) bool {
	return pkg == "runtime" || slices.Contains(runtimePackages, pkg) ||
		within(pkg, "runtime/internal") || within(pkg, "internal/runtime")
}

// IsStandard says whether a package belongs to the standard library or to the
// Go tool chain, the runtime and vendored packages included. It compares the
// first element of the path with the list of Go 1.26: "no dot" would be a
// shorter rule, but then the modules "loupe" and "project" were standard.
func IsStandard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	_, ok := slices.BinarySearch(standardRoots, first)
	return ok
}

func within(pkg, root string) bool {
	return strings.HasPrefix(pkg, root) && (len(pkg) == len(root) || pkg[len(root)] == '/')
}

var runtimePackages = []string{
	"internal/abi", "internal/bytealg", "internal/chacha8rand", "internal/cpu",
	"internal/stringslite",
}

// standardRoots are the first elements of all import paths in GOROOT/src,
// sorted. TestStandardRoots compares them with go list.
var standardRoots = []string{
	"archive", "bufio", "builtin", "bytes", "cmd", "cmp", "compress", "container",
	"context", "crypto", "database", "debug", "embed", "encoding", "errors",
	"expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal",
	"io", "iter", "log", "maps", "math", "mime", "net", "os", "path", "plugin",
	"reflect", "regexp", "runtime", "simd", "slices", "sort", "strconv", "strings",
	"structs", "sync", "syscall", "testing", "text", "time", "unicode", "unique",
	"unsafe", "vendor", "weak",
}

// isRuntimeHelper knows the assembly routines that have no package in their
// name: TEXT memeqbody<>(SB), TEXT gcWriteBarrier<>(SB).
func isRuntimeHelper(function string) bool {
	_, ok := slices.BinarySearch(runtimeHelpers, function)
	return ok
}

var runtimeHelpers = []string{
	"_rt0_amd64", "_rt0_amd64_linux", "_rt0_arm64_linux", "aeshashbody",
	"callRet", "cmpbody", "countbody", "debugCall32", "gcWriteBarrier", "gogo",
	"indexbody", "indexbytebody", "memeqbody", "memhashbody", "setg_gcc",
}

// Module guesses the module that a function is of from its import path: "std"
// for the standard library, "github.com/a/b" and "github.com/a/b/v2" where the
// host tells how long a path is, or else the first two elements. It is "" for
// symbols without a package. Only the build information of the binary knows for
// sure.
func Module(function string) string {
	pkg := Package(function)
	if pkg == "" {
		if isRuntimeHelper(function) {
			return "std"
		}
		return ""
	}
	if pkg != "main" && IsStandard(pkg) || IsRuntime(pkg) {
		return "std"
	}
	elements := strings.Split(pkg, "/")
	n := 2
	switch host := elements[0]; {
	case !strings.Contains(host, "."):
		n = 1 // a module of the user's own, as "project"
	case host == "github.com" || host == "gitlab.com" || host == "bitbucket.org" || host == "golang.org":
		n = 3
	}
	n = min(n, len(elements))
	if n < len(elements) && isVersion(elements[n]) {
		n++
	}
	return strings.Join(elements[:n], "/")
}
