package insight

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Text that is split, of which the source needs the parts one by one, some of them, or their number.

// mostCuts is how many parts are taken one after another by calls of Cut; for more a loop is shorter.
const mostCuts = 4

// needsSeq is what a loop over an iterator needs of the module.
const needsSeq = " (Go 1.24; to range over a function, go.mod has to name Go 1.23 or later)"

// split is a call that splits text.
type split struct {
	*resultAt
	uses *resultUses
	text string // what is split, in short
	sep  string // the separator as the source has it
	// known tells that the separator is constant and not empty, lone that it cannot overlap itself.
	known, lone bool
	limit       int64 // of SplitN; -1 is none
}

// spareSplit tells of strings.Split and its kind, and of those of package bytes.
func spareSplit(r *resultAt) *spared {
	u := r.usesOf()
	if u == nil || r.pkg != "strings" && r.pkg != "bytes" || len(r.call.Args) == 0 {
		return nil
	}
	s := &split{resultAt: r, uses: u, text: brief(r.call.Args[0], "text"), limit: -1}
	fields := strings.HasPrefix(r.name, "Fields")
	if !fields {
		if len(r.call.Args) < 2 {
			return nil
		}
		s.sep = brief(r.call.Args[1], "sep")
		sep, constant := r.text(r.call.Args[1])
		s.known, s.lone = constant && sep != "", constant && isLone(sep)
	}
	if strings.HasSuffix(r.name, "N") {
		n, ok := r.constant(r.call.Args[len(r.call.Args)-1])
		if !ok || n == 0 || n == 1 {
			return nil
		}
		s.limit = max(-1, n)
	}
	positions := len(u.at) + len(u.joined) + len(u.rest)
	switch {
	case u.isNil > 0 || u.ranged > 1:
		return nil
	case u.ranged == 1:
		if positions > 0 || u.last || s.limit >= 0 {
			return nil
		}
		return s.oneByOne()
	case u.last:
		if positions > 0 || u.counted || u.compared {
			return nil
		}
		return s.lastOnly()
	case positions > 0:
		return s.some(fields)
	}
	return s.numberOnly(fields)
}

// isLone tells of a separator that no end of it is a beginning of it: the last one of a text is the same from
// either side.
func isLone(sep string) bool {
	for n := 1; n < len(sep); n++ {
		if sep[:n] == sep[len(sep)-n:] {
			return false
		}
	}
	return sep != ""
}

// seq is the call of the iterator.
func (s *split) seq() string {
	if s.sep == "" && len(s.call.Args) == 1 {
		return fmt.Sprintf("%s.%sSeq(%s)", s.pkg, s.name, s.text)
	}
	name := strings.TrimSuffix(s.name, "N")
	return fmt.Sprintf("%s.%sSeq(%s, %s)", s.pkg, name, s.text, brief(s.call.Args[1], "the function"))
}

// oneByOne is about a result that is only ranged over.
func (s *split) oneByOne() *spared {
	u := s.uses
	out := &spared{uses: "is only ranged over"}
	if u.counted || u.compared {
		if !s.known || s.name != "Split" && s.limit < 0 && !strings.HasPrefix(s.name, "SplitN") {
			return nil // the number of parts is not known before the loop
		}
		out.uses = "is only ranged over and counted"
	}
	switch {
	case s.has(24):
		out.advice = "Range over " + s.seq() + ", which finds one part after the other and makes no slice" + needsSeq + "."
	case strings.HasPrefix(s.name, "SplitAfter") || s.sep == "" || !s.known:
		return nil
	default:
		out.advice = fmt.Sprintf("Take one part after the other with %s.Cut (part, rest, found = %s.Cut(rest, %s), until found is false), which makes no slice.", s.pkg, s.pkg, s.sep)
	}
	if u.keyed {
		out.advice += " The loop counts the parts itself."
	}
	if u.counted || u.compared {
		out.advice += fmt.Sprintf(" Their number is %s.Count(%s, %s) + 1.", s.pkg, s.text, s.sep)
	}
	if s.pkg == "bytes" {
		out.doubts = append(out.doubts, "each part is found when its turn comes: if the loop writes to the bytes that are split, the parts are others")
	}
	return out
}

// lastOnly is about the last part.
func (s *split) lastOnly() *spared {
	if s.limit >= 0 || !s.lone || s.name != "Split" && s.name != "SplitN" {
		return nil
	}
	sep, _ := s.resultAt.text(s.call.Args[1])
	out := &spared{uses: "is only used for its last part"}
	out.advice = fmt.Sprintf("Only the last part is used: it is what comes after %s.LastIndex(%s, %s), or all of the text where that is -1, and needs no slice.", s.pkg, s.text, s.sep)
	if len(sep) == 1 {
		out.advice = fmt.Sprintf("Only the last part is used: %s[%s.LastIndex(%s, %s)+1:] is the same and makes no slice (-1+1 is the start of the text).", s.text, s.pkg, s.text, s.sep)
	}
	return out
}

// numberOnly is about the number of parts.
func (s *split) numberOnly(fields bool) *spared {
	out := &spared{uses: "is only counted"}
	switch {
	case s.limit >= 0:
		return nil
	case fields:
		if !s.has(24) {
			return nil
		}
		out.advice = "Only the number of fields is used: count them in a loop over " + s.seq() + ", which makes no slice" + needsSeq + "."
	case !s.known || s.name != "Split" && s.name != "SplitN":
		return nil
	default:
		out.advice = fmt.Sprintf("Only the number of parts is used: %s.Count(%s, %s) + 1 is the same and makes no slice.", s.pkg, s.text, s.sep)
	}
	return out
}

// some is about parts at constant positions, and what comes after them.
func (s *split) some(fields bool) *spared {
	u := s.uses
	positions := slices.Sorted(maps.Keys(u.at))
	rest := slices.Sorted(maps.Keys(u.joined))
	rest = append(rest, slices.Sorted(maps.Keys(u.rest))...)
	most := int64(0)
	for _, n := range slices.Concat(positions, rest) {
		most = max(most, n)
	}
	if len(rest) > 1 || len(rest) == 1 && (rest[0] == 0 || len(positions) > 0 && positions[len(positions)-1] >= rest[0]) || len(u.rest) > 0 && (s.limit >= 0 || u.counted || !s.has(24)) ||
		s.limit >= 0 && (most >= s.limit || u.counted) || u.counted && !s.known {
		return nil
	}
	out := &spared{uses: "is only used at " + positionWords(positions, rest)}
	if fields || most >= mostCuts {
		if len(rest) > 0 || s.limit >= 0 || !s.has(24) || strings.HasPrefix(s.name, "SplitAfter") || u.counted {
			return nil
		}
		out.advice = fmt.Sprintf("Range over %s and count in the loop, which makes no slice%s: ", s.seq(), needsSeq)
		if u.compared {
			out.advice += "keep the parts that are needed in variables, and compare the count where the length is compared now."
		} else {
			out.advice += fmt.Sprintf("leave it after the part at position %d.", most)
		}
		return s.missing(out)
	}
	if strings.HasPrefix(s.name, "SplitAfter") {
		return nil
	}
	cut := fmt.Sprintf("%s.Cut(%s, %s)", s.pkg, s.text, s.sep)
	switch {
	case most == 0:
		out.advice = "first, _, _ := " + cut + " is the same as the part at position 0, and makes no slice."
	case most == 1 && (s.limit == 2 || len(rest) == 1):
		out.advice = "before, after, found := " + cut + " gives the same two parts, and makes no slice."
	default:
		out.advice = fmt.Sprintf("Take the parts with %s, and again of what comes after each (part, rest, found := …): that makes no slice.", cut)
	}
	s.lengths(out, len(rest) > 0)
	if len(u.rest) > 0 {
		out.advice += fmt.Sprintf(" Where found of the last Cut is true, range over %s.SplitSeq of the rest%s.", s.pkg, needsSeq)
		if u.keyed {
			out.advice += " The loop counts the parts itself."
		}
	}
	if !s.known {
		out.doubts = append(out.doubts, s.pkg+"."+s.name+" with an empty separator splits between characters, and Cut does not")
	}
	if s.pkg == "bytes" {
		out.doubts = append(out.doubts, "what is appended to the first part of bytes.Cut is written over what follows; the parts of bytes."+s.name+" have no room behind them")
	}
	return s.missing(out)
}

// lengths says what takes the place of the length.
func (s *split) lengths(out *spared, rest bool) {
	switch u := s.uses; {
	case u.compared && s.limit == 2:
		out.advice += " found tells whether there are two."
	case u.compared:
		out.advice += fmt.Sprintf(" Where the length is compared: found tells whether there is another part, and %s.Contains(rest, %s) whether the rest is more than one.", s.pkg, s.sep)
	}
	if s.uses.counted {
		out.advice += fmt.Sprintf(" The number of parts is %s.Count(%s, %s) + 1.", s.pkg, s.text, s.sep)
	}
}

// missing adds what differs where there are fewer parts.
func (s *split) missing(out *spared) *spared {
	needs := len(s.uses.joined)+len(s.uses.rest) > 0 || strings.HasPrefix(s.name, "Fields")
	for n := range s.uses.at {
		needs = needs || n > 0
	}
	if needs && !s.uses.compared {
		out.doubts = append(out.doubts, "where a part is missing, the index panics and the other way does not: handle that case")
	}
	return out
}

// positionWords name positions: "positions 0 and 2", "position 0 and from position 1 on".
func positionWords(at, rest []int64) string {
	words := ""
	for i, n := range at {
		switch {
		case i == 0:
		case i == len(at)-1 && len(rest) == 0:
			words += " and "
		default:
			words += ", "
		}
		words += fmt.Sprint(n)
	}
	switch {
	case len(at) == 1:
		words = "position " + words
	case len(at) > 1:
		words = "positions " + words
	}
	if len(rest) > 0 {
		if words != "" {
			words += " and "
		}
		words += fmt.Sprintf("from position %d on", rest[0])
	}
	return words
}
