// Package why says why the lines of a heap profile allocate: it joins the
// stacks of the profile with what the compiler has said about the code, the
// escape of a value and the way that it takes, and with what the runtime
// allocates without the compiler's saying so, such as the growth of a slice.
//
// It reads no file and starts no compiler: collect brings the diagnostics, the
// caller the sources and, if there is one, the binary. Every answer says how
// sure it is, see [Certainty].
package why

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"loupe/format/compiler"
	"loupe/format/profile"
	"loupe/value/stack"
)

// Certainty says how much is known about an allocation.
type Certainty uint8

// From nothing to all.
const (
	// Unexplained allocations stand on lines that neither the compiler nor the
	// source gives a reason for.
	Unexplained Certainty = iota
	// Ambiguous allocations have several candidates on their line.
	Ambiguous
	// Runtime allocations are made by the runtime for an operation that may
	// need memory whatever the compiler proves: a slice, map or string grows.
	Runtime
	// Exact allocations are one expression or variable of which the compiler
	// says that it escapes.
	Exact
	numCertainties
)

var certaintyNames = [numCertainties]string{"unexplained", "ambiguous", "runtime", "exact"}

// String returns the certainty in lower case: "exact".
func (c Certainty) String() string {
	if c < numCertainties {
		return certaintyNames[c]
	}
	return "unknown"
}

// Cause is one thing that allocates.
type Cause struct {
	Mechanism Mechanism
	// Expr is the expression or variable, in the compiler's words.
	Expr string
	// Pos is where it stands, in the innermost function.
	Pos compiler.Pos
	// Reason is the whole answer in words: "v escapes: boxed into an
	// interface, passed to fmt.Println".
	Reason string
	// Alone says that the reason is that of the function compiled on its own,
	// for the call that it was inlined into is not known to the compiler's
	// answers. The expression is the same, the way to the heap may differ.
	Alone bool
	// Diagnostic is what the compiler has said; nil for what it says nothing
	// about.
	Diagnostic *compiler.Diagnostic
}

// Site is one place in the code with one answer. A line has several sites if it
// was inlined into several functions, or if objects of different sizes or
// kinds come from it.
type Site struct {
	// Frames are the allocating function and the calls that it was inlined
	// through, the innermost first. The last one is a function of the binary.
	Frames []stack.Frame
	// Runtime is the function of the runtime that was called, "" if unknown.
	Runtime   string
	Certainty Certainty
	// Causes holds one cause when the certainty is Exact or Runtime, the
	// candidates when it is Ambiguous, and none when it is Unexplained.
	Causes []Cause
	// Sizes are the sizes of the objects, in bytes, as far as the profile
	// tells, in ascending order.
	Sizes []int64
	// Stale says that the source has changed since the program was built:
	// then nothing is claimed.
	Stale  bool
	Weight int64 // of the samples, in the profile's unit
	// Samples are the numbers of the samples in the profile, in ascending
	// order: their other values and the callers are found there.
	Samples []int32
}

// Frame returns the allocating function and its line.
func (s *Site) Frame() stack.Frame { return s.Frames[0] }

// Report is the answer of [Explain].
type Report struct {
	Sites []Site // the heaviest first
	Total int64  // sum of the absolute weights of all samples
	// Share is how much of Total has each certainty, in units of weight.
	Share [numCertainties]int64

	byLine map[line][]int
}

type line struct {
	file string
	line int
}

// Explained returns the part of the total that has one answer, from 0 to 1.
func (r *Report) Explained() float64 {
	if r.Total == 0 {
		return 0
	}
	return float64(r.Share[Exact]+r.Share[Runtime]) / float64(r.Total)
}

// Line returns the sites whose allocating function has this line, the heaviest
// first. The file is named as in the profile.
func (r *Report) Line(file string, number int) []*Site {
	ids := r.byLine[line{file, number}]
	sites := make([]*Site, len(ids))
	for i, id := range ids {
		sites[i] = &r.Sites[id]
	}
	return sites
}

// Source returns the text of a source file, by its name in the profile.
type Source func(file string) ([]byte, error)

// Options are what else is known. Everything may be missing.
type Options struct {
	// Source gives the text of files: appends, map writes and other operations
	// that the compiler says nothing about are found there.
	Source Source
	// Callee names the function that the call in front of this return address
	// goes to, or "". [Calls] makes one of the binary. Heap profiles leave
	// the runtime's own frames out, and this is the only way to learn what of
	// a line has allocated when several things may.
	Callee func(address uint64) string
}

// Explain says why each allocation of a heap profile was made. The index is
// one that [profile.Profile.Index] returns.
//
// Note: the join key is the whole chain of positions of the inlined calls. A
// line alone is not enough: the same line of an inlined function escapes in
// one caller and stays on the stack in the next.
func Explain(p *profile.Profile, index int, set *compiler.Set, opt Options) *Report {
	e := &explainer{table: p.Stacks, set: set, opt: opt, sources: map[string]*source{}, files: map[string]string{}, answers: map[string]*answer{}}
	e.findCalls()
	r := &Report{byLine: map[line][]int{}}
	sites := map[string]int{}
	sizes := blockSizes(p)
	i := -1
	for id, weight := range p.Samples(index) {
		i++
		if weight == 0 {
			continue
		}
		r.Total += max(weight, -weight)
		size := int64(0)
		if sizes != nil {
			size = sizes[p.LabelSets[i]]
		}
		a := e.explain(id, size)
		r.Share[a.site.Certainty] += max(weight, -weight)
		n, ok := sites[a.key]
		if !ok {
			n = len(r.Sites)
			sites[a.key] = n
			r.Sites = append(r.Sites, a.site)
		}
		s := &r.Sites[n]
		s.Weight += weight
		s.Samples = append(s.Samples, int32(i))
		if at, found := slices.BinarySearch(s.Sizes, size); !found && size > 0 {
			s.Sizes = slices.Insert(s.Sizes, at, size)
		}
	}
	slices.SortStableFunc(r.Sites, func(a, b Site) int {
		return cmp.Or(cmp.Compare(max(b.Weight, -b.Weight), max(a.Weight, -a.Weight)),
			strings.Compare(a.Frame().File, b.Frame().File), cmp.Compare(a.Frame().Line, b.Frame().Line))
	})
	for n := range r.Sites {
		f := r.Sites[n].Frame()
		at := line{f.File, f.Line}
		r.byLine[at] = append(r.byLine[at], n)
	}
	return r
}

// blockSizes reads the "bytes" label of every label set: the runtime writes the
// size of the objects there, one bucket for each. nil means none.
func blockSizes(p *profile.Profile) []int64 {
	if p.LabelSets == nil {
		return nil
	}
	sizes := make([]int64, p.NumLabelSets())
	for set := range sizes {
		for _, l := range p.Labels(profile.LabelSet(set)) {
			if l.Key == "bytes" {
				sizes[set] = l.Num
			}
		}
	}
	return sizes
}

// answer is the explanation of one chain, without weights.
type answer struct {
	key  string
	site Site
}

type explainer struct {
	table   *stack.Table
	set     *compiler.Set
	opt     Options
	sources map[string]*source // by file of the set or the profile
	files   map[string]string  // of the profile: name in the set
	answers map[string]*answer
	// spoken are the files for which the text of -m is known, appends says
	// that the compiler is one that speaks of them (since Go 1.26).
	spoken map[string]bool
	// calls are the addresses of the calls to makeslice, in ascending order, by
	// the chain of their frames.
	calls   map[string][]uint64
	appends bool
}

// explain finds the answer for a stack. Stacks that differ only above the
// function of the binary have the same one.
func (e *explainer) explain(id stack.ID, size int64) *answer {
	ids := e.table.Frames(id)
	frames := make([]stack.Frame, 0, 8)
	runtimeFunc := ""
	rest := ids
	for len(rest) > 0 {
		f := e.table.Frame(rest[0])
		if !isRuntimeFrame(f) {
			break
		}
		runtimeFunc = f.Func // the one that the code has called
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return e.runtimeOnly(ids)
	}
	for _, fid := range rest {
		f := e.table.Frame(fid)
		frames = append(frames, f)
		if !f.Inlined {
			break
		}
	}
	if runtimeFunc == "" && e.opt.Callee != nil && frames[0].Address != 0 {
		// The profile holds the return address less one.
		runtimeFunc = e.opt.Callee(frames[0].Address + 1)
	}
	chain := chainKey(frames, runtimeFunc)
	key := chain + "\x00" + strconv.FormatInt(size, 10) + "\x00" + strconv.FormatUint(frames[0].Address, 16)
	if a := e.answers[key]; a != nil {
		return a
	}
	a := &answer{site: Site{Frames: frames, Runtime: runtimeFunc}}
	e.decide(&a.site, size, chain)
	// Sizes that have the same answer are one site.
	a.key = chain + "\x00" + a.site.Certainty.String()
	for _, c := range a.site.Causes {
		a.key += "\x00" + c.Pos.String() + c.Reason
	}
	e.answers[key] = a
	return a
}

// findCalls collects the places from which slices are made.
func (e *explainer) findCalls() {
	e.calls = map[string][]uint64{}
	if e.opt.Callee == nil {
		return
	}
	for id := 1; id < e.table.Len(); id++ {
		var frames []stack.Frame
		for _, fid := range e.table.Frames(stack.ID(id)) {
			f := e.table.Frame(fid)
			frames = append(frames, f)
			if !f.Inlined {
				break
			}
		}
		address := frames[0].Address
		if callee := e.opt.Callee(address + 1); callee == "runtime.makeslice" {
			key := chainKey(frames, callee)
			if i, found := slices.BinarySearch(e.calls[key], address); !found {
				e.calls[key] = slices.Insert(e.calls[key], i, address)
			}
		}
	}
}

func chainKey(frames []stack.Frame, runtimeFunc string) string {
	var b []byte
	for _, f := range frames {
		b = append(b, f.Func...)
		b = append(b, 0)
		b = append(b, f.File...)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(f.Line), 10)
		b = append(b, 0)
	}
	return string(append(b, runtimeFunc...))
}

// runtimeOnly explains a stack with nothing but the runtime on it.
func (e *explainer) runtimeOnly(ids []stack.FrameID) *answer {
	var leaf stack.Frame
	if len(ids) > 0 {
		leaf = e.table.Frame(ids[0])
	}
	// The name nearest to the leaf that says something.
	reason, mechanism := "", Internal
	for _, id := range ids {
		if f := e.table.Frame(id).Func; internalWords[stack.Local(f)] != "" {
			reason = internalWords[stack.Local(f)]
			break
		}
	}
	if reason == "" {
		reason = "memory that the runtime needs for itself, allocated in " + leaf.Func
	}
	key := "\x00" + leaf.Func + "\x00" + strconv.Itoa(leaf.Line) + reason
	if a := e.answers[key]; a != nil {
		return a
	}
	a := &answer{key: key, site: Site{Frames: []stack.Frame{leaf}, Runtime: leaf.Func}}
	if len(ids) > 0 && leaf.Func != "" {
		a.site.Certainty = Runtime
		a.site.Causes = []Cause{{Mechanism: mechanism, Expr: leaf.Func, Pos: posOf(leaf), Reason: reason}}
	}
	e.answers[key] = a
	return a
}

func posOf(f stack.Frame) compiler.Pos { return compiler.Pos{File: f.File, Line: f.Line} }

// isRuntimeFrame says whether the runtime itself is at work: its packages, and
// its functions that carry the name of another package, such as
// reflect.unsafe_New.
func isRuntimeFrame(f stack.Frame) bool {
	switch pkg := stack.Package(f.Func); {
	case pkg == "runtime" || strings.HasPrefix(pkg, "internal/runtime/") || strings.HasPrefix(pkg, "runtime/internal/"):
		return true
	case !stack.IsStandard(pkg):
		return false
	}
	dir, _ := cutLast(f.File)
	return strings.HasSuffix(dir, "/src/runtime") || dir == "runtime" || strings.Contains(dir, "src/internal/runtime/")
}

func cutLast(s string) (dir, base string) {
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		return s[:i], s[i+1:]
	}
	return "", s
}

// Packages returns the import paths of the packages that the compiler must be
// asked about to explain a heap profile: those of the functions that the
// allocating code was compiled into. A generic function is compiled with the
// package that uses it, so for one the callers count as well.
func Packages(p *profile.Profile) []string {
	seen := map[string]bool{}
	for id := 1; id < p.Stacks.Len(); id++ {
		inside := true // of the chain of inlined calls
		for _, fid := range p.Stacks.Frames(stack.ID(id)) {
			f := p.Stacks.Frame(fid)
			if isRuntimeFrame(f) {
				continue
			}
			if pkg := stack.Package(f.Func); pkg != "" {
				seen[pkg] = true
			}
			if !f.Inlined {
				inside = false
			}
			if !inside && !strings.Contains(f.Func, "[") {
				break
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
