package collect

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loupe/format/compiler"
	"loupe/source/system"
	"loupe/value/unit"
)

// CompileOptions say which packages the compiler is to explain, and how the
// program was built. The reasons hold for the same build only: another
// version, other tags and the variant of a package for its tests inline and
// allocate differently.
type CompileOptions struct {
	// Dir is the directory of the target's module, where the go command runs.
	Dir string
	// Target is the package that the program was built from, such as
	// "./cmd/server", or its .go files, separated by commas. Empty means that Packages are asked for as they are.
	Target string
	// Test says that the program is the test binary of Target.
	Test bool
	// Flags are those of the build: "-tags", "foo", "-race" …
	Flags []string
	// Env is added to the environment of the go command: "GOARCH=arm64".
	Env []string
	// Packages are the import paths to explain, as the symbols of the program
	// name them: "main" is the target, "p_test" the outer test package of p.
	Packages []string
	// Cache is a directory in which answers are kept from one run to the next;
	// empty means none. [CompileCache] names the usual one.
	Cache string
	// Keep says which kinds of diagnostics are wanted; nil means all but
	// parameters that leak, which are nearly all that there is.
	Keep func(compiler.Kind) bool
	// Answers, if set, is given what the compiler has said about each package,
	// under the name that Packages has it by.
	Answers func(name string, a *compiler.Answer) error
	// Progress, if set, is told what happens.
	Progress func(format string, args ...any)
}

// Compiled is what the compiler has said.
type Compiled struct {
	Set *compiler.Set
	// Cached and Fresh count the packages by where their answers came from.
	Cached, Fresh int
	// Failed are the packages without an answer, and why.
	Failed map[string]string
}

// CompileCache returns the directory in which the answers of the compiler are
// kept for this user.
func CompileCache() (string, error) {
	dir, err := system.UserCache()
	if err != nil {
		return "", fmt.Errorf("cannot keep compiler output: %w", err)
	}
	return filepath.Join(dir, "compiler"), nil
}

// Compile compiles packages again and reads why the compiler did what it did.
// Nothing is linked, nothing is written to the module. A package that does not
// compile is one of Failed and stops no other.
//
// The answer is kept under the build id that the go command gives to the
// package without our flags: it covers the toolchain, the flags of the user,
// the sources and all that they import.
//
// Note: the go command repeats the text of -m from its own cache, but not the
// files of -json. The directory that they go to is part of what it remembers,
// so a new one makes it compile again; that is why the answers are kept here.
func Compile(ctx context.Context, opt CompileOptions) (*Compiled, error) {
	if opt.Progress == nil {
		opt.Progress = func(string, ...any) {}
	}
	c := &compilation{opt: opt, out: &Compiled{Set: &compiler.Set{}, Failed: map[string]string{}}}
	if len(opt.Packages) == 0 {
		return c.out, nil
	}
	dir, err := filepath.Abs(opt.Dir)
	if err != nil {
		return nil, err
	}
	c.opt.Dir = dir
	temp, err := NewTemp()
	if err != nil {
		return nil, err
	}
	defer temp.Remove()
	c.temp = temp.Dir
	wanted, err := c.resolve(ctx)
	if err != nil {
		return nil, err
	}
	var missing []compilePackage
	for _, p := range wanted {
		if c.fromCache(p) {
			c.out.Cached++
		} else {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 {
		opt.Progress("compiling %s again to learn why they allocate", unit.Plural(len(missing), "package"))
		if err := c.compile(ctx, missing); err != nil {
			return nil, err
		}
	}
	return c.out, nil
}

type compilation struct {
	opt  CompileOptions
	out  *Compiled
	temp string
}

// compilePackage is a package in the variant that the program holds.
type compilePackage struct {
	name string // as the symbols say: "main"
	path string // as -gcflags takes it: "example.com/cmd/server"
	unit string // as the compiler calls it, and its directory of -json
	key  string // of the cache; "" when it has no build id
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Name, ForTest, BuildID string
	Incomplete                         bool
	Error                              *struct{ Err string }
	DepsErrors                         []struct{ Err string }
}

// targets are the packages to name to the go command.
func (c *compilation) targets() []string {
	if strings.HasSuffix(c.opt.Target, ".go") {
		return strings.Split(c.opt.Target, ",")
	}
	if c.opt.Target != "" {
		return []string{c.opt.Target}
	}
	return c.opt.Packages
}

// list runs go list -export, which compiles and does not link. The answer is
// good even where packages fail.
func (c *compilation) list(ctx context.Context, flags ...string) (pkgs []listed, said []byte, err error) {
	words := []string{"list", "-e", "-export", "-deps", "-json=ImportPath,Name,ForTest,BuildID,Incomplete,Error,DepsErrors"}
	if c.opt.Test {
		words = append(words, "-test")
	}
	words = slices.Concat(words, c.otherFlags(), flags, []string{"--"}, c.targets())
	cmd := goCommand(ctx, c.temp, c.opt.Dir, words...)
	cmd.Env = append(cmd.Env, c.opt.Env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	failed := execute(cmd)
	dec := json.NewDecoder(&out)
	for {
		var p listed
		if err := dec.Decode(&p); err != nil {
			break
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) == 0 && failed != nil {
		text := strings.TrimSpace(errs.String())
		if text == "" {
			text = failed.Error()
		}
		return nil, nil, fmt.Errorf("cannot list the packages of %s: %s", strings.Join(c.targets(), " "), text)
	}
	return pkgs, errs.Bytes(), nil
}

// resolve finds the variants of the wanted packages that are in the program.
func (c *compilation) resolve(ctx context.Context) ([]compilePackage, error) {
	pkgs, _, err := c.list(ctx, c.userGCFlags()...)
	if err != nil {
		return nil, err
	}
	best := map[string]listed{}
	for _, p := range pkgs {
		path, _, _ := strings.Cut(p.ImportPath, " ")
		name := path
		if p.Name == "main" && p.ForTest == "" && !strings.HasSuffix(path, ".test") {
			name = "main"
			if c.opt.Target == "" {
				best[path] = p // two commands: only their paths tell them apart
			}
		}
		// The variant for the tests replaces the plain package in their binary.
		if old, ok := best[name]; !ok || old.ForTest == "" && p.ForTest != "" {
			best[name] = p
		}
	}
	var wanted []compilePackage
	seen := map[string]bool{}
	for _, name := range c.opt.Packages {
		p, ok := best[name]
		if !ok {
			c.out.Failed[name] = "it is not a package of the program"
			continue
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		if seen[path] {
			continue
		}
		seen[path] = true
		unit := path
		if p.Name == "main" && p.ForTest == "" {
			unit = "main"
		}
		w := compilePackage{name: name, path: path, unit: unit}
		if p.BuildID != "" {
			sum := sha256.Sum256([]byte(strings.Join([]string{compileFormat, p.ImportPath, p.BuildID}, "\x00")))
			w.key = hex.EncodeToString(sum[:16])
		}
		wanted = append(wanted, w)
	}
	return wanted, nil
}

// compileFormat changes when what is kept in the cache does.
const compileFormat = "2"

// userGCFlags are the -gcflags of the build.
func (c *compilation) userGCFlags() (flags []string) {
	for _, v := range c.flagValues("gcflags") {
		flags = append(flags, "-gcflags="+v)
	}
	return flags
}

// otherFlags are the flags of the build without -gcflags, -o and -trimpath,
// which would leave relative names and trimmed ones alike in the text.
func (c *compilation) otherFlags() (out []string) {
	for i := 0; i < len(c.opt.Flags); i++ {
		name, _, joined := strings.Cut(strings.TrimLeft(c.opt.Flags[i], "-"), "=")
		if name == "trimpath" {
			continue
		}
		if name == "gcflags" || name == "o" {
			if !joined {
				i++
			}
			continue
		}
		out = append(out, c.opt.Flags[i])
	}
	return out
}

func (c *compilation) flagValues(want string) (values []string) {
	for i, f := range c.opt.Flags {
		name, value, joined := strings.Cut(strings.TrimLeft(f, "-"), "=")
		switch {
		case name != want:
		case joined:
			values = append(values, value)
		case i+1 < len(c.opt.Flags):
			values = append(values, c.opt.Flags[i+1])
		}
	}
	return values
}

// gcFlags asks the compiler of each package for more, and leaves it the flags
// that the user has given: of several patterns that match the last one counts.
func (c *compilation) gcFlags(pkgs []compilePackage, more string) []string {
	flags := c.userGCFlags()
	users := ""
	for _, v := range c.flagValues("gcflags") {
		if all, ok := strings.CutPrefix(v, "all="); ok {
			users = all + " "
		} else if strings.HasPrefix(v, "-") {
			users = v + " "
		}
	}
	for _, p := range pkgs {
		flags = append(flags, "-gcflags="+p.path+"="+users+more)
	}
	return flags
}

// compile asks the compiler about packages and keeps its answers.
func (c *compilation) compile(ctx context.Context, pkgs []compilePackage) error {
	dir := filepath.Join(c.temp, "json")
	said, err := c.ask(ctx, pkgs, "-m -json=0,file://"+filepath.ToSlash(dir))
	if err != nil {
		return err
	}
	var lost []compilePackage
	answers := map[string]*compiler.Answer{}
	for _, p := range pkgs {
		a := &compiler.Answer{Dir: filepath.ToSlash(c.opt.Dir), Text: said[p.path]}
		answers[p.path] = a
		files, err := readJSON(a, filepath.Join(dir, escapeUnit(p.unit)))
		if err != nil {
			return err
		}
		if len(a.JSON) == 0 && len(a.Text) == 0 {
			c.out.Failed[p.name] = "the compiler says nothing about it: all of its code is generic and compiled where it is used, or it does not compile any more"
			continue
		}
		// Two source files of one name, in the package and in one that it
		// inlines generic code of, share a file of -json, and one is lost.
		if a.Lost = missingFiles(a.Text, files, c.opt.Dir); len(a.Lost) > 0 {
			lost = append(lost, p)
		}
	}
	if len(lost) > 0 {
		said, err := c.ask(ctx, lost, "-m=2")
		if err != nil {
			return err
		}
		for _, p := range lost {
			answers[p.path].Flows = said[p.path]
		}
	}
	for _, p := range pkgs {
		if c.out.Failed[p.name] != "" {
			continue
		}
		a := answers[p.path]
		if err := c.add(p, a); err != nil {
			c.out.Failed[p.name] = err.Error()
			continue
		}
		c.out.Fresh++
		if err := c.toCache(p, a); err != nil {
			c.opt.Progress("cannot keep what the compiler says about %s: %v", p.name, err)
		}
	}
	return nil
}

// ask compiles the packages with one more flag and returns the text by import
// path.
func (c *compilation) ask(ctx context.Context, pkgs []compilePackage, flag string) (map[string][]byte, error) {
	_, text, err := c.list(ctx, c.gcFlags(pkgs, flag)...)
	if err != nil {
		return nil, err
	}
	said := map[string][]byte{}
	path := ""
	for line := range bytes.Lines(text) {
		if p, ok := bytes.CutPrefix(line, []byte("# ")); ok {
			p, _, _ = bytes.Cut(bytes.TrimSpace(p), []byte(" "))
			path = string(p)
			continue
		}
		said[path] = append(said[path], line...)
	}
	return said, nil
}

// readJSON joins the files of one package and leaves the leaking parameters
// out. It returns the source files that they are about.
func readJSON(a *compiler.Answer, dir string) (files map[string]bool, err error) {
	names, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.json"))
	if err != nil {
		return nil, err
	}
	files = map[string]bool{}
	for _, name := range names {
		if err := readJSONFile(a, name, files); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func readJSONFile(a *compiler.Answer, name string, files map[string]bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	br := bufio.NewReaderSize(f, 1<<18)
	first, skipping := true, false
	for {
		line, err := br.ReadSlice('\n')
		if first {
			h, herr := compiler.Head(bytes.NewReader(line))
			if herr != nil {
				return fmt.Errorf("%s: %w", name, herr)
			}
			files[filepath.ToSlash(h.File)] = true
			first = false
		}
		if leak := bytes.Contains(line[:min(len(line), 300)], []byte(`"code":"leak"`)); !skipping && !leak {
			a.JSON = append(a.JSON, line...)
			skipping = false
		} else {
			skipping = errors.Is(err, bufio.ErrBufferFull)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		skipping = false
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
