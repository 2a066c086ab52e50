package insight

import (
	"fmt"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var cp23 = &Rule{
	ID: "CP23", Title: "A library call on a hot line uses much of the CPU",
	About: "Some functions of the standard library do much more than their names tell: a context is searched value by value, a call stack is walked frame by frame, " +
		"a regular expression steps through each byte, a template finds its fields by reflection. Where one line calls such a function often enough to use much of the CPU, the rule names what it does and what does less.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.15, "share of CPU time", "chosen; the lower bound of the interval counts"},
		{"warn", 0.25, "share of CPU time", "chosen"},
		{"purpose", 0.50, "share of CPU time", "chosen: from which on what may be the program's purpose is a warning as well"},
		g0,
	},
	Check: checkLibrary,
}

// costlyCall is a kind of functions, by their set in the table of signatures.
type costlyCall struct {
	set, title     string
	is             doneFor
	advice, doubts string
}

// doneFor says whether the work may be what a program is there for.
type doneFor int

const (
	noPurpose  doneFor = iota
	aPurpose           // of some programs: a warning where it is most of the CPU time
	thePurpose         // of many: a remark
)

// costlyCalls are the kinds.
var costlyCalls = []costlyCall{
	{"library.context", "Looking up a value of a context uses much of the CPU", noPurpose,
		"A context is a chain: each lookup goes through all values that were put in later, one after another. Look the value up once and pass it on, or put what is asked for often into one struct under one key; and add the values of a request in one step instead of one by one.", ""},
	{"library.stack", "Walking the call stack uses much of the CPU", noPurpose,
		"The call stack is walked, frame by frame. Where an error is expected, return a plain one (a variable made by errors.New, or fmt.Errorf) and not one with a stack; capture the stack only where it will be shown, with few frames, and turn program counters into names (CallersFrames, FuncForPC) only when they are printed. A number of the goroutine that is read out of runtime.Stack is better handed on as a value (a context, a parameter).",
		"if each of these errors is rare in production, the load of this recording has more of them"},
	{"library.match", "Matching regular expressions uses much of the CPU", aPurpose,
		"A regular expression is run step by step over each byte. Where fixed text is searched, use package strings (HasPrefix, Contains, Cut, IndexByte), also as a test before it that most texts do not pass; begin it with ^ where the match is at the start; use MatchString where only a yes or no is needed, and no groups that nobody reads; and do not match the same text again.", ""},
	{"library.template", "Executing templates uses much of the CPU", aPurpose,
		"A template finds fields and methods by reflection, for each value each time. Execute what does not change once and keep the text, give it values that are prepared (no methods, no printf), or write the hot part by hand.", ""},
	{"library.time", "Formatting or parsing times uses much of the CPU", aPurpose,
		"A layout is read again for each time. Use AppendFormat into a buffer that is reused; the layout time.RFC3339 has a way of its own that is several times faster; keep the text of the last second and replace only what changes; store times as numbers where nobody reads them.", ""},
	{"library.compress", "Compressing uses much of the CPU", thePurpose,
		"The level decides: BestSpeed takes a third of the time of the default for somewhat more bytes, and BestCompression several times as much for hardly any less. " + compressKept, ""},
	{"library.hash", "Hashing uses much of the CPU", thePurpose,
		"If the sum is only a key within this process, hash/maphash is many times faster than a cryptographic hash, and the text itself may be the key. Otherwise hash again only what has changed, and keep the sum beside the data.", ""},
	{"library.sign", "Operations with private keys use much of the CPU", thePurpose,
		"An operation with an RSA private key takes a millisecond or so. Sign once and use the result until shortly before it expires; ECDSA with P-256 or Ed25519 signs at least ten times as fast.", ""},
	{"library.random", "Reading random bytes uses much of the CPU", aPurpose,
		"Each read asks the kernel or runs a cipher. Read more at a time and hand out parts of it, as bufio.NewReader(rand.Reader) does. A bufio.Reader is for one goroutine at a time: where several run this line, give each of them its own, or take a lock around it, or the same bytes are given out twice. What need not be secret can come from math/rand/v2.", ""},
	{"library.power", "math.Pow uses much of the CPU", noPurpose,
		"math.Pow is made for any exponent. Where the same base and exponent come again, keep the power; where one of them goes through the whole numbers, multiply the last power once more, or use a table.", ""},
	{"library.image", "Reading or writing single pixels through an interface uses much of the CPU", noPurpose,
		"At and Set of an image.Image put the color of each pixel into an interface, which allocates, and Set converts it. Take the concrete image once, by a type switch or, where it may be any, by image/draw.Draw into a new *image.RGBA or *image.NRGBA, and go through its Pix row by row (PixOffset, Stride), or call RGBAAt, NRGBAAt, SetRGBA and the like, which box nothing; RGBA64At of image.RGBA64Image does without for any image.",
		"image.RGBA has its colors multiplied by alpha, image.NRGBA has not: to convert one into the other changes what is compared"},
}

// costlyLooks looks for each kind by itself, all lines of it together; of times for each line, as some may be attempts
// that fail.
func costlyLooks() (all []*look) {
	for _, c := range costlyCalls {
		all = append(all, &look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: c.set, skip: []string{"startup", "logging", "scrape", "handshake"},
			direct: true, through: costlyThrough, perLine: c.set == "library.time", accept: succeeds, what: "went into one kind of library call", tell: c.tell})
	}
	return all
}

// checkLibrary is the check of all kinds.
func checkLibrary(r *Rule, in *Input) []Finding { return check(costlyLooks()...)(r, in) }

// failing23 is the share of a line's samples that go into errors from which on its calls are attempts that fail (CP21).
// Chosen: an error takes a small part of the time of the attempt.
const failing23 = 0.05

// succeeds tells of a line that its calls do not fail as a rule.
func succeeds(h *hit, line *hitLine) bool {
	fails := int64(0)
	for id, w := range h.p.Samples(h.index) {
		if w > 0 && slices.ContainsFunc(h.p.Stacks.Frames(id), func(f stack.FrameID) bool { return inSet("failures", h.p.Stacks.Frame(f).Func) }) &&
			slices.ContainsFunc(h.p.Stacks.Frames(id), func(f stack.FrameID) bool {
				x := h.p.Stacks.Frame(f)
				return x.Func == line.Caller.Func && x.Line == line.Caller.Line
			}) {
			fails += w
		}
	}
	return float64(fails) < failing23*float64(line.Weight)
}

// costlyThrough are packages through which such functions are called.
var costlyThrough = []string{"context", "regexp", "text/template", "html/template", "compress/gzip", "compress/zlib", "compress/flate", "io", "os", "bufio", "fmt", "bytes", "strings", "hash", "crypto", "math/big"}

// tell says what the function does, and what does less.
func (c costlyCall) tell(h *hit, f *Finding) {
	f.Title, f.Advice = c.title, c.advice
	if c.doubts != "" {
		f.Doubts = append(f.Doubts, c.doubts)
	}
	known := false // a cheaper way that does the same
	switch c.set {
	case "library.time":
		known = tellLayout(h, f)
	case "library.power":
		tellPower(h, f)
	case "library.context":
		tellContextGrows(h, f)
		if !f.grows {
			tellContextStored(h, f)
		}
	case "library.hash":
		tellSumsCompared(h, f)
	case "library.compress":
		tellLevel(h, f)
	}
	switch most := h.rule.param("purpose"); {
	case known:
	case c.is == thePurpose:
		f.Severity = Info
		f.Doubts = append(f.Doubts, "it may be what the program is there for")
	case c.is == aPurpose && f.Impact.Low < most:
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("it may be what the program is there for: a warning only if it is surely %s of the CPU time or more", unit.Percent(most)))
	}
}
