package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Reads and writes of a few bytes that go to a connection or a file one by one: each is a system call, where one call
// through a buffer would move many.

// fewBytes is up to how many bytes a read or write is called small, and partSmall from which part of the time in system
// calls on such calls are their cause. Chosen: the kernel copies some kilobytes in the time that a call takes.
const (
	fewBytes  = 512
	partSmall = 0.25
)

// smallCall is a line that moves a few bytes in each call, by the source.
type smallCall struct {
	line  *hitLine
	bytes int64
	reads bool
}

// direct is how much of a line's samples are reads and writes of the kernel that no buffer is in front of.
type direct struct{ reads, writes int64 }

// directCalls are those of each line of a hit.
func directCalls(h *hit) map[*hitLine]direct {
	out := map[*hitLine]direct{}
	byPlace := map[stack.Frame]*hitLine{}
	for _, line := range h.lines {
		byPlace[lineOnly(line.Caller)] = line
	}
	v, counts := h.in.view(h.p), h.p.Samples(h.index)
	for id, w := range counts {
		frames := h.p.Stacks.Frames(id)
		user := nextUser(v, frames, 0)
		if w <= 0 || user < 0 {
			continue
		}
		line := byPlace[lineOnly(h.p.Stacks.Frame(frames[user]))]
		if line == nil {
			continue
		}
		d, reads, writes, buffered := out[line], false, false, false
		for _, f := range frames[:user] {
			switch name := h.p.Stacks.Frame(f).Func; {
			case name == "internal/poll.(*FD).Read":
				reads = true
			case name == "internal/poll.(*FD).Write":
				writes = true
			case strings.HasPrefix(name, "bufio."):
				buffered = true
			}
		}
		switch {
		case buffered:
		case reads:
			d.reads += w
		case writes:
			d.writes += w
		}
		out[line] = d
	}
	return out
}

// smallCalls are the lines that move a few bytes at a time without a buffer, the heaviest first, and the weight of all calls of that
// direction without one.
func smallCalls(h *hit) (small []smallCall, weight int64, reads bool) {
	direct, d := directCalls(h), newDerivations(h.in.code)
	sum := [2]int64{}
	var all [2][]smallCall
	for _, line := range h.lines {
		of := direct[line]
		for i, w := range []int64{of.reads, of.writes} {
			sum[i] += w
			if bytes := movedOn(d, line.Caller, i == 0); w > 0 && bytes > 0 && bytes <= fewBytes {
				all[i] = append(all[i], smallCall{line, bytes, i == 0})
			}
		}
	}
	way := 0
	if sum[1] > sum[0] {
		way = 1
	}
	return all[way], sum[way], way == 0
}

// packets are names of networks in which each write is a message of its own.
var packets = lazily(`^"(udp[46]?|ip[46]?(:.*)?|unixgram|unixpacket)"$`)

// placeIsSet tells of the function of a line that it sets from where a file is read.
func placeIsSet(c *code, at stack.Frame) bool {
	fn := c.function(at)
	return fn != nil && hasCall(fn.Body, func(call *ast.CallExpr) bool { return calledName(call) == "Seek" })
}

// bufferable tells of the reads or writes of a line that the source shows nothing for which a buffer is wrong: the place in the
// file is set in the function, each write is a packet, or what is written are tokens of a pipe.
func bufferable(h *hit, at stack.Frame) bool {
	c := h.in.code
	wrong := placeIsSet(c, at)
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				name := types.ExprString(n.Fun)
				wrong = wrong || name == "os.Pipe" || name == "net.ListenPacket" || strings.HasPrefix(name, "net.") && (strings.HasSuffix(name, "UDP") || strings.HasSuffix(name, "Unixgram") || strings.HasSuffix(name, "IP") && strings.HasPrefix(name, "net.Dial"))
			case *ast.BasicLit:
				wrong = wrong || packets.MatchString(n.Value)
			case *ast.SelectorExpr:
				wrong = wrong || n.Sel.Name == "ExtraFiles"
			}
			return !wrong
		})
	})
	return !wrong
}

// readsAndWrites tells whether a function of the program both reads and writes without a buffer.
func readsAndWrites(c *code, direct map[*hitLine]direct) bool {
	way := map[string]int{}
	for line, of := range direct {
		if of.reads > 0 {
			way[line.Caller.Func] |= 1
		}
		if of.writes > 0 {
			way[line.Caller.Func] |= 2
		}
		if fn := c.function(line.Caller); fn != nil {
			if of.writes == 0 && hasCall(fn.Body, func(call *ast.CallExpr) bool { return isMethodCall(call) && sendsOut.MatchString(calledName(call)) }) {
				way[line.Caller.Func] |= 2
			}
			if of.reads == 0 && hasCall(fn.Body, func(call *ast.CallExpr) bool { return strings.HasPrefix(calledName(call), "Read") }) {
				way[line.Caller.Func] |= 1
			}
		}
	}
	for _, both := range way {
		if both == 3 {
			return true
		}
	}
	return false
}

// partsOfMessage tells of small reads or writes that a function makes several of them before it turns to the other direction: at several lines, or in a loop
// that only reads or only writes. One call for all parts of a message saves the others, whoever waits for an answer.
func partsOfMessage(c *code, small []smallCall, reads bool) bool {
	lines := map[string]int{}
	for _, s := range small {
		at := s.line.Caller
		if lines[at.Func]++; lines[at.Func] > 1 {
			return true
		}
		loops := loopsAround(c, at)
		if len(loops) == 0 || loops[len(loops)-1].body == nil {
			continue
		}
		turns := hasCall(loops[len(loops)-1].body, func(call *ast.CallExpr) bool {
			if reads {
				return isMethodCall(call) && sendsOut.MatchString(calledName(call))
			}
			return strings.HasPrefix(calledName(call), "Read")
		})
		fn := c.function(at)
		own := fn != nil && hasCall(fn.Body, func(call *ast.CallExpr) bool {
			return call.Pos() < loops[len(loops)-1].stmt.Pos() || call.Pos() > loops[len(loops)-1].stmt.End()
		})
		if !turns && own {
			return true
		}
	}
	return false
}

// sendsOut are names of methods that send what was written.
var sendsOut = lazily(`^(Write|WriteString|WriteTo|Flush|Send)$`)

// appends tells of the program's sources that they open a file for appending.
func appends(c *code) (found bool) {
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "O_APPEND" {
				found = true
			}
			return !found
		})
	})
	return found
}

// tellFlushed says of system calls that write that a buffer is there, and is emptied after each piece: the heaviest line calls its
// Flush, and the same function writes to it. It is false where the source does not show that.
func tellFlushed(h *hit, f *Finding) bool {
	at := h.lines[0].Caller
	if float64(h.lines[0].Weight) < halfOfAll*float64(h.weight) {
		return false
	}
	flushed := ""
	for _, call := range h.in.code.lineCalls(at) {
		if calledName(call) == "Flush" && isMethodCall(call) && len(call.Args) == 0 {
			flushed = types.ExprString(receiverOf(call))
		}
	}
	fn := h.in.code.function(at)
	if flushed == "" || fn == nil {
		return false
	}
	line, loops := 0, len(loopsAround(h.in.code, at))
	s := h.in.code.parse(at.File)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || line > 0 {
			return line == 0
		}
		first, _ := s.lines(call)
		gets := slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return types.ExprString(x) == flushed }) ||
			strings.HasPrefix(calledName(call), "Write") && isMethodCall(call) && types.ExprString(receiverOf(call)) == flushed
		if gets && first <= at.Line && len(loopsAround(h.in.code, stack.Frame{Func: at.Func, File: at.File, Line: first})) == loops {
			line = first
		}
		return true
	})
	if line == 0 {
		return false
	}
	if keptRecords.MatchString(stack.Short(at.Func) + " " + baseName(at.File)) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "by its name it keeps records that must not be lost: who is told that one is written may rely on it")
	}
	f.Title = "A buffer is flushed after each piece: each is a system call"
	f.Summary += fmt.Sprintf("; %s is a buffer, which is written to at line %d and emptied here right after it", flushed, line)
	f.Evidence = append(f.Evidence, h.in.code.shownAt(at.File, line, "written to the buffer here"))
	f.Advice = "Do not flush after each piece: the buffer empties itself when it is full. Flush at the end (and check the error), when somebody is waiting for what was written, or every second or so if a reader follows."
	f.Doubts = append(f.Doubts, "what is in the buffer is lost if the program dies before it is flushed", "a piece that is as large as the buffer is a system call in any case")
	return true
}

// mostRests is which part of the writes a goroutine rests after, at most, that has more to write as a rule. Chosen.
const mostRests = 0.25

// goesOnWriting tells whether goroutines that write at the heaviest line mostly have more to write then, by the trace: they wait for
// something far less often than they write. What is answered, and what is passed on as it comes, is written by goroutines that wait in
// between.
func goesOnWriting(h *hit) bool {
	t := h.in.trace()
	if t.Err != nil {
		return false
	}
	at := lineOnly(h.lines[0].Caller)
	roots, writes, waits := map[string]bool{}, int64(0), int64(0)
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return b.State == exectrace.Syscall && lineOnly(t.Site(b.Stack)) == at }) {
		roots[userRoot(t, b.Stack)] = true
		writes += b.Wait.Count
	}
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return b.State == exectrace.Waiting && roots[userRoot(t, b.Stack)] }) {
		waits += b.Wait.Count
	}
	return float64(waits) <= mostRests*float64(writes)
}

// keptRecords are words of names of what writes records that somebody relies on once they are written.
var keptRecords = lazily(`(?i:wal\b|wal[_.)]|journal|ledger|commit|audit|durable|\backs?\b)|wal[A-Z]|Wal[A-Z]|WAL|[a-z.]Ack|^Ack`)

// movedOn is how many bytes a read or write on a line moves, where the source says it; 0 where it does not.
func movedOn(d *derivations, at stack.Frame, reads bool) int64 {
	in, ok := d.at(at)
	if !ok {
		return 0
	}
	var found int64
	ast.Inspect(in.body(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found > 0 {
			return found == 0
		}
		if _, line, _ := d.t.at(call.Lparen); line != at.Line || len(call.Args) == 0 {
			return true
		}
		pkg, name := d.t.fromPackage(call.Fun), calledName(call)
		last := call.Args[len(call.Args)-1]
		switch {
		case pkg == "io" && (name == "ReadFull" || name == "ReadAtLeast") && reads && len(call.Args) > 1:
			found = bytesIn(d, in.decl, call.Args[1])
		case pkg == "encoding/binary" && (name == "Read" && reads || name == "Write" && !reads) && len(call.Args) == 3:
			found = fixedSize(d.t.typeOf(pointed(last)))
		case pkg == "" && (name == "Read" && reads || name == "Write" && !reads) && len(call.Args) == 1:
			found = bytesIn(d, in.decl, last)
		}
		return found == 0
	})
	return found
}

// bytesIn is the number of bytes of a slice, where the source says it: an array, a cut at a constant, what was made with one.
func bytesIn(d *derivations, decl *ast.FuncDecl, x ast.Expr) int64 {
	switch x := ast.Unparen(x).(type) {
	case *ast.SliceExpr:
		from, ok := lowOf(x)
		if x.Low == nil {
			from, ok = 0, true
		}
		if x.High != nil {
			n, known := numberOf(x.High)
			if !known || !ok {
				return 0
			}
			return n - from
		}
		of := d.t.typeOf(x.X)
		if of == nil || !ok {
			return 0
		}
		if p, is := of.Underlying().(*types.Pointer); is {
			of = p.Elem()
		}
		if a, is := of.Underlying().(*types.Array); is {
			return a.Len() - from
		}
		return 0
	case *ast.CompositeLit:
		if len(x.Elts) > 0 {
			return int64(len(x.Elts))
		}
	case *ast.CallExpr:
		if isNamed(x.Fun, "make") && len(x.Args) == 2 {
			n, _ := numberOf(x.Args[1])
			return n
		}
	case *ast.Ident:
		v := d.variable(x)
		defs := d.definitions(decl)[v]
		if v != nil && isLocal(decl, v) && !isGiven(decl, v) && len(defs) == 1 && defs[0].x != nil && !isIdent(defs[0].x) {
			return bytesIn(d, decl, defs[0].x)
		}
	}
	return 0
}

// fixedSize is the number of bytes of a number, or of a struct or array of numbers, as encoding/binary writes it; 0 for others.
func fixedSize(t types.Type) (n int64) {
	if t == nil {
		return 0
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		switch t.Kind() {
		case types.Bool, types.Int8, types.Uint8:
			return 1
		case types.Int16, types.Uint16:
			return 2
		case types.Int32, types.Uint32, types.Float32:
			return 4
		case types.Int64, types.Uint64, types.Float64:
			return 8
		}
	case *types.Array:
		return t.Len() * fixedSize(t.Elem())
	case *types.Struct:
		for i := range t.NumFields() {
			of := fixedSize(t.Field(i).Type())
			if of == 0 {
				return 0
			}
			n += of
		}
		return n
	}
	return 0
}

// tellSmall says of system calls that much of them are reads or writes of a few bytes each; it is false where the source does
// not show that.
func tellSmall(h *hit, f *Finding, what string) bool {
	small, all, reads := smallCalls(h)
	weight := int64(0)
	direct := directCalls(h)
	var lines []string
	for _, s := range small {
		w := direct[s.line].writes
		if reads {
			w = direct[s.line].reads
		}
		weight += w
		lines = append(lines, fmt.Sprintf("%d bytes at %s", s.bytes, fileLine(s.line.Caller.File, s.line.Caller.Line)))
	}
	if len(small) == 0 || float64(weight) < partSmall*float64(h.weight) || float64(all) < halfOfAll*float64(h.weight) || !bufferable(h, small[0].line.Caller) {
		return false
	}
	lines = lines[:min(len(lines), 3)]
	f.saves = true
	if reads {
		f.Title = "Small reads without a buffer: each is a system call"
		f.Summary += fmt.Sprintf("; the %s is read a few bytes at a time (%s), with no buffer in between", what, andList(lines))
		f.Advice = fmt.Sprintf("Put a bufio.Reader in front of the %s where it is opened (bufio.NewReaderSize(r, 64<<10)), and read everything from that: one call of the kernel then brings as many of these as have come, and the short parts are copied from memory. Whoever reads the rest has to read from the same bufio.Reader, since it has read ahead.", what)
		f.Doubts = append(f.Doubts, "if the other side waits for an answer to each message, only the calls within one message are saved")
	} else {
		f.Title = "Small writes without a buffer: each is a system call"
		f.Summary += fmt.Sprintf("; the %s is written a few bytes at a time (%s), with no buffer in between", what, andList(lines))
		f.Advice = fmt.Sprintf("Put a bufio.Writer in front of the %s, write everything to that, and flush it when somebody is waiting for what was written, and at the end; or put the parts of one message together in a []byte and write that.", what)
		f.Doubts = append(f.Doubts, "what is in the buffer is lost if the program dies before it is flushed")
		if what == "file" {
			adviseTouched(newDerivations(h.in.code), f, small[0].line.Caller)
		}
	}
	if readsAndWrites(h.in.code, direct) {
		if !partsOfMessage(h.in.code, small, reads) {
			f.Severity = Info
		}
		f.Doubts = append(f.Doubts, "the same function writes and reads: if it waits for an answer to each message, there is a system call for each in any case, and no more than the parts of one message can be put together")
	}
	if !reads && appends(h.in.code) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "a file is opened with O_APPEND: if other processes write to it, too, each record has to go in one write, and no write may end within one")
	}
	if t := h.in.trace(); !reads && what == "connection" && t.Err == nil && manyTargets(h, small[0].line, writersAt(t, map[stack.Frame]bool{lineOnly(small[0].line.Caller): true})) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "who writes there may go from one connection to the next: then each gets one write, and a buffer puts nothing together")
	}
	for _, s := range small[1:min(len(small), 3)] {
		f.Evidence = append(f.Evidence, h.in.code.shownAt(s.line.Caller.File, s.line.Caller.Line, "%s at a time here", unit.Plural(s.bytes, "byte")))
	}
	return true
}
