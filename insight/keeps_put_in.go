package insight

import (
	"fmt"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Memory that a dependency keeps in a variable of its own, of which the recording has neither the source nor a heap graph: the functions that allocated it
// tell, by their names.

// putsIn are the beginnings of names of functions that put what they are given somewhere.
var putsIn = lazily(`^(Set|Put|Add|Store|Register|Insert|Save|Remember|Track|Push|Append|Attach|Bind|Intern)`)

// putInShare is from which share of a line's memory on such a function is named: chosen.
const putInShare = 0.2

// putIn is a function of a dependency, without a receiver, that allocated much of what a line has in use, and whose name says that it puts something in: what it keeps
// is in a variable of its package, or in something that it is given. It is the one with the most, with its bytes and those of the line; empty where there is none.
func putIn(in *Input, at stack.Frame) (function string, bytes, all int64) {
	kept, err := facts.RetentionIn(in.Facts)
	if err != nil || kept.Most == nil {
		return "", 0, 0
	}
	scope := in.Session.Scope()
	for name, n := range kept.Most.Within(at) {
		all += n
		pkg := stack.Package(name)
		base := strings.TrimPrefix(strings.TrimPrefix(name, pkg), ".")
		if stack.IsStandard(pkg) || scope.IsUser(stack.Frame{Func: name}) || strings.ContainsAny(base, ".(") || !putsIn.MatchString(base) {
			continue
		}
		if n > bytes || n == bytes && name < function {
			function, bytes = name, n
		}
	}
	if float64(bytes) < putInShare*float64(all) {
		return "", 0, 0
	}
	return function, bytes, all
}

// tellPutIn says of memory whose holder the sources do not show that such a function allocated much of it, and what to look for beside it.
func tellPutIn(in *Input, f *Finding, at stack.Frame) {
	function, bytes, all := putIn(in, at)
	if function == "" {
		return
	}
	pkg := stack.Package(function)
	of := ofDependency(in, pkg, "", f)
	if of == "" {
		return
	}
	f.Summary += fmt.Sprintf("; %s of that in %s", unit.Percent(float64(bytes)/float64(all)), stack.Short(function))
	f.Advice = fmt.Sprintf("By its name, %s puts in what it is given, and that stays: a variable of its package may keep it.%s", stack.Short(function), of)
	f.Doubts = append(f.Doubts, "the recording has neither the source of that package nor a heap graph: that it keeps this is concluded from the name of the function and from what is still in use")
}
