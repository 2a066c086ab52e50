package insight

import (
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var cp04 = &Rule{
	ID: "CP04", Title: "System calls use much of the CPU",
	About: "The time that the kernel works for the program: reading, writing, opening. A call costs about as much as copying some kilobytes, " +
		"so many small ones are dear. Waiting for the network is not in it.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.30, "share of CPU time", "research, CP04; the lower bound of the interval counts"},
		{"warn", 0.50, "share of CPU time", "chosen"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "syscall", named: "kernel", skip: []string{"netpoll", "startup"},
		flat: true, anyone: true, busy: true, reason: kernelReason, what: "went into system calls", tell: tellKernel}),
}

// kernelReason says what the kernel was asked for.
func kernelReason(t *stack.Table, frames []stack.FrameID) string {
	for i := len(frames) - 1; i >= 0; i-- {
		name := t.Frame(frames[i]).Func
		if !inSet("kernel", name) || inSet("syscall", name) {
			continue
		}
		method := name[strings.LastIndexByte(name, '.')+1:]
		switch {
		case has(t, frames, "net.(*Dialer).DialContext"):
			return "connect"
		case has(t, frames, "path/filepath.Walk"):
			return "walk"
		case name == "os.StartProcess":
			return "process"
		case strings.HasPrefix(name, "net."):
			return "network"
		case strings.HasPrefix(name, "crypto/rand."):
			return "random"
		case method == "Sync":
			return "sync"
		case method == "WriteTo": // os.File reads then, and who takes it may write to memory
			return "files"
		case strings.HasPrefix(method, "Write"):
			return "write"
		case strings.HasPrefix(method, "Read") && !strings.HasPrefix(method, "ReadFile") && !strings.HasPrefix(method, "ReadDir"):
			return "read"
		}
		return "files"
	}
	return "other"
}

// has tells whether a function is on a stack.
func has(t *stack.Table, frames []stack.FrameID, function string) bool {
	return slices.ContainsFunc(frames, func(f stack.FrameID) bool { return t.Frame(f).Func == function })
}

func tellKernel(h *hit, f *Finding) {
	switch h.reasons[0].name {
	case "network":
		f.Severity = Info
		f.Advice = "Send and receive more in each call: a bufio.Writer that is flushed once for each answer, net.Buffers for several pieces, several messages in one packet, connections that are used again."
		f.Doubts = append(f.Doubts, "a proxy or a small service spends its time in the network's calls with reason")
	case "connect":
		f.Advice = "Connect less often: one client for all requests, connections that are used again. Where a peer refuses, pause before the next try, longer each time, and give up in the end: " +
			"a loop that tries again at once does nothing else."
	case "walk":
		f.Advice = "Use filepath.WalkDir in place of Walk: it asks the system about a file only when Info is called. Skip folders that need not be seen (fs.SkipDir), and keep what does not change."
	case "random":
		f.Advice = "Read random bytes in larger pieces, through a bufio.Reader around crypto/rand.Reader; where nobody must guess them, use math/rand/v2."
	case "write":
		f.Advice = "Put a bufio.Writer of 64 KB in front and flush it at the end, or when somebody waits for the text."
		f.Doubts = append(f.Doubts, "few and large writes cannot be made fewer: look at how many bytes each has (strace -c, or -e trace=write)")
	case "read":
		f.Advice = "Put a bufio.Reader of 64 KB in front, or read the file whole where it fits into memory."
		f.Doubts = append(f.Doubts, "few and large reads cannot be made fewer")
	case "process":
		f.Advice = "Start fewer processes: do the work in Go, keep one process and talk to it through a pipe, or give it many at a time (CP18)."
	case "sync":
		f.Advice = "Sync less often: let one sync serve all that wait for theirs (group commit), or sync by time, where the last moments may be lost."
		f.Doubts = append(f.Doubts, "what must survive a crash before it is answered has to be synced")
	case "files":
		f.Advice = "Open, stat and list less often: keep files open, keep what os.Stat and os.ReadDir have answered for a while, and check for the error of the call itself instead of asking first."
	default:
		f.Advice = "See which calls they are: strace -c -f -p PID counts them."
	}
}
