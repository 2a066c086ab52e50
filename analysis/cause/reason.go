package cause

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/why"
	"loupe/format/compiler"
	"loupe/value/stack"
)

// reasonsOf is what the compiler says of a line in the builds that have it. Where that is not known
// of one of these, there is nothing to be said.
func reasonsOf(sides [2]*side, key string, allocating bool) []Reason {
	var said [2][]string
	_, before := sides[0].find(key)
	_, after := sides[1].find(key)
	for i, s := range sides {
		at, ok := s.find(key)
		if !ok {
			continue
		}
		if allocating {
			reasons, sure := s.allocations(key)
			if !sure {
				return nil
			}
			said[i] = reasons
			continue
		}
		if !s.asked(key) {
			return nil
		}
		said[i] = s.decisions(at, before && after)
	}
	out := differing(said)
	if allocating {
		for _, text := range said[1] {
			if slices.Contains(said[0], text) {
				out = append(out, Reason{Still, text})
			}
		}
	}
	return out
}

// differing is what is said on one side alone.
func differing(said [2][]string) (out []Reason) {
	for _, text := range said[0] {
		if !slices.Contains(said[1], text) {
			out = append(out, Reason{NoLonger, text})
		}
	}
	for _, text := range said[1] {
		if !slices.Contains(said[0], text) {
			out = append(out, Reason{Now, text})
		}
	}
	return out
}

// asked tells whether the compiler was asked about the package of a function, or of a line
// by its key.
func (s *side) asked(key string) bool {
	function, _, _ := strings.Cut(key, "\x00")
	return s.of.Compiled != nil && s.of.Compiled.Packages[stack.Package(function)]
}

// whys are why a line allocates; unsure, where that is not known of all that it does.
type whys struct {
	texts  []string
	unsure bool
}

// allocations are why a line allocates, in the first profile. A line that does not has no
// reasons, and they are known.
func (s *side) allocations(key string) (reasons []string, sure bool) {
	if s.reasons == nil {
		s.reasons = map[string]*whys{}
		s.explain()
	}
	w := s.reasons[key]
	if w == nil {
		return nil, true
	}
	return w.texts, !w.unsure && s.asked(key)
}

// explain finds out why all lines allocate.
func (s *side) explain() {
	p, set := s.of.Profiles[0], s.of.Compiled
	index, err := p.Index(s.opt.SampleIndex)
	if err != nil {
		return
	}
	if set == nil {
		set = &compiler.Set{}
	}
	report := why.Explain(p, index, set, why.Options{Source: s.of.Source, Callee: s.of.Callee})
	for i := range report.Sites {
		site := &report.Sites[i]
		key := s.lineKey(&s.folded[0][site.Samples[0]])
		w := s.reasons[key]
		if w == nil {
			w = &whys{}
			s.reasons[key] = w
		}
		if site.Stale || site.Certainty != why.Exact && site.Certainty != why.Runtime {
			w.unsure = true
		} else if text := site.Causes[0].Reason; !slices.Contains(w.texts, text) {
			w.texts = append(w.texts, text)
		}
	}
}

// decisions are what the compiler decided on a line that costs CPU time. Of a line that one
// build alone has only what went against it is of interest.
func (s *side) decisions(at place, both bool) (out []string) {
	file, ok := s.of.Compiled.File(at.file)
	if !ok || at.line == 0 {
		return nil
	}
	counts := map[string]int{}
	for _, d := range slices.Concat(s.of.Compiled.At(file, at.line), s.of.Compiled.InlinedAt(file, at.line)) {
		text := ""
		switch d.Kind {
		case compiler.Escape, compiler.MovedToHeap:
			text = escapeWords(d)
		case compiler.CannotInlineCall:
			text = "the call of " + stack.Short(d.Text) + " is not inlined" + because(d.Reason)
		case compiler.InlinedCall:
			if both {
				text = "the call of " + stack.Short(d.Text) + " is inlined"
			}
		case compiler.Devirtualized:
			if both {
				text = "the call of " + d.Text + " goes directly to " + d.Dest
			}
		case compiler.BoundsCheck, compiler.SliceCheck:
			if len(d.Inline) == 0 && both {
				counts["bounds"]++
			}
			continue
		}
		if text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if n := counts["bounds"]; n > 0 {
		out = append(out, fmt.Sprintf("bounds checks left: %d", n))
	}
	return out
}

// escapeWords says that something is on the heap, and by which way.
func escapeWords(d *compiler.Diagnostic) string {
	text := d.Text + " escapes"
	if d.Kind == compiler.MovedToHeap {
		text = "variable " + d.Text + " escapes"
	}
	if how := why.FlowWords(d); how != "" {
		text += ": " + how
	}
	return text
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// inlinability is what changed in whether a function can be inlined into its callers.
func inlinability(sides [2]*side, function string) []Reason {
	var said [2][]string
	for i, s := range sides {
		at, known := s.decls[function]
		if !known || !s.asked(function) {
			return nil // new, or gone: there is nothing to compare
		}
		file, ok := s.of.Compiled.File(at.file)
		if !ok {
			return nil
		}
		text := ""
		for _, d := range s.of.Compiled.At(file, at.line) {
			switch d.Kind {
			case compiler.CanInline:
				text = "the function can be inlined"
			case compiler.CannotInline:
				text = "the function cannot be inlined" + because(d.Reason)
			}
		}
		if text == "" {
			return nil
		}
		said[i] = []string{text}
	}
	// The reason has figures in it, which change with every line.
	if strings.HasPrefix(said[0][0], "the function cannot") && strings.HasPrefix(said[1][0], "the function cannot") {
		return nil
	}
	return differing(said)
}
