package command

import (
	"errors"
	"os"
	"runtime/pprof"
	"runtime/trace"
)

// selfProfile profiles loupe itself, on any command.
type selfProfile struct {
	cpu, mem, trace string
	files           []*os.File
}

func (p *selfProfile) flags(fs *FlagSet) {
	fs.hidden(func() {
		fs.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile of loupe itself to `file`")
		fs.StringVar(&p.mem, "memprofile", "", "write an allocation profile of loupe itself to `file`")
		fs.StringVar(&p.trace, "selftrace", "", "write an execution trace of loupe itself to `file`")
	})
}

// ProfileFlags adds the flags by which any command profiles itself, for those who only look
// whether a command line is right.
func ProfileFlags(fs *FlagSet) { new(selfProfile).flags(fs) }

func (p *selfProfile) create(name string) (*os.File, error) {
	f, err := CreateFile(name)
	if err == nil {
		p.files = append(p.files, f)
	}
	return f, err
}

func (p *selfProfile) start() error {
	if p.cpu != "" {
		f, err := p.create(p.cpu)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
	}
	if p.trace != "" {
		f, err := p.create(p.trace)
		if err != nil {
			return err
		}
		return trace.Start(f)
	}
	return nil
}

func (p *selfProfile) stop() error {
	var err error
	if p.cpu != "" {
		pprof.StopCPUProfile()
	}
	if p.trace != "" {
		trace.Stop()
	}
	if p.mem != "" {
		var f *os.File
		if f, err = p.create(p.mem); err == nil {
			err = pprof.Lookup("allocs").WriteTo(f, 0)
		}
	}
	for _, f := range p.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
