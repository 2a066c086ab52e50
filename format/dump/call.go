package dump

import (
	"bytes"
	"strings"

	"loupe/value/stack"
)

// call is one frame as it stands in the text, without the words of its
// arguments: what is compared with the lines to come.
//
// Note: most frames follow the same few frames. Each call knows which ones came
// after it, and the next lines are compared with those first: two comparisons of
// memory and two searches for the end of a line. Looking every frame up by its
// hash took 1.6 times as long on 100,001 goroutines.
type call struct {
	// name is the first line up to the bracket of the arguments, or the whole
	// line where there are none; pos is "\tFILE:LINE".
	name, pos string
	frame     stack.FrameID
	next      [4]uint32 // calls that have followed, the latest first; 0 is none
	args      bool      // a bracket and words follow the name
	created   bool
	waits     bool // the first argument is what the goroutine waits for
}

// calls are the frames that were told apart so far, number 0 left out.
type calls struct {
	list   []call
	ids    map[string]uint32
	key    []byte    // scratch
	others [2]uint32 // stand for calls and go statements that are too many
	stacks *stack.Table
	folded *int64 // counts those
}

func newCalls(f *File) calls {
	return calls{list: make([]call, 1), ids: map[string]uint32{}, stacks: f.Stacks, folded: &f.Folded.Frames}
}

// put adds a call and returns its number.
func (x *calls) put(c call) uint32 {
	x.list = append(x.list, c)
	return uint32(len(x.list) - 1)
}

// frames are those of what is being read: a goroutine, or one stack of a race.
type frames struct {
	calls    calls
	f        *File // counts them
	stack    []stack.FrameID
	last     uint32 // the call before
	ancestor bool   // those that come are of whoever created it, and are not kept
	creator  uint64
	object   uint64 // what it waits for
	line     []byte // the first line of a frame whose second is to come
	at       int64  // its offset
	half     bool   // there is one
}

// begin starts another stack, behind a call that predicts its first frame.
func (x *frames) begin(last uint32) {
	x.stack, x.last, x.ancestor, x.creator, x.object = x.stack[:0], last, false, 0, 0
}

// hold keeps the first line of a frame.
func (x *frames) hold(l []byte, at int64) { x.line, x.at, x.half = append(x.line[:0], l...), at, true }

// giveUp counts a first line as odd, if its second has not come.
func (x *frames) giveUp() {
	if x.half {
		odd(x.f, x.line, x.at)
		x.half = false
	}
}

// pseudo adds a frame that stands for what is not shown.
func (x *frames) pseudo(name string) {
	if !x.ancestor {
		x.stack = append(x.stack, x.calls.intern(stack.Frame{Func: name}))
	}
}

// quick reads a whole frame of two lines at i if it is one that has followed
// the frame before it, and returns where the next line begins, or 0.
func (x *frames) quick(b []byte, i int) int {
	last := x.last
	for k, n := range x.calls.list[last].next {
		if n == 0 {
			break
		}
		c := &x.calls.list[n]
		j := i + len(c.name)
		if j >= len(b) || string(b[i:j]) != c.name {
			continue
		}
		eol := bytes.IndexByte(b[j:], '\n')
		if eol < 0 {
			return 0
		}
		end := j + eol // of the first line
		pos := end + 1
		if end > j && b[end-1] == '\r' {
			end--
		}
		var creator uint64
		switch {
		case c.args:
			if b[j] != '(' || b[end-1] != ')' {
				continue
			}
		case c.created:
			var ok bool
			if creator, ok = creatorID(b[j:end]); !ok {
				continue
			}
		case end != j:
			continue
		}
		tail := pos + len(c.pos)
		if tail >= len(b) || string(b[pos:tail]) != c.pos || b[tail] != '\n' && b[tail] != ' ' && b[tail] != '\r' {
			continue
		}
		eol = bytes.IndexByte(b[tail:], '\n')
		if eol < 0 {
			return 0
		}
		if k > 0 {
			next := &x.calls.list[last].next
			copy(next[1:k+1], next[:k])
			next[0] = n
		}
		x.f.Lines += 2
		x.take(n, creator, b[j:end])
		return tail + eol + 1
	}
	return x.slowPair(b, i)
}

// creatorID reads what follows the name of a creator: " in goroutine 7", or
// nothing before Go 1.21.
func creatorID(rest []byte) (id uint64, ok bool) {
	if len(rest) == 0 {
		return 0, true
	}
	if !bytes.HasPrefix(rest, []byte(" in goroutine ")) {
		return 0, false
	}
	for _, c := range rest[len(" in goroutine "):] {
		if c-'0' > 9 {
			return 0, false
		}
		id = id*10 + uint64(c-'0')
	}
	return id, true
}

// slowPair reads a frame of two lines that was not foreseen, if it is in the
// form that the runtime prints, or returns 0.
func (x *frames) slowPair(b []byte, i int) int {
	eol := bytes.IndexByte(b[i:], '\n')
	if eol <= 0 || i+eol+2 >= len(b) || b[i+eol+1] != '\t' {
		return 0
	}
	pos := i + eol + 1
	end := bytes.IndexByte(b[pos:], '\n')
	if end < 0 {
		return 0
	}
	first, second := trimCR(b[i:pos-1]), trimCR(b[pos:pos+end])
	if len(first) == 0 || first[len(first)-1] != ')' && !bytes.HasPrefix(first, []byte(CreatedBy)) {
		return 0
	}
	if !x.frame(first, second) {
		return 0
	}
	x.f.Lines += 2
	return pos + end + 1
}

// frame takes in a call of two lines, or tells that the second is no position:
//
//	main.(*T).run(0xc0000a2000, {0x1, 0x2})
//		/home/user/main.go:12 +0x65 fp=0xc0 sp=0xc1 pc=0x47
func (x *frames) frame(first, second []byte) bool {
	where, ok := cutPosition(second)
	if !ok {
		return false
	}
	name, rest := first, []byte(nil)
	var creator uint64
	isCreator, args := false, false
	if tail, ok := bytes.CutPrefix(first, []byte(CreatedBy)); ok {
		isCreator = true
		if i := bytes.LastIndex(tail, []byte(" in goroutine ")); i > 0 {
			if creator, ok = creatorID(tail[i:]); ok {
				name = first[:len(CreatedBy)+i]
			}
		}
	} else if !bytes.HasSuffix(first, []byte("(...)")) {
		if i := argsAt(first); i >= 0 {
			name, rest, args = first[:i], first[i:], true
		}
	}
	if symbol := bytes.TrimSuffix(bytes.TrimPrefix(name, []byte(CreatedBy)), []byte("(...)")); !isSymbol(symbol) && !isForeignSource(where) {
		return false
	}
	n, ok := x.calls.find(name, where, args, isCreator)
	if !ok {
		x.take(n, creator, nil)
		return true
	}
	next := &x.calls.list[x.last].next
	copy(next[1:], next[:len(next)-1])
	next[0] = n
	x.take(n, creator, rest)
	return true
}

// find returns the call with this text, which it adds if it is new; false says that
// there are too many, and it is one for those.
func (x *calls) find(name, where []byte, args, created bool) (n uint32, ok bool) {
	x.key = append(append(append(x.key[:0], name...), 0), where...)
	if args {
		x.key = append(x.key, 0)
	}
	if n, ok = x.ids[string(x.key)]; ok {
		return n, true
	}
	if len(x.ids) >= maxFrames {
		return x.other(created), false
	}
	n = x.add(string(name), string(where), args, created)
	x.ids[string(x.key)] = n
	return n, true
}

// argsAt returns where the bracket opens that the line ends with, or -1. Words
// of arguments have no brackets of their own.
func argsAt(line []byte) int {
	if len(line) == 0 || line[len(line)-1] != ')' {
		return -1
	}
	if i := bytes.LastIndexByte(line, '('); i > 0 {
		return i
	}
	return -1
}

// addCall makes the frame of a call that is new.
func (x *calls) add(name, where string, args, created bool) uint32 {
	c := call{name: name, pos: where, args: args, created: created}
	file, line := fileLine(strings.TrimLeft(where, "\t "))
	f := stack.Frame{Func: name, File: file, Line: line}
	switch {
	case created:
		f.System = name[len(CreatedBy):]
	case strings.HasSuffix(name, "(...)"):
		f.Func, f.Inlined = strings.TrimSuffix(name, "(...)"), true
	}
	c.waits = args && waitsFor[f.Func]
	c.frame = x.intern(f)
	return x.put(c)
}

// take adds a call to the stack. The rest is what follows the name.
func (x *frames) take(n uint32, creator uint64, rest []byte) {
	c := &x.calls.list[n]
	x.last = n
	x.f.Frames++
	if c.created {
		x.f.CreatedBys++
		x.f.Frames--
	}
	if x.ancestor {
		return
	}
	x.stack = append(x.stack, c.frame)
	if c.created {
		x.creator = creator
	}
	if c.waits {
		if v, ok := firstWord(rest); ok {
			x.object = v
		}
	}
}

// firstWord reads "(0xc000010000, 0x1)" up to the comma. A word with a question
// mark is what happened to be in the register, and no fact.
func firstWord(args []byte) (v uint64, ok bool) {
	if len(args) < 4 || args[0] != '(' || args[1] != '0' || args[2] != 'x' {
		return 0, false
	}
	i := 3
	for ; i < len(args) && i < 3+16; i++ {
		d := hexValue(args[i])
		if d < 0 {
			break
		}
		v = v<<4 | uint64(d)
	}
	return v, v != 0 && i < len(args) && (args[i] == ',' || args[i] == ')')
}

func hexValue(c byte) int {
	switch {
	case c-'0' <= 9:
		return int(c - '0')
	case c-'a' <= 5:
		return int(c-'a') + 10
	case c-'A' <= 5:
		return int(c-'A') + 10
	}
	return -1
}

// cutPosition returns the "\tFILE:LINE" that a line begins with. Frames of C
// have no file at times, and "\tpc=0x48b596" instead. Somebody may have
// replaced the tab by blanks, or left it out.
func cutPosition(line []byte) (where []byte, ok bool) {
	n := len(line) - len(bytes.TrimLeft(line, "\t "))
	rest := line[n:]
	if bytes.HasPrefix(rest, []byte("pc=0x")) && n > 0 {
		return line[:n], true
	}
	cut := len(rest)
	for _, tail := range [...]string{" +0x", " fp=0x", " pc=0x"} {
		if i := bytes.Index(rest[:cut], []byte(tail)); i > 0 {
			cut = i
		}
	}
	rest = rest[:cut]
	i := bytes.LastIndexByte(rest, ':')
	if i <= 0 || i+1 == len(rest) {
		return nil, false
	}
	for _, c := range rest[i+1:] {
		if c-'0' > 9 {
			return nil, false
		}
	}
	if n == 0 && !isSource(rest[:i]) {
		return nil, false
	}
	return line[:n+cut], true
}

// isForeignSource tells that a position is in C or C++, the names of which may have
// blanks.
func isForeignSource(where []byte) bool {
	i := bytes.LastIndexByte(where, ':')
	return i > 0 && !bytes.HasSuffix(where[:i], []byte(".go")) && !bytes.HasSuffix(where[:i], []byte(".s")) && isSource(where[:i])
}

func isSource(file []byte) bool {
	for _, ext := range [...]string{".go", ".s", ".c", ".cc", ".cpp", ".h"} {
		if bytes.HasSuffix(file, []byte(ext)) {
			return true
		}
	}
	return false
}

// fileLine splits "/home/user/main.go:12".
func fileLine(s string) (file string, line int) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0
	}
	for _, c := range []byte(s[i+1:]) {
		if c-'0' > 9 || line > 1<<40 {
			return s, 0
		}
		line = line*10 + int(c-'0')
	}
	return s[:i], line
}

func trimCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}
