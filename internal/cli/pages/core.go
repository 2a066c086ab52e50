package pages

import (
	"fmt"
	"sync"

	"loupe/analysis/postmortem"
	"loupe/format/core"
	"loupe/format/dump"
	"loupe/format/kind"
	"loupe/internal/cli/command"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/programs"
	"loupe/report"
	"loupe/session"
	"loupe/source"
)

// SplitPrograms takes the programs out of a list of inputs: they say what cores and
// dumps mean.
func SplitPrograms(inputs []*source.Input) (files, named []*source.Input, err error) {
	explained := false
	for _, in := range inputs {
		if in.Kind == kind.Program {
			named = append(named, in)
			continue
		}
		files = append(files, in)
		explained = explained || in.Kind == kind.Core || in.Kind == kind.Dump
	}
	if len(named) > 0 && !explained {
		name := named[0].Name
		return nil, nil, command.Usagef("%s is a program: also name what it left behind, loupe open %s CORE (or a goroutine dump)", name, name)
	}
	return files, named, nil
}

// looseCores are files that stand alone with the cores among them, each with its
// program.
type looseCores struct {
	examine.Files
	cores map[string]*postmortem.Core // by short name

	mu    sync.Mutex // of files
	files programs.Files
}

var _ session.Cores = (*looseCores)(nil)

// openCores opens the cores among files that stand alone. Each gets that program of
// those named which is the build that ran, else the first of them; where none is
// named, the one that the core names. Without any there is what the kernel has noted.
func openCores(l *examine.Loose, inputs []*source.Input, named []string) (*looseCores, error) {
	c := &looseCores{Files: l.Files, cores: map[string]*postmortem.Core{}}
	for i, in := range inputs {
		if in.Kind != kind.Core {
			continue
		}
		one, err := c.open(in.Path, named)
		if err != nil {
			c.files.Close()
			return nil, err
		}
		c.cores[l.Short[i]] = one
	}
	return c, nil
}

func (c *looseCores) open(name string, named []string) (*postmortem.Core, error) {
	file, err := c.files.Core(name)
	if err != nil {
		return nil, err
	}
	bin, err := c.programOf(name, file, named)
	if err != nil {
		return postmortem.Alone(name, file, err), nil
	}
	one, err := postmortem.Join(name, file, bin.Name, bin.Binary, bin.File)
	if err != nil {
		return postmortem.Alone(name, file, err), nil
	}
	return one, nil
}

// programOf finds the program of a core.
func (c *looseCores) programOf(name string, file *core.File, named []string) (best *programs.Program, err error) {
	if len(named) == 0 {
		return c.files.Find(name, file, "open")
	}
	for _, at := range named {
		bin, berr := c.files.Program(at, name)
		if berr != nil {
			err = berr
			continue
		}
		if postmortem.Identify(file, bin.Binary) == postmortem.SameBuild {
			return bin, nil
		}
		if best == nil {
			best = bin
		}
	}
	if best != nil {
		return best, nil
	}
	return nil, err
}

// close closes the cores and the programs.
func (c *looseCores) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files.Close()
	return nil
}

// Readable tells whether the runtime of a core's program can be read.
func (c *looseCores) Readable(name string) bool {
	one, ok := c.cores[name]
	return ok && one.NotGo == nil
}

// Goroutines returns what the goroutines of a core did.
func (c *looseCores) Goroutines(name string) (*dump.File, error) {
	one, ok := c.cores[name]
	if !ok {
		return nil, fmt.Errorf("there is no core %s", name)
	}
	return one.Goroutines()
}

// explained says what the words of the goroutines in a file are: of a core by its
// program and its memory, of a dump by the program that was named, else by the
// sources that it names, where they are on this machine.
func (c *looseCores) explained(e *command.Env, entry string, f *dump.File, named []string) *report.Explained {
	if one, ok := c.cores[entry]; ok {
		return programs.Explained(e.Ctx, one, f)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range named {
		if bin, err := c.files.Program(at, entry); err == nil && bin.IsGo() {
			return programs.ExplainDump(e.Ctx, f, bin)
		}
	}
	return programs.ExplainDump(e.Ctx, f, nil)
}
