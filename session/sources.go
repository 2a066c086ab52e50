package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"loupe/recording"
	"loupe/value/stack"
)

// begins names a declared function and the line of its func keyword.
type begins struct {
	name string // without package, receiver and type arguments
	line int
}

// Outdated names the kept source files that are not what the program was built from, by the
// paths that profiles give them, in the order of the recording: a function that a profile has
// does not begin where the profile says. A change behind the last function of a profile, or one
// that moves no line, is not seen, and profiles of programs before Go 1.20 do not say where
// functions begin.
func (s *Session) Outdated() []string {
	all, _ := decoded(s, "outdated sources", func(s *Session) ([]string, error) {
		known := s.functionsByFile()
		var outdated []string
		for _, e := range s.rec.Of(recording.Source) {
			if text, err := s.Source(e.Source); err == nil && !declares(text, known[e.Source]) {
				outdated = append(outdated, e.Source)
			}
		}
		return outdated, nil
	})
	return all
}

// functionsByFile are the functions that the profiles say the beginning of.
func (s *Session) functionsByFile() map[string][]begins {
	known := map[string][]begins{}
	for _, kind := range []recording.Kind{recording.CPU, recording.Allocs, recording.Heap, recording.Block, recording.Mutex} {
		p, _, err := s.Profile(kind)
		if err != nil {
			continue
		}
		for id := range p.Stacks.NumFrames() {
			f := p.Stacks.Frame(stack.FrameID(id))
			if f.StartLine == 0 || !strings.HasSuffix(f.File, ".go") {
				continue
			}
			if b := (begins{plainName(f.Func), f.StartLine}); b.name != "" && !slices.Contains(known[f.File], b) {
				known[f.File] = append(known[f.File], b)
			}
		}
	}
	return known
}

// plainName is the name of a function as its declaration has it; empty of those that the compiler makes, which
// begin at odd places.
func plainName(function string) string {
	if stack.Enclosing(function) != function {
		return ""
	}
	name := strings.ReplaceAll(stack.Local(stack.FoldGenerics(function)), "[...]", "")
	name = name[strings.LastIndexByte(name, '.')+1:]
	if !token.IsIdentifier(name) || name == "init" || strings.HasPrefix(name, "func") && strings.Trim(name[len("func"):], "0123456789") == "" {
		return ""
	}
	return name
}

// declares tells whether a file declares each of the functions where it is said to begin. A file that does not parse, and one
// whose lines are numbered by comments, say nothing against it.
func declares(text []byte, all []begins) bool {
	if len(all) == 0 || strings.Contains(string(text), "//line ") || strings.Contains(string(text), "/*line ") {
		return true
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return true
	}
	there := map[begins]bool{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			there[begins{fn.Name.Name, fset.Position(fn.Pos()).Line}] = true
			there[begins{fn.Name.Name, fset.Position(fn.Name.Pos()).Line}] = true // a receiver of several lines
		}
	}
	return !slices.ContainsFunc(all, func(b begins) bool { return !there[b] })
}
