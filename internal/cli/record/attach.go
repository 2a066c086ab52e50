package cli

import (
	"errors"
	"fmt"
	"strings"

	"loupe/collect"
	"loupe/recording"
	"loupe/report"
	"loupe/secret"
)

var attachCommand = &command{
	name:  "attach",
	short: "record a running service through its /debug/pprof",
	args:  "[flags] URL|:PORT|PID",
	example: []string{
		"loupe attach :6060",
		"loupe attach -phases bare,cpu:30s,heap https://staging.example/debug/pprof/",
		"loupe attach -load http://localhost:8080/ -n 20000 :6060",
		"loupe attach 4711                       the process with that id: its ports are tried, then the kernel",
		"loupe attach -explain 4711              what may be learnt of it, and why not",
	},
	about: `
The service imports net/http/pprof; of a local process that does not, what the
kernel shows is recorded: its goroutines, its heap profile and its CPU time (Linux). A
program that nowhere asks for its heap profile keeps none: -heap-profiling switches
it on from outside while the phases heap and allocs last (heap:30s), and what was
allocated before is not seen. When it also imports expvar, its
/debug/vars is sampled all along; otherwise the runtime's memory statistics are
read from the text of its profile, less often. Phases go one profiler at a time:

` + collect.DescribePhases() + `
A block or mutex profile shows something only if the program switched the
profiler on (runtime.SetBlockProfileRate, SetMutexProfileFraction).`,
	setup: func(fs *flagSet) func(*env, []string) error {
		var f recordFlags
		f.declare(fs, false)
		explain := fs.Bool("explain", false, "only tell what may be learnt of the process `PID`, and why not")
		heapProfiling := fs.Bool("heap-profiling", false, "allow loupe to WRITE TO THE MEMORY of the process: a heap profile that it\ndoes not keep is switched on for the length of the phases heap and allocs,\nand off again (Linux)")
		return func(e *env, args []string) error {
			f.heapProfiling = *heapProfiling
			target, err := oneArg(args, "the service")
			if err != nil {
				return err
			}
			if _, err := collect.PprofURL(target); err != nil {
				return usageError{err}
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
			plan, err := f.plan()
			if err != nil {
				return err
			}
			if err := checkPlace(f.out); err != nil {
				return err
			}
			return e.withTemp(func(temp string) error { return f.attach(e, target, plan, temp) })
		}
	},
}

func (f *recordFlags) attach(e *env, target string, plan collect.Plan, temp string) error {
	opt, err := f.options(e, temp)
	if err != nil {
		return err
	}
	plan.WaitFor = "" // it runs already
	opt.HeapProfiling = f.heapProfiling
	name := f.title
	if name == "" {
		name = "attach " + secret.URL(target)
	}
	access, err := f.loading.access(target)
	if err != nil {
		return usageError{err}
	}
	// The service is looked at before a directory is made for it.
	service, err := collect.Find(e.ctx, target, access)
	if service.Ways != nil && (err != nil || !f.quiet && !e.quiet) {
		writePermissions(e.stderr, report.Style{Width: width(e.stderr)}, service.Ways)
	}
	if err != nil {
		return unreachable(err)
	}
	if given := f.loading.givenAccess(); len(given) > 0 && !service.Asked() && f.load == "" {
		fmt.Fprintf(e.stderr, "loupe: WARNING: -%s is of no use here: the process serves no /debug/pprof, the kernel is asked\n", strings.Join(given, ", -"))
	}
	if f.heapProfiling {
		fmt.Fprintln(e.stderr, "loupe: WARNING: -heap-profiling lets loupe write to the memory of the running process, if that keeps no heap profile; it is undone at the end of the phase, and if loupe is killed")
	}
	defer e.keeps()()
	dir, zip := place(f.out, name)
	w, err := recording.Create(dir, recording.Manifest{Title: name, Tool: version(), Host: collect.HostFacts()})
	if err != nil {
		return err
	}
	plan.Load = f.loadInto(w)
	r, err := collect.Attach(e.ctx, w, service, opt)
	if err != nil {
		return errors.Join(unreachable(err), w.Close())
	}
	err = r.RecordAttached(e.ctx, plan)
	err = errors.Join(err, r.Close())
	dir, perr := pack(dir, zip)
	return errors.Join(err, perr, conclude(e, []string{dir}, f.json, f.quiet), failedPhases(w.Manifest()))
}

// unreachable gives an error about a target that does not answer its exit
// code.
func unreachable(err error) error {
	if errors.Is(err, collect.ErrUnreachable) {
		return exitError{exitNothing, err}
	}
	return err
}
