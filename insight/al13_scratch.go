package insight

import (
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var al13 = &Rule{
	ID: "AL13", Title: "Scratch buffers are allocated on every call",
	About: "A bufio.Reader or Writer owns four kilobytes, a Scanner its buffer, and a bytes.Buffer doubles until the text fits. " +
		"If they are created on every call, they are garbage right after it.",
	Asks: []facts.Question{facts.Allocations},
	Params: []Param{
		{"share", 0.05, "share of allocated bytes", "research, AL13; the lower bound of the interval counts"},
		{"warn", 0.20, "share of allocated bytes", "chosen"},
		{"objects", 100, "objects", "chosen: one buffer growing to any size takes fewer"},
		g0,
	},
	Check: check(&look{of: facts.Allocations, sample: "alloc_space", limit: "share", warn: "warn", set: "scratch", skip: []string{"startup", "logging", "encoders", "pool.get"},
		direct: true, perLine: true, objects: 100,
		through: []string{"io", "fmt", "bufio", "bytes", "text/template", "html/template", "encoding/binary", "encoding/hex", "encoding/base64", "compress/gzip", "compress/flate", "compress/zlib"},
		reason:  scratchReason, what: "came from buffers", tell: tellScratch}),
}

// scratchReason tells the kinds of buffers apart.
func scratchReason(t *stack.Table, frames []stack.FrameID) string {
	for _, f := range frames {
		switch name := t.Frame(f).Func; {
		case strings.HasPrefix(name, "bytes."):
			return "bytes"
		case name == "bufio.(*Scanner).Scan":
			return "scanner"
		case strings.HasPrefix(name, "bufio."):
			return "bufio"
		}
	}
	return "-"
}

func tellScratch(h *hit, f *Finding) {
	switch h.reasons[0].name {
	case "scanner":
		f.Advice = "For text that is in memory, split lines with strings.Lines or bytes.Cut. If lines are copied before the next one is read, give the Scanner a reusable buffer (Scanner.Buffer)."
	case "bufio":
		f.Advice = "Keep it in a sync.Pool or with the connection and call Reset; if the other side is already a bytes.Buffer or a strings.Reader, no bufio is needed." + whenDone
	default:
		if l := livesOn(h.in, h.lines[0].Caller); l.share >= keptShare {
			f.Advice = "Call Grow once if the size is known. " + notAgain(l)
			return
		}
		f.Advice = "Call Grow once if the size is known. A sync.Pool helps only if nothing keeps the result of Bytes: otherwise copy it before the buffer is Reset and put back." + whenDone
		f.Doubts = append(f.Doubts, "if the buffer itself is the result, only a good initial size helps")
	}
}
