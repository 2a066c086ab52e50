package dump

import (
	"bytes"
	"hash/maphash"
	"slices"

	"loupe/stack"
)

// mode is what the lines that come are a part of.
type mode uint8

const (
	idle mode = iota
	inMessage
	inGoroutine
	inRace
	inProfile
)

// parser reads a text line by line. What it has to remember between two lines
// does not point into the text, which may be gone by then.
type parser struct {
	f *File

	b     []byte // the text at hand
	i     int    // where the line is
	next  int    // where the next one is
	base  int64  // offset of b
	sized int64  // bytes of the whole text, 0 where nobody knows
	keep  bool   // the text will be gone: keep some of it

	mode mode
	env  envelope
	wrap string // the prefix or the fields of the stream that is read
	raw  []byte // scratch of env
	// maybe is the offset of a line that may have been the begin of a message,
	// behind a prefix that was not known yet; -1 is none.
	maybe int64
	again int64 // before it no line is looked at a second time
	tries int   // how often something was found in the line before it

	calls   []call
	callIDs map[string]uint32
	// foldedCalls stand for calls and go statements that are too many.
	foldedCalls [2]uint32
	key         []byte
	last        uint32

	headers    map[string]*header
	lastHeader *header
	stateIDs   map[State]StateID

	// The goroutine that is being read.
	id       uint64
	start    int64
	head     *header
	flags    Flags
	stack    []stack.FrameID
	creator  uint64
	object   uint64
	ancestor bool
	count    int64  // of a record of a profile
	fn       []byte // the first line of a frame whose second is to come
	fnAt     int64
	hasFn    bool

	open  bool // the last dump takes more goroutines
	crash bool // it prints goroutines again
	seen  idSet
	msg   message
	// merged takes what is said of a dump that is one too many.
	merged Dump
	race   raceReader
	leaks  bool // the profile is of leaked goroutines
	// threads tells that the profile is of threads, which wait for nothing.
	threads bool

	keptKeys map[keptKey]bool
	keptSize int
}

func newParser(keep bool) *parser {
	p := &parser{
		f: &File{Stacks: new(stack.Table)}, keep: keep, maybe: -1,
		calls: make([]call, 1), callIDs: map[string]uint32{}, headers: map[string]*header{}, stateIDs: map[State]StateID{},
	}
	p.seen.seed = maphash.MakeSeed()
	return p
}

// Parse reads everything that a text holds. It keeps the text, for the
// arguments of frames. There is no error: a text without dumps is a File without
// goroutines.
func Parse(text []byte) *File {
	p := newParser(false)
	p.parse(text)
	return p.finish(int64(len(text)))
}

// parse reads a whole text, one stream of it after the other.
func (p *parser) parse(text []byte) {
	size := len(text)
	text = withoutColour(text)
	parts := split(text)
	if parts == nil {
		if !p.keep {
			p.f.text = text
		}
		p.b, p.sized = text, int64(len(text))
		p.run(true)
		return
	}
	lines := int64(bytes.Count(text, []byte("\n")))
	for _, s := range parts {
		p.wrap = s.name
		if inner := splitJSON(s.text); inner != nil { // JSON behind a prefix
			for _, x := range inner {
				p.wrap = s.name + x.name
				p.nested(x.text)
			}
			continue
		}
		p.nested(s.text)
	}
	p.wrap = ""
	p.f.Lines, p.b, p.i, p.base = lines, nil, 0, int64(size)
}

// finish ends what is open.
func (p *parser) finish(size int64) *File {
	f := p.f
	switch p.mode {
	case inGoroutine:
		ended := len(p.b) > 0 && p.b[len(p.b)-1] == '\n'
		if p.hasFn && (!ended || argsAt(p.fn) > 0 || bytes.HasPrefix(p.fn, []byte(CreatedBy))) {
			p.flags |= Cut
			f.Cut = true
			p.hasFn = false
		}
		p.endGoroutine(size)
	case inMessage:
		p.endMessage(true)
	case inRace:
		p.endRace()
	case inProfile:
		p.endRecord(size)
	}
	p.closeDump()
	f.Bytes = size
	if f.CutByGo() {
		f.Cut = true
		f.Flags[f.Len()-1] |= Cut
	}
	return f
}

// run reads the lines of b. The last one is read when it has an end, or when
// there is nothing more to come.
func (p *parser) run(final bool) {
	for p.i < len(p.b) {
		if p.mode == inGoroutine && !p.hasFn && p.env.plain() {
			if n := p.quick(p.i); n > 0 {
				p.i = n
				continue
			}
		}
		eol := bytes.IndexByte(p.b[p.i:], '\n')
		if eol < 0 {
			if !final {
				return
			}
			eol = len(p.b) - p.i
			p.next = len(p.b)
		} else {
			p.next = p.i + eol + 1
		}
		p.f.Lines++
		p.line(trimCR(p.b[p.i : p.i+eol]))
		p.i = p.next
	}
}

// at is the offset of the current line.
func (p *parser) at() int64 { return p.base + int64(p.i) }

// line takes off what a log has put around a line.
func (p *parser) line(raw []byte) {
	if p.env.plain() {
		p.content(raw)
		return
	}
	text, scratch, ok := p.env.strip(raw, p.raw)
	p.raw = scratch
	if ok {
		p.content(text)
		return
	}
	// Another program's line in the same log, or the log has another form from
	// here on.
	if id, tail, ok := cutHeader(raw); ok {
		p.endAll()
		p.closeDump()
		p.env = envelope{}
		p.begin(id, tail)
		return
	}
	p.lookInside(raw)
}

// content reads a line as the program printed it.
func (p *parser) content(l []byte) {
	switch p.mode {
	case inGoroutine:
		p.body(l)
	case inMessage:
		p.messageLine(l)
	case inRace:
		p.raceLine(l)
	case inProfile:
		p.recordLine(l)
	default:
		p.idle(l)
	}
}

// idle reads a line that is not inside of anything.
func (p *parser) idle(l []byte) {
	if len(l) < 4 {
		return
	}
	switch c := l[0]; {
	case c == 'g':
		if id, tail, ok := cutHeader(l); ok {
			p.begin(id, tail)
			return
		}
		if nearHeader(l) {
			p.odd(l)
			return
		}
		if p.profileStart(l) {
			return
		}
	case c == 't' && p.profileStart(l):
		return
	case c == '^' && bytes.HasPrefix(l, []byte(`^\SIG`)): // what the terminal has echoed
		p.idle(l[2:])
		return
	case p.messageStart(l):
		return
	case c == 'W' && string(l) == "WARNING: DATA RACE":
		p.startRace()
		return
	case c == 'r' && string(l) == "runtime stack:":
		p.beginSystem("runtime stack")
		return
	case p.open && p.threadLine(l):
		return
	case p.open && programEnded(l):
		p.closeDump()
		return
	case c == '-' && p.open && string(l) == "-----":
		p.crash = true
		return
	case c == '\t' || c == ' ':
		if p.open && strayPosition(l) {
			p.odd(l)
			return
		}
	}
	p.lookInside(l)
}

// strayPosition tells that a line is the second of a frame.
func strayPosition(l []byte) bool {
	if l[0] != '\t' || !bytes.Contains(l, []byte(" +0x")) {
		return false
	}
	where, ok := cutPosition(l)
	return ok && len(where) > 1
}

// messageWords are what begins a message, where it is not at the begin of a line.
var messageWords = [...]string{"panic: ", "fatal error: ", "SIGQUIT: ", "WARNING: DATA RACE"}

// lookInside looks for the begin of a dump that a log has put something in front of.
func (p *parser) lookInside(l []byte) {
	if bytes.Contains(l, []byte(headerStart)) {
		if f, ok := wrapped(l, headerStart); ok {
			p.found(f)
			return
		}
		if text := bytes.TrimLeft(l, " \t"); len(text) < len(l) && p.open && nearHeader(text) {
			p.odd(l)
		}
	}
	if bytes.Contains(l, []byte("WARNING: DATA RACE")) {
		if f, ok := wrapped(l, "WARNING: DATA RACE"); ok {
			p.found(f)
			return
		}
	}
	for _, w := range messageWords {
		if bytes.Contains(l, []byte(w)) {
			p.maybe = p.at()
			return
		}
	}
}

// found goes on with what a line was found to hold.
func (p *parser) found(f find) {
	p.endAll()
	p.closeDump()
	if f.embedded != nil {
		p.nested(f.embedded)
		return
	}
	if p.again != p.at()+1 {
		p.tries = 0
	}
	if p.tries++; p.tries > maxTries {
		// What is inside of it is found again in what was found: let it go.
		p.env, p.maybe = envelope{}, -1
		return
	}
	p.env = f.env
	// What was said before is read again, now that its form is known.
	p.next = p.i
	if from := p.maybe; from >= p.base && from >= p.again && from > p.at()-maxMessage {
		p.next = int(from - p.base)
	}
	p.again = p.at() + 1
	p.maybe = -1
	p.f.Lines -= int64(bytes.Count(p.b[p.next:p.i], []byte("\n"))) + 1
}

// nested reads a dump that was inside of a string.
func (p *parser) nested(text []byte) {
	if p.base>>extraShift > 0 || len(p.f.extra) > 1<<16 {
		return // a string inside of a string
	}
	b, i, next, base, env, again, lines := p.b, p.i, p.next, p.base, p.env, p.again, p.f.Lines
	p.b, p.i, p.env, p.maybe, p.again = text, 0, envelope{}, -1, 0
	p.base = int64(len(p.f.extra)+1) << extraShift
	if p.keep && p.keptSize+len(text) > maxKept {
		p.f.extra = append(p.f.extra, nil)
	} else {
		p.keptSize += len(text)
		p.f.extra = append(p.f.extra, text)
	}
	p.closeDump()
	p.run(true)
	p.i = len(text)
	if p.mode == inGoroutine && p.wrap != "" && p.hasFn { // this stream ends here
		p.flags |= Cut
		p.f.Cut, p.hasFn = true, false
	}
	p.endAll()
	p.closeDump()
	p.b, p.i, p.next, p.base, p.env, p.again, p.f.Lines = b, i, next, base, env, again, lines
	p.maybe = -1
}

// endAll ends whatever is being read.
func (p *parser) endAll() {
	switch p.mode {
	case inGoroutine:
		p.endGoroutine(p.at())
	case inMessage:
		p.endMessage(false)
	case inRace:
		p.endRace()
	case inProfile:
		p.endRecord(p.at())
	}
	p.mode = idle
}

// begin starts a goroutine.
func (p *parser) begin(id uint64, tail []byte) {
	if p.mode == inMessage {
		p.endMessage(true)
	}
	h := p.headerOf(tail)
	p.flags = 0
	if id == 0 {
		p.flags = System
	} else if p.open && !p.seen.add(id) {
		if p.crash {
			p.flags = Again
		} else {
			p.closeDump() // the next one
		}
	}
	if !p.open {
		p.openDump(Goroutines)
		p.seen.add(id)
	}
	p.mode, p.id, p.start, p.head = inGoroutine, id, p.at(), h
	p.stack, p.creator, p.object, p.ancestor = p.stack[:0], 0, 0, false
	p.last = h.sentinel
}

// beginSystem starts the stack of a thread that has no number.
func (p *parser) beginSystem(name string) {
	p.begin(0, []byte(name))
}

// endGoroutine adds what was read to the columns.
func (p *parser) endGoroutine(end int64) {
	if p.hasFn {
		p.oddAt(p.fn, p.fnAt)
		p.hasFn = false
	}
	p.add(p.head, 1, end)
	p.mode = idle
}

// add adds a row to the columns.
func (p *parser) add(h *header, count, end int64) {
	f := p.f
	n := len(f.IDs)
	if n >= MaxGoroutines {
		f.Full = true
		return
	}
	if n == cap(f.IDs) {
		p.grow(n)
	}
	id := f.Stacks.Intern(p.stack)
	f.IDs = append(f.IDs, p.id)
	f.StackIDs = append(f.StackIDs, id)
	f.StateIDs = append(f.StateIDs, h.state)
	f.Waits = append(f.Waits, h.wait)
	f.Creators = append(f.Creators, p.creator)
	f.Objects = append(f.Objects, p.object)
	f.Flags = append(f.Flags, p.flags)
	f.starts = append(f.starts, p.start)
	f.sizes = append(f.sizes, uint32(min(end-p.start, 1<<32-1)))
	if count != 1 && f.Counts == nil {
		f.Counts = make([]int64, n, n+64)
		for i := range f.Counts {
			f.Counts[i] = 1
		}
	}
	if f.Counts != nil {
		f.Counts = append(f.Counts, count)
	}
	if p.keep && p.base>>extraShift == 0 {
		p.keepText(n, id, h.state, end)
	}
}

// grow makes room in all columns, for as many goroutines as the text is likely
// to have: doubling would leave as much garbage as there are columns.
func (p *parser) grow(n int) {
	room := max(n, 256)
	if at := p.at(); p.sized > 0 && n > 0 && at > 0 && at < p.sized {
		left := float64(p.sized-at) / float64(at) * float64(n)
		room = min(4*n+256, max(int(left*1.05), 256))
		if n >= 4096 {
			room = max(int(left*1.05), 256)
		}
	}
	f := p.f
	f.IDs, f.StackIDs, f.StateIDs, f.Waits = grown(f.IDs, room), grown(f.StackIDs, room), grown(f.StateIDs, room), grown(f.Waits, room)
	f.Creators, f.Objects, f.Flags = grown(f.Creators, room), grown(f.Objects, room), grown(f.Flags, room)
	f.starts, f.sizes = grown(f.starts, room), grown(f.sizes, room)
}

// grown is slices.Grow without clearing what may never be used.
func grown[T any](s []T, room int) []T {
	out := make([]T, len(s), len(s)+room)
	copy(out, s)
	return out
}

// body reads a line of a goroutine.
func (p *parser) body(l []byte) {
	if len(l) == 0 {
		p.endGoroutine(p.at())
		return
	}
	if p.hasFn {
		if p.frame(p.fn, l) {
			p.hasFn = false
			return
		}
		if isCall(p.fn) && isForeign(l) {
			p.odd(l) // somebody else's line between the two of a frame
			return
		}
		p.hasFn = false
		if l[0] == '\t' || l[0] == ' ' || !p.known(p.fn) {
			p.oddAt(p.fn, p.fnAt)
		}
	}
	switch c := l[0]; {
	case c == 'g':
		if id, tail, ok := cutHeader(l); ok {
			p.endGoroutine(p.at())
			p.begin(id, tail)
			return
		}
		if nearHeader(l) {
			p.odd(l)
			p.endGoroutine(p.at())
			return
		}
	case c == '\t' || c == ' ':
		if bytes.HasSuffix(l, []byte("stack unavailable")) {
			p.flags |= Unavailable
			p.pseudo(NoStack)
			return
		}
		if bytes.HasPrefix(bytes.TrimLeft(l, "\t "), []byte("goroutine ")) {
			p.odd(l)
			return
		}
		p.odd(l)
		return
	case c == '.' && bytes.HasPrefix(l, []byte("...")) && bytes.HasSuffix(l, []byte(" frames elided...")):
		p.flags |= Elided
		p.pseudo(FramesElided)
		return
	case c == '[' && bytes.HasPrefix(l, []byte("[originating from goroutine ")):
		p.f.AncestorStacks++
		p.flags |= Ancestors
		p.ancestor = true
		return
	case c == '-' && string(l) == "-----":
		p.crash = true
		p.endGoroutine(p.at())
		return
	case bytes.HasPrefix(l, []byte(NotGo+" at pc=")):
		p.f.Frames++
		p.pseudo(NotGo)
		return
	case programEnded(l):
		p.endGoroutine(p.at())
		p.closeDump()
		return
	case c == '=' && bytes.HasPrefix(l, []byte("======")):
		p.endGoroutine(p.at())
		return
	case isRegister(l):
		p.endGoroutine(p.at())
		p.threadLine(l)
		return
	case c == 'r' && string(l) == "runtime stack:":
		p.endGoroutine(p.at())
		p.beginSystem("runtime stack")
		return
	case messageBegins(l):
		p.endGoroutine(p.at())
		p.idle(l)
		return
	}
	p.fn = append(p.fn[:0], l...)
	p.fnAt, p.hasFn = p.at(), true
}

// isCall tells that a line is the first of a frame beyond doubt.
func isCall(l []byte) bool {
	i := argsAt(l)
	return i > 0 && isSymbol(l[:i]) && (bytes.HasPrefix(l[i:], []byte("(0x")) || bytes.HasPrefix(l[i:], []byte("({")) ||
		string(l[i:]) == "()" || string(l[i:]) == "(...)")
}

// isForeign tells that a line is nothing that stands inside of a goroutine.
func isForeign(l []byte) bool {
	name := l
	if i := argsAt(l); i > 0 {
		name = l[:i]
	}
	return l[0] != '\t' && l[0] != ' ' && !isSymbol(name) && !programEnded(l) && !messageBegins(l) && !isRegister(l) &&
		!bytes.HasPrefix(l, []byte(headerStart)) && !bytes.HasPrefix(l, []byte(CreatedBy)) && l[0] != '[' && l[0] != '-' && l[0] != '=' && l[0] != '.' &&
		string(l) != "runtime stack:" && !bytes.HasPrefix(l, []byte(NotGo))
}

// programEnded tells that a line is what the go command says of a program that
// has ended.
func programEnded(l []byte) bool {
	return bytes.HasPrefix(l, []byte("exit status ")) || bytes.HasPrefix(l, []byte("FAIL\t"))
}

// known tells that a line may stand alone inside of a goroutine.
func (p *parser) known(l []byte) bool {
	return bytes.HasPrefix(l, []byte("runtime: "))
}

// pseudo adds a frame that stands for what is not shown.
func (p *parser) pseudo(name string) {
	if !p.ancestor {
		p.stack = append(p.stack, p.intern(stack.Frame{Func: name}))
	}
}

// odd counts a line that was not understood.
func (p *parser) odd(l []byte) { p.oddAt(l, p.at()) }

func (p *parser) oddAt(l []byte, at int64) {
	f := p.f
	f.Unrecognised++
	if len(f.Odd) < maxOdd {
		f.Odd = append(f.Odd, Line{f.Lines, at, string(l[:min(len(l), maxOddText)])})
	}
}

// openDump starts a dump.
func (p *parser) openDump(k Kind) *Dump {
	p.closeDump()
	p.open, p.crash = true, false
	p.seen.reset()
	n := len(p.f.IDs)
	if len(p.f.Dumps) >= maxDumps {
		p.f.Folded.Dumps++
		p.merged = Dump{Kind: k}
		return &p.merged
	}
	p.f.Dumps = append(p.f.Dumps, Dump{Kind: k, First: n, End: n, Offset: p.at(), Prefix: p.wrap + p.env.String()})
	p.f.envs = append(p.f.envs, p.env)
	return &p.f.Dumps[len(p.f.Dumps)-1]
}

// closeDump ends the last dump.
func (p *parser) closeDump() {
	if !p.open {
		return
	}
	p.open = false
	d := &p.f.Dumps[len(p.f.Dumps)-1]
	d.End = len(p.f.IDs)
	if p.f.Folded.Dumps > 0 {
		return // it is several
	}
	if d.Kind != Goroutines && d.Kind != Profile && !p.crash {
		p.doubt(d)
	}
}

// doubt marks goroutines that may be part of the text of a panic. The runtime
// prints the goroutine that has failed first, and no other one that is running
// with its stack; where there are several, those before the last can only have
// been in the message.
func (p *parser) doubt(d *Dump) {
	f := p.f
	running := -1
	for g := d.End - 1; g >= d.First; g-- {
		if f.State(g).Name != "running" || f.Flags[g]&(System|Unavailable|Again) != 0 {
			continue
		}
		if running < 0 {
			running = g
			continue
		}
		for i := d.First; i < running; i++ {
			f.Flags[i] |= Doubtful
		}
		return
	}
}

// idSet holds the numbers of the goroutines of a dump.
type idSet struct {
	seed  maphash.Seed
	key   uint64
	slots []uint64
	n     int
}

func (s *idSet) reset() {
	if clear(s.slots[:min(len(s.slots), 64)]); len(s.slots) > 64 {
		s.slots = nil // a file may have a million dumps of one goroutine
	}
	s.n = 0
	if s.key == 0 {
		s.key = maphash.Comparable(s.seed, 1) | 1
	}
}

// add tells whether the number is new.
func (s *idSet) add(id uint64) bool {
	if id == 0 {
		return true
	}
	if s.n*2 >= len(s.slots) {
		old := s.slots
		s.slots = make([]uint64, max(64, 2*len(old)))
		s.n = 0
		for _, v := range old {
			if v != 0 {
				s.add(v)
			}
		}
	}
	mask := uint64(len(s.slots) - 1)
	h := id * s.key
	h ^= h >> 32
	for i := h & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case 0:
			s.slots[i] = id
			s.n++
			return true
		case id:
			return false
		}
	}
}

// keptKey is what one text is kept of.
type keptKey struct {
	stack stack.ID
	state StateID
	// object is what it waits for: who waits for what is read again.
	object uint64
}

// maxKept bounds the text that is kept of a stream.
const maxKept = 8 << 20

// keepText keeps the text of the first goroutine of each kind.
func (p *parser) keepText(g int, id stack.ID, state StateID, end int64) {
	k := keptKey{id, state, p.object}
	if p.keptKeys == nil {
		p.keptKeys, p.f.kept = map[keptKey]bool{}, map[int][]byte{}
	}
	from, to := p.start-p.base, end-p.base
	if p.keptSize > maxKept || p.keptKeys[k] || from < 0 || to > int64(len(p.b)) || from > to {
		return
	}
	p.keptKeys[k] = true
	p.keptSize += int(to-from) + 64
	p.f.kept[g] = slices.Clone(p.b[from:to])
}
