package dump

import (
	"bytes"
	"hash/maphash"

	"loupe/value/stack"
	"loupe/value/streams"
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

// parser reads a text line by line, and knows what the lines are a part of. What it
// has to remember between two lines does not point into the text, which may be gone
// by then.
type parser struct {
	f *File
	input
	wrapping
	mode mode

	row     row
	frames  frames
	headers headers
	columns columns
	dumps   dumps
	msg     message
	race    raceReader
	records records
}

// input is the text at hand, and the line in it that is read.
type input struct {
	b     []byte
	i     int   // where the line is
	next  int   // where the next one is
	base  int64 // offset of b
	sized int64 // bytes of the whole text, 0 where nobody knows
}

// at is the offset of the current line.
func (n *input) at() int64 { return n.base + int64(n.i) }

// wrapping is what is known of how a log wraps the lines.
type wrapping struct {
	env  envelope
	wrap string // the prefix or the fields of the stream that is read
	raw  []byte // scratch of env
	// maybe is the offset of a line that may have been the begin of a message,
	// behind a prefix that was not known yet; -1 is none.
	maybe int64
	again int64 // before it no line is looked at a second time
	tries int   // how often something was found in the line before it
}

func newParser(keep bool) *parser {
	f := &File{Stacks: new(stack.Table)}
	p := &parser{f: f, wrapping: wrapping{maybe: -1}, headers: newHeaders(f), columns: columns{f: f, keep: keep}, dumps: dumps{f: f}}
	p.frames = frames{calls: newCalls(f), f: f}
	p.dumps.seen.seed = maphash.MakeSeed()
	return p
}

// Parse reads everything that a text holds. It keeps the text, for the
// arguments of frames, unless there is no goroutine in it. There is no error: a text without dumps is a File without
// goroutines.
func Parse(text []byte) *File {
	p := newParser(false)
	p.parse(text)
	return p.finish(int64(len(text)))
}

// parse reads a whole text, one stream of it after the other.
func (p *parser) parse(text []byte) {
	size := len(text)
	text = streams.Plain(text)
	parts := split(text)
	if parts == nil {
		if !p.columns.keep {
			p.f.text = text
		}
		p.b, p.sized = text, int64(len(text))
		p.run(true)
		return
	}
	lines := int64(bytes.Count(text, []byte("\n")))
	for _, s := range parts {
		p.wrap = s.Name
		p.nested(s.Text)
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
		if l := p.frames.line; p.frames.half && (!ended || argsAt(l) > 0 || bytes.HasPrefix(l, []byte(CreatedBy))) {
			p.cut()
		}
		p.endGoroutine(size)
	case inMessage:
		p.endMessage(true)
	case inRace:
		p.endRace()
	case inProfile:
		p.endRecord(size)
	}
	p.dumps.end()
	f.Bytes = size
	if f.Len() == 0 {
		f.text = nil // of a long log without a goroutine nothing is asked any more
	}
	if f.CutByGo() {
		f.Cut = true
		f.Flags[f.Len()-1] |= Cut
	}
	return f
}

// cut tells that the text ends in the midst of the goroutine.
func (p *parser) cut() {
	p.row.flags |= Cut
	p.f.Cut, p.frames.half = true, false
}

// run reads the lines of b. The last one is read when it has an end, or when
// there is nothing more to come.
func (p *parser) run(final bool) {
	for p.i < len(p.b) {
		if p.mode == inGoroutine && !p.frames.half && p.env.plain() {
			if n := p.frames.quick(p.b, p.i); n > 0 {
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
		p.dumps.end()
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
		step := p.race.line(&p.frames, l, p.at())
		if step != raceGoesOn {
			p.endRace()
		}
		if step == raceLeft {
			p.idle(l)
		}
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
			odd(p.f, l, p.at())
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
	case c == 'r' && string(l) == systemStack+":":
		p.begin(0, []byte(systemStack))
		return
	case p.dumps.open && p.threadLine(l):
		return
	case p.dumps.open && programEnded(l):
		p.dumps.end()
		return
	case c == '-' && p.dumps.open && string(l) == "-----":
		p.dumps.crash = true
		return
	case c == '\t' || c == ' ':
		if p.dumps.open && strayPosition(l) {
			odd(p.f, l, p.at())
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
		if text := bytes.TrimLeft(l, " \t"); len(text) < len(l) && p.dumps.open && nearHeader(text) {
			odd(p.f, l, p.at())
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
	p.dumps.end()
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
	outer, env, again, lines := p.input, p.env, p.again, p.f.Lines
	p.input = input{b: text, base: int64(len(p.f.extra)+1) << extraShift, sized: p.sized}
	p.env, p.maybe, p.again = envelope{}, -1, 0
	p.columns.addExtra(text)
	p.dumps.end()
	p.run(true)
	p.i = len(text)
	if p.mode == inGoroutine && p.wrap != "" && p.frames.half { // this stream ends here
		p.cut()
	}
	p.endAll()
	p.dumps.end()
	p.input, p.env, p.again, p.f.Lines = outer, env, again, lines
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

// begin starts a goroutine; number 0 is a thread, which has none.
func (p *parser) begin(id uint64, tail []byte) {
	if p.mode == inMessage {
		p.endMessage(true)
	}
	p.row = row{id: id, start: p.at(), head: p.headers.of(tail, &p.frames.calls)}
	if id == 0 {
		p.row.flags = System
	} else if p.dumps.open && !p.dumps.seen.add(id) {
		if p.dumps.crash {
			p.row.flags = Again
		} else {
			p.dumps.end() // the next one
		}
	}
	if !p.dumps.open {
		p.dumps.begin(Goroutines, p.at(), &p.wrapping)
		p.dumps.seen.add(id)
	}
	p.mode = inGoroutine
	p.frames.begin(p.row.head.sentinel)
}

// systemStack is the header of a thread's stack.
const systemStack = "runtime stack"

// endGoroutine adds what was read to the columns.
func (p *parser) endGoroutine(end int64) {
	p.frames.giveUp()
	p.columns.add(&p.row, &p.frames, 1, end, &p.input)
	p.mode = idle
}

// startRace begins a report of the race detector.
func (p *parser) startRace() {
	p.mode = inRace
	p.race = raceReader{r: Race{Offset: p.at()}}
	p.frames.begin(0)
	p.frames.half = false
}

func (p *parser) endRace() {
	p.race.end(&p.frames)
	p.mode = idle
}

// profileStart begins a text profile, if the line is the first of one.
func (p *parser) profileStart(l []byte) bool {
	name, total, ok := cutProfile(l)
	if !ok {
		return false
	}
	d := p.dumps.begin(Profile, p.at(), &p.wrapping)
	d.Message, d.Total = string(l), total
	p.records = records{leaks: name == "goroutineleak", threads: name == "threadcreate"}
	p.mode = inProfile
	return true
}

// recordLine reads a line of a text profile.
func (p *parser) recordLine(l []byte) {
	if len(l) > 0 && l[0] == '#' {
		p.row.head = p.records.comment(l, p.at(), &p.frames, &p.headers, p.row.head)
		return
	}
	p.endRecord(p.at())
	if len(l) == 0 {
		return
	}
	if count, ok := cutRecord(l); ok {
		p.row = row{start: p.at(), head: p.headers.of(p.records.state(), &p.frames.calls)}
		p.records.count = count
		p.frames.begin(p.frames.last)
		return
	}
	p.mode = idle
	p.dumps.end()
	p.idle(l)
}

// endRecord adds the record to the columns.
func (p *parser) endRecord(end int64) {
	if p.records.count > 0 {
		p.row.head = p.records.parked(&p.frames, &p.headers, p.row.head)
		p.columns.add(&p.row, &p.frames, p.records.count, end, &p.input)
		p.records.count = 0
	}
}

// body reads a line of a goroutine.
func (p *parser) body(l []byte) {
	if len(l) == 0 {
		p.endGoroutine(p.at())
		return
	}
	if x := &p.frames; x.half {
		if x.frame(x.line, l) {
			x.half = false
			return
		}
		if isCall(x.line) && isForeign(l) {
			odd(p.f, l, p.at()) // somebody else's line between the two of a frame
			return
		}
		x.half = false
		if l[0] == '\t' || l[0] == ' ' || !isRemark(x.line) {
			odd(p.f, x.line, x.at)
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
			odd(p.f, l, p.at())
			p.endGoroutine(p.at())
			return
		}
	case c == '\t' || c == ' ':
		if bytes.HasSuffix(l, []byte("stack unavailable")) {
			p.row.flags |= Unavailable
			p.frames.pseudo(NoStack)
			return
		}
		if bytes.HasPrefix(bytes.TrimLeft(l, "\t "), []byte("goroutine ")) {
			odd(p.f, l, p.at())
			return
		}
		odd(p.f, l, p.at())
		return
	case c == '.' && bytes.HasPrefix(l, []byte("...")) && bytes.HasSuffix(l, []byte(" frames elided...")):
		p.row.flags |= Elided
		p.frames.pseudo(FramesElided)
		return
	case c == '[' && bytes.HasPrefix(l, []byte("[originating from goroutine ")):
		p.f.AncestorStacks++
		p.row.flags |= Ancestors
		p.frames.ancestor = true
		return
	case c == '-' && string(l) == "-----":
		p.dumps.crash = true
		p.endGoroutine(p.at())
		return
	case bytes.HasPrefix(l, []byte(NotGo+" at pc=")):
		p.f.Frames++
		p.frames.pseudo(NotGo)
		return
	case programEnded(l):
		p.endGoroutine(p.at())
		p.dumps.end()
		return
	case c == '=' && bytes.HasPrefix(l, []byte("======")):
		p.endGoroutine(p.at())
		return
	case isRegister(l):
		p.endGoroutine(p.at())
		p.threadLine(l)
		return
	case c == 'r' && string(l) == systemStack+":":
		p.endGoroutine(p.at())
		p.begin(0, []byte(systemStack))
		return
	case messageBegins(l):
		p.endGoroutine(p.at())
		p.idle(l)
		return
	}
	p.frames.hold(l, p.at())
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
		string(l) != systemStack+":" && !bytes.HasPrefix(l, []byte(NotGo))
}

// programEnded tells that a line is what the go command says of a program that
// has ended.
func programEnded(l []byte) bool {
	return bytes.HasPrefix(l, []byte("exit status ")) || bytes.HasPrefix(l, []byte("FAIL\t"))
}

// isRemark tells that a line may stand alone inside of a goroutine.
func isRemark(l []byte) bool {
	return bytes.HasPrefix(l, []byte("runtime: "))
}
