package insight

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"

	"loupe/calltree"
	"loupe/stack"
)

// sampledObjects counts the samples behind a heap profile's bytes. The
// runtime takes about one in period bytes (runtime.MemProfileRate) and scales
// what it took up, so the weight over the period is how many it took: at
// least one for every stack that is there at all.
func sampledObjects(period int64, weights calltree.Samples) calltree.Samples {
	return func(yield func(stack.ID, int64) bool) {
		for id, w := range weights {
			n := int64(0)
			if w > 0 {
				n = max(1, w/max(period, 1))
			}
			if !yield(id, n) {
				return
			}
		}
	}
}

// inLoop says whether a line lies inside a loop.
type inLoop int

const (
	loopUnknown inLoop = iota // no source, or it does not parse
	loopNo
	loopYes
)

// lineInLoop returns the text of the frame's line and whether it lies in a
// for or range statement of its function.
func (in *Input) lineInLoop(f stack.Frame) (line string, loop inLoop) {
	text, err := in.Session.Source(f.File)
	if err != nil {
		return "", loopUnknown
	}
	if lines := strings.Split(string(text), "\n"); f.Line >= 1 && f.Line <= len(lines) {
		line = lines[f.Line-1]
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return line, loopUnknown
	}
	loop = loopNo
	ast.Inspect(file, func(n ast.Node) bool {
		var body *ast.BlockStmt
		switch s := n.(type) {
		case *ast.ForStmt:
			body = s.Body
			// The condition runs once in every turn, like the body.
			if s.Cond != nil && covers(fset, s.Cond, f.Line) {
				loop = loopYes
			}
		case *ast.RangeStmt:
			body = s.Body
		}
		if body != nil && covers(fset, body, f.Line) {
			loop = loopYes
		}
		return true
	})
	return line, loop
}

// covers tells whether a line lies between the first and the last of a node.
func covers(fset *token.FileSet, n ast.Node, line int) bool {
	return fset.Position(n.Pos()).Line <= line && line <= fset.Position(n.End()).Line
}

// baseName is the last element of a file's path.
func baseName(file string) string { return path.Base(strings.ReplaceAll(file, "\\", "/")) }
