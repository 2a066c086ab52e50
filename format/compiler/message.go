package compiler

import (
	"strconv"
	"strings"
)

// message takes the words behind a position apart. explains says that lines
// with the flow come next. It is not ok for what the compiler has never said:
// an error, a note of the linker.
//
// The order matters: an expression can hold any text in quotes, so what stands
// in front is looked at before what stands behind.
func message(msg string) (d Diagnostic, explains, ok bool) {
	for _, rule := range prefixRules {
		if rest, ok := strings.CutPrefix(msg, rule.prefix); ok {
			d, explains, ok := rule.parse(rest)
			if ok {
				return d, explains, true
			}
		}
	}
	for _, rule := range suffixRules {
		if text, ok := strings.CutSuffix(msg, rule.suffix); ok && text != "" {
			return Diagnostic{Kind: rule.kind, Text: text}, false, true
		}
	}
	// X escapes to heap in F: (since Go 1.24), X escapes to heap: (before)
	if head, ok := strings.CutSuffix(msg, ":"); ok {
		if text, ok := strings.CutSuffix(head, " escapes to heap"); ok {
			return Diagnostic{Kind: Escape, Text: text}, true, true
		}
		if i := strings.LastIndex(head, " escapes to heap in "); i > 0 {
			return Diagnostic{Kind: Escape, Text: head[:i], Function: head[i+len(" escapes to heap in "):]}, true, true
		}
	}
	for _, rule := range innerRules {
		if i := strings.Index(msg, rule.mark); i > 0 {
			return rule.parse(msg[:i], msg[i+len(rule.mark):]), false, true
		}
	}
	return Diagnostic{}, false, false
}

type prefixRule struct {
	prefix string
	parse  func(rest string) (d Diagnostic, explains, ok bool)
}

func named(k Kind) func(string) (Diagnostic, bool, bool) {
	return func(rest string) (Diagnostic, bool, bool) {
		return Diagnostic{Kind: k, Text: rest}, false, rest != ""
	}
}

func fixed(k Kind, reason string) func(string) (Diagnostic, bool, bool) {
	return func(rest string) (Diagnostic, bool, bool) {
		return Diagnostic{Kind: k, Reason: reason}, false, rest == ""
	}
}

// prefixRules are tried from the first to the last.
var prefixRules = []prefixRule{
	{"moved to heap: ", named(MovedToHeap)},
	{"can inline ", canInline},
	{"cannot inline ", cannotInline},
	{"inlining call to ", inlining},
	{"parameter ", parameterLeaks},
	{"leaking param content: ", func(rest string) (Diagnostic, bool, bool) {
		return Diagnostic{Kind: LeakingParam, Text: rest, Dest: "{heap}", Derefs: 1}, false, rest != ""
	}},
	{"leaking param: ", leaking},
	{"leaking closure reference ", named(LeakingParam)}, // until Go 1.12
	{"Found IsInBounds", fixed(BoundsCheck, "")},
	{"Found IsSliceInBounds", fixed(SliceCheck, "")},
	{"generated nil check", fixed(NilCheck, "")},
	{"removed nil check", fixed(Proved, "nil check removed")},
	{"Proved ", named(Proved)},
	{"Disproved ", named(Proved)},
	{"Induction variable: ", named(Proved)},
	{"zero-copy string->[]byte conversion", fixed(ZeroCopy, "")},
	{"devirtualizing ", devirtualizing("")},
	{"partially devirtualizing ", devirtualizing("partially")},
	{"PGO devirtualizing interface call ", devirtualizing("by the profile")},
	{"PGO devirtualizing function call ", devirtualizing("by the profile")},
	{"cannot devirtualize ", func(rest string) (Diagnostic, bool, bool) {
		text, reason, ok := strings.Cut(rest, ": ")
		return Diagnostic{Kind: NotDevirtualized, Text: text, Reason: reason}, false, ok
	}},
	{"should not PGO devirtualize ", func(rest string) (Diagnostic, bool, bool) {
		text, reason, ok := strings.Cut(rest, ": ")
		return Diagnostic{Kind: NotDevirtualized, Text: text, Reason: reason}, false, ok
	}},
	{"function ", func(rest string) (Diagnostic, bool, bool) {
		text, ok := strings.CutSuffix(rest, " considered 'big'; reducing max cost of inlinees")
		return Diagnostic{Kind: BigFunction, Text: text}, false, ok
	}},
	{"loop variable ", func(rest string) (Diagnostic, bool, bool) {
		text, reason, ok := strings.Cut(rest, " now per-iteration, ")
		return Diagnostic{Kind: LoopVariable, Text: text, Reason: reason}, false, ok
	}},
	{"marking ", named(Other)},  // marking p as escaping uintptr
	{"assuming ", named(Other)}, // assuming p is unsafe uintptr
	{"mutates param: ", named(Other)},
	{"calls param: ", named(Other)},
	{"expr will be kept alive", fixed(Other, "kept alive")},
	{"stack object ", named(Other)},
}

var suffixRules = []struct {
	suffix string
	kind   Kind
}{
	{" escapes to heap", Escape},
	{" does not escape", NoEscape},
	{" does not escape, mutate, or call", NoEscape},
	{" will be kept alive", Other}, // the arguments in a loop over testing.B.Loop
}

var innerRules = []struct {
	mark  string
	parse func(before, after string) Diagnostic
}{
	{" ignoring self-assignment in ", func(before, after string) Diagnostic {
		return Diagnostic{Kind: Other, Function: before, Text: "ignoring self-assignment in " + after}
	}},
	{" ignoring self-assignment to ", func(before, after string) Diagnostic {
		return Diagnostic{Kind: Other, Function: before, Text: "ignoring self-assignment to " + after}
	}},
	{" capturing by ", func(before, after string) Diagnostic {
		how, text, _ := strings.Cut(after, ": ")
		return Diagnostic{Kind: Capture, Function: before, Text: firstWord(text), Reason: "by " + how, Size: width(text)}
	}},
}

func firstWord(s string) string {
	s, _, _ = strings.Cut(s, " (")
	return s
}

// width reads the size of a variable: "x (addr=true assign=false width=8)".
func width(s string) int64 {
	_, w, _ := strings.Cut(s, " width=")
	n, _ := strconv.ParseInt(strings.TrimSuffix(w, ")"), 10, 64)
	return n
}

// canInline parses "F", "F with cost 3 as: func() { ... }", and since Go 1.22
// the same with properties behind it.
func canInline(rest string) (Diagnostic, bool, bool) {
	d := Diagnostic{Kind: CanInline, Text: rest}
	if name, more, ok := strings.Cut(rest, " with cost "); ok {
		cost, _, _ := strings.Cut(more, " ")
		d.Text = name
		d.Cost, _ = number(cost)
	}
	return d, false, rest != ""
}

// cannotInline parses "F: reason" and "F into G: reason". The name of a generic
// function may hold colons only inside brackets.
func cannotInline(rest string) (Diagnostic, bool, bool) {
	name, reason, ok := strings.Cut(rest, ": ")
	d := Diagnostic{Kind: CannotInline, Text: name, Reason: reason}
	if callee, caller, into := strings.Cut(name, " into "); into {
		d.Kind, d.Text, d.Function = CannotInlineCall, callee, caller
	}
	d.Cost, d.Budget = costs(reason)
	return d, false, ok
}

// costs reads "function too complex: cost 102 exceeds budget 80" and "... cost
// 95 exceeds max caller cost 20".
func costs(reason string) (cost, budget int) {
	_, rest, ok := strings.Cut(reason, "cost ")
	if !ok {
		return 0, 0
	}
	word, rest, _ := strings.Cut(rest, " ")
	cost, _ = number(word)
	for _, mark := range []string{"budget ", "max caller cost ", "exceeds max "} {
		if _, b, ok := strings.Cut(rest, mark); ok {
			word, _, _ = strings.Cut(b, " ")
			budget, _ = number(strings.TrimRight(word, ",;)"))
			break
		}
	}
	return cost, budget
}

// inlining parses "F" and "F with score 12"; until Go 1.17 the signature and
// the body stand behind the name.
func inlining(rest string) (Diagnostic, bool, bool) {
	for _, mark := range []string{" func(", " method("} {
		rest, _, _ = strings.Cut(rest, mark)
	}
	name, score, _ := strings.Cut(rest, " with score ")
	n, _ := number(score)
	return Diagnostic{Kind: InlinedCall, Text: name, Cost: n}, false, rest != ""
}

// parameterLeaks parses "p leaks to {heap} for F with derefs=0:"; the function
// is named since Go 1.24.
func parameterLeaks(rest string) (Diagnostic, bool, bool) {
	name, rest, ok := strings.Cut(rest, " leaks to ")
	i := strings.LastIndex(rest, " with derefs=")
	if !ok || i < 0 {
		return Diagnostic{}, false, false
	}
	d := Diagnostic{Kind: LeakingParam, Text: name, Dest: rest[:i]}
	d.Derefs, _ = number(strings.TrimSuffix(rest[i+len(" with derefs="):], ":"))
	if j := strings.LastIndex(d.Dest, " for "); j > 0 && !strings.HasSuffix(d.Dest, "}") {
		d.Dest, d.Function = d.Dest[:j], d.Dest[j+len(" for "):]
	}
	return d, true, true
}

// leaking parses "p" and "p to result r level=1".
func leaking(rest string) (Diagnostic, bool, bool) {
	d := Diagnostic{Kind: LeakingParam, Text: rest, Dest: "{heap}"}
	if name, more, ok := strings.Cut(rest, " to result "); ok {
		result, level, _ := strings.Cut(more, " level=")
		d.Text, d.Dest = name, result
		d.Derefs, _ = number(level)
	}
	return d, false, rest != ""
}

func devirtualizing(how string) func(string) (Diagnostic, bool, bool) {
	return func(rest string) (Diagnostic, bool, bool) {
		i := strings.LastIndex(rest, " to ")
		if i < 0 {
			return Diagnostic{}, false, false
		}
		return Diagnostic{Kind: Devirtualized, Text: rest[:i], Dest: rest[i+len(" to "):], Reason: how}, false, true
	}
}
