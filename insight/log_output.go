package insight

import (
	"bytes"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"loupe/recording"
)

// What a program printed tells of a log call that its level is on, where the output has the message.

// leastMessage is how many characters of a message are looked for: chosen, as anything may have fewer.
const leastMessage = 5

// formatVerb is what a format puts a value for.
var formatVerb = lazily(`%[-+# 0-9.*\[\]]*[a-zA-Z%]`)

// messageOf is the longest text in a log call, or in the chain of calls that it is part of, that all of its records have; empty
// where the source has none.
func messageOf(call *ast.CallExpr, around []ast.Node) (text string) {
	of := []ast.Node{call}
	for _, outer := range around {
		if x, ok := outer.(*ast.CallExpr); ok && x.Fun.Pos() == call.Fun.Pos() {
			of = append(of, x)
		}
	}
	for _, n := range of {
		for _, arg := range n.(*ast.CallExpr).Args {
			lit, ok := arg.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				continue
			}
			value, err := strconv.Unquote(lit.Value)
			if err != nil {
				continue
			}
			for _, part := range strings.FieldsFunc(formatVerb.ReplaceAllString(value, "\n"), func(r rune) bool { return r == '\n' || r == '"' || r == '\t' || r == '\\' }) {
				if part = strings.TrimSpace(part); utf8.RuneCountInString(part) >= leastMessage && len(part) > len(text) {
					text = part
				}
			}
			if text != "" {
				break // the message comes before the keys
			}
		}
	}
	return text
}

// otherLevel is what a line has that is of a level which is always on, and so of another call.
var otherLevel = lazily(`(?i:\b(level|lvl|severity)"?[=:]\s*"?(info|warn|error|fatal|panic|crit))|\b(INFO|WARN|WARNING|ERROR|FATAL|PANIC)\b|\t(info|warn|error|fatal|panic)\t|\b(INF|WRN|ERR|FTL)\b`)

// mostOutput is how many bytes of an output are read: chosen, as more than a program prints that does not log each request.
const mostOutput = 64 << 20

// inOutput looks for a message in what a recording has of the program's output; known is false where it has none.
func inOutput(in *Input, message string) (has, known bool) {
	return outputHas(in, message, otherLevel.Match)
}

// outputHas is the same for lines that are not left out.
func outputHas(in *Input, message string, leaveOut func(line []byte) bool) (has, known bool) {
	if message == "" {
		return false, false
	}
	whole := regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(message) + `(\W|$)`)
	m := in.Session.Manifest()
	for _, e := range append(m.Of(recording.Stderr), m.Of(recording.Stdout)...) {
		data, err := in.Session.Bytes(e, mostOutput)
		if err != nil {
			continue
		}
		known = true
		for line := range bytes.Lines(data) {
			if !bytes.HasPrefix(line, []byte("gc ")) && !bytes.HasPrefix(line, []byte("SCHED ")) && bytes.Contains(line, []byte(message)) && whole.Match(line) && !leaveOut(line) {
				return true, true
			}
		}
	}
	return false, known
}
