package exectrace

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// ParseText turns the text of a trace into its bytes. It is the opposite of
// [WriteText] and takes what the standard library takes, and for tests more
// that saves writing:
//
//   - An argument that is not there is 0. That of a batch is what it was in
//     the batch before; its size is computed.
//   - A string stands in the place of its number, in quotes where it has
//     blanks, and a stack too, leaf first: stack=main.f@f.go:12;main.main@f.go:3.
//     The tables are added at the end of the generation.
//   - A state can be a word: gstatus=waiting, pstatus=idle. The thread -1 is
//     none.
//   - A generation with such a batch gets what it lacks: a clock that counts
//     nanoseconds, and its end where the format has one.
//
// docs/formats/exectrace.md has an example.
func ParseText(r io.Reader) ([]byte, error) {
	p := textParser{lines: bufio.NewScanner(r)}
	p.lines.Buffer(nil, 1<<20)
	words, err := p.next()
	if err != nil || words == nil {
		return nil, cmp.Or(err, fmt.Errorf("not the text of a trace: it is empty"))
	}
	if _, err := fmt.Sscanf(strings.Join(words, " "), "Trace Go1.%d", &p.version); err != nil || p.version < 22 {
		return nil, fmt.Errorf("not the text of a trace: it begins with %q instead of Trace Go1.22 or later", strings.Join(words, " "))
	}
	p.out = fmt.Appendf(nil, "go 1.%d trace", int(p.version))
	p.out = append(p.out, make([]byte, headerSize-len(p.out))...)
	for {
		words, err := p.next()
		if err == nil && words != nil {
			err = p.event(words)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
		if words == nil {
			p.endGeneration()
			return p.out, nil
		}
	}
}

// textParser reads the text of a trace line by line.
type textParser struct {
	version Version
	lines   *bufio.Scanner
	line    int
	out     []byte
	gen     textGeneration
}

// textGeneration is the generation whose batches are being read.
type textGeneration struct {
	batches []textBatch
	short   bool // leaves out what can be computed
	timed   bool // has a clock
	ended   bool // has its end
}

// textBatch is one batch.
type textBatch struct {
	header textEvent
	sized  bool // its size is given
	events []textEvent
}

// textEvent is an event whose strings and stacks may not have their numbers
// yet: those by the index of their argument.
type textEvent struct {
	rawEvent
	named map[int]string
}

// next returns the words of the next line that has some, or nil at the end.
func (p *textParser) next() ([]string, error) {
	for p.lines.Scan() {
		p.line++
		words, err := splitWords(p.lines.Text())
		if err != nil || len(words) > 0 {
			return words, err
		}
	}
	return nil, p.lines.Err()
}

// blanks separate words.
const blanks = " \t\r\v\f"

// splitWords splits a line at blanks that are not in quotes, up to a comment.
func splitWords(s string) (words []string, err error) {
	for {
		s = strings.TrimLeft(s, blanks)
		if s == "" || s[0] == '#' {
			return words, nil
		}
		i := 0
		for i < len(s) && strings.IndexByte(blanks, s[i]) < 0 && s[i] != '#' {
			if s[i] == '"' {
				quoted, err := strconv.QuotedPrefix(s[i:])
				if err != nil {
					return nil, fmt.Errorf("cannot find the end of the string in %q", s)
				}
				i += len(quoted) - 1
			}
			i++
		}
		words, s = append(words, s[:i]), s[i:]
	}
}

// event reads the event that begins with these words.
func (p *textParser) event(words []string) error {
	op := slices.IndexFunc(specs[:], func(s spec) bool { return s.name == words[0] && s.since <= p.version })
	if op < 0 {
		return fmt.Errorf("format %v has no event %q", p.version, words[0])
	}
	e := textEvent{rawEvent: rawEvent{op: byte(op), args: make([]uint64, len(specs[op].args))}}
	isBatch := e.op == evEventBatch || e.op == evExperimentalBatch
	if isBatch {
		e.inherit(p.gen.batches)
	}
	given := map[string]bool{}
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return fmt.Errorf("%q should be NAME=VALUE", word)
		}
		given[name] = true
		if err := e.set(name, value); err != nil {
			return err
		}
	}
	if err := p.readRest(&e, given); err != nil {
		return err
	}
	switch {
	case e.op == evEndOfGeneration:
		p.gen.ended = true
		p.endGeneration()
	case isBatch:
		if old := p.gen.batches; len(old) > 0 && old[0].header.gen() != e.gen() {
			p.endGeneration()
		}
		p.gen.short = p.gen.short || e.op == evEventBatch && !given["size"]
		p.gen.batches = append(p.gen.batches, textBatch{header: e, sized: given["size"]})
	case len(p.gen.batches) == 0:
		return fmt.Errorf("%s stands in front of the first EventBatch of its generation", words[0])
	default:
		p.gen.timed = p.gen.timed || e.op == evFrequency
		b := &p.gen.batches[len(p.gen.batches)-1]
		b.events = append(b.events, e)
	}
	return nil
}

// inherit takes the arguments of the batch before.
func (e *textEvent) inherit(batches []textBatch) {
	gen, m, time := uint64(1), uint64(0), uint64(0)
	if n := len(batches); n > 0 {
		gen, m, time = batches[n-1].header.gen(), batches[n-1].header.arg("m"), batches[n-1].header.arg("time")
	}
	e.args[e.index("gen")], e.args[e.index("m")], e.args[e.index("time")] = gen, m, time
}

func (e *textEvent) index(name string) int  { return slices.Index(specs[e.op].args, name) }
func (e *textEvent) arg(name string) uint64 { return e.args[e.index(name)] }
func (e *textEvent) gen() uint64            { return e.arg("gen") }
func (e *textEvent) isString(k int) bool    { return strings.HasSuffix(specs[e.op].args[k], "_string") }
func (e *textEvent) isStack(k int) bool     { return strings.HasSuffix(specs[e.op].args[k], "stack") }

// textStates are the words for states.
var textStates = map[string][]string{
	"gstatus": {"undetermined", "runnable", "running", "syscall", "waiting"},
	"pstatus": {"undetermined", "running", "idle", "syscall", "abandoned"},
}

// set gives one argument its value.
func (e *textEvent) set(name, value string) error {
	if name == "data" && hasData(e.op) {
		s, err := strconv.Unquote(value)
		e.data = []byte(s)
		return err
	}
	k := e.index(name)
	if k < 0 {
		return fmt.Errorf("%s has no argument %q, but %s", specs[e.op].name, name, strings.Join(specs[e.op].args, ", "))
	}
	var err error
	if e.args[k], err = strconv.ParseUint(value, 10, 64); err == nil {
		return nil
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		e.args[k] = uint64(n)
		return nil
	}
	if i := slices.Index(textStates[name], value); i >= 0 {
		e.args[k] = uint64(i)
		return nil
	}
	if !e.isString(k) && !e.isStack(k) {
		return fmt.Errorf("%s=%s is not a number", name, value)
	}
	if value, err = unquote(value); err != nil {
		return err
	}
	if e.named == nil {
		e.named = make(map[int]string)
	}
	e.named[k] = value
	return nil
}

// unquote returns what stands in quotes, or s when it has none.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	text, err := strconv.Unquote(s)
	if err != nil {
		return "", fmt.Errorf("%s is not a string", s)
	}
	return text, nil
}

// readRest reads the lines that follow that of some events.
func (p *textParser) readRest(e *textEvent, given map[string]bool) error {
	if hasData(e.op) && !given["data"] {
		words, err := p.next()
		if err != nil {
			return err
		}
		if len(words) != 1 || !strings.HasPrefix(words[0], "data=") {
			return fmt.Errorf("%s should be followed by data=\"...\", but %q comes", specs[e.op].name, words)
		}
		return e.set("data", strings.TrimPrefix(words[0], "data="))
	}
	if e.op != evStack {
		return nil
	}
	if e.args[1] > maxFrames {
		return fmt.Errorf("a stack of %d frames, and %d is the most there can be", e.args[1], maxFrames)
	}
	for range e.args[1] {
		words, err := p.next()
		if err != nil {
			return err
		}
		if len(words) != len(frameArgs) {
			return fmt.Errorf("a frame is %q, but %q comes", frameArgs, words)
		}
		for k, word := range words {
			v, err := strconv.ParseUint(strings.TrimPrefix(word, frameArgs[k]+"="), 10, 64)
			if err != nil {
				return fmt.Errorf("a frame is %q, but %q comes", frameArgs, words)
			}
			e.args = append(e.args, v)
		}
	}
	return nil
}

// endGeneration writes the generation with what is missing of it.
func (p *textParser) endGeneration() {
	g := &p.gen
	if g.short {
		g.addTables(p.version)
	}
	for i := range g.batches {
		p.out = g.batches[i].append(p.out)
	}
	if g.ended || g.short && p.version >= 26 {
		p.out = append(p.out, evEndOfGeneration)
	}
	*g = textGeneration{}
}

// append appends the bytes of a batch.
func (b *textBatch) append(dst []byte) []byte {
	var data []byte
	for _, e := range b.events {
		data = e.append(data)
	}
	if b.header.op == evEventBatch && !b.sized {
		n := len(b.header.args) - 1
		b.header.args = b.header.args[:n]
		dst = appendPadded(b.header.append(dst), uint64(len(data)))
	} else {
		dst = b.header.append(dst)
	}
	return append(dst, data...)
}

// appendPadded appends a number as the runtime does to the size of a batch.
func appendPadded(dst []byte, v uint64) []byte {
	for range paddedSize - 1 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// append appends the bytes of an event.
func (e *rawEvent) append(dst []byte) []byte {
	dst = append(dst, e.op)
	for _, v := range e.args {
		dst = binary.AppendUvarint(dst, v)
	}
	if hasData(e.op) {
		dst = append(binary.AppendUvarint(dst, uint64(len(e.data))), e.data...)
	}
	return dst
}
