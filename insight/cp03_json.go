package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var cp03 = &Rule{
	ID: "CP03", Title: "JSON or reflection uses much of the CPU",
	About: "encoding/json inspects every value by reflection, scans each document twice while decoding, and builds a map of everything when decoding into an interface. " +
		"Reflection that the program itself calls pays the same price, and so do encoding/binary and encoding/gob.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "research, CP03; the lower bound of the interval counts"},
		{"warn", 0.25, "share of CPU time", "chosen"},
		g0,
	},
	Check: func(r *Rule, in *Input) []Finding {
		others := func(except func(*stack.Table, []stack.FrameID) bool) []Finding {
			unless := func(t *stack.Table, frames []stack.FrameID, _ int) bool {
				return except(t, frames) || asksSystem(t, frames)
			}
			skip := []string{"startup", "logging"}
			return check(
				&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "json", skip: append(skip[:len(skip):len(skip)], "descriptor"), unless: unless,
					what: "went into encoding/json", tell: tellJSON},
				&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "reflect", skip: skip, unless: unless, direct: true,
					what: "went into package reflect", tell: tellReflect},
				&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "binary", skip: skip, unless: unless,
					what: "went into encoding/binary and encoding/gob", tell: tellBinary},
			)(r, in)
		}
		return withDeepCopies(r, in, func(except func(*stack.Table, []stack.FrameID) bool) []Finding {
			return withSameBytes(r, in, except, others)
		})
	},
}

// asksSystem tells of a stack that it reads from, or writes to, a file or a connection: no reflection, and a matter of CP04.
func asksSystem(t *stack.Table, frames []stack.FrameID) bool {
	return slices.ContainsFunc(frames, func(f stack.FrameID) bool {
		name := t.Frame(f).Func
		if inSet("json", name) || inSet("reflect", name) || inSet("binary", name) {
			return false
		}
		switch stack.Package(name) {
		case "os", "net", "internal/poll", "syscall":
			return strings.Contains(name, ".(*File).") || strings.Contains(name, ".(*FD).") || strings.Contains(name, "onn).") || strings.HasPrefix(name, "syscall.")
		}
		return false
	})
}

func tellJSON(h *hit, f *Finding) {
	if copiesByJSON(h.in.code, h.lines[0].Caller) {
		f.Advice = deepCopyAdvice
		return
	}
	if of, ok := decodesKept(h, h.lines[0]); ok {
		tellDecodedAgain(h, of, f)
		return
	}
	switch callee := h.lines[0].Callee; callee {
	case "encoding/json.Marshal", "encoding/json.MarshalIndent", "encoding/json.(*Encoder).Encode":
		if tellEncodedAgain(h, f) {
			break
		}
		if s, ok := encodedSpliced(h, h.lines[0]); ok {
			s.tell(f)
			break
		}
		if w, ok := wholeOfGrowing(h, h.lines[0]); ok {
			w.tell(h, f)
			break
		}
		if loop, ok := encodesItems(h, h.lines[0]); ok {
			f.Advice = "Each value is that of another item of the loop at " + loop + ", as the source shows: bytes that are kept would only take memory. Leave out fields that nobody reads, and build the value of structs rather than of maps and interfaces. " +
				"An append method of the type (strconv.Append…) or a generated encoder pays only if it appends to a buffer that is reused, and not always then: measure it."
			break
		}
		f.unexplained = true
		f.Advice = "The time goes into visiting each value by reflection. To try, the likeliest first: keep the bytes, if the same value is encoded again before it changes; leave out fields that no reader of the bytes needs; " +
			"build the value of structs rather than of maps and interfaces. An append method of the type (strconv.Append…) or a generated encoder pays only if it appends to a buffer that is reused, and not always then: measure it."
	case "encoding/json.Unmarshal", "encoding/json.(*Decoder).Decode":
		f.Advice = decodeAdvice(h)
		if decodesInto(h, h.lines[0]) == aStruct {
			f.unexplained = true
			general := f.Advice
			if f.Advice = ""; !tellMissed(h.in, facts.Frames(h.p.Stacks, h.lines[0].heavy), f) {
				f.Advice = general
				tellAllNeeded(h, f)
			}
		}
	default:
		f.Advice = "Call it less often: " + callee + " runs over the whole document."
	}
	switch {
	case decodes(h.lines[0].Callee):
	case answersWith(h.in.code, facts.Frames(h.p.Stacks, h.lines[0].heavy), h.lines[0].Caller):
		f.Doubts = append(f.Doubts, "a service that answers in JSON has to spend something here: compare it with the requests per second that it serves")
	}
}

// decodes tells of a function, by its name, that it reads what another one has encoded.
func decodes(function string) bool {
	return slices.Contains([]string{"Unmarshal", "Decode", "DecodeValue", "Read"}, lastName(function))
}

// muchSetup is the part of what gob takes from which on its descriptions of types are the cause. Chosen: a stream with one
// Encoder has none after its first message.
const muchSetup = 0.25

// gobSetup is the part of the CPU time below package gob that goes into descriptions of types.
func gobSetup(h *hit) float64 {
	setup, all := int64(0), int64(0)
	for id, w := range h.p.Samples(h.index) {
		in, sets := false, false
		for _, f := range h.p.Stacks.Frames(id) {
			switch name := h.p.Stacks.Frame(f).Func; {
			case !strings.HasPrefix(name, "encoding/gob."):
			case slices.Contains([]string{"compileDec", "compileEnc", "compileSingle", "compileIgnoreSingle", "recvType", "sendType", "sendTypeDescriptor", "getDecoderEnginePtr", "getEncEngine", "buildTypeInfo"}, lastName(name)):
				in, sets = true, true
			default:
				in = true
			}
		}
		if in {
			all += w
		}
		if sets {
			setup += w
		}
	}
	return float64(setup) / float64(max(1, all))
}

func tellBinary(h *hit, f *Finding) {
	switch callee := h.lines[0].Callee; {
	case strings.HasPrefix(callee, "encoding/gob."):
		f.Title = "Encoding with gob uses much of the CPU"
		f.Advice = "For a type in the hot path write the fields one by one with encoding/binary, or generate the code for it: gob goes through each value by reflection."
		if share := gobSetup(h); share >= muchSetup {
			f.Title = "A new gob.Encoder or gob.Decoder for each message"
			f.Summary += fmt.Sprintf("; of what gob takes, %s goes into sending, receiving and compiling the descriptions of types, which each new Encoder and Decoder does again", unit.Percent(share))
			f.Advice = "Keep one gob.Encoder and one gob.Decoder per stream: types are described once for each. For messages that stand alone, another encoding costs less (encoding/json, encoding/binary field by field)."
		}
	case decodes(callee):
		f.Advice = "Decode the fields one by one at their offsets: read the record into a slice (io.ReadFull, or a slice of what is in memory), then binary.BigEndian.Uint32(b[4:]) and similar functions, or those of binary.LittleEndian. " +
			"Read and Decode of encoding/binary inspect the type by reflection, and Read allocates a buffer for each call."
	default:
		f.Advice = "Encode the fields one by one, with binary.LittleEndian.AppendUint32 and similar functions, or PutUint32 into an existing buffer: Write and Append of encoding/binary inspect the type by reflection, " +
			"and Write allocates a buffer for each call."
	}
}

func tellReflect(h *hit, f *Finding) {
	if h.lines[0].Callee == "reflect.DeepEqual" {
		f.Advice = "Write an Equal method that compares the fields with ==, slices.Equal and maps.Equal, starting with the field that differs most often. reflect.DeepEqual inspects each type again, for every element."
		f.Doubts = append(f.Doubts, "DeepEqual distinguishes a nil slice or map from an empty one, which slices.Equal and maps.Equal do not")
		return
	}
	f.Advice = "Compute what depends only on the type (its fields, methods, conversions) once and cache it by reflect.Type; replace hot reflection with a type switch, an interface method, or a type parameter."
}
