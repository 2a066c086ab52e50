// Package postmortem joins a core file with the program that it is of: how the
// program ended, what its goroutines and threads did, and what was in its heap.
//
// It tells whether the program is the very build that ran, and reads nothing of
// one that cannot be: what falls short of that is said. Of a core whose program is
// not there, it has what the kernel has noted: the signal, and registers.
//
// The package opens nothing: the caller passes the core and the program. The
// command line and the pages show the same, because both are made of this.
package postmortem

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"loupe/analysis/explain"
	"loupe/analysis/heap"
	"loupe/format/core"
	"loupe/format/dump"
	"loupe/format/program"
	"loupe/format/symbol"
)

// Identity says whether a core is of a binary.
type Identity string

// What is known of it.
const (
	UnknownBuild Identity = ""
	SameBuild    Identity = "same" // their build ids are equal
	// SameTables is a core without a build id, in which the runtime's tables
	// lie where the binary has them.
	SameTables Identity = "same tables"
	OtherBuild Identity = "other"
)

// Core is a core with its program. Any number of goroutines may use it at once.
type Core struct {
	// Name and Program are what the user calls the core and the program.
	Name, Program string
	File          *core.File
	// Binary is nil where the program is not there.
	Binary   *symbol.Binary
	Memory   *core.Memory
	Identity Identity
	// NotGo says why the runtime of the program cannot be read; nil where it can.
	NotGo error

	mu      sync.Mutex // of what follows: a program is used by one at a time
	program *program.Program
	stopped *program.Stopped
	failed  error // why there is no stopped one, after it was asked for
}

// Read decodes a core and the program that it is of, and puts them together as [Join] does.
func Read(name string, data io.ReaderAt, size int64, binName string, image io.ReaderAt) (*Core, error) {
	file, err := core.Open(data, size)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	bin, err := symbol.Open(image, symbol.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", binName, err)
	}
	return Join(name, file, binName, bin, image)
}

// Join puts a program behind a core and finds out whether it is the one. image is
// the file that the binary was read from.
func Join(name string, file *core.File, binName string, bin *symbol.Binary, image io.ReaderAt) (*Core, error) {
	if bin.Arch != file.Arch {
		return nil, fmt.Errorf("cannot use %s as the program of %s: one is of %s, the other of %s", binName, name, bin.Arch, file.Arch)
	}
	c := &Core{Name: name, Program: binName, File: file, Binary: bin, Memory: file.Memory(), Identity: Identify(file, bin)}
	bias := uint64(0)
	if bin.PIE {
		if file.Entry == 0 || bin.Entry == 0 {
			c.NotGo = errors.New("the program may be loaded anywhere (-buildmode=pie), and the core does not say where it was")
			return c, nil
		}
		bias = file.Entry - bin.Entry
	}
	if c.program, c.NotGo = program.Open(c.Memory, bin, bias); c.program != nil && c.Identity == UnknownBuild {
		if same, known := c.program.SameBuild(image); known && same {
			c.Identity = SameTables
		} else if known {
			c.Identity = OtherBuild
		}
	}
	for _, s := range bin.Segments {
		c.Memory.Back(core.Backing{Addr: s.Addr + bias, Size: s.FileSize, From: image, Offset: int64(s.Offset)})
	}
	if c.program == nil && !bin.HasSymbols() {
		c.program, c.NotGo = program.Search(c.Memory, bin, bias)
	}
	return c, nil
}

// Alone is a core without its program; why says where that is.
func Alone(name string, file *core.File, why error) *Core {
	return &Core{Name: name, File: file, Memory: file.Memory(), NotGo: why}
}

// Identify compares the build ids of a core and a binary.
func Identify(file *core.File, bin *symbol.Binary) Identity {
	gnu, id := file.BuildIDs()
	have := bin.GoBuildID
	if id == "" || have == "" {
		id, have = gnu, bin.BuildID
	}
	switch {
	case id == "" || have == "":
		return UnknownBuild
	case id == have:
		return SameBuild
	}
	return OtherBuild
}

// stop looks at the program as the runtime left it. The caller holds c.mu.
func (c *Core) stop() (*program.Stopped, error) {
	if c.stopped != nil || c.failed != nil {
		return c.stopped, c.failed
	}
	if c.program == nil {
		c.failed = fmt.Errorf("cannot read the goroutines of %s: %w", c.Name, c.NotGo)
		return nil, c.failed
	}
	st, err := c.program.Stop(c.threads(), c.File.Clock)
	if err != nil {
		c.failed = fmt.Errorf("cannot read the goroutines of %s: %w%s", c.Name, err, c.doubt())
		return nil, c.failed
	}
	c.stopped = st
	return st, nil
}

// threads are those of the core, as package program has them.
func (c *Core) threads() (out []program.Thread) {
	for i := range c.File.Threads {
		out = append(out, at(&c.File.Threads[i]))
	}
	return out
}

func at(t *core.Thread) program.Thread {
	return program.Thread{ID: t.ID, PC: t.PC, SP: t.SP, BP: t.BP, LR: t.LR}
}

// doubt says why what was read may be nonsense.
func (c *Core) doubt() string {
	switch {
	case c.Identity == OtherBuild:
		return " (" + c.Program + " is a different build from the one that ran)"
	case c.File.Cut > 0:
		return fmt.Sprintf(" (the core is truncated: %d bytes are missing)", c.File.Cut)
	}
	return ""
}

// Explain prepares to say what the words of the goroutines are that [Core.Goroutines]
// has given, with the memory of the core for what they point to; nil where the
// program is another one.
func (c *Core) Explain(of *dump.File, from explain.Sources) *explain.Explainer {
	if c.Identity == OtherBuild || c.Binary == nil {
		return nil
	}
	return explain.New(of, explain.Options{Binary: c.Binary, Sources: from, Memory: c.Memory.Read})
}

// Heap reads the heap, which takes seconds for a gigabyte. step is told how much
// of it is done and may end it, see [heap.Options].
func (c *Core) Heap(step func(done float64) error) (*heap.Heap, error) {
	if c.program == nil {
		return nil, fmt.Errorf("cannot read the heap of %s: %w", c.Name, c.NotGo)
	}
	opt := heap.Options{Step: step}
	for i := range c.File.Threads {
		opt.Threads = append(opt.Threads, c.File.Threads[i].SP)
	}
	// Without it all words of stacks count.
	if unwind, err := c.program.Unwinder(c.threads()); err == nil {
		opt.Unwind = func(g uint64, visit func(heap.Frame) bool) {
			unwind(g, func(a program.Activation) bool {
				return visit(heap.Frame{PC: a.PC, Exact: a.Exact, Low: a.SP, CFA: a.CFA})
			})
		}
	}
	h, err := heap.Open(c.Memory, c.Binary, c.program.Bias, opt)
	if err != nil {
		return nil, fmt.Errorf("cannot read the heap of %s: %w", c.Name, err)
	}
	return h, nil
}
