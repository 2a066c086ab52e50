package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"loupe/analysis/explain"
	"loupe/format/dump"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Explained are goroutines with what the words of their arguments are.
type Explained struct {
	By *explain.Explainer
	// Binary is the name of the binary, "" for none.
	Binary string
}

// maxExplained is how many goroutines are explained without being asked for.
const maxExplained = 6

// explained picks the goroutines whose arguments are worth a look: the one that
// has failed, and one of each suspect.
func (v *Stacks) explained(keep func(int) bool) (list []int) {
	f := v.File
	add := func(g int) {
		if keep(g) && len(list) < maxExplained && !slices.Contains(list, g) {
			list = append(list, g)
		}
	}
	from, to := v.shown()
	for _, d := range f.Dumps[from:to] {
		switch d.Kind {
		case dump.Goroutines, dump.Profile:
			continue
		}
		for g := d.First; g < d.End; g++ {
			if f.Flags[g]&(dump.System|dump.Doubtful|dump.Again) != 0 {
				continue
			}
			add(g)
			break
		}
	}
	for _, x := range dump.Suspects(f, keep) {
		if x.Lock != nil {
			for _, g := range x.Lock.Holders[:min(1, len(x.Lock.Holders))] {
				add(g)
			}
			if i := slices.Index(f.StackIDs, x.Lock.Stack); i >= 0 {
				add(i)
			}
		}
		if x.Group != nil && len(x.Group.Members) > 0 {
			add(x.Group.Members[0])
		}
	}
	return list
}

// writeExplained prints the arguments of the goroutines that are worth a look.
func writeExplained(w *lines, v *Stacks, keep func(int) bool, s Style) {
	if v.Explained == nil {
		return
	}
	writeFit(w, v, s)
	if v.Full {
		return // they stand with the goroutines
	}
	for _, g := range v.explained(keep) {
		frames, err := v.Explained.By.Goroutine(g)
		if err != nil || !worthShowing(frames) {
			continue
		}
		w.printf("\n%s\n", s.paint(bold, "Arguments of "+goroutineTitle(v.File, g)))
		shown := 0
		for _, x := range frames {
			if len(x.Params) == 0 && (x.Why == "" || x.Call.Inlined || strings.HasPrefix(stack.Local(x.Call.Func), "runtime_")) {
				// What the runtime has lent to another package has no
				// parameters there either.
				continue
			}
			if shown++; shown > maxExplainedFrames {
				w.printf("  %s\n", s.paint(dim, "there are more; -full shows all"))
				break
			}
			w.printf("  %s\n", clip(clean(callText(&x.Call)), 400))
			writeParams(w, &x, s, "      ")
		}
	}
}

const maxExplainedFrames = 12

func worthShowing(frames []explain.Frame) bool {
	return slices.ContainsFunc(frames, func(x explain.Frame) bool { return len(x.Params) > 0 })
}

// writeFit says that a binary does not fit.
func writeFit(w *lines, v *Stacks, s Style) {
	if text := FitText(v.Explained); text != "" {
		w.printf("\n%s\n", s.paint(red, wrap("Note: "+text, s.width(), "  ")))
	}
}

// FitText says in sentences how a binary does not fit a dump, "" where it does.
func FitText(x *Explained) string {
	if x == nil || x.Binary == "" {
		return ""
	}
	fit := x.By.Fit()
	if fit.Wrong() == 0 {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{{fit.Missing, "in functions that it does not have"}, {fit.Beyond, "beyond the end of the function"}, {fit.OtherLine, "at another line"}} {
		if p.n > 0 {
			parts = append(parts, unit.Count(int64(p.n))+" "+p.text)
		}
	}
	text := fmt.Sprintf("%s does not match the dump: of %s frames, %s (%s). ", clean(x.Binary), unit.Count(int64(fit.Checked)), strings.Join(parts, ", "), clean(fit.Example))
	if fit.Refused() {
		return text + "It is a different program or build, and nothing of it was used."
	}
	return text + "It may be a different build; nothing is said about those frames."
}

// writeParams prints the parameters of a frame, one in a line.
func writeParams(w *lines, x *explain.Frame, s Style, indent string) {
	at := ""
	if x.Call.File != "" {
		at = fmt.Sprintf("%s:%d", clean(path.Base(strings.ReplaceAll(x.Call.File, `\`, "/"))), x.Call.Line)
	}
	if x.From == explain.FromSource {
		at += "  (types from the source on this machine)"
	}
	if at != "" {
		w.printf("%s%s\n", indent, s.paint(dim, at))
	}
	writeParamTable(w, x, s, indent)
}

// writeParamTable prints names, types and values.
func writeParamTable(w *lines, x *explain.Frame, s Style, indent string) {
	if x.Why != "" {
		w.printf("%s%s\n", indent, s.paint(dim, wrap(clean(x.Why), s.width()-len(indent), indent)))
	}
	g := &grid{}
	for _, p := range x.Params {
		text, paint := paramText(&p)
		g.add(cell{text: paramName(&p), left: true}, cell{text: clip(clean(p.Type), 60), paint: dim, left: true}, cell{text: clip(clean(text), 240), paint: paint, left: true})
	}
	if len(x.Params) > 0 {
		s.fit(g, len(indent))
		g.write(w, s, indent)
	}
}

func paramName(p *explain.Param) string {
	if p.Name == "" {
		return "_"
	}
	return clip(clean(p.Name), 40)
}

// longestValue is how much of a value pages show.
const longestValue = 2000

// ParamText is a parameter as people read it: its name, and its value with how far
// that is to be believed; sure tells that all of it was alive.
func ParamText(p *explain.Param) (name, value string, sure bool) {
	value, _ = paramText(p)
	return paramName(p), clip(clean(value), longestValue), p.State == explain.Live
}

// paramText is a value with how far it is to be believed.
func paramText(p *explain.Param) (text, paint string) {
	switch p.State {
	case explain.Live:
		return p.Text, ""
	case explain.Partly:
		return p.Text + "  (words with ? may be stale)", ""
	case explain.Unset:
		return "result, not set before it returns: " + p.Text, dim
	case explain.Hidden:
		return p.Text, dim
	case explain.Unmarked:
		return "may be stale, Go does not say: " + p.Text, dim
	}
	return "may be stale: " + p.Text, dim
}

// binaryJSON is a binary and how it fits.
type binaryJSON struct {
	File      string `json:"file"`
	Go        int    `json:"go_minor_version"`
	Fits      bool   `json:"fits"`
	Used      bool   `json:"used"`
	Checked   int    `json:"frames_checked"`
	Missing   int    `json:"frames_of_missing_functions"`
	Beyond    int    `json:"frames_beyond_their_function"`
	OtherLine int    `json:"frames_at_another_line"`
	Example   string `json:"example,omitempty"`
}

func fitJSON(x *Explained) *binaryJSON {
	if x == nil || x.Binary == "" {
		return nil
	}
	t := x.By.Fit()
	return &binaryJSON{x.Binary, x.By.Version(), t.Wrong() == 0, !t.Refused(), t.Checked, t.Missing, t.Beyond, t.OtherLine, t.Example}
}

type paramJSON struct {
	Name   string        `json:"name"`
	Type   string        `json:"type"`
	State  explain.State `json:"state"`
	Value  string        `json:"value"`
	Result bool          `json:"result,omitempty"`
}

// explainedJSON adds to calls what their words are.
func explainedJSON(v *Stacks, g int, calls []callJSON) {
	if v.Explained == nil {
		return
	}
	frames, err := v.Explained.By.Goroutine(g)
	if err != nil || len(frames) != len(calls) {
		return
	}
	for i, x := range frames {
		calls[i].From, calls[i].Why = string(x.From), x.Why
		for _, p := range x.Params {
			calls[i].Params = append(calls[i].Params, paramJSON{p.Name, p.Type, p.State, p.Text, p.Result})
		}
	}
}
