package insight

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// A statement that compares what it computes from a column (json_extract(doc, '$.x') = ?) finds nothing by an index on that column: the database goes through all rows
// and computes it for each. Most of its time is then in the function, and little in what goes from row to row.

// computesForRows tells of a statement that its samples are those of a function by which it looks for rows. Where it looks for them by a column as well, few rows
// may be left to compute it for: then it has to be seen to go from row to row.
func (q *queryCost) computesForRows() bool {
	computed := computedIn(q.text)
	if len(computed) == 0 || float64(q.functions+q.walks) < walked*float64(q.all) {
		return false
	}
	return len(computed) == len(conditionsOf(q.text)) && !anyOf.MatchString(q.text) || float64(q.walks) >= stepsOver*float64(q.all)
}

// stepsOver is the part of a statement's samples in what goes from row to row from which on it goes over many, whatever it computes for each: chosen. Where it
// computes a function for one row that it has found, it is next to nothing.
const stepsOver = 0.01

var (
	anyOf        = lazily(`(?i)\b(or|join|union|exists|intersect|except|with)\b|\(\s*select\b`)
	calledText   = lazily(`^\s*(\w+)\s*\(`)
	arrowText    = lazily("(?s)^\\s*((?:\\w+\\.)?[\"`\\[]?[A-Za-z_]\\w*[\"`\\]]?\\s*->>?\\s*'[^']*')")
	comparesText = lazily(`(?is)^\s*(=|==|<=|>=|<>|!=|<|>|\bin\b|\bis\b|\bbetween\b|\blike\b)`)
	quotedText   = lazily(`(?s)'[^']*'`)
	columnName   = lazily("(?i)(?:^|[^\\w:@$?])([a-z_]\\w*)\\b(\\s*\\()?")
	notColumns   = []string{"null", "true", "false", "as", "and", "or", "not", "is", "in", "integer", "int", "text", "real", "numeric", "blob", "collate", "nocase", "like", "between", "case", "when", "then", "else", "end"}
)

// conditionsOf are the conditions of a statement's WHERE, of which all have to hold.
func conditionsOf(text string) (all []string) {
	where := whereOf.FindStringSubmatch(text)
	if where == nil {
		return nil
	}
	return andWords.Split(where[1], -1)
}

// computedIn are the expressions of a statement that it computes from a column and compares with something that is given; none where its text is not that simple.
func computedIn(text string) (all []string) {
	for _, part := range conditionsOf(text) {
		if x := computedFirst(part); x != "" {
			all = append(all, x)
		}
	}
	return all
}

// computedFirst is the expression that a condition begins with, where it is computed from a column.
func computedFirst(part string) string {
	x := ""
	if m := arrowText.FindStringSubmatch(part); m != nil {
		x = m[1]
	} else if m := calledText.FindStringIndex(part); m != nil {
		if end := closingAt(part, m[1]-1); end > 0 {
			x = part[:end+1]
		}
		if !hasColumn(x[strings.IndexByte(x, '(')+1:]) {
			return ""
		}
	}
	if x == "" || !comparesText.MatchString(part[strings.Index(part, x)+len(x):]) {
		return ""
	}
	return strings.TrimSpace(x)
}

// hasColumn tells of the arguments of a function that one of them is, or has, the name of a column.
func hasColumn(arguments string) bool {
	for _, m := range columnName.FindAllStringSubmatch(quotedText.ReplaceAllString(arguments, "''"), -1) {
		if m[2] == "" && !slices.Contains(notColumns, strings.ToLower(m[1])) {
			return true
		}
	}
	return false
}

// closingAt is where the parenthesis closes that is open at a place of a text; -1 where it does not.
func closingAt(text string, open int) int {
	depth, in := 0, false
	for i := open; i < len(text); i++ {
		switch {
		case text[i] == '\'':
			in = !in
		case in:
		case text[i] == '(':
			depth++
		case text[i] == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// computesResults tells of a statement that what it gives, or sorts by, calls a function by which it looks for rows as well.
func computesResults(text string) bool {
	where := whereOf.FindStringSubmatchIndex(text)
	if where == nil {
		return false
	}
	rest := text[:where[2]] + " " + text[where[3]:]
	return slices.ContainsFunc(computedIn(text), func(x string) bool {
		if name, _, called := strings.Cut(x, "("); called && !strings.Contains(name, "->") {
			return regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(strings.TrimSpace(name)) + `\s*\(`).MatchString(rest)
		}
		return strings.Contains(rest, "->")
	})
}

// preparedInField is the constant text of the statement that is kept in fields of a name, where the sources give them only that one.
func preparedInField(c *code, name string) (text string) {
	n := 0
	given := func(x ast.Expr) {
		call, ok := x.(*ast.CallExpr)
		if !ok || !strings.HasPrefix(calledName(call), "Prepare") {
			n += 2
			return
		}
		n++
		for _, x := range call.Args {
			if t, _ := constantText(c, x, 0); strings.ContainsAny(t, " \t\n") && text == "" {
				text = t
			}
		}
	}
	c.eachSource(func(_ string, s *syntax) {
		for _, decl := range s.file.Decls {
			fn, isFunc := decl.(*ast.FuncDecl)
			ast.Inspect(decl, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.AssignStmt:
					if sel, ok := node.Lhs[0].(*ast.SelectorExpr); ok && sel.Sel.Name == name {
						given(node.Rhs[0])
					}
				case *ast.KeyValueExpr:
					if !isNamed(node.Key, name) {
						break
					}
					var x ast.Expr = node.Value
					if isFunc && isIdent(x) && fn.Body != nil {
						if made := preparedAs(scopeOf(fn), rootName(x)); made != nil {
							x = made
						}
					}
					given(x)
				}
				return true
			})
		}
	})
	if n != 1 {
		return ""
	}
	return text
}
