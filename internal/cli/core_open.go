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
	"loupe/explain"
	"loupe/program"
	"loupe/report"
	"loupe/symbol"
)

// openedCore is a core with the program that it is of.
type openedCore struct {
	name, binName string
	file          *core.File
	memory        *core.Memory
	binary        *symbol.Binary
	identity      report.Identity
	// program is nil where the runtime cannot be read; notGo says why.
	program *program.Program
	notGo   error

	st    *program.Stopped
	files []*os.File
}

func (c *openedCore) close() {
	for _, f := range c.files {
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
func isCore(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	return core.LooksLike(head[:n])
}

// openCoreOf opens a core with a program, or with the one that it names itself.
func openCoreOf(e *env, name, binName string) (*openedCore, error) {
	c := &openedCore{name: name, binName: binName}
	if err := c.openBoth(); err != nil {
		c.close()
		return nil, err
	}
	if c.identity == report.OtherBuild {
		fmt.Fprintf(e.stderr, "loupe core: WARNING: %s is another build than the program of this core: what follows may be nonsense\n", c.binName)
	}
	if c.file.Cut > 0 {
		fmt.Fprintf(e.stderr, "loupe core: WARNING: the core is cut: %d bytes are missing at its end\n", c.file.Cut)
	}
	return c, nil
}

// openBoth opens the core and its program.
func (c *openedCore) openBoth() error {
	name := c.name
	f, size, err := c.open(name)
	if err != nil {
		return err
	}
	if c.file, err = core.Open(f, size); err != nil {
		if errors.Is(err, core.ErrNotCore) {
			return usagef("%s is no core file: loupe core BIN CORE (loupe open -text %s says what it is)", name, name)
		}
		return fmt.Errorf("cannot read %s: %w", name, err)
	}
	var bin *os.File
	if c.binName == "" {
		bin, err = c.find()
	} else {
		bin, _, err = c.open(c.binName)
	}
	if err != nil {
		return err
	}
	if c.binary, err = symbol.Open(bin, symbol.Options{}); err != nil {
		return fmt.Errorf("cannot use %s as the program of %s: %w", c.binName, name, err)
	}
	if c.binary.Arch != c.file.Arch {
		return fmt.Errorf("cannot use %s as the program of %s: one is of %s, the other of %s", c.binName, name, c.binary.Arch, c.file.Arch)
	}
	c.join(bin)
	return nil
}

func (c *openedCore) open(name string) (*os.File, int64, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, exitError{exitNothing, fmt.Errorf("cannot find %s", name)}
	}
	if err != nil {
		return nil, 0, err
	}
	c.files = append(c.files, f)
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = usagef("%s is no file", name)
	}
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// find opens the program that a core names, if it is still the same.
func (c *openedCore) find() (*os.File, error) {
	where := strings.TrimSuffix(c.file.Executable(), " (deleted)")
	if where == "" {
		return nil, usagef("%s does not say which program it is of: loupe core BIN %s", c.name, c.name)
	}
	gnu, id := c.file.BuildIDs()
	for _, name := range []string{where, filepath.Join(filepath.Dir(c.name), filepath.Base(where)), filepath.Base(where)} {
		f, _, err := c.open(name)
		if err != nil {
			continue
		}
		b, err := symbol.Open(f, symbol.Options{})
		if err != nil || id != "" && b.GoBuildID != id || id == "" && gnu != "" && b.BuildID != gnu {
			continue
		}
		c.binName = name
		return f, nil
	}
	return nil, exitError{exitNothing, fmt.Errorf("%s is a core of %q, and that build is not there any more: loupe core BIN %s", c.name, where, c.name)}
}

// join puts the program behind the core, and tells whether it is the one.
func (c *openedCore) join(bin *os.File) {
	gnu, id := c.file.BuildIDs()
	switch {
	case id != "" && c.binary.GoBuildID != "":
		c.identity = report.OtherBuild
		if id == c.binary.GoBuildID {
			c.identity = report.SameBuild
		}
	case gnu != "" && c.binary.BuildID != "":
		c.identity = report.OtherBuild
		if gnu == c.binary.BuildID {
			c.identity = report.SameBuild
		}
	}
	bias := uint64(0)
	if c.binary.PIE {
		if c.file.Entry == 0 || c.binary.Entry == 0 {
			c.notGo = errors.New("the program may be loaded anywhere (-buildmode=pie), and the core does not say where it was")
			return
		}
		bias = c.file.Entry - c.binary.Entry
	}
	c.memory = c.file.Memory()
	if c.program, c.notGo = program.Open(c.memory, c.binary, bias); c.program != nil && c.identity == report.UnknownBuild {
		if same, known := c.program.SameBuild(bin); known && same {
			c.identity = report.SameTables
		} else if known {
			c.identity = report.OtherBuild
		}
	}
	for _, s := range c.binary.Segments {
		c.memory.Back(core.Backing{Addr: s.Addr + bias, Size: s.FileSize, From: bin, Offset: int64(s.Offset)})
	}
	if c.program == nil && !c.binary.HasSymbols() {
		c.program, c.notGo = program.Search(c.memory, c.binary, bias)
	}
}

// explained says what the words of arguments are, with the memory of the core for
// what they point to.
func (c *openedCore) explained(e *env, file *dump.File) *report.Explained {
	if c.identity == report.OtherBuild {
		return nil
	}
	places := symbol.Sources{}
	places.Build, _ = c.binary.BuildInfo()
	s := &stackSources{e: e, places: places, found: map[string]string{}}
	opt := explain.Options{Binary: c.binary, Sources: explain.Sources{Read: s.read, Beside: s.beside}, Memory: c.memory.Read}
	return &report.Explained{By: explain.New(file, opt), Binary: c.binName}
}

// head is what every page of a core begins with.
func (c *openedCore) head() *report.Core {
	f := c.file
	out := &report.Core{
		Name: c.name, Binary: c.binName, Identity: c.identity, Writer: string(f.Writer), OS: f.OS, Arch: f.Arch,
		PID: f.PID, Command: f.Command, Args: f.Args, ThreadCount: len(f.Threads), Size: f.Size, Cut: f.Cut, Odd: f.Odd,
		Signal: f.Signal,
	}
	out.InFile, out.Memory = f.InFile()
	if info, err := c.binary.BuildInfo(); err == nil {
		out.Go = info.GoVersion
		out.Main = info.Main.Path
	}
	if st, err := c.stopped(); err == nil {
		if crash, ok := st.Crash(); ok {
			out.Crashed, out.Message = true, crash.Message
		}
	}
	return out
}

// crashed is the thread that has ended the program.
func (c *openedCore) crashed() (t report.CoreThread, ok bool) {
	if c.st == nil {
		return t, false
	}
	crash, ok := c.st.Crash()
	if !ok {
		return t, false
	}
	for i := range c.file.Threads {
		if c.file.Threads[i].ID == crash.Thread {
			return c.thread(&c.file.Threads[i]), true
		}
	}
	return t, false
}

// thread is a thread with what the runtime knows of it.
func (c *openedCore) thread(t *core.Thread) report.CoreThread {
	out := report.CoreThread{ID: t.ID, Signal: t.Signal, Machine: -1, Registers: t.Registers}
	st, err := c.stopped()
	if err != nil {
		return out
	}
	if m, ok := st.On(t.ID); ok {
		out.Machine, out.Goroutine, out.Dying = m.ID, m.Goroutine, m.Dying
	}
	for _, fr := range st.ThreadStack(program.Thread{ID: t.ID, PC: t.PC, SP: t.SP, BP: t.BP, LR: t.LR}) {
		out.Frames = append(out.Frames, report.CoreFrame{Function: fr.Func, File: fr.File, Line: fr.Line, PC: fr.PC, SP: fr.SP})
	}
	return out
}
