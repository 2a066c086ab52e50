package benchmark

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// event is a line of what go test -json prints, as far as it is read: a piece of the
// output of a package, or of its build.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a package that is being built
	Output     string
}

// maxPackages bounds the packages of one output.
const maxPackages = 1 << 16

// LooksEvents tells by the begin of a file whether go test -json has printed it. There
// need not be a benchmark in it: the results may stand far behind the tests.
func LooksEvents(head []byte) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var e event
		return line[0] == '{' && json.Unmarshal(line, &e) == nil && e.Action != "" && (e.Package != "" || e.ImportPath != "")
	}
	return false
}

// HasResult tells whether a part of what go test -json prints has the result of a
// benchmark. The name of one that has begun is none.
func HasResult(part []byte) bool {
	for line := range bytes.Lines(part) {
		_, output, ok := bytes.Cut(line, []byte(`"Output":`))
		if !ok {
			continue
		}
		output = bytes.TrimLeft(bytes.TrimLeft(output, " "), `"`)
		if _, figures, ok := bytes.Cut(output, []byte(`\t`)); ok {
			figures = bytes.TrimLeft(figures, " ")
			named := bytes.HasPrefix(output, []byte("Benchmark")) && len(figures) > 0 && '0' <= figures[0] && figures[0] <= '9'
			if named || bytes.Contains(figures, []byte(" ns/op")) {
				return true
			}
		}
	}
	return false
}

// unwrap returns what go test would have printed without -json: the output of each
// package as a whole, in the order in which they began, since several are tested at a
// time and their lines come in any order. A line that is no event stays where it is, in
// front of the packages. Other text is returned as it is. The problem is that of events
// which cannot be read.
func unwrap(text []byte) (out []byte, problem string) {
	if !LooksEvents(text) {
		return text, ""
	}
	var loose bytes.Buffer
	var order []*bytes.Buffer
	outputs := map[string]*bytes.Buffer{}
	bad, first, n := 0, 0, 0
	for line := range bytes.Lines(text) {
		n++
		var e event
		line = bytes.TrimSpace(line)
		switch {
		case !bytes.HasPrefix(line, []byte("{")):
			loose.Write(line)
			loose.WriteByte('\n')
			continue
		case json.Unmarshal(line, &e) != nil:
			if bad++; bad == 1 {
				first = n
			}
			continue
		}
		if e.Output == "" {
			continue
		}
		name := e.Package
		if name == "" {
			name = e.ImportPath
		}
		of := outputs[name]
		if of == nil {
			if len(order) == maxPackages {
				continue
			}
			of = &bytes.Buffer{}
			outputs[name], order = of, append(order, of)
		}
		of.WriteString(e.Output)
	}
	for _, of := range order {
		if b := of.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
			of.WriteByte('\n') // it was ended in the middle of a line
		}
		loose.Write(of.Bytes())
	}
	if bad > 0 {
		problem = fmt.Sprintf("line %d is not an event of go test -json, though it begins like one (%d such: was the file cut?)", first, bad)
	}
	return loose.Bytes(), problem
}
