package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"loupe/value/stack"
)

// What a compressor was made with stays in it: Reset gives it another stream, and keeps its dictionary and its level.

// madeWith is what a compressor is made with that Reset keeps, where it is not the same for all.
type madeWith struct {
	what string // "dictionary" or "level"; empty where nothing differs, or nothing is known
	x    ast.Expr
	at   codeLine
	read bool // by a decompressor, whose Reset is given the dictionary
}

// keptByReset are the calls that make compressors, with the places of what Reset keeps among their arguments.
var keptByReset = []struct {
	name  string
	arg   int
	what  string
	reads bool
}{
	{"flate.NewWriterDict", 2, "dictionary", false}, {"zlib.NewWriterLevelDict", 2, "dictionary", false},
	{"flate.NewReaderDict", 1, "dictionary", true}, {"zlib.NewReaderDict", 1, "dictionary", true},
	{"flate.NewWriterDict", 1, "level", false}, {"zlib.NewWriterLevelDict", 1, "level", false},
	{"flate.NewWriter", 1, "level", false}, {"gzip.NewWriterLevel", 1, "level", false}, {"zlib.NewWriterLevel", 1, "level", false},
}

// withDictionary are options that give a compressor a dictionary.
var withDictionary = lazily(`^With\w*Dict\w*$`)

// makingLines are the lines that may make the compressors.
func makingLines(h *hit, makers []Evidence) (all []stack.Frame) {
	for _, line := range h.lines {
		all = append(all, line.Caller)
	}
	for _, e := range makers {
		all = append(all, stack.Frame{File: e.File, Line: e.Line})
	}
	return all
}

// dictionaryAt finds what differs among the compressors that are made on some lines: a dictionary before a level.
func dictionaryAt(c *code, lines []stack.Frame) (found madeWith) {
	d := derivationsOf(c)
	for _, at := range lines {
		in, ok := d.at(at)
		if !ok {
			continue
		}
		ast.Inspect(in.decl.Body, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || found.what == "dictionary" || d.placeOf(call).line != at.Line && !coversLine(d, call, at.Line) {
				return true
			}
			note := func(what string, x ast.Expr, reads bool) {
				tv := d.t.info.Types[x]
				if found.what == "" && tv.Value == nil && !isNamed(x, "nil") && !strings.HasPrefix(d.t.fromPackage(ast.Unparen(x)), "compress/") && !staysInProgram(d, in.decl, x) {
					found = madeWith{what, x, d.placeOf(call), reads}
				}
			}
			for _, k := range keptByReset {
				if types.ExprString(call.Fun) == k.name && k.arg < len(call.Args) {
					if k.what == "dictionary" && found.what == "level" {
						found = madeWith{}
					}
					note(k.what, call.Args[k.arg], k.reads)
				}
			}
			if withDictionary.MatchString(calledName(call)) {
				for _, x := range call.Args {
					note("dictionary", x, false)
				}
			}
			return true
		})
	}
	return found
}

// tell begins the advice with it.
func (m madeWith) tell(c *code, f *Finding) {
	switch {
	case m.what == "":
		return
	case m.what == "level":
		f.Advice += fmt.Sprintf(" The level at %s (%s) may be another one each time, and Reset keeps it: then keep a pool for each level.", m.at.text(), types.ExprString(m.x))
		return
	case m.read:
		f.Advice = fmt.Sprintf("The dictionary at %s (%s) may be another one each time: give it to Reset(r, dict) of flate.Resetter or zlib.Resetter for each stream. ", m.at.text(), types.ExprString(m.x)) + f.Advice
	default:
		f.Advice = fmt.Sprintf("The dictionary at %s (%s) may be another one each time, and Reset keeps that with which a compressor was made: from one pool for all, data would be written with another dictionary than the reader has. "+
			"Keep a pool for each dictionary, if these are few and come again, and none otherwise. ", m.at.text(), types.ExprString(m.x)) + f.Advice
	}
	f.Evidence = append(f.Evidence, c.shownAt(m.at.file, m.at.line, "made with a dictionary of its own here"))
}
