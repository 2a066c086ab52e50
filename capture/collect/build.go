package collect

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"loupe/capture/agent"
	"loupe/recording"
)

// BuildOptions say what to build and how.
type BuildOptions struct {
	// Target is a Go package (./cmd/server, a directory, an import path),
	// .go files separated by commas, or an executable file.
	Target string
	// Test builds the package's test binary.
	Test bool
	// Flags go to `go build` before the package: "-tags", "foo" …
	Flags []string
	// Dir is where the program runs and where relative targets are looked
	// up; empty is the current directory.
	Dir string
	// Temp is a private directory for the binary and the overlay.
	Temp string
	// LinkFlag is one more flag for the linker, "" for none.
	LinkFlag string
	// NoAgent builds the program as it is.
	NoAgent bool
	// Leaks builds it so that it can search for leaked goroutines
	// ("goroutineleak"), where that has to be asked for.
	Leaks bool
	// Std, if set, returns files of the standard library that the program is built with
	// instead of those below root, GOROOT/src: their texts by their paths. With it the
	// agent is left out. Where it errs, or the program cannot be built so, it is built as
	// it is, and Notes says why.
	Std func(root string) (map[string]string, error)
	// Progress, if set, is told what happens.
	Progress func(format string, args ...any)
}

// Program is something that can be launched.
type Program struct {
	Path   string // of the executable
	Target recording.Target
	// Agent tells that the agent was built in, ExitHook that it also sees
	// the program's end.
	Agent, ExitHook bool
	// Std tells that it was built with the files of [BuildOptions.Std].
	Std bool
	// Root is the directory of the program's module; empty when unknown.
	Root string
	// Dir is where the program must run: the package's folder for a test.
	Dir string
	// Notes are remarks for the user, such as why there is no agent.
	Notes []string
	// Stripped tells that the executable has no symbol table.
	Stripped bool
	// compile is how the compiler is asked about the program; nil when the
	// program was built by somebody else.
	compile *CompileOptions
	// refused is how the build failed that had more than the user's own, where that is left out; else nil.
	refused error
	// local are the modules, besides the target's, that were built from a folder.
	local []string
}

// name is how messages name the program: as the user typed it, unless that is a
// directory's dot, with which no sentence begins.
func (p *Program) name() string {
	if p.Target.Name == "." && p.Target.Package != "" {
		return p.Target.Package
	}
	return p.Target.Name
}

// Build makes a Program of a target: an executable is taken as it is, a
// package is built with the agent. A package that cannot take the agent is
// built without it, and Notes says why. An error holds the compiler's words.
func Build(ctx context.Context, opt BuildOptions) (*Program, error) {
	if opt.Progress == nil {
		opt.Progress = func(string, ...any) {}
	}
	name := opt.Target
	if !filepath.IsAbs(name) {
		name = filepath.Join(opt.Dir, name)
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.Mode().IsRegular() && !strings.HasSuffix(name, ".go"):
		return existing(opt, name, info)
	case err == nil && info.IsDir():
		return buildPackage(ctx, opt, name, ".")
	case strings.HasSuffix(opt.Target, ".go"):
		return buildFiles(ctx, opt)
	case strings.Contains(opt.Target, "..."):
		return buildPackage(ctx, opt, opt.Dir, opt.Target)
	case err != nil && (strings.HasPrefix(opt.Target, ".") || filepath.IsAbs(opt.Target)):
		return nil, fmt.Errorf("cannot find %s: want a Go package, a .go file or an executable", opt.Target)
	}
	if path, lerr := exec.LookPath(opt.Target); lerr == nil && !strings.Contains(opt.Target, "/") {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		return existing(opt, path, info)
	}
	return buildPackage(ctx, opt, opt.Dir, opt.Target)
}

// existing describes an executable that was built by somebody else.
func existing(opt BuildOptions, path string, info fs.FileInfo) (*Program, error) {
	if opt.Test {
		return nil, fmt.Errorf("cannot build a test of %s: it is a file, want a package", opt.Target)
	}
	if info.Mode()&0o111 == 0 {
		return nil, fmt.Errorf("cannot run %s: it is not executable", opt.Target)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	p := &Program{Path: abs, Dir: opt.Dir, Target: recording.Target{Kind: "binary", Name: opt.Target}}
	p.describe()
	if p.Target.Go == "" {
		p.Notes = append(p.Notes, opt.Target+" does not look like a Go program: only its times and memory are recorded, unless it starts one")
	} else {
		p.Notes = append(p.Notes, "a ready binary has no agent: profiles come from its own /debug/pprof, if it has one (give the package instead to get all of them)")
	}
	if p.Stripped {
		p.Notes = append(p.Notes, opt.Target+" has no symbol table (built with -ldflags=-s, or stripped afterwards): loupe reads names from the runtime's own tables, other tools may not")
	}
	return p, nil
}

// describe fills in what the executable says about itself.
func (p *Program) describe() {
	p.Target.Build = Digest(p.Path)
	bi, err := buildinfo.ReadFile(p.Path)
	if err != nil {
		return
	}
	p.Target.Go, p.Target.Module = bi.GoVersion, bi.Main.Path
	p.local = recording.LocalModules(bi)
	if p.Target.Package == "" {
		p.Target.Package = bi.Path // of a test it ends in ".test"
	}
	p.Target.BuildSettings = map[string]string{}
	for _, s := range bi.Settings {
		p.Target.BuildSettings[s.Key] = s.Value
	}
	p.Stripped = stripped(p.Path)
	p.Target.Stripped = p.Stripped
}

// Digest is the SHA-256 of a file in hexadecimal, empty when it cannot be read. A recording has
// that of its program (Target.Build).
func Digest(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// goPackage is the part of `go list -json` that matters here.
type goPackage struct {
	Dir, ImportPath, Name string
	GoFiles, CgoFiles     []string
	TestGoFiles, SFiles   []string
	XTestGoFiles          []string
	EmbedPatterns         []string
	TestEmbedPatterns     []string
	XTestEmbedPatterns    []string
	Deps                  []string
	Standard              bool
	Module                *struct{ Path, Dir, GoVersion string }
	Incomplete            bool
	Error                 *struct{ Err string }
}

func list(ctx context.Context, opt BuildOptions, dir string, args ...string) (*goPackage, error) {
	words := append([]string{"list", "-e", "-json"}, tagFlags(opt.Flags)...)
	out, err := run(goCommand(ctx, opt.Temp, dir, append(words, args...)...))
	if _, ok := errors.AsType[noCache](err); ok {
		return nil, fmt.Errorf("cannot build %s: %w", opt.Target, err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot find package %s: %w", opt.Target, err)
	}
	var pkgs []*goPackage
	dec := json.NewDecoder(bytes.NewReader(out))
	for dec.More() {
		p := &goPackage{}
		if err := dec.Decode(p); err != nil {
			return nil, fmt.Errorf("cannot read the answer of go list: %w", err)
		}
		pkgs = append(pkgs, p)
	}
	switch {
	case len(pkgs) == 0:
		return nil, fmt.Errorf("cannot find package %s: no package matches", opt.Target)
	case len(pkgs) > 1:
		return nil, fmt.Errorf("cannot run %s: it matches %d packages, name one", opt.Target, len(pkgs))
	case pkgs[0].Error != nil && len(pkgs[0].GoFiles)+len(pkgs[0].CgoFiles) == 0:
		return nil, fmt.Errorf("cannot find package %s: %s", opt.Target, strings.TrimSpace(pkgs[0].Error.Err))
	}
	return pkgs[0], nil
}

// tagFlags picks the flags that bear on which files belong to a package.
func tagFlags(flags []string) []string {
	var out []string
	for i, f := range flags {
		name, _, joined := strings.Cut(strings.TrimLeft(f, "-"), "=")
		if name != "tags" && name != "mod" && name != "modfile" {
			continue
		}
		out = append(out, f)
		if !joined && i+1 < len(flags) {
			out = append(out, flags[i+1])
		}
	}
	return out
}

func buildPackage(ctx context.Context, opt BuildOptions, dir, pattern string) (*Program, error) {
	pkg, err := list(ctx, opt, dir, pattern)
	if err != nil {
		return nil, err
	}
	if opt.Test && len(pkg.TestGoFiles)+len(pkg.XTestGoFiles) == 0 {
		return nil, fmt.Errorf("cannot record the tests of %s: package %s has no test files", opt.Target, pkg.ImportPath)
	}
	if !opt.Test && pkg.Name != "main" {
		return nil, fmt.Errorf("cannot run %s: it is package %s, not a main package (its tests can be recorded with -test)", opt.Target, pkg.Name)
	}
	return build(ctx, opt, pkg, dir, []string{pattern})
}

// buildFiles builds .go files, as `go run a.go b.go` does.
func buildFiles(ctx context.Context, opt BuildOptions) (*Program, error) {
	if opt.Test {
		return nil, errors.New("cannot record the tests of single files: give the package")
	}
	var names []string
	dir := ""
	for _, name := range strings.Split(opt.Target, ",") {
		abs, err := filepath.Abs(filepath.Join(opt.Dir, name))
		if filepath.IsAbs(name) {
			abs, err = name, nil
		}
		if err == nil {
			_, err = os.Stat(abs)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot find %s: %w", name, err)
		}
		if dir == "" {
			dir = filepath.Dir(abs)
		}
		if filepath.Dir(abs) != dir {
			return nil, fmt.Errorf("cannot build %s: the files must lie in one folder", opt.Target)
		}
		names = append(names, filepath.Base(abs))
	}
	pkg, err := list(ctx, opt, dir, names...)
	if err != nil {
		return nil, err
	}
	if pkg.Name != "main" {
		return nil, fmt.Errorf("cannot run %s: it is package %s, not main", opt.Target, pkg.Name)
	}
	pkg.Dir = dir
	return build(ctx, opt, pkg, dir, names)
}

// attempt is one way to build: from the most that can be recorded to the
// least.
type attempt struct {
	agent bool
	opt   agent.Options
	flag  string            // for the linker
	root  string            // GOROOT, where that is overlaid
	std   map[string]string // texts that are laid over files of the standard library
}

// extra tells that the build is not that of the user.
func (a attempt) extra() bool { return a.agent || len(a.std) > 0 }

func build(ctx context.Context, opt BuildOptions, pkg *goPackage, dir string, what []string) (*Program, error) {
	name := filepath.Base(pkg.Dir)
	if opt.Test {
		name += ".test"
	}
	// A folder of its own: whatever the package is called, it meets no other
	// file of ours.
	bin := filepath.Join(opt.Temp, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return nil, fmt.Errorf("cannot build %s: %w", opt.Target, err)
	}
	p := &Program{
		Path: filepath.Join(bin, name),
		Dir:  opt.Dir,
		Target: recording.Target{
			Kind: "package", Name: opt.Target, Package: pkg.ImportPath,
		},
	}
	if opt.Test {
		p.Target.Kind, p.Dir = "test", pkg.Dir
	}
	if pkg.Module != nil {
		p.Root, p.Target.Module = pkg.Module.Dir, pkg.Module.Path
	} else {
		p.Root = pkg.Dir
	}
	goes := toolchainIn(ctx, opt.Temp, pkg.Dir)
	attempts, why := plan(opt, pkg, goes)
	extra := "the agent"
	if opt.Std != nil {
		extra = "loupe's counters"
	}
	if why != "" {
		p.Notes = append(p.Notes, "built without "+extra+", "+why)
	}
	if opt.Leaks {
		p.Notes = append(p.Notes, leakNotes(goes.minor)...)
	}
	opt.Progress("building %s", opt.Target)
	var first, last error
	for i, a := range attempts {
		switch {
		case i > 0 && a.agent:
			opt.Progress("building %s again, with less of the agent", opt.Target)
		case i > 0:
			opt.Progress("building %s again, without %s", opt.Target, extra)
		}
		err := buildOnce(ctx, opt, pkg, goes, dir, what, p.Path, a)
		if err == nil {
			p.Agent, p.ExitHook, p.Target.Agent = a.agent, a.opt.Hook, a.agent
			p.Std = len(a.std) > 0
			if first != nil && !a.extra() {
				p.Notes = append(p.Notes, "built without "+extra+", because the build with it failed: "+firstLine(first))
				p.refused = first
			}
			p.describe()
			p.compile = &CompileOptions{Dir: dir, Target: strings.Join(what, ","), Test: opt.Test, Flags: opt.Flags}
			return p, nil
		}
		if first == nil {
			first = err
		}
		last = err
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	// The last attempt was the user's own build: its error is theirs.
	return nil, fmt.Errorf("cannot build %s:\n%w", opt.Target, last)
}

// plan lists the ways to build pkg, best first, and why the agent is left out
// of all of them.
func plan(opt BuildOptions, pkg *goPackage, goes toolchain) ([]attempt, string) {
	plain := []attempt{{}}
	if opt.Std != nil {
		return planStd(opt, goes)
	}
	switch {
	case opt.NoAgent:
		return plain, ""
	case hasFlag(opt.Flags, "overlay"):
		return plain, "because -overlay is in use"
	case hasFlag(opt.Flags, "cover"):
		return plain, "because -cover cannot read overlaid files (golang/go#73802)"
	case pkg.embeds(agentFile(opt.Test)):
		return plain, "because a pattern of go:embed would take the agent's files along"
	case goes.keeps(pkg.Dir):
		return plain, "because it lies in the module cache, which Go does not let anyone overlay (copy the module to a folder of your own to get profiles)"
	}
	o := agent.Options{Package: pkg.Name, Test: opt.Test, OS: runtime.GOOS, Minor: goes.minor, Vars: slices.Contains(pkg.Deps, "expvar")}
	ways := []attempt{{agent: true, opt: o}, {}}
	hooked, flag := o.Hooked()
	if !hooked {
		return ways, ""
	}
	o.Hook = true
	ways = slices.Insert(ways, 0, attempt{agent: true, opt: o, flag: flag})
	if root := goes.overlaid(opt.Temp); root != "" {
		o.Share = true
		ways = slices.Insert(ways, 0, attempt{agent: true, opt: o, flag: flag, root: root})
	}
	return ways, ""
}

// planStd is the plan of a build with files of the standard library.
func planStd(opt BuildOptions, goes toolchain) ([]attempt, string) {
	plain := []attempt{{}}
	if hasFlag(opt.Flags, "overlay") {
		return plain, "because -overlay is in use"
	}
	root := goes.overlaid(opt.Temp)
	if root == "" {
		return plain, "because the folder of the Go toolchain is unknown"
	}
	files, err := opt.Std(filepath.Join(root, "src"))
	if err != nil {
		return plain, "because they do not fit this Go toolchain: " + err.Error()
	}
	return []attempt{{std: files, root: root}, {}}, ""
}

// agentFile is the name of one of the agent's files in a package.
func agentFile(test bool) string {
	return agent.Options{Test: test, OS: runtime.GOOS}.Files()[0].Name
}

// embeds tells whether the package embeds a file of that name in its folder.
func (p *goPackage) embeds(name string) bool {
	return slices.ContainsFunc(slices.Concat(p.EmbedPatterns, p.TestEmbedPatterns, p.XTestEmbedPatterns), func(pattern string) bool {
		ok, err := path.Match(strings.TrimPrefix(pattern, "all:"), name)
		return err == nil && ok
	})
}

func hasFlag(flags []string, name string) bool {
	all := slices.Concat(strings.Fields(os.Getenv("GOFLAGS")), flags)
	return slices.ContainsFunc(all, func(f string) bool {
		f, _, _ = strings.Cut(f, "=")
		return strings.TrimLeft(f, "-") == name
	})
}

func buildOnce(ctx context.Context, opt BuildOptions, pkg *goPackage, goes toolchain, dir string, what []string, out string, a attempt) error {
	args := []string{"build", "-o", out}
	if opt.Test {
		// Before Go 1.24 vet does not read overlays.
		args = []string{"test", "-c", "-vet=off", "-o", out}
	}
	flags := opt.Flags
	if opt.LinkFlag != "" {
		flags = addLinkFlag(flags, opt.LinkFlag)
	}
	if a.extra() {
		overlay, added, err := writeOverlay(opt, pkg, a)
		if err != nil {
			return err
		}
		args = append(args, "-overlay="+overlay)
		if strings.HasSuffix(what[0], ".go") {
			what = slices.Concat(what, added)
		}
		if a.flag != "" {
			flags = addLinkFlag(flags, a.flag)
		}
	}
	args = append(append(args, flags...), what...)
	cmd := goes.command(ctx, a.root, opt.Temp, dir, args...)
	if opt.Leaks && goes.minor == leakMinor {
		cmd.Env = append(cmd.Env, "GOEXPERIMENT="+addExperiment(ctx, opt.Temp, dir))
	}
	if _, err := run(cmd); err != nil {
		return err
	}
	if _, err := os.Stat(out); err != nil {
		return fmt.Errorf("cannot find the built program (does package %s have test files?)", pkg.ImportPath)
	}
	return nil
}

// leakMinor is the minor version of the Go that has the profile of leaked
// goroutines as an experiment; later ones have it without asking (golang/go#74609).
const leakMinor = 26

// leakNotes says what is unusual about a build that can search for leaked
// goroutines.
func leakNotes(minor int) []string {
	switch {
	case minor < leakMinor:
		return []string{fmt.Sprintf("no search for leaked goroutines: it came with Go 1.%d, this is Go 1.%d", leakMinor, minor)}
	case minor == leakMinor:
		return []string{"built with GOEXPERIMENT=goroutineleakprofile for the phase goroutineleak"}
	}
	return nil
}

// addExperiment adds the search for leaked goroutines to the experiments that
// the user has on.
func addExperiment(ctx context.Context, temp, dir string) string {
	const name = "goroutineleakprofile"
	out, err := run(goCommand(ctx, temp, dir, "env", "GOEXPERIMENT"))
	if on := strings.TrimSpace(string(out)); err == nil && on != "" {
		return on + "," + name
	}
	return name
}

// addLinkFlag adds a linker flag to the last -ldflags among flags
// or GOFLAGS, because a second -ldflags would replace the first.
func addLinkFlag(flags []string, flag string) []string {
	flags = slices.Clone(flags)
	for i := len(flags) - 1; i >= 0; i-- {
		name, value, joined := strings.Cut(flags[i], "=")
		if strings.TrimLeft(name, "-") != "ldflags" {
			continue
		}
		switch {
		case joined:
			flags[i] = "-ldflags=" + value + " " + flag
		case i+1 < len(flags):
			flags[i+1] += " " + flag
		}
		return flags
	}
	value := flag
	for _, f := range strings.Fields(os.Getenv("GOFLAGS")) {
		if v, ok := strings.CutPrefix(strings.TrimLeft(f, "-"), "ldflags="); ok {
			value = v + " " + flag
		}
	}
	return append(flags, "-ldflags="+value)
}

func firstLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			return l
		}
	}
	return lines[0]
}
