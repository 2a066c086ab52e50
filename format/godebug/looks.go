package godebug

import "bytes"

// Looks tells whether a part of a log has lines of gctrace or of schedtrace, of any
// version of Go, behind whatever prefix. It does not read them, and is for telling
// such logs from others.
func Looks(part []byte) (gctrace, schedtrace bool) {
	// Go 1.4 writes gc1(1): and what came later gc 1 @0.001s 2%:
	return hasNumbered(part, "gc", " @", "("), hasNumbered(part, "SCHED ", "ms: ")
}

// LooksOther tells whether a part of a log has other lines of the runtime: of inittrace,
// scavtrace or gcpacertrace.
func LooksOther(part []byte) bool {
	for line := range bytes.Lines(part) {
		for _, o := range others {
			if i := bytes.Index(line, []byte(o.begin)); i >= 0 && bytes.Contains(line[i:], []byte(o.behind)) {
				return true
			}
		}
	}
	return false
}

// others are the begins of such lines, and what stands behind in each of them.
var others = []struct{ begin, behind string }{
	{"init ", " ms clock, "}, {"scav ", "% util"}, {"scvg", " (MB)"}, {"scvg", "MB released"}, {"pacer: ", "assist ratio="}, {"pacer: ", "sweep done at heap size "}, {"pacer: ", "% CPU ("},
	{"pacer: ", "H_m_prev="},
}

// hasNumbered tells whether part has a word, a number and one of the ends in a row.
func hasNumbered(part []byte, word string, ends ...string) bool {
	for {
		i := bytes.Index(part, []byte(word))
		if i < 0 {
			return false
		}
		part = part[i+len(word):]
		number := bytes.TrimPrefix(part, []byte(" "))
		after := bytes.TrimLeft(number, "0123456789")
		for _, end := range ends {
			if len(after) < len(number) && bytes.HasPrefix(after, []byte(end)) {
				return true
			}
		}
	}
}
