package insight

import (
	"path"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var al22 = &Rule{
	ID: "AL22", Title: "A new encoder or decoder is created for every message",
	About: "A json.Decoder grows a buffer of its own, an xml.Decoder and a csv.Reader own a bufio.Reader of four kilobytes, and gob works out how to encode a type for every new pair. " +
		"If one is created for each small message, it costs more than the message.",
	Asks: []facts.Question{facts.Allocations},
	Params: []Param{
		{"share", 0.05, "share of allocated bytes", "chosen: as for other buffers, AL13; the lower bound of the interval counts"},
		{"warn", 0.20, "share of allocated bytes", "chosen"},
		{"objects", 100, "objects", "chosen: fewer are not a pattern"},
		g0,
	},
	Check: check(&look{of: facts.Allocations, sample: "alloc_space", limit: "share", warn: "warn", set: "encoders", skip: []string{"startup", "pool.get"},
		direct: true, perLine: true, objects: 100, through: []string{"encoding/json", "encoding/xml", "encoding/gob", "encoding/csv", "bufio"},
		reason: encoderReason, what: "came from creating encoders and decoders", tell: tellEncoders}),
}

// encoderReason is the package, and the direction where that matters.
func encoderReason(t *stack.Table, frames []stack.FrameID) string {
	for i := len(frames) - 1; i >= 0; i-- {
		if name := t.Frame(frames[i]).Func; inSet("encoders", name) {
			switch name {
			case "encoding/json.NewEncoder":
				return "json encoder"
			case "encoding/xml.NewEncoder":
				return "xml encoder"
			}
			return path.Base(stack.Package(name))
		}
	}
	return "-"
}

func tellEncoders(h *hit, f *Finding) {
	switch h.reasons[0].name {
	case "json encoder":
		f.Advice = "Create one json.Encoder per stream, not per message; for single messages json.Marshal keeps its buffer in its own pool."
	case "xml encoder":
		f.Advice = "xml.Marshal creates an encoder with a buffer of four kilobytes each time: keep one xml.Encoder per stream, or for short messages one that writes into a bytes.Buffer, which is emptied after Flush."
	case "gob":
		f.Advice = "Keep one gob.Encoder and one Decoder per connection: types are sent and compiled once for each. For single messages another format costs less."
	case "csv":
		f.Advice = "Keep the Reader or Writer for the whole stream and set ReuseRecord; for single lines without quotes strings.Split is cheaper."
	case "xml":
		f.Advice = "Give xml.NewDecoder a reader that has ReadByte (bytes.Reader, strings.Reader, a bufio.Reader that is kept and Reset): then it allocates no buffer of its own. Keep one Encoder per stream."
	default:
		tellDecoder(h, f)
	}
}
