package cli

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"loupe/core"
	"loupe/dump"
	"loupe/explain"
	"loupe/postmortem"
	"loupe/report"
	"loupe/session"
)

// isProgram tells whether a file begins as programs do.
func isProgram(name string) bool {
	head := headOf(name)
	for _, magic := range []string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return !core.LooksLike(head)
		}
	}
	return false
}

// splitPrograms takes the programs out of a list of files: they say what cores and
// dumps mean.
func splitPrograms(names []string) (files, programs []string, err error) {
	for _, name := range names {
		if isProgram(name) {
			programs = append(programs, name)
		} else {
			files = append(files, name)
		}
	}
	if len(programs) == 0 || slices.ContainsFunc(files, wantsProgram) {
		return files, programs, nil
	}
	return nil, nil, usagef("%s is a program: name what it has left behind as well, loupe open %s CORE (or a goroutine dump)", programs[0], programs[0])
}

// wantsProgram tells whether a file is one that a program explains.
func wantsProgram(name string) bool { return isCore(name) || isDump(name) }

// looseCores are files that stand alone with the cores among them, each with its
// program.
type looseCores struct {
	looseFiles
	cores map[string]*postmortem.Core // by short name

	mu    sync.Mutex // of files
	files openFiles
}

var _ session.Cores = (*looseCores)(nil)

// openCores opens the cores among files that stand alone. Each gets that program of
// those named which is the build that ran, else the first of them; where none is
// named, the one that the core names. Without any there is what the kernel has noted.
func openCores(l *looseSet, programs []string) (*looseCores, error) {
	c := &looseCores{looseFiles: l.files, cores: map[string]*postmortem.Core{}}
	for i, name := range l.names {
		if !isCore(name) {
			continue
		}
		one, err := c.open(name, programs)
		if err != nil {
			c.files.close()
			return nil, err
		}
		c.cores[l.short[i]] = one
	}
	return c, nil
}

func (c *looseCores) open(name string, programs []string) (*postmortem.Core, error) {
	file, err := c.files.core(name)
	if err != nil {
		return nil, err
	}
	bin, err := c.programOf(name, file, programs)
	if err != nil {
		return postmortem.Alone(name, file, err), nil
	}
	one, err := postmortem.Join(name, file, bin.name, bin.Binary, bin.file)
	if err != nil {
		return postmortem.Alone(name, file, err), nil
	}
	return one, nil
}

// programOf finds the program of a core.
func (c *looseCores) programOf(name string, file *core.File, programs []string) (best *programFile, err error) {
	if len(programs) == 0 {
		return c.files.find(name, file, "open")
	}
	for _, at := range programs {
		bin, berr := c.files.program(at, name)
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
	c.files.close()
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
func (c *looseCores) explained(e *env, entry string, f *dump.File, programs []string) *report.Explained {
	if one, ok := c.cores[entry]; ok {
		return explained(e, one, f)
	}
	out := &report.Explained{}
	opt := explain.Options{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range programs {
		bin, err := c.files.program(at, entry)
		if err == nil && bin.IsGo() {
			opt.Binary, out.Binary = bin.Binary, at
			break
		}
	}
	opt.Sources = sourcesOf(e, opt.Binary).explain()
	out.By = explain.New(f, opt)
	return out
}
