package programs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"loupe/analysis/explain"
	"loupe/analysis/postmortem"
	"loupe/format/core"
	"loupe/format/dump"
	"loupe/format/symbol"
	"loupe/internal/cli/command"
	"loupe/report"
	"loupe/source/bounded"
	"loupe/value/unit"
)

// Core is a core with the program that it is of.
type Core struct {
	*postmortem.Core
	Files Files
}

// Files are the files that something is read from.
type Files []*os.File

// Close closes the files.
func (o *Files) Close() {
	for _, f := range *o {
		f.Close()
	}
}

// OpenCore opens the core that was named, with its program, which may be named in
// front of it.
func OpenCore(e *command.Env, args []string) (*Core, error) {
	switch len(args) {
	case 0:
		return nil, command.Usagef("the core is missing: loupe core BIN CORE")
	case 1:
		return OpenCoreOf(e, args[0], "")
	case 2:
		if IsCore(args[0]) && !IsCore(args[1]) {
			args[0], args[1] = args[1], args[0]
		}
		return OpenCoreOf(e, args[1], args[0])
	}
	return nil, command.Usagef("too many arguments: %q", args[2:])
}

// IsCore tells whether a file begins as a core does.
func IsCore(name string) bool { return core.LooksLike(headOf(name)) }

// headOf is the begin of a file; nothing of what is none, such as a pipe.
func headOf(name string) []byte {
	f, err := bounded.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	return head[:n]
}

// OpenCoreOf opens a core with a program, or with the one that it names itself.
func OpenCoreOf(e *command.Env, name, binName string) (*Core, error) {
	c := &Core{}
	if err := c.openBoth(name, binName); err != nil {
		c.Files.Close()
		return nil, err
	}
	if c.Identity == postmortem.OtherBuild {
		fmt.Fprintf(e.Stderr, "loupe core: WARNING: %s is a different build from the program of this core: what follows may be wrong\n", c.Program)
	}
	if c.File.Cut > 0 {
		fmt.Fprintf(e.Stderr, "loupe core: WARNING: the core is truncated: %s are missing at its end\n", unit.Bytes(c.File.Cut))
	}
	return c, nil
}

// openBoth opens the core and its program.
func (c *Core) openBoth(name, binName string) error {
	file, err := c.Files.Core(name)
	if err != nil {
		return err
	}
	var bin *Program
	if binName == "" {
		bin, err = c.Files.Find(name, file, "core")
	} else {
		bin, err = c.Files.Program(binName, name)
	}
	if err != nil {
		return err
	}
	c.Core, err = postmortem.Join(name, file, bin.Name, bin.Binary, bin.File)
	return err
}

// Core opens a core.
func (o *Files) Core(name string) (*core.File, error) {
	f, size, err := o.open(name)
	if err != nil {
		return nil, err
	}
	file, err := core.Open(f, size)
	if errors.Is(err, core.ErrNotCore) {
		return nil, command.Usagef("%s is not a core file: loupe core BIN CORE (loupe open -text %s says what it is)", name, name)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return file, nil
}

// Program is an opened program.
type Program struct {
	*symbol.Binary
	Name string
	File *os.File
}

// Program opens a program. of is the core that it is to be the program of.
func (o *Files) Program(name, of string) (*Program, error) {
	f, _, err := o.open(name)
	if err != nil {
		return nil, err
	}
	bin, err := symbol.Open(f, symbol.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot use %s as the program of %s: %w", name, of, err)
	}
	return &Program{bin, name, f}, nil
}

// open opens a file that is one.
func (o *Files) open(name string) (*os.File, int64, error) {
	f, err := bounded.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, command.Nothingf("cannot find %s", name)
	}
	if err != nil {
		return nil, 0, err
	}
	*o = append(*o, f)
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Find opens the program that a core names, if it is still the same. verb is how
// the user gives another one: loupe VERB BIN CORE.
func (o *Files) Find(name string, file *core.File, verb string) (*Program, error) {
	where := strings.TrimSuffix(file.Executable(), " (deleted)")
	if where == "" {
		return nil, command.Usagef("%s does not say which program it is from: loupe %s BIN %s", name, verb, name)
	}
	for _, at := range []string{where, filepath.Join(filepath.Dir(name), filepath.Base(where)), filepath.Base(where)} {
		p, err := o.Program(at, name)
		if err == nil && postmortem.Identify(file, p.Binary) != postmortem.OtherBuild {
			return p, nil
		}
	}
	return nil, command.Nothingf("%s is a core of %q, but that build no longer exists: loupe %s BIN %s", name, where, verb, name)
}

// ExplainDump says what the words of arguments in a dump are: by the binary, which may
// be nil, and by the sources that the dump names, where they are on this machine.
func ExplainDump(ctx context.Context, file *dump.File, bin *Program) *report.Explained {
	out := &report.Explained{}
	opt := explain.Options{}
	if bin != nil {
		opt.Binary, out.Binary = bin.Binary, bin.Name
	}
	opt.Sources = sourcesOf(ctx, opt.Binary).explain()
	out.By = explain.New(file, opt)
	return out
}

// OpenProgram opens the Go program that a flag names.
func (o *Files) OpenProgram(name, flag string) (*Program, error) {
	f, err := bounded.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, command.Nothingf("cannot find the binary %s", name)
	}
	if err != nil {
		return nil, err
	}
	*o = append(*o, f)
	bin, err := symbol.Open(f, symbol.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot use %s %s: %w", flag, name, err)
	}
	if !bin.IsGo() {
		return nil, command.Usagef("%s %s is not a Go program", flag, name)
	}
	return &Program{bin, name, f}, nil
}

// Explained says what the words of arguments are, with the memory of the core for
// what they point to.
func Explained(ctx context.Context, c *postmortem.Core, file *dump.File) *report.Explained {
	by := c.Explain(file, sourcesOf(ctx, c.Binary).explain())
	if by == nil {
		return nil
	}
	return &report.Explained{By: by, Binary: c.Program}
}
