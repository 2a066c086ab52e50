package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// What those inside a semaphore wait for may need the CPUs of the same machine. A trace does not
// show where a peer is; what a child process does and what the program itself answers it does.

// insideShare is from which part of something on it counts for all of it.
const insideShare = 0.5

// needsCPU tells why what those inside a semaphore wait for may need the CPUs of this machine;
// empty where nothing speaks for it.
func (s *semaphore) needsCPU(in *Input, t *traced) string {
	var child, files, all time.Duration
	for _, x := range s.inside {
		all += x.time
		switch {
		case x.child:
			child += x.time
		case x.files:
			files += x.time
		}
	}
	much := func(d time.Duration) bool { return d > 0 && float64(d) >= insideShare*float64(all) }
	n := in.Facts.NoiseOf(t.Entry.Phase)
	busy := n.Samples == 0 || n.Busy > insideShare
	switch own := t.Share(t.Running()) / float64(max(1, t.Parallel.Procs)); {
	case much(child) && busy:
		return "they wait for child processes, which may compute"
	case much(files) && busy:
		return "they are in system calls on files, in which the kernel may compute (copies, compression)"
	case own >= insideShare:
		return fmt.Sprintf("the program's own goroutines kept %s of its Ps busy meanwhile", unit.Percent(min(1, own)))
	}
	if name := answersItself(in); name != "" {
		return "the program also answers requests of its own, which compute (" + name + ")"
	}
	if at, ok := startsPrograms(in.code); ok && n.Full() {
		return fmt.Sprintf("all CPUs were busy, and the program starts other programs (%s:%d), which may be what they wait for", baseName(at.File), at.Line)
	}
	return ""
}

// answersItself is the handler of requests that the program sends itself, where these spend most of
// their time running or waiting for a P; empty without one.
func answersItself(in *Input) string {
	u := in.Facts.Units()
	if u.Err != nil {
		return ""
	}
	for _, g := range u.Groups {
		computes := time.Duration(0)
		for i := range g.All.Rows {
			if row := &g.All.Rows[i]; row.Kind.Key() == "running" || row.Kind.Key() == "runnable" {
				computes += row.Time
			}
		}
		if g.Asked && g.All.Share(computes) >= insideShare {
			return g.Name
		}
	}
	return ""
}

// startsPrograms finds a line of the source that starts another program without waiting for it.
func startsPrograms(c *code) (at Evidence, found bool) {
	c.eachSource(func(file string, s *syntax) {
		if importedAs(s.file, "os/exec") == "" {
			return
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if f, sel := (*ast.SelectorExpr)(nil), false; ok && !found {
				if f, sel = call.Fun.(*ast.SelectorExpr); sel && f.Sel.Name == "Start" && len(call.Args) == 0 {
					line, _ := s.lines(call)
					at, found = c.shownAt(file, line, "a program is started here"), true
				}
			}
			return !found
		})
	})
	return at, found
}

// isChild tells whether what is called waits for another process.
func isChild(called []stack.Frame) bool {
	return slices.ContainsFunc(called, func(f stack.Frame) bool {
		return stack.Package(f.Func) == "os/exec" || strings.HasPrefix(f.Func, "os.(*Process).") || f.Func == "os.StartProcess" || f.Func == "syscall.Wait4"
	})
}

// isOnFiles tells whether a wait is a system call on a file.
func isOnFiles(x *facts.Wait) bool {
	return x.Block != nil && x.Block.State == exectrace.Syscall && !slices.ContainsFunc(x.Frames, func(f stack.Frame) bool {
		pkg := stack.Package(f.Func)
		return pkg == "net" || pkg == "os/exec"
	})
}

// gateOfCPUs is the semaphore as wide as the CPUs that a queue waits at; nil where it waits at another.
func gateOfCPUs(in *Input, t *traced, q *narrow) *semaphore {
	if q.gate.Workers {
		return nil
	}
	s := semaphoreAt(in, q.gate.Site.Frame, t.Frames(q.gate.Site.Stack))
	if s == nil || !s.cpus {
		return nil
	}
	traces, _ := in.Facts.WaitsOf(recording.ExecTrace)
	if len(traces) > 0 {
		s.lookInside(traces[0])
	}
	return s
}

// doubtLimit makes an info of a finding about a limit that may be as it is because what is behind
// it needs CPUs.
func doubtLimit(in *Input, f *Finding, why string) {
	f.Severity = Info
	f.Advice = "Raise the limit only if CPUs are idle while goroutines wait here: " + why + ". Then more at once only compete for them."
	if n := in.Facts.Noise(); n.Full() {
		f.Doubts = append(f.Doubts, inUse(in, n)+": whether a higher limit helps does not show on such a machine")
	}
}
