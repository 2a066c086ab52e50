package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"loupe/core"
	"loupe/dump"
	"loupe/postmortem"
	"loupe/report"
	"loupe/source"
	"loupe/symbol"
	"loupe/unit"
)

// openedCore is a core with the program that it is of.
type openedCore struct {
	*postmortem.Core
	files openFiles
}

// openFiles are the files that something is read from.
type openFiles []*os.File

func (o *openFiles) close() {
	for _, f := range *o {
		f.Close()
	}
}

// openCore opens the core that was named, with its program, which may be named in
// front of it.
func openCore(e *env, args []string) (*openedCore, error) {
	switch len(args) {
	case 0:
		return nil, usagef("the core is missing: loupe core BIN CORE")
	case 1:
		return openCoreOf(e, args[0], "")
	case 2:
		if isCore(args[0]) && !isCore(args[1]) {
			args[0], args[1] = args[1], args[0]
		}
		return openCoreOf(e, args[1], args[0])
	}
	return nil, usagef("too many arguments: %q", args[2:])
}

// isCore tells whether a file begins as a core does.
func isCore(name string) bool { return core.LooksLike(headOf(name)) }

// headOf is the begin of a file; nothing of what is none, such as a pipe.
func headOf(name string) []byte {
	f, err := source.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	return head[:n]
}

// openCoreOf opens a core with a program, or with the one that it names itself.
func openCoreOf(e *env, name, binName string) (*openedCore, error) {
	c := &openedCore{}
	if err := c.openBoth(name, binName); err != nil {
		c.files.close()
		return nil, err
	}
	if c.Identity == postmortem.OtherBuild {
		fmt.Fprintf(e.stderr, "loupe core: WARNING: %s is another build than the program of this core: what follows may be nonsense\n", c.Program)
	}
	if c.File.Cut > 0 {
		fmt.Fprintf(e.stderr, "loupe core: WARNING: the core is cut: %s are missing at its end\n", unit.Bytes(c.File.Cut))
	}
	return c, nil
}

// openBoth opens the core and its program.
func (c *openedCore) openBoth(name, binName string) error {
	file, err := c.files.core(name)
	if err != nil {
		return err
	}
	var bin *programFile
	if binName == "" {
		bin, err = c.files.find(name, file, "core")
	} else {
		bin, err = c.files.program(binName, name)
	}
	if err != nil {
		return err
	}
	c.Core, err = postmortem.Join(name, file, bin.name, bin.Binary, bin.file)
	return err
}

// core opens a core.
func (o *openFiles) core(name string) (*core.File, error) {
	f, size, err := o.open(name)
	if err != nil {
		return nil, err
	}
	file, err := core.Open(f, size)
	if errors.Is(err, core.ErrNotCore) {
		return nil, usagef("%s is no core file: loupe core BIN CORE (loupe open -text %s says what it is)", name, name)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return file, nil
}

// programFile is an opened program.
type programFile struct {
	*symbol.Binary
	name string
	file *os.File
}

// program opens a program. of is the core that it is to be the program of.
func (o *openFiles) program(name, of string) (*programFile, error) {
	f, _, err := o.open(name)
	if err != nil {
		return nil, err
	}
	bin, err := symbol.Open(f, symbol.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot use %s as the program of %s: %w", name, of, err)
	}
	return &programFile{bin, name, f}, nil
}

// open opens a file that is one.
func (o *openFiles) open(name string) (*os.File, int64, error) {
	f, err := source.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, exitError{exitNothing, fmt.Errorf("cannot find %s", name)}
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

// find opens the program that a core names, if it is still the same. verb is how
// the user gives another one: loupe VERB BIN CORE.
func (o *openFiles) find(name string, file *core.File, verb string) (*programFile, error) {
	where := strings.TrimSuffix(file.Executable(), " (deleted)")
	if where == "" {
		return nil, usagef("%s does not say which program it is of: loupe %s BIN %s", name, verb, name)
	}
	for _, at := range []string{where, filepath.Join(filepath.Dir(name), filepath.Base(where)), filepath.Base(where)} {
		p, err := o.program(at, name)
		if err == nil && postmortem.Identify(file, p.Binary) != postmortem.OtherBuild {
			return p, nil
		}
	}
	return nil, exitError{exitNothing, fmt.Errorf("%s is a core of %q, and that build is not there any more: loupe %s BIN %s", name, where, verb, name)}
}

// explained says what the words of arguments are, with the memory of the core for
// what they point to.
func explained(e *env, c *postmortem.Core, file *dump.File) *report.Explained {
	by := c.Explain(file, sourcesOf(e, c.Binary).explain())
	if by == nil {
		return nil
	}
	return &report.Explained{By: by, Binary: c.Program}
}
