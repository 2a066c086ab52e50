package record

import (
	"errors"
	"fmt"
	"strings"

	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/recording"
	"loupe/report"
	"loupe/value/secret"
)

// Attach is loupe attach.
var Attach = &command.Command{
	Name:  "attach",
	Short: "record a running service through its /debug/pprof",
	Args:  "[flags] URL|:PORT|PID",
	Example: []string{
		"loupe attach :6060",
		"loupe attach -phases bare,cpu:30s,heap https://staging.example/debug/pprof/",
		"loupe attach -load http://localhost:8080/ -n 20000 :6060",
		"loupe attach 4711                       the process with that id: its ports are tried, then the kernel",
		"loupe attach -explain 4711              what can be learnt about it, and why not",
	},
	About: `
The service imports net/http/pprof; for a local process that does not, what the kernel exposes
is recorded: its goroutines, its heap profile and its CPU time (Linux). A program that never
requests its heap profile keeps none: -heap-profiling turns it on from outside during the
phases heap and allocs (heap:30s), and earlier allocations are not seen. If it also imports
expvar, its /debug/vars is sampled throughout; otherwise the runtime's memory statistics are
read from the text of its profile, less often. Phases run one profiler at a time:

` + collect.DescribePhases() + `
A block or mutex profile shows something only if the program enabled the profiler
(runtime.SetBlockProfileRate, SetMutexProfileFraction).`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		var f Flags
		f.declare(fs, false)
		explain := fs.Bool("explain", false, "only report what can be learnt about the process `PID`, and why not")
		heapProfiling := fs.Bool("heap-profiling", false, "allow loupe to WRITE TO THE MEMORY of the process: heap profiling that is off\nis turned on for the phases heap and allocs, and off again (Linux)")
		return func(e *command.Env, args []string) error {
			f.heapProfiling = *heapProfiling
			target, err := command.OneArg(args, "the service")
			if err != nil {
				return err
			}
			if _, err := collect.PprofURL(target); err != nil {
				return command.Usage(err)
			}
			if *explain || f.heapProfiling {
				pid, err := processID(target)
				if err != nil {
					return err
				}
				if *explain {
					return explainProcess(e, pid, f.json)
				}
			}
			plan, err := f.Plan()
			if err != nil {
				return err
			}
			if err := CheckPlace(f.out); err != nil {
				return err
			}
			return e.WithTemp(func(temp string) error { return f.attach(e, target, plan, temp) })
		}
	},
}

func (f *Flags) attach(e *command.Env, target string, plan collect.Plan, temp string) error {
	opt, err := f.Options(e, temp)
	if err != nil {
		return err
	}
	opt.HeapProfiling = f.heapProfiling
	name := f.title
	if name == "" {
		name = "attach " + secret.URL(target)
	}
	access, err := f.Loading.Access(target)
	if err != nil {
		return command.Usage(err)
	}
	// The service is looked at before a directory is made for it.
	service, err := collect.Find(e.Ctx, target, access)
	if service.Ways != nil && (err != nil || !f.Quiet && !e.Quiet) {
		writePermissions(e.Stderr, report.Style{Width: command.Width(e.Stderr)}, service.Ways)
	}
	if err != nil {
		return command.Unreachable(err)
	}
	if given := f.Loading.GivenAccess(); len(given) > 0 && !service.Asked() && f.Load == "" {
		fmt.Fprintf(e.Stderr, "loupe: WARNING: -%s has no effect here: the process serves no /debug/pprof, so the kernel is asked\n", strings.Join(given, ", -"))
	}
	if f.heapProfiling {
		fmt.Fprintln(e.Stderr, "loupe: WARNING: -heap-profiling lets loupe write to the memory of the running process if its heap profiling is off; this is undone at the end of the phase, and if loupe is killed")
	}
	defer e.Keeps()()
	dir, zip := Place(f.out, name)
	w, err := recording.Create(dir, recording.Manifest{Title: name, Tool: command.Version(), Host: collect.HostFacts()})
	if err != nil {
		return err
	}
	plan.Load = f.LoadInto(w)
	r, err := collect.Attach(e.Ctx, w, service, opt)
	if err != nil {
		return errors.Join(command.Unreachable(err), w.Close())
	}
	err = r.RecordAttached(e.Ctx, plan)
	err = errors.Join(err, r.Close())
	dir, perr := Pack(dir, zip)
	return errors.Join(err, perr, examine.Conclude(e, []string{dir}, f.json, f.Quiet), door.FailedPhases(w.Manifest()))
}
