package insight

import (
	"fmt"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// System calls that a database within the program makes for its file: the samples show which they are.

// fewCPUs is how many CPUs a program uses at most of which it is said that it mostly waits. Chosen.
const fewCPUs = 0.3

// tellDatabaseCalls says of system calls whose heaviest line asks a database within the program that they are made by that, and for which statement;
// it tells whether that is so.
func tellDatabaseCalls(h *hit, f *Finding) bool {
	if len(h.lines) == 0 || h.lines[0].Caller.Func == "" {
		return false
	}
	line, isUser := h.lines[0], h.in.Session.Scope().IsUser
	of := engineBelow(facts.Frames(h.p.Stacks, line.heavy), isUser)
	if of == "" {
		return false
	}
	var alone *ownTransactions
	var seen ownTransactions
	for id, n := range h.p.Samples(h.index) {
		frames := facts.Frames(h.p.Stacks, id)
		x, ok := executedOn(frames, isUser)
		if n <= 0 || !ok || lineOnly(x.way[0]) != lineOnly(line.Caller) || !inSet("syscall", frames[0].Func) {
			continue
		}
		if seen.add(x, time.Duration(n)); alone == nil || x.commit && !alone.commit {
			if one, alike := ofLoop(h.in.code, x); alike {
				alone = one
			}
		}
	}
	f.Summary += "; they are made by the database within the program (" + of + ")"
	if cpus := spentOf(h.in); cpus != nil && cpus.cpus > 0 && cpus.cpus < fewCPUs {
		f.Doubts = append(f.Doubts, fmt.Sprintf("the program used %.2f CPUs: it mostly waits, and the CPU time of these calls is little next to their waits for the disk (WT01, WT02)", cpus.cpus))
	}
	if alone != nil {
		f.Summary += ": " + alone.says()
		if known := seen.below(); known != "" {
			f.Summary += "; of the CPU time of these calls, " + known
		}
		alone.advise(h.in.code, f)
		return true
	}
	f.Advice = "Fewer of them: several statements in one transaction where they write, so that the file is written and synced once for all; a larger cache of its pages where they read (for SQLite PRAGMA cache_size)."
	if _, text := queryOn(h.in.code, userWay(h, line)); text != "" && len(f.Evidence) > 0 {
		f.Evidence[0].Text += ": " + shortText(text)
	}
	return true
}

// engineBelow is the database within the program that the innermost line of a stack calls; empty where it calls none.
func engineBelow(frames []stack.Frame, isUser func(stack.Frame) bool) string {
	own := slices.IndexFunc(frames, isUser)
	for i := own - 1; i >= 0; i-- {
		if pkg := stack.Package(frames[i].Func); isOfPackages(pkg, engines) {
			return engines[slices.IndexFunc(engines, func(p string) bool { return isOfPackages(pkg, []string{p}) })]
		}
	}
	return ""
}
