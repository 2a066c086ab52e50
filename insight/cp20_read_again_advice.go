package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	resyntax "regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"loupe/value/unit"
)

// From where to search what is new. A match may begin in what came before: how far back that is,
// and what else a search has to see, depends on what is searched for.

// expression finds the text of a regular expression by what the source makes it of: a variable, or a
// field of the same name everywhere. It is empty where that is not one text for sure.
func expression(c *code, fn *scope, x ast.Expr) string {
	p, ok := spotOf(x)
	if !ok {
		return ""
	}
	if fn != nil && len(p.fields) == 0 && fn.declares(p.root) {
		if made := fn.made(p.root); made != nil && !fn.sets(p.root) {
			return compiledText(c, made)
		}
		return ""
	}
	text, other := "", false
	note := func(name string, value ast.Expr) {
		if name != p.last() || value == nil {
			return
		}
		of := compiledText(c, value)
		other = other || of == "" || text != "" && text != of
		text = of
	}
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok && isIdent(kv.Key) && len(p.fields) > 0 {
				note(types.ExprString(kv.Key), kv.Value)
			}
			assigned(n, func(left, right ast.Expr) {
				if _, field := left.(*ast.SelectorExpr); field == (len(p.fields) > 0) {
					note(lastName(types.ExprString(left)), right)
				}
			})
			return true
		})
	})
	if other {
		return ""
	}
	return text
}

// compiledText is the text of an expression that is compiled; empty where it is none that the source
// has.
func compiledText(c *code, x ast.Expr) string {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !slices.Contains([]string{"regexp.MustCompile", "regexp.Compile"}, types.ExprString(call.Fun)) {
		return ""
	}
	text, _ := constantText(c, call.Args[0], 0)
	return text
}

// constantText is a text that is made of literals and constants.
func constantText(c *code, x ast.Expr, depth int) (text string, ok bool) {
	switch x := x.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(x.Value)
		return text, err == nil && x.Kind == token.STRING
	case *ast.ParenExpr:
		return constantText(c, x.X, depth)
	case *ast.BinaryExpr:
		a, ok := constantText(c, x.X, depth)
		b, both := constantText(c, x.Y, depth)
		if x.Op == token.ADD && ok && both {
			return a + b, true
		}
	case *ast.Ident:
		if value := constantOf(c, x.Name); value != nil && depth < 3 {
			return constantText(c, value, depth+1)
		}
	}
	return "", false
}

// constantOf is what the only constant of a name is declared with; nil where there is none.
func constantOf(c *code, name string) (value ast.Expr) {
	n := 0
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(node ast.Node) bool {
			if g, ok := node.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, spec := range g.Specs {
					v := spec.(*ast.ValueSpec)
					if i := slices.IndexFunc(v.Names, func(id *ast.Ident) bool { return id.Name == name }); i >= 0 {
						if n++; i < len(v.Values) {
							value = v.Values[i]
						}
					}
				}
			}
			return true
		})
	})
	if n != 1 {
		return nil
	}
	return value
}

// constantNumber is a number that is made of literals and constants; 0 where it is none.
func constantNumber(c *code, x ast.Expr, depth int) int {
	switch x := x.(type) {
	case *ast.BasicLit:
		n, err := strconv.ParseInt(x.Value, 0, 64)
		if err == nil && x.Kind == token.INT {
			return int(n)
		}
	case *ast.ParenExpr:
		return constantNumber(c, x.X, depth)
	case *ast.BinaryExpr:
		a, b := constantNumber(c, x.X, depth), constantNumber(c, x.Y, depth)
		switch {
		case x.Op == token.MUL:
			return a * b
		case x.Op == token.SHL && b < 40:
			return a << b
		}
	case *ast.Ident:
		if value := constantOf(c, x.Name); value != nil && depth < 3 {
			return constantNumber(c, value, depth+1)
		}
	}
	return 0
}

// matchShape is what a search for an expression has to see of a text.
type matchShape struct {
	most    int    // bytes of the longest match; -1 where there is none
	wide    bool   // it may have characters of several bytes
	start   bool   // it matches at the start of the text only
	anchor  bool   // it asks for the start of the text in some other way
	before  bool   // it looks at what comes before a match: the start of a line, a word
	lines   bool   // a match may go over the end of a line
	ends    string // what each match ends with; empty where that is no fixed text
	visible bool   // the expression is known
}

// shapeOf reads an expression.
func shapeOf(text string) (m matchShape) {
	re, err := resyntax.Parse(text, resyntax.Perl)
	if err != nil || text == "" {
		return m
	}
	re = re.Simplify()
	m.visible = true
	m.most = m.longest(re)
	m.start = beginsText(re)
	m.ends = literalEnd(re)
	return m
}

// longest is the length of the longest match of a part, and notes what else it does.
func (m *matchShape) longest(re *resyntax.Regexp) int {
	char := func(r rune) int {
		m.lines = m.lines || r == '\n'
		m.wide = m.wide || r >= utf8.RuneSelf
		return utf8.RuneLen(min(r, utf8.MaxRune))
	}
	switch re.Op {
	case resyntax.OpBeginText:
		m.anchor = true
	case resyntax.OpBeginLine, resyntax.OpWordBoundary, resyntax.OpNoWordBoundary:
		m.before = true
	case resyntax.OpLiteral:
		n := 0
		for _, r := range re.Rune {
			most := char(r)
			for f := unicode.SimpleFold(r); re.Flags&resyntax.FoldCase != 0 && f != r; f = unicode.SimpleFold(f) {
				most = max(most, utf8.RuneLen(f))
			}
			n += most
		}
		return n
	case resyntax.OpCharClass:
		most := 0
		for i := 0; i+1 < len(re.Rune); i += 2 {
			most = max(most, char(re.Rune[i+1]))
			m.lines = m.lines || re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1]
		}
		return most
	case resyntax.OpAnyChar:
		m.lines, m.wide = true, true
		return utf8.UTFMax
	case resyntax.OpAnyCharNotNL:
		m.wide = true
		return utf8.UTFMax
	case resyntax.OpStar, resyntax.OpPlus:
		m.longest(re.Sub[0])
		return -1
	case resyntax.OpQuest, resyntax.OpCapture:
		return m.longest(re.Sub[0])
	case resyntax.OpConcat:
		sum := 0
		for _, sub := range re.Sub {
			if n := m.longest(sub); n < 0 || sum < 0 {
				sum = -1
			} else {
				sum += n
			}
		}
		return sum
	case resyntax.OpAlternate:
		most := 0
		for _, sub := range re.Sub {
			if n := m.longest(sub); n < 0 || most < 0 {
				most = -1
			} else {
				most = max(most, n)
			}
		}
		return most
	}
	return 0
}

// beginsText tells of an expression that all its matches are at the start of the text.
func beginsText(re *resyntax.Regexp) bool {
	switch re.Op {
	case resyntax.OpBeginText:
		return true
	case resyntax.OpCapture:
		return beginsText(re.Sub[0])
	case resyntax.OpConcat:
		return beginsText(re.Sub[0])
	case resyntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *resyntax.Regexp) bool { return !beginsText(sub) })
	}
	return false
}

// literalEnd is the text that each match of an expression ends with.
func literalEnd(re *resyntax.Regexp) string {
	switch re.Op {
	case resyntax.OpLiteral:
		if re.Flags&resyntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case resyntax.OpCapture:
		return literalEnd(re.Sub[0])
	case resyntax.OpConcat:
		for _, sub := range slices.Backward(re.Sub) {
			switch sub.Op {
			case resyntax.OpEndLine, resyntax.OpEndText, resyntax.OpWordBoundary, resyntax.OpNoWordBoundary, resyntax.OpEmptyMatch:
				continue
			}
			return literalEnd(sub)
		}
	}
	return ""
}

// from says where a search for an expression has to begin, so that it finds all that one from the
// start would find.
func (m *matchShape) from(of string) string {
	const fresh = "Search only what is new: remember how far the last search has come, and begin there in the next turn. "
	lastLine := ""
	if !m.lines {
		lastLine = " Where only the end decides (a prompt, a terminator), search the last line of " + of + "."
	}
	wide := ""
	if m.wide {
		wide = ", at the first byte of a character"
	}
	switch {
	case !m.visible:
		return fresh + "A match may begin in what came before: begin earlier by the length of the longest possible match, if the expression has one, and at the start of a line if it looks at what comes before a match (^, \\b). " +
			"If a match may have any length (.*, +), no such step back is long enough: begin at the start of the last line if matches do not go over the end of a line; otherwise match only when what ends a match has come."
	case m.start:
		return "The expression matches at the start of the text only (^), so a search that begins later finds nothing: match only when what ends it has come" + m.end()
	case m.anchor:
		return "The expression asks for the start of the text (^), so a search that begins later may find something else: match only when what ends a match has come" + m.end()
	case m.most < 0 && !m.lines:
		return fresh + "A match may have any length here, but does not go over the end of a line: begin at the start of the line in which the last search ended." + lastLine
	case m.most < 0:
		return "A match may have any length here, and go over the end of a line, so no step back is long enough for a search of what is new alone: match only when what ends it has come" + m.end()
	case m.before:
		return fresh + fmt.Sprintf("A match may begin in what came before, and the expression looks at what comes before it (^, \\b): go back by %s, and from there to the start of the line.", bytesOf(m.most)) + lastLine
	}
	if lastLine != "" {
		lastLine = strings.TrimSuffix(lastLine, " of "+of+".") + ", or the last " + bytesOf(m.most) + ", of " + of + "."
	}
	return fresh + fmt.Sprintf("A match is at most %s long and may begin in what came before: begin %s earlier%s.", bytesOf(m.most), bytesOf(max(0, m.most-1)), wide) + lastLine
}

// bytesOf is a number of bytes.
func bytesOf(n int) string { return unit.Plural(int64(n), "byte") }

// end says how to see that what ends a match has come.
func (m *matchShape) end() string {
	if m.ends == "" {
		return " (a delimiter, a length, an empty line), or let a parser keep its state from one turn to the next."
	}
	return fmt.Sprintf(": each match ends with %q; look for that in what is new and the %s before it.", m.ends, bytesOf(len(m.ends)))
}
