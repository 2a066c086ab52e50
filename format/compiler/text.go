package compiler

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
)

// longestLine bounds the memory for one line. The longest that the standard
// library gives is the body of an inlinable function, some 10 kB.
const longestLine = 1 << 20

// ParseText reads the text that `go build -gcflags=...` prints. Lines that it
// does not know are counted in the output; the error is only ever that of r.
//
// An escape that -m=2 explains is said twice by the compiler, first with the
// flow and later as the result. It is one Diagnostic here.
func ParseText(r io.Reader, opt Options) (*Output, error) {
	p := textParser{opt: opt, out: &Output{}, names: interner{}, pkg: opt.Package, explained: map[said][]int{}}
	br := bufio.NewReaderSize(r, 1<<16)
	var long []byte
	for {
		chunk, err := br.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if len(long) < longestLine {
				long = append(long, chunk...)
			}
			continue
		}
		line := chunk
		if len(long) > 0 {
			line = append(long, chunk...)
			long = nil
		}
		if len(line) > longestLine {
			p.out.malformed(string(line[:200]))
		} else if len(line) > 0 {
			p.line(strings.TrimRight(string(line), "\r\n"))
		}
		if err == io.EOF {
			return p.out, nil
		}
		if err != nil {
			return p.out, fmt.Errorf("cannot read compiler output: %w", err)
		}
	}
}

// said is what identifies an escape between its explanation and its result.
type said struct {
	pos  Pos
	text string
}

type textParser struct {
	opt   Options
	out   *Output
	names interner
	pkg   string
	// flowing is the diagnostic that flow lines belong to, by index; -1 when
	// it is not kept. inFlow is true behind its first line.
	flowing int
	inFlow  bool
	// explained are the diagnostics that wait for the line with the result.
	explained map[said][]int
}

func (p *textParser) line(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	if pkg, ok := strings.CutPrefix(line, "# "); ok {
		pkg, _, _ = strings.Cut(pkg, " [") // the variant for a test: "# p [p.test]"
		p.pkg, p.inFlow = p.names.string(pkg), false
		return
	}
	pos, msg, ok := cutPos(line)
	if !ok {
		p.inFlow = false
		p.out.malformed(line)
		return
	}
	pos.File = p.file(pos.File)
	if strings.HasPrefix(msg, "  ") {
		if !p.inFlow || !p.flow(strings.TrimLeft(msg, " ")) {
			p.out.malformed(line)
		}
		return
	}
	p.inFlow = false
	d, explains, ok := message(msg)
	if !ok {
		p.out.malformed(line)
		return
	}
	d.Pos, d.Package, d.Outer = pos, p.pkg, true
	if explains {
		p.inFlow, p.flowing = true, -1
		if p.opt.keep(d.Kind) {
			p.flowing = p.add(d)
			if d.Kind == Escape {
				key := said{pos, d.Text}
				p.explained[key] = append(p.explained[key], p.flowing)
			}
		}
		return
	}
	if d.Allocates() && p.merge(&d) {
		return
	}
	if p.opt.keep(d.Kind) {
		p.add(d)
	}
}

// merge finds the explanation of a result and says whether there was one.
func (p *textParser) merge(d *Diagnostic) bool {
	key := said{d.Pos, d.Text}
	waiting := p.explained[key]
	if len(waiting) == 0 && d.Text == "append" {
		// The result leaves the arguments of append out.
		for k, w := range p.explained {
			if k.pos == d.Pos && strings.HasPrefix(k.text, "append(") && len(w) > 0 {
				key, waiting = k, w
				break
			}
		}
	}
	if len(waiting) == 0 {
		return false
	}
	if d.Kind == MovedToHeap {
		p.out.Diagnostics[waiting[0]].Kind = MovedToHeap
	}
	if len(waiting) == 1 {
		delete(p.explained, key)
	} else {
		p.explained[key] = waiting[1:]
	}
	return true
}

func (p *textParser) add(d Diagnostic) int {
	d.Text, d.Function, d.Reason, d.Dest = p.names.string(d.Text), p.names.string(d.Function), p.names.string(d.Reason), p.names.string(d.Dest)
	p.out.Diagnostics = append(p.out.Diagnostics, d)
	return len(p.out.Diagnostics) - 1
}

// flow takes one indented line of an explanation.
func (p *textParser) flow(msg string) bool {
	if p.flowing < 0 {
		return true
	}
	d := &p.out.Diagnostics[p.flowing]
	if strings.HasPrefix(msg, "warning: truncated explanation") {
		d.Truncated = true
		return true
	}
	if f, ok := parseFlow(msg); ok {
		f.Dst, f.Src = p.names.string(f.Dst), p.names.string(f.Src)
		d.Flow = append(d.Flow, f)
		return true
	}
	i := strings.LastIndex(msg, " at ")
	if i < 0 || len(d.Flow) == 0 {
		return false
	}
	step, ok := parseStep(msg[:i])
	pos, okPos := parsePos(msg[i+len(" at "):])
	if !ok || !okPos {
		return false
	}
	step.Expr, step.Why, step.Pos = p.names.string(step.Expr), p.names.string(step.Why), pos
	step.Pos.File = p.file(pos.File)
	f := &d.Flow[len(d.Flow)-1]
	f.Steps = append(f.Steps, step)
	return true
}

// file makes a name absolute: the go command shortens those below the
// directory that it runs in.
func (p *textParser) file(name string) string {
	if p.opt.Dir != "" && name != "" && name[0] != '<' && !isAbs(name) {
		name = path.Join(p.opt.Dir, name)
	}
	return p.names.string(name)
}

// isAbs knows the absolute names of all systems and the root that the compiler
// leaves unnamed.
func isAbs(name string) bool {
	return strings.HasPrefix(name, "/") || strings.HasPrefix(name, "$GOROOT") || len(name) > 2 && name[1] == ':'
}

// cutPos cuts "file:line:col: message". Compiler-made code has no column:
// "<autogenerated>:1: message".
func cutPos(line string) (pos Pos, msg string, ok bool) {
	for i := 0; ; {
		j := strings.Index(line[i:], ": ")
		if j < 0 {
			return Pos{}, "", false
		}
		if pos, ok := parsePos(line[:i+j]); ok {
			return pos, line[i+j+2:], true
		}
		i += j + 2
	}
}

// parsePos parses "file:line:col" or "file:line".
func parsePos(s string) (Pos, bool) {
	if s == "<unknown line number>" {
		return Pos{File: s}, true
	}
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return Pos{}, false
	}
	last, ok := number(s[i+1:])
	if !ok {
		return Pos{}, false
	}
	if j := strings.LastIndexByte(s[:i], ':'); j > 0 {
		if line, ok := number(s[j+1 : i]); ok {
			return Pos{s[:j], line, last}, true
		}
	}
	return Pos{File: s[:i], Line: last}, true
}

func number(s string) (int, bool) {
	if s == "" || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return int(n), err == nil
}

// parseFlow parses "flow: DST ← &SRC:"; before Go 1.25 the arrow was "=".
func parseFlow(msg string) (Flow, bool) {
	rest, ok := strings.CutPrefix(msg, "flow: ")
	if !ok {
		return Flow{}, false
	}
	rest = strings.TrimSuffix(rest, ":")
	dst, src, ok := strings.Cut(rest, " ← ")
	if !ok {
		if dst, src, ok = cutAssign(rest); !ok {
			return Flow{}, false
		}
	}
	f := Flow{Dst: dst}
	if s, ok := strings.CutPrefix(src, "&"); ok {
		f.Src, f.Derefs = s, -1
	} else {
		f.Src = strings.TrimLeft(src, "*")
		f.Derefs = len(src) - len(f.Src)
	}
	return f, true
}

// cutAssign cuts "DST = SRC" outside of braces: a storage may be that of an
// expression with an assignment in it.
func cutAssign(s string) (dst, src string, ok bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ' ':
			if depth == 0 && strings.HasPrefix(s[i:], " = ") {
				return s[:i], s[i+3:], true
			}
		}
	}
	return strings.Cut(s, " = ")
}

// parseStep parses "from EXPR (WHY)".
func parseStep(msg string) (Step, bool) {
	rest, ok := strings.CutPrefix(msg, "from ")
	i := strings.LastIndex(rest, " (")
	if !ok || i < 0 || !strings.HasSuffix(rest, ")") {
		return Step{}, false
	}
	return Step{Expr: rest[:i], Why: rest[i+2 : len(rest)-1]}, true
}
