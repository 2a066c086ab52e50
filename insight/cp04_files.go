package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Files that are read and written a few bytes at a time, with no buffer in between. The kernel's part of such a call is the smaller one: what
// Go does around it, the lock of the descriptor and the return from the call, is saved as well, and so are the seeks between the reads.

// fileLineUse is a line of the program that has reads, writes and seeks of an os.File below it, with no buffer in between. What is behind an
// interface is known by the frames of the profile.
type fileLineUse struct {
	at                   stack.Frame
	reads, writes, seeks int64
	bytes                int64 // in each call, by the source; 0 where it does not say it
}

// small tells of a line that it moves a few bytes in each call.
func (u *fileLineUse) small() bool { return u.bytes > 0 && u.bytes <= fewBytes }

func (u *fileLineUse) weight() int64 { return u.reads + u.writes + u.seeks }

// handsThrough are packages whose functions pass what they are given on to a file as it is.
var handsThrough = []string{"io", "os", "fmt", "encoding/binary"}

// fileUseOf finds what a stack does with a file that no buffer is in front of, and the frame of the program that asks for it; -1 where it is no such
// stack. A method Read, Write or Seek of the program that only hands on what it is given is not the one: its caller is.
func fileUseOf(in *Input, v *view, frames []stack.FrameID) (way string, at int) {
	name := func(i int) string { return v.t.Frame(frames[i]).Func }
	from := slices.IndexFunc(frames, func(f stack.FrameID) bool { return strings.HasPrefix(v.t.Frame(f).Func, "os.(*File).") })
	if from < 0 {
		return "", -1
	}
	user := nextUser(v, frames, from)
	if user < 0 || nextUser(v, frames[:from], 0) >= 0 {
		return "", -1
	}
	way = "Seek"
	for i := from; i < user; i++ {
		switch name(i) {
		case "os.(*File).Read":
			way = "Read"
		case "os.(*File).Write", "os.(*File).WriteString":
			way = "Write"
		case "os.(*File).Seek":
		case "os.(*File).read", "os.(*File).write", "os.(*File).seek", "os.(*File).checkValid":
		default:
			if pkg := stack.Package(name(i)); pkg == "os" || !slices.Contains(handsThrough, pkg) {
				return "", -1
			}
		}
	}
	for handsFileOn(in.code, v.t.Frame(frames[user])) {
		next := nextUser(v, frames, user+1)
		if next < 0 || slices.ContainsFunc(frames[user+1:next], func(f stack.FrameID) bool {
			return !slices.Contains(handsThrough, stack.Package(v.t.Frame(f).Func))
		}) {
			return "", -1
		}
		user = next
	}
	return way, user
}

// handsFileOn tells of a frame that it is in a method Read, Write or Seek which gives its first parameter to one of the same name.
func handsFileOn(c *code, at stack.Frame) bool {
	own, fn := ownName(at.Func), c.function(at)
	if !slices.Contains([]string{"Read", "Write", "Seek"}, own) || fn == nil || fn.Type.Params.NumFields() == 0 || len(fn.Type.Params.List[0].Names) == 0 {
		return false
	}
	first := fn.Type.Params.List[0].Names[0].Name
	return slices.ContainsFunc(c.lineCalls(at), func(call *ast.CallExpr) bool {
		return calledName(call) == own && len(call.Args) > 0 && isNamed(call.Args[0], first)
	})
}

// fileUses are the lines of the CPU samples that use files directly, the heaviest first.
func fileUses(in *Input, w *facts.Weights) (all []*fileLineUse) {
	v := in.view(w.Profile)
	logs, d := v.marks("logging"), newDerivations(in.code)
	byLine := map[stack.Frame]*fileLineUse{}
	for id, n := range w.Profile.Samples(w.Index) {
		frames := w.Profile.Stacks.Frames(id)
		if n <= 0 || slices.ContainsFunc(frames, func(f stack.FrameID) bool { return logs[f] }) {
			continue
		}
		way, user := fileUseOf(in, v, frames)
		if user < 0 {
			continue
		}
		at := lineOnly(w.Profile.Stacks.Frame(frames[user]))
		u := byLine[at]
		if u == nil {
			u = &fileLineUse{at: at}
			byLine[at] = u
		}
		switch way {
		case "Seek":
			u.seeks += n
		case "Read":
			u.reads += n
		default:
			u.writes += n
		}
	}
	for _, at := range sortedLines(byLine, func(a, b *fileLineUse) int { return cmp.Compare(b.weight(), a.weight()) }) {
		u := byLine[at]
		if u.reads+u.writes > 0 {
			u.bytes = movedOn(d, at, u.reads >= u.writes)
		}
		all = append(all, u)
	}
	return all
}

// smallFiles looks for files that are used in small pieces, which has to be a quarter of the CPU time with all that Go does for these calls.
func smallFiles(r *Rule, in *Input) (Finding, bool) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil || float64(w.Total()) < r.param("samples") || in.Facts.Missing(facts.CPU) != "" {
		return Finding{}, false
	}
	all := fileUses(in, w)
	functions := map[string]bool{} // those that move a few bytes at a time
	reads, writes := int64(0), int64(0)
	for _, u := range all {
		if u.small() {
			functions[u.at.Func] = true
			reads, writes = reads+u.reads, writes+u.writes
		}
	}
	if len(functions) == 0 {
		return Finding{}, false
	}
	var used []*fileLineUse
	sum, small, average := int64(0), reads+writes, averageMoved(in, reads >= writes)
	for _, u := range all {
		if !functions[u.at.Func] || !u.small() && u.reads+u.writes > 0 && (u.bytes > 0 || average == "") {
			continue // it may move much
		}
		if u.reads+u.seeks > 0 && reads >= writes || u.writes > 0 && writes > reads {
			used, sum = append(used, u), sum+u.weight()
		}
	}
	share := stats.Wilson(float64(sum), float64(w.Total()), compare.Confidence)
	if share.Low < r.param("small") || float64(small) < partSmall*float64(sum) || sum < minHits || mayBePipe(in.code) {
		return Finding{}, false
	}
	seeks, relative := seeksIn(in.code, used)
	if len(seeks) > 0 && !relative {
		return Finding{}, false // it may go anywhere
	}
	if writes > reads && len(seeks) > 0 {
		return Finding{}, false
	}
	f := r.answer(Found, "%s of the CPU time goes into %s of an os.File, a few bytes at a time and with no buffer in between: %s", unit.Percent(share.Estimate),
		map[bool]string{true: "reads" + andSeeks(seeks), false: "writes"}[reads >= writes], andList(smallLines(used)))
	f.Title = "Small reads without a buffer: each is a system call"
	if writes > reads {
		f.Title = "Small writes without a buffer: each is a system call"
	}
	f.Summary += average
	f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
	f.Severity, f.Score, f.saves = Warning, score(share.Estimate, 0.10, 0.40), true
	for _, u := range used[:min(len(used), evidenceLines)] {
		f.Evidence = append(f.Evidence, in.lineAt(w.Entry, u.at, "%d of %d samples, with what Go does around the system call", u.weight(), w.Total()))
		f.costs = append(f.costs, cost{file: u.at.File, line: u.at.Line})
	}
	if !slices.ContainsFunc(used, func(u *fileLineUse) bool { return u.seeks > 0 }) {
		f.Evidence = append(f.Evidence, seeks...)
	}
	adviseFiles(in, &f, used, seeks, reads >= writes)
	f.Verify = "Record again with the same input: the samples in os.(*File) below these lines should vanish, and so should most calls of strace -c."
	return f, true
}

// andSeeks names the seeks beside the reads, where there are any.
func andSeeks(seeks []Evidence) string {
	if len(seeks) == 0 {
		return ""
	}
	return " and seeks"
}

// smallLines are the lines that move a few bytes, the heaviest first.
func smallLines(used []*fileLineUse) (lines []string) {
	for _, u := range used {
		if u.small() && len(lines) < 3 {
			lines = append(lines, fmt.Sprintf("%s at %s", unit.Plural(u.bytes, "byte"), fileLine(u.at.File, u.at.Line)))
		}
	}
	return lines
}

// averageMoved says how many reads or writes the system has counted, where these are small on average.
func averageMoved(in *Input, reads bool) string {
	t, err := facts.TransfersIn(in.Facts)
	calls, bytes, what := t.Reads, t.ReadBytes, "reads"
	if !reads {
		calls, bytes, what = t.Writes, t.WriteBytes, "writes"
	}
	if err != nil || calls == 0 || bytes > fewBytes*calls {
		return ""
	}
	return fmt.Sprintf("; the program made %s %s, of %s on average", unit.About(calls), what, unit.Plural(max(1, bytes/calls), "byte"))
}

// mayBePipe tells of the sources that what is read and written may be a pipe: one that the program makes, or that a process inherits.
func mayBePipe(c *code) (other bool) {
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				other = other || types.ExprString(n.Fun) == "os.Pipe"
			case *ast.SelectorExpr:
				other = other || n.Sel.Name == "ExtraFiles"
			}
			return !other
		})
	})
	return other
}

// seeksIn are the calls of Seek in the functions of some lines, and whether all of them move the place relative to where it is.
func seeksIn(c *code, used []*fileLineUse) (seeks []Evidence, relative bool) {
	seen := map[*ast.FuncDecl]bool{}
	relative = true
	for _, u := range used {
		fn, s := c.function(u.at), c.parse(u.at.File)
		if fn == nil || seen[fn] {
			continue
		}
		seen[fn] = true
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || calledName(call) != "Seek" || !isMethodCall(call) || len(call.Args) != 2 {
				return true
			}
			line, _ := s.lines(call)
			seeks = append(seeks, c.shownAt(u.at.File, line, "the place is moved here"))
			whence := types.ExprString(call.Args[1])
			relative = relative && (whence == "io.SeekCurrent" || whence == "1" || whence == "os.SEEK_CUR")
			return true
		})
	}
	return seeks, relative
}

// adviseFiles says what to put between: a plain buffer, unless the place is moved as well.
func adviseFiles(in *Input, f *Finding, used []*fileLineUse, seeks []Evidence, reads bool) {
	switch {
	case !reads:
		if !adviseTouched(newDerivations(in.code), f, used[0].at) {
			f.Advice = "Put a bufio.Writer in front of the file (bufio.NewWriterSize(f, 64<<10)), write everything to that, and flush it at the end and check the error; or put the parts of one record together in a []byte and write that."
		}
		f.Doubts = append(f.Doubts, "what is in the buffer is lost if the program dies before it is flushed")
		if appends(in.code) {
			f.Severity = Info
			f.Doubts = append(f.Doubts, "a file is opened with O_APPEND: if other processes write to it, too, each record has to go in one write, and no write may end within one")
		}
		if keptRecords.MatchString(stack.Short(used[0].at.Func) + " " + baseName(used[0].at.File)) {
			f.Severity = Info
			f.Doubts = append(f.Doubts, "by its name it keeps records that must not be lost: who is told that one is written may rely on it")
		}
	case len(seeks) == 0:
		f.Advice = "Put a bufio.Reader in front of the file where it is opened (bufio.NewReaderSize(f, 64<<10)), and read everything from that: one call of the kernel then brings what hundreds of these do. Whoever reads the rest has to read from the same bufio.Reader, since it has read ahead."
	default:
		at := fileLine(seeks[0].File, seeks[0].Line)
		f.Advice = fmt.Sprintf("The place in the same file is moved as well (Seek at %s), and a bufio.Reader has no Seek and has read ahead: it does not do by itself. "+
			"Where the seeks only go back to what was looked at, or skip something, use Peek and Discard of a bufio.Reader in their place. If it has to remain an io.ReadSeeker, give it one that reads aligned blocks of the file (ReadAt, 64 KiB or more), keeps the last one and moves within it; "+
			"or read the whole file, if it fits into memory (bytes.NewReader has Seek). A bufio.Reader that remains across a Seek needs Reset after it.", at)
	}
}
