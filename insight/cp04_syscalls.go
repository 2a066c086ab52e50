package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var cp04 = &Rule{
	ID: "CP04", Title: "System calls use much of the CPU",
	About: "The time the kernel works on behalf of the program: reading, writing, opening. A call costs about as much as copying a few kilobytes, " +
		"so many small calls are expensive. Waiting for the network is not included.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.30, "share of CPU time", "research, CP04; the lower bound of the interval counts"},
		{"warn", 0.50, "share of CPU time", "chosen"},
		{"small", 0.25, "share of CPU time", "chosen: of files that are used a few bytes at a time, with what Go does around the calls; the lower bound of the interval counts"},
		g0,
	},
	Check: checkKernel,
}

var kernelTime = check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "syscall", named: "kernel", skip: []string{"netpoll", "startup"},
	flat: true, anyone: true, busy: true, reason: kernelReason, what: "went into system calls", tell: tellKernel})

// checkKernel looks at the kernel's part; files that are used in small pieces cost more than that, and are asked for by themselves.
func checkKernel(r *Rule, in *Input) []Finding {
	all := kernelTime(r, in)
	small, ok := smallFiles(r, in)
	switch {
	case !ok:
		return all
	case all[0].State == Found && !slices.ContainsFunc(small.costs, func(c cost) bool { return c.file == all[0].Evidence[0].File && c.line == all[0].Evidence[0].Line }):
		return append(all, small)
	}
	return []Finding{small}
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
		case slices.ContainsFunc(frames, func(f stack.FrameID) bool { return slices.Contains(treeWalkers, t.Frame(f).Func) }), strings.HasPrefix(method, "ReadDir"), strings.HasPrefix(method, "Readdir"):
			return "lists"
		case name == "os.StartProcess":
			return "process"
		case strings.HasPrefix(name, "net."):
			return "network"
		case strings.HasPrefix(name, "crypto/rand."):
			return "random"
		case method == "Sync":
			return "sync"
		case method == "WriteAt" || method == "ReadAt":
			return "places"
		case method == "WriteTo": // os.File reads then, and who takes it may write to memory
			return "files"
		case slices.Contains(wholeFile, name):
			return "whole"
		case strings.HasPrefix(method, "Write"):
			return "write"
		case strings.HasPrefix(method, "Read") && !strings.HasPrefix(method, "ReadFile"):
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

// kernelWords say what the kernel was asked for.
var kernelWords = map[string]string{
	"network": "sending and receiving", "connect": "connecting", "walk": "going through files", "lists": "listing folders", "random": "random bytes", "write": "writing files", "whole": "creating and writing files",
	"read": "reading files", "process": "starting processes", "sync": "syncing files", "files": "opening and examining files", "other": "of other kinds",
}

func tellKernel(h *hit, f *Finding) {
	f.more = true // what is done around a call goes with it
	if len(h.lines) > 0 {
		defer tellSkips(h.in, h.lines[0].Caller, f)
	}
	named := namedReason(h)
	if most := h.reasons[0]; most.name != named {
		f.Summary += fmt.Sprintf("; more of it, %s, is for %s, which is spread over other places", unit.Percent(h.reasonShare(most.name)), kernelWords[most.name])
		if h.interval(int64(h.reasonShare(named)*float64(h.weight))).Low < h.rule.param("warn") {
			f.Severity = Info
		}
	}
	if tellDatabaseCalls(h, f) {
		return
	}
	switch named {
	case "network":
		if f.Impact.Low >= partSmall {
			f.Severity = Warning
		}
		if tellSmall(h, f, "connection") || goesOnWriting(h) && tellFlushed(h, f) || tellBurst(h, f, "connection") {
			return
		}
		f.Severity = Info
		if adviseBuffered(h, f) {
			return
		}
		f.Advice = "Send and receive more in each call: a bufio.Writer flushed once per response, net.Buffers for several pieces, several messages in one packet, reused connections."
		f.Doubts = append(f.Doubts, "a proxy or a small service naturally spends its time in network calls")
	case "connect":
		if len(h.lines) > 0 && relaysAt(h.in.code, h.lines[0].Caller) {
			f.Severity, f.Advice = Info, relayAdvice
			f.Doubts = append(f.Doubts, relayDoubtConnects)
			return
		}
		f.Advice = "Connect less often: one client for all requests, reused connections (keep-alive). If a peer refuses, pause before the next attempt, longer each time, and give up eventually: " +
			"a loop that retries at once does nothing else."
	case "walk":
		f.Advice = walkAdvice(true)
	case "lists":
		f.Advice = walkAdvice(false)
	case "random":
		f.Advice = "Read random bytes in larger pieces, through a bufio.Reader around crypto/rand.Reader; where they need not be unpredictable, use math/rand/v2."
	case "write":
		if severity := f.Severity; f.Impact.Low >= partSmall {
			if f.Severity = Warning; tellBurst(h, f, "file") {
				return
			}
			f.Severity = severity
		}
		if tellSmall(h, f, "file") || tellFlushed(h, f) {
			return
		}
		if adviseTouched(newDerivations(h.in.code), f, h.lines[0].Caller) {
			return
		}
		f.Advice = "If one file or connection gets many small writes, put a bufio.Writer of 64 KB in front and flush it at the end, or when somebody is waiting for the output. If each file is written by one call, a buffer gains nothing: write fewer of them."
		f.Doubts = append(f.Doubts, "a few large writes cannot be reduced further: check how many bytes each has (strace -c, or -e trace=write)", "what another process waits for, or writes to as well, may not stay in a buffer")
	case "places":
		f.Advice = "Each call is for a place in the file, so that a buffer in front of it is of no use: put together what lies side by side and write or read it in one call, keep what is used often in memory and write it back from time to time, or map the file."
		f.Doubts = append(f.Doubts, "what is kept in memory is lost if the program dies before it is written")
	case "whole":
		tellWhole(h, f)
		if makesFiles(h.in, userWay(h, h.lines[0]), h.lines[0].Callee) {
			f.Severity = Info
			f.Doubts = append(f.Doubts, ownFilesDoubt)
		}
	case "read":
		if tellSmall(h, f, "file") {
			return
		}
		if placeIsSet(h.in.code, h.lines[0].Caller) {
			f.Advice = "The place in the file is set before it is read, so that a buffer in front of it is of no use, or gives other bytes: read larger blocks, keep those that are read often, or read the whole file if it fits into memory; ReadAt needs no Seek."
			return
		}
		f.Advice = "Put a bufio.Reader of 64 KB in front, or read the whole file if it fits into memory."
		f.Doubts = append(f.Doubts, "a few large reads cannot be reduced further")
	case "process":
		f.Advice = "Start fewer processes: do the work in Go, keep one process and talk to it through a pipe, or give it many items at a time (CP18)."
	case "sync":
		f.Advice = "Sync less often: let one sync serve all waiting writers (group commit), or sync periodically, if losing the last moments is acceptable."
		f.Doubts = append(f.Doubts, "data that must survive a crash has to be synced before the request is answered")
		if e, _, told := syncTold(h.in.code, userWay(h, h.lines[0])); told {
			f.Doubts = append(f.Doubts, fmt.Sprintf("%s follows each sync: if it tells somebody that the data is on the disk, it has to wait for the shared sync", e))
		}
	case "files":
		if tellAppendsReopened(h, f) {
			return
		}
		const less = "Open, stat and list less often: keep files open, cache the results of os.Stat and os.ReadDir for a while, and check the error of the call itself instead of asking first."
		if at := h.lines[0].Caller; !adviseMoved(f, at, movesOf(h.in.code, namesOpened(h.in.code, at)), less) {
			f.Advice = less
			f.Doubts = append(f.Doubts, "a file that somebody renames, removes or replaces meanwhile has to be opened again: what is kept open is the old one")
		}
	default:
		f.Advice = "Find out which calls they are: strace -c -f -p PID counts them."
	}
}
