package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"loupe/capture/debuginfo"
	"loupe/format/compiler"
	"loupe/format/profile"
	"loupe/recording"
)

// Diagnosis says how the compiler's reasons get into a recording. Which
// packages matter, and what a call in the binary means, is known to those who
// read profiles, whom this package must not import: they are passed in.
type Diagnosis struct {
	// Packages names the packages that the leaves of a profile were compiled
	// into, which the compiler is to be asked about.
	Packages func(p *profile.Profile) []string
	// Calls reads a binary and returns what names the function that is called
	// in front of a return address.
	Calls func(r io.ReaderAt) (callee func(returnAddress uint64) string, err error)
	// Cache is a directory in which the compiler's answers are kept from one
	// recording to the next; empty means none. [CompileCache] names the usual
	// one.
	Cache string
}

// largestDiagnosis bounds what a recording keeps of the compiler's words for
// one package, compressed.
const largestDiagnosis = 32 << 20

// Diagnose keeps what the compiler says about the user's packages in which the
// profiles of allocations and of the CPU end and, of the binary, which function of the runtime each allocating line calls.
// It is called after the last phase, so that the compiler takes no time from
// the program. What cannot be had is a note in the recording: the rest of it is
// as good as before.
//
// Only the module of the target is asked about, and those that were built from a
// folder as it was (go.work, replace). That code is what the user can change, and the
// packages that it imports are compiled already; to ask about them too would take up to half a minute (go/types and all below it:
// 31 s of CPU time against 9 s).
func (r *Recorder) Diagnose(ctx context.Context) error {
	if r.opt.Diagnose == nil || r.prog == nil || r.aborted.Load() || ctx.Err() != nil {
		return nil
	}
	return r.opt.Diagnose.Keep(ctx, r.w, r.prog, r.opt.Progress)
}

// Keep is [Recorder.Diagnose] for who writes a recording without a recorder.
func (d *Diagnosis) Keep(ctx context.Context, w *recording.Writer, prog *Program, progress func(format string, args ...any)) error {
	allocs, cpu := debuginfo.Profiles(w, recording.Allocs), debuginfo.Profiles(w, recording.CPU)
	if len(allocs) > 0 {
		if err := debuginfo.Calls(w, prog.Path, prog.Target.Name, allocs, d.Calls); err != nil {
			return err
		}
	}
	if prog.compile == nil || len(allocs)+len(cpu) == 0 {
		return nil // built by somebody else, with flags that nobody knows
	}
	opt, _ := prog.Explained(d.Cache, debuginfo.Packages(slices.Concat(allocs, cpu), prog.Modules(), d.Packages))
	opt.Progress = progress
	var werr error // of the recording, which is an error of ours
	opt.Answers = func(name string, a *compiler.Answer) error {
		var data bytes.Buffer
		if err := a.Encode(&data); err != nil {
			return err
		}
		if data.Len() > largestDiagnosis {
			return fmt.Errorf("the compiler says %d MB about it", data.Len()>>20)
		}
		werr = errors.Join(werr, w.Put(recording.Entry{
			Path: "compiler/" + name + ".gz", Kind: recording.Compiler, Source: name,
		}, data.Bytes()))
		return nil
	}
	compiled, err := Compile(ctx, opt)
	switch {
	case ctx.Err() != nil:
		return werr
	case err != nil:
		return errors.Join(werr, w.Note("why lines allocate is not known: "+oneLine(err.Error())))
	}
	for _, name := range slices.Sorted(maps.Keys(compiled.Failed)) {
		werr = errors.Join(werr, w.Note("why lines of "+name+" allocate is not known: "+oneLine(compiled.Failed[name])))
	}
	return werr
}

// Explained is how the compiler is asked about packages of the program ([Compile]), with
// a folder in which its answers are kept. It is false of a program that somebody
// else has built.
func (p *Program) Explained(cache string, packages []string) (opt CompileOptions, ok bool) {
	if p.compile == nil {
		return opt, false
	}
	opt = *p.compile
	opt.Cache, opt.Packages = cache, packages
	return opt, true
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Modules are the paths of those of the user that the program is built of, its own first.
func (p *Program) Modules() []string {
	if p.Target.Module == "" {
		return nil
	}
	return append([]string{p.Target.Module}, p.local...)
}

// Local are the modules of [Program.Modules] without its own.
func (p *Program) Local() []string { return p.local }
