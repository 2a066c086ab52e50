package compiler

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// GuidedFlags are the flags of the compiler whose answer [ParseGuided] reads. They change what
// it says, and nothing of what it makes.
const GuidedFlags = "-m -d=pgodebug=3"

// Guided is what the compiler says of a profile that it goes by (-d=pgodebug=3 with -m): which
// calls it has found a weight for, and what it has made of that.
type Guided struct {
	// Sites are the calls in the source whose caller was wanted, before anything is inlined.
	Sites []CallSite
	// Known are the wanted functions that were compiled, or are called by one that was.
	Known map[string]bool
	// Hot are calls that are inlined because the profile says that they are hot: their cost is
	// above what is inlined otherwise. TooBig are those that are not because their caller is big.
	Hot, TooBig []HotCall
	// Devirtualized are the calls through interfaces and func values that became direct ones.
	Devirtualized []CallSite
	// Packages is how many packages have answered.
	Packages int
	// Malformed counts lines that should have been of a known form.
	Malformed int
}

// CallSite is a call in the source. Its JSON form is that of the compiler (CallStat in
// cmd/compile/internal/devirtualize).
type CallSite struct {
	// Pos is as the compiler writes it, File:Line:Col; Caller is a symbol of the linker.
	Pos, Caller string
	// Direct is a call of a function that is known; another one is through an interface or a
	// func value.
	Direct, Interface bool
	// Weight is that of all calls of the profile from this line of the caller.
	Weight int64
	// Devirtualized is what is called directly now, where the profile has led to that.
	Devirtualized string
	// Called is the last name in what is called: "Write" of w.buf.Write(p), "" where it has none.
	Called string `json:"-"`
	// Line is that of Pos.
	Line int `json:"-"`
}

// HotCall is a call of a hot function.
type HotCall struct {
	Callee, Caller string
	Pos            Pos
}

// ParseGuided reads what go build -gcflags=all='-m -d=pgodebug=3' prints. Wanted says which
// functions are of interest, by their symbols; a large program has millions of calls. The error
// is only ever that of r.
func ParseGuided(r io.Reader, wanted func(function string) bool) (*Guided, error) {
	p := guidedParser{out: &Guided{Known: map[string]bool{}}, wanted: wanted, hot: map[HotCall]bool{}}
	err := eachLine(r, p.line, func([]byte) { p.out.Malformed++ })
	return p.out, err
}

// guidedParser reads line by line.
type guidedParser struct {
	out    *Guided
	wanted func(string) bool
	hot    map[HotCall]bool
	// pos and called are of the line before, which tells the expression of a call.
	pos, called string
}

const (
	considering = ": PGO devirtualize considering call "
	allows      = "hot-budget check allows inlining for call "
	disallows   = "hot-big check disallows inlining for call "
)

func (p *guidedParser) line(line []byte) {
	switch {
	case bytes.HasPrefix(line, []byte(`{"Pkg":`)):
		p.site(line)
	case bytes.HasPrefix(line, []byte(`"`)):
		p.node(string(line))
	case bytes.HasPrefix(line, []byte("# ")):
		p.out.Packages++
	case bytes.HasPrefix(line, []byte(allows)):
		p.out.Hot = p.hotCall(p.out.Hot, string(line[len(allows):]))
	case bytes.HasPrefix(line, []byte(disallows)):
		p.out.TooBig = p.hotCall(p.out.TooBig, string(line[len(disallows):]))
	default:
		if i := bytes.Index(line, []byte(considering)); i >= 0 {
			p.pos, p.called = string(line[:i]), calledIn(string(line[i+len(considering):]))
		}
	}
}

// site reads the record of a call.
func (p *guidedParser) site(line []byte) {
	var s CallSite
	if err := json.Unmarshal(line, &s); err != nil {
		p.out.Malformed++
		return
	}
	pos, ok := parsePos(s.Pos)
	if !ok || s.Caller == "" {
		p.out.Malformed++
		return
	}
	s.Line = pos.Line
	if sameEnd(p.pos, s.Pos) {
		s.Called = p.called
	}
	if s.Devirtualized != "" {
		p.out.Devirtualized = append(p.out.Devirtualized, s)
	}
	if p.wanted(s.Caller) {
		p.out.Known[s.Caller] = true
		p.out.Sites = append(p.out.Sites, s)
	}
}

// sameEnd tells whether two positions may be one: the go command shortens the paths of text, and
// leaves those of records as they are.
func sameEnd(a, b string) bool {
	return a != "" && a[strings.LastIndexAny(a, `/\`)+1:] == b[strings.LastIndexAny(b, `/\`)+1:]
}

// node reads a function of the graph: "NAME" [color=black, style=solid, label="…"];. A dashed
// one is known from the profile alone.
func (p *guidedParser) node(line string) {
	i := strings.Index(line, `" [color=`)
	if i < 1 || strings.Contains(line[i:], "style=dashed") {
		return
	}
	if name := line[1:i]; p.wanted(name) {
		p.out.Known[name] = true
	}
}

// hotCall reads "CALLEE (cost N) at POS in function CALLER", where a big one is "in big function".
func (p *guidedParser) hotCall(to []HotCall, text string) []HotCall {
	callee, rest, ok := strings.Cut(text, " (cost ")
	_, rest, ok2 := strings.Cut(rest, ") at ")
	i := strings.LastIndex(rest, " function ")
	if !ok || !ok2 || i < 0 {
		p.out.Malformed++
		return to
	}
	pos, ok := parsePos(strings.TrimSuffix(strings.TrimSuffix(rest[:i], " big"), " in"))
	if !ok {
		p.out.Malformed++
		return to
	}
	c := HotCall{callee, rest[i+len(" function "):], pos}
	if p.hot[c] {
		return to // the compiler asks more than once
	}
	p.hot[c] = true
	return append(to, c)
}

// calledIn is the last name in what a call calls: of "p.(*T).Write(x, f(y))" it is Write, of
// "sort[int](s)" it is sort. It is "" where there is none, as in a call of a literal.
func calledIn(call string) string {
	depth, open := 0, -1
	var quote byte
	for i := 0; i < len(call); i++ {
		c := call[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(' || c == '[' || c == '{':
			if depth == 0 && c == '(' {
				open = i
			}
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		}
	}
	if open < 0 {
		return ""
	}
	name := strings.TrimSpace(call[:open])
	if strings.HasSuffix(name, "]") { // type arguments
		depth := 0
		for i := len(name) - 1; i >= 0; i-- {
			if name[i] == ']' {
				depth++
			} else if name[i] == '[' {
				if depth--; depth == 0 {
					name = name[:i]
					break
				}
			}
		}
	}
	end := len(name)
	for end > 0 && isNamePart(name[end-1]) {
		end--
	}
	return name[end:]
}

// isNamePart takes any byte of a letter that is not ASCII for a part of a name.
func isNamePart(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
