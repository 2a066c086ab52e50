package collect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/recording"
	"loupe/value/timeline"
)

// ownCapture is a profile or trace that the program took of itself, as package
// agent keeps it (agent.OwnEnv).
type ownCapture struct {
	file  string
	phase string // the profiler that it is the same as: "cpu" or "trace"
	span  timeline.Span
	whole bool // the program has ended it
}

// maxOwn bounds how many captures of a kind are kept of one process: something
// that asks a service for a profile every few seconds does so without end.
const maxOwn = 10

// owns are the captures that the processes of a recording take of themselves.
type owns struct {
	w    *recording.Writer
	temp string // where the agents keep them
	run  int    // of the present process, or of the next one
	on   bool   // there is a process that loupe has started
	// By profiler: in which phases there were captures, and how many are kept.
	phases map[string][]string
	kept   map[string]int
}

func newOwns(w *recording.Writer, temp string) *owns {
	return &owns{w: w, temp: temp, run: -1, phases: map[string][]string{}, kept: map[string]int{}}
}

// list lists what the present process has captured of itself up to now,
// in order of time. A capture that is not whole ends at end.
func (o *owns) list(end timeline.Time) []ownCapture {
	if !o.on {
		return nil // it was found running, and has no agent
	}
	names, err := os.ReadDir(o.dir())
	if err != nil {
		return nil
	}
	var found []ownCapture
	for _, n := range names {
		kind, times, ok := strings.Cut(n.Name(), "-")
		if _, known := phaseKinds[kind]; !ok || !known {
			continue
		}
		c := ownCapture{file: filepath.Join(o.dir(), n.Name()), phase: kind, span: timeline.Span{End: end}}
		begin, last, whole := strings.Cut(times, "-")
		ns, err := strconv.ParseInt(begin, 10, 64)
		if err != nil {
			continue
		}
		c.span.Start = o.w.At(time.Unix(0, ns))
		if ns, err := strconv.ParseInt(last, 10, 64); whole && err == nil {
			c.span.End, c.whole = o.w.At(time.Unix(0, ns)), true
		}
		found = append(found, c)
	}
	slices.SortFunc(found, func(a, b ownCapture) int { return int(a.span.Start - b.span.Start) })
	return found
}

// dir is where the agent of the present process keeps them.
func (o *owns) dir() string { return filepath.Join(o.temp, fmt.Sprintf("own-%d", o.run)) }

// since returns when the program began a capture like that of the phase which
// began at start: loupe's ended there.
func (o *owns) since(phase string, start timeline.Time) (timeline.Time, bool) {
	for _, c := range o.list(o.w.Now()) {
		if c.phase == phase && c.span.Start >= start {
			return c.span.Start, true
		}
	}
	return 0, false
}

// instead tells whether a capture of the phase that began at start failed
// because the program was at it itself.
func (o *owns) instead(phase string, start timeline.Time, err error) bool {
	return err != nil && slices.ContainsFunc(o.list(o.w.Now()), func(c ownCapture) bool {
		return c.phase == phase && c.span.End > start
	})
}

// keep moves what the process has captured of itself into the recording, now
// that it has ended. In the phase of another profiler it is only told of: the
// bare phase has the same already.
func (o *owns) keep() error {
	var errs error
	kept := map[string]int{} // of this process
	for _, c := range o.list(o.w.Now()) {
		in := o.phasesOf(c)
		for _, p := range in {
			if !slices.Contains(o.phases[c.phase], p.Name) {
				o.phases[c.phase] = append(o.phases[c.phase], p.Name)
			}
		}
		i := slices.IndexFunc(in, func(p recording.Phase) bool { return p.Profiler == c.phase })
		if i < 0 {
			i = slices.IndexFunc(in, recording.Phase.Bare)
		}
		if i < 0 || kept[c.phase] == maxOwn {
			continue
		}
		if ok, err := o.keepOne(c, in[i]); err != nil {
			errs = errors.Join(errs, err)
		} else if ok {
			kept[c.phase]++
		}
	}
	return errors.Join(errs, os.RemoveAll(o.dir()))
}

// phasesOf returns the phases of the present process during which a capture was
// on.
func (o *owns) phasesOf(c ownCapture) []recording.Phase {
	return slices.DeleteFunc(o.w.Manifest().Phases, func(p recording.Phase) bool {
		return !p.Has(o.run) || p.Span.Start >= c.span.End || p.Span.End != 0 && p.Span.End <= c.span.Start
	})
}

func (o *owns) keepOne(c ownCapture, in recording.Phase) (kept bool, err error) {
	f, err := os.Open(c.file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() == 0 {
		return false, err // a CPU profile that was not ended
	}
	kind := phaseKinds[c.phase]
	entry, err := o.w.Create(recording.Entry{
		Path: ownPath(kind.file, o.kept[c.phase]), Kind: kind.kind, Phase: in.Name, Run: in.Run, Span: c.span,
		Source: "the program's own " + ownCalls[c.phase], Own: true,
	})
	if err != nil {
		return false, err
	}
	o.kept[c.phase]++
	if _, err := io.Copy(entry, f); err != nil {
		return false, entry.Abort(err)
	}
	if !c.whole {
		cut := errors.New("the program did not end it")
		if err := entry.Abort(cut); !errors.Is(err, cut) {
			return false, err
		}
		return true, nil
	}
	return true, entry.Close()
}

// ownPath names an entry: own-cpu.pb.gz, own-cpu-2.pb.gz, own-trace-3.out.
func ownPath(file string, index int) string {
	base, rest, _ := strings.Cut(file, ".")
	return "own-" + numbered(base, index) + "." + rest
}

// ownCalls are the functions that begin the captures.
var ownCalls = map[string]string{"cpu": "runtime/pprof.StartCPUProfile", "trace": "runtime/trace.Start"}

// note says in the recording that the program profiles itself.
func (o *owns) note() error {
	var errs error
	for _, phase := range []string{"cpu", "trace"} {
		in := o.phases[phase]
		if len(in) == 0 {
			continue
		}
		text := fmt.Sprintf("the program profiles itself: %s in phase %s; that goes before loupe's own, and of its captures %d are in the recording", ownCalls[phase], strings.Join(in, ", "), o.kept[phase])
		if slices.ContainsFunc(in, func(name string) bool { return name == "bare" || strings.HasPrefix(name, "bare-") }) {
			text += "; the figures of the bare phase include its cost"
		}
		errs = errors.Join(errs, o.w.Note(text))
	}
	return errs
}
