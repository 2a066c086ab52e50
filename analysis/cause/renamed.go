package cause

import (
	"maps"
	"slices"
	"strings"

	"loupe/value/stack"
)

// alike is the share of their lines that two functions have in common when one is the other by
// another name, and leastLines how many these are at least.
const (
	alike      = 0.6
	leastLines = 2
)

// rename gives functions of the first build the names that they have in the second one, so that
// their cost is not taken for that of one that went and another one that came.
func rename(sides [2]*side) {
	first := sides[0]
	first.was = map[string]string{}
	for old, name := range renamed(sides) {
		first.was[name] = old
		first.decls[name] = first.decls[old]
		for _, samples := range first.folded {
			for i := range samples {
				if f := &samples[i]; f.function == old {
					f.function = name
				} else if closure, ok := strings.CutPrefix(f.function, old+"."); ok {
					f.function = name + "." + closure
				}
			}
		}
	}
}

// renamed are functions of the first build by their names, with the names that they have in
// the second: they are declared there no more, and have most of their lines in common with one that
// was not declared before, and with no other one more.
func renamed(sides [2]*side) map[string]string {
	gone, new := sides[0].alone(sides[1]), sides[1].alone(sides[0])
	best := func(s *side, name string, other *side, among []string) (found string) {
		most := 0.0
		for _, candidate := range among {
			share := likeness(s.body(s.decls[name]), other.body(other.decls[candidate]))
			if stack.Package(candidate) == stack.Package(name) && share >= alike && share > most {
				most, found = share, candidate
			}
		}
		return found
	}
	out := map[string]string{}
	for _, old := range gone {
		if name := best(sides[0], old, sides[1], new); name != "" && best(sides[1], name, sides[0], gone) == old {
			out[old] = name
		}
	}
	return out
}

// alone are the functions whose text is there, and which are not declared in what is known of the
// other build.
func (s *side) alone(other *side) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s.decls)) {
		body := s.body(s.decls[name])
		if _, ok := other.decls[name]; ok || len(body) == 0 || strings.HasSuffix(s.decls[name].file, "_test.go") {
			continue
		}
		short := name[strings.LastIndexByte(name, '.')+1:]
		at := strings.Index(body[0], " "+short+"(")
		if !strings.HasPrefix(body[0], "func ") || at < 0 {
			continue // a closure, or of a type parameter
		}
		if !other.begins(body[0][:at+len(short)+2]) {
			names = append(names, name)
		}
	}
	return names
}

// begins tells whether a line of the files that are known begins with a text.
func (s *side) begins(text string) bool {
	files := map[string]bool{}
	for _, decl := range s.decls {
		files[decl.file] = true
	}
	for file := range files {
		if slices.ContainsFunc(s.source(file), func(line string) bool { return strings.HasPrefix(line, text) }) {
			return true
		}
	}
	return false
}

// likeness is the share of lines that two functions have in common, without their first lines,
// which have the names; 0 where they are too few.
func likeness(a, b []string) float64 {
	left := map[string]int{}
	count := func(lines []string, each func(line string)) (n int) {
		for _, line := range lines[min(1, len(lines)):] {
			if line = strings.TrimSpace(line); line != "" && line != "}" {
				n++
				each(line)
			}
		}
		return n
	}
	common := 0
	n := count(a, func(line string) { left[line]++ })
	m := count(b, func(line string) {
		if left[line] > 0 {
			left[line]--
			common++
		}
	})
	if common < leastLines {
		return 0
	}
	return 2 * float64(common) / float64(n+m)
}
