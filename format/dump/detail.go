package dump

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Call is one frame as it was printed.
type Call struct {
	// Func is the function; of the frame of a go statement the one that it is in.
	Func string
	File string
	Line int
	// Args is the text between the brackets, for [ParseArgs]; HasArgs tells it
	// from a frame without any.
	Args    string
	HasArgs bool
	Inlined bool
	// Created tells that this is the go statement; Creator is the goroutine that
	// has executed it, 0 where that is not said.
	Created bool
	Creator uint64
	// Offset is how far from the begin of the function the instruction is.
	Offset uint64
	// FP, SP and PC are there with GOTRACEBACK=system and in crashes.
	FP, SP, PC uint64
	// Elided is how many frames are left out here; -1 is some.
	Elided int64
	// Ancestor is the goroutine that the frame is of, with
	// GODEBUG=tracebackancestors; 0 is the goroutine itself.
	Ancestor uint64
}

// ErrNoText tells that the text of a goroutine was not kept.
var ErrNoText = errors.New("the text was not kept")

// Calls reads the frames of a goroutine again, leaf first, with everything that
// stands beside their names.
func (f *File) Calls(g int) ([]Call, error) {
	text := f.Text(g)
	if text == nil {
		return nil, ErrNoText
	}
	var env envelope
	if d := f.DumpOf(g); f.starts[g]>>extraShift == 0 && d < len(f.envs) {
		env = f.envs[d]
	}
	var calls []Call
	var scratch, name []byte
	var ancestor uint64
	first := true
	for line := range bytes.Lines(text) {
		line = trimCR(bytes.TrimSuffix(line, []byte("\n")))
		if !env.plain() {
			var ok bool
			if line, scratch, ok = env.strip(line, scratch); !ok {
				continue
			}
		}
		if first || len(line) == 0 {
			first = false
			continue
		}
		if name != nil {
			if c, ok := cutCall(name, line); ok {
				c.Ancestor = ancestor
				calls = append(calls, c)
				name = nil
				continue
			}
			name = nil
		}
		if n, ok := elided(line); ok {
			calls = append(calls, Call{Func: FramesElided, Elided: n, Ancestor: ancestor})
			continue
		}
		if rest, ok := bytes.CutPrefix(line, []byte("[originating from goroutine ")); ok {
			ancestor, _ = strconv.ParseUint(string(bytes.TrimSuffix(rest, []byte("]:"))), 10, 64)
			continue
		}
		if line[0] != '\t' && line[0] != ' ' {
			name = append([]byte(nil), line...)
		}
	}
	return calls, nil
}

// elided reads "...23 frames elided..." and "...additional frames elided...".
func elided(line []byte) (n int64, ok bool) {
	s, ok := strings.CutSuffix(string(line), " frames elided...")
	if !ok || !strings.HasPrefix(s, "...") {
		return 0, false
	}
	n, err := strconv.ParseInt(s[3:], 10, 64)
	if err != nil {
		n = -1
	}
	return n, true
}

// cutCall takes the two lines of a frame apart.
func cutCall(first, second []byte) (c Call, ok bool) {
	where, ok := cutPosition(second)
	if !ok {
		return c, false
	}
	c.File, c.Line = fileLine(strings.TrimLeft(string(where), "\t "))
	for word := range strings.FieldsSeq(string(second[len(where):])) {
		if v, ok := strings.CutPrefix(word, "+"); ok {
			c.Offset, _ = strconv.ParseUint(v, 0, 64)
			continue
		}
		key, value, _ := strings.Cut(word, "=")
		v, _ := strconv.ParseUint(value, 0, 64)
		switch key {
		case "fp":
			c.FP = v
		case "sp":
			c.SP = v
		case "pc":
			c.PC = v
		}
	}
	name := string(first)
	if created, ok := strings.CutPrefix(name, CreatedBy); ok {
		c.Created = true
		if i := strings.LastIndex(created, " in goroutine "); i > 0 {
			if id, ok := creatorID([]byte(created[i:])); ok {
				created, c.Creator = created[:i], id
			}
		}
		c.Func = created
		return c, true
	}
	if s, ok := strings.CutSuffix(name, "(...)"); ok {
		c.Func, c.Inlined = s, true
		return c, true
	}
	c.Func = name
	if i := argsAt(first); i >= 0 {
		c.Func, c.Args, c.HasArgs = name[:i], name[i+1:len(name)-1], true
	}
	return c, true
}

// ArgKind says what an element of an argument list is.
type ArgKind uint8

// The kinds of elements.
const (
	Word      ArgKind = iota // a number
	Aggregate                // {…}: a struct, an array, a string, a slice, an interface
	More                     // …: there are more elements than are printed
	Far                      // _: too far from the begin of the frame to be printed
)

// Arg is one element of an argument list.
type Arg struct {
	Kind  ArgKind
	Value uint64
	// Stale tells that the word was not alive any more: it is whatever was in
	// that place, and no fact. Go 1.17 does not say so, and before that all words
	// are those of the memory where arguments were passed.
	Stale  bool
	Fields []Arg // of an aggregate
}

// maxArgDepth is more than the runtime prints (it stops at 5).
const maxArgDepth = 32

// ParseArgs takes "0x1, {0xc000010000?, 0x2}, ..." apart: what [Call.Args] is.
func ParseArgs(text string) ([]Arg, error) {
	args, rest, err := parseArgs(text, 0)
	if err == nil && rest != "" {
		err = fmt.Errorf("there is %q behind the last word", rest)
	}
	if err != nil {
		return args, fmt.Errorf("cannot parse the arguments (%s): %w", text[:min(len(text), 80)], err)
	}
	return args, nil
}

func parseArgs(s string, depth int) (args []Arg, rest string, err error) {
	for s != "" && s[0] != '}' {
		var a Arg
		switch {
		case strings.HasPrefix(s, "..."):
			a.Kind, s = More, s[3:]
		case s[0] == '_':
			a.Kind, s = Far, s[1:]
		case s[0] == '{':
			if depth >= maxArgDepth {
				return args, s, fmt.Errorf("aggregates are nested more than %d deep", maxArgDepth)
			}
			a.Kind = Aggregate
			if a.Fields, s, err = parseArgs(s[1:], depth+1); err != nil {
				return args, s, err
			}
			if s == "" {
				return append(args, a), s, errors.New("an aggregate does not end")
			}
			s = s[1:]
		default:
			n := strings.IndexAny(s, ",}?")
			if n < 0 {
				n = len(s)
			}
			if a.Value, err = strconv.ParseUint(s[:n], 0, 64); err != nil {
				return args, s, fmt.Errorf("%q is not a word", s[:n])
			}
			s = s[n:]
			if a.Stale = strings.HasPrefix(s, "?"); a.Stale {
				s = s[1:]
			}
		}
		args = append(args, a)
		if !strings.HasPrefix(s, ", ") {
			break
		}
		s = s[2:]
	}
	if depth == 0 && s != "" || depth > 0 && s != "" && s[0] != '}' {
		return args, s, fmt.Errorf("there is %q where a comma should be", s[:min(len(s), 20)])
	}
	return args, s, nil
}
