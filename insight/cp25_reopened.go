package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/profile"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp25 = &Rule{
	ID: "CP25", Title: "The same files are read again and again",
	About: "Looks at the files that the program has open (Linux) tell which it opens again and again, and the CPU profile what it costs to open, read and work through them. " +
		"What is made of a file stays the same until the file changes.",
	Asks: []facts.Question{facts.CPU, facts.Host},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "chosen; the lower bound of the interval counts"},
		{"warn", 0.25, "share of CPU time", "chosen: as for a value that is computed again, CP18"},
		{"again", 0.10, "share of the openings seen", "chosen: those of a file that was opened twice before; a look now and then sees few of them"},
		{"once", 0.40, "share of the openings seen", "chosen: more of files that were seen opened once, and the time may go into reading these"},
		{"seen", 12, "openings", "chosen: fewer may be a few files that are read in turns"},
		g0,
	},
	Check: checkReopened,
}

// opener is a function of the program that opens files.
type opener struct {
	name   string
	at     stack.Frame
	opens  int64 // samples in which it has the system open a file
	files  int64 // and in which it opens, reads or closes one
	weight int64 // all samples of what it does
	heavy  []stack.Frame
	most   int64
	costs  map[stack.Frame]bool
	sorts  int64       // samples in which it sorts
	sorted stack.Frame // a line that does
}

func checkReopened(r *Rule, in *Input) []Finding {
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	seen, ok := facts.ReopenedIn(in.Facts, !setsPlace(in, cpu.Profile))
	if !ok || seen.Looks == 0 {
		return []Finding{r.answer(NotApplicable, "no look at the open files of the program has seen it open one that it only reads")}
	}
	if again := float64(seen.Again); float64(seen.Opened) < r.param("seen") || again < r.param("again")*float64(seen.Opened) {
		return []Finding{r.answer(Fine, "%s of %s were seen, in %s: hardly any was opened again and again", unit.Plural(int64(seen.Opened), "opening"), unit.Plural(int64(len(seen.Files)), "file"), unit.Plural(int64(seen.Looks), "look"))}
	}
	if float64(seen.Once) > r.param("once")*float64(seen.Opened) {
		return []Finding{r.answer(Fine, "%s was seen opened %s, but %d of %s were of files that were opened once: what reading costs may be theirs", path.Base(seen.Files[0].Path),
			unit.Plural(int64(seen.Files[0].Opened), "time"), seen.Once, unit.Plural(int64(seen.Opened), "opening"))}
	}
	total := int64(0)
	for _, w := range cpu.Profile.Samples(cpu.Index) {
		total += w
	}
	if total < int64(r.param("samples")) {
		return []Finding{r.short("%s has %d samples; %g are needed: record longer (-phases cpu:30s) or under load", cpu.Entry.Path, total, r.param("samples"))}
	}
	o := heaviestOpener(in, cpu.Profile, cpu.Index)
	if o == nil {
		return []Finding{r.answer(Fine, "the same files were opened again and again, but no function of the program does it in the samples")}
	}
	share := stats.Wilson(float64(o.weight), float64(total), compare.Confidence)
	if share.Low < r.param("share") {
		return []Finding{r.answer(Fine, "the same files were opened again and again, which costs %s of the CPU time", unit.Percent(share.Estimate))}
	}
	return []Finding{o.finding(r, in, cpu, seen, share, total)}
}

// setsPlace tells whether the program sets from where it reads a file, in a sample or by its sources.
func setsPlace(in *Input, p *profile.Profile) (sets bool) {
	for id := range p.Stacks.NumFrames() {
		sets = sets || p.Stacks.Frame(stack.FrameID(id)).Func == "os.(*File).Seek"
	}
	in.code.eachSource(func(_ string, s *syntax) {
		sets = sets || hasCall(s.file, func(call *ast.CallExpr) bool { return calledName(call) == "Seek" })
	})
	return sets
}

// handlesFile tells of a function of package os that it opens, reads or closes a file; opens alone of the first.
func handlesFile(name string) (handles, opens bool) {
	switch name {
	case "os.Open", "os.OpenFile", "os.ReadFile", "os.openFileNolog", "os.(*Root).Open", "os.(*Root).OpenFile", "os.(*Root).ReadFile":
		return true, true
	case "os.(*File).Read", "os.(*File).ReadAt", "os.(*File).Close", "os.(*File).Stat", "os.(*File).ReadFrom", "os.(*File).WriteTo", "os.newFile", "os.(*file).close":
		return true, false
	}
	return false, false
}

// makesFile are functions that open a file to write it.
var makesFile = map[string]bool{"os.Create": true, "os.CreateTemp": true, "os.WriteFile": true, "os.(*Root).Create": true, "os.(*Root).WriteFile": true}

// ofFiles are types of parameters that say which file is meant, or how much of it.
var ofFiles = lazily(`^(string|bool|byte|rune|u?int\d*|error|context\.Context|(os|fs)\.(File(Info|Mode)|DirEntry|FS)|\*os\.(File|Root)|time\.\w+)$`)

// dependsOn is a parameter of the function that says something else than which file is meant; empty where there is none.
func (o *opener) dependsOn(c *code) string {
	fn := c.function(o.at)
	if fn == nil {
		return ""
	}
	for _, p := range fn.Type.Params.List {
		if !ofFiles.MatchString(types.ExprString(p.Type)) && len(p.Names) > 0 && p.Names[0].Name != "_" {
			return p.Names[0].Name
		}
	}
	return ""
}

// opensBySource tells of the function of a frame that its source opens a file.
func opensBySource(c *code, at stack.Frame) bool {
	fn := c.function(at)
	return fn != nil && hasCall(fn.Body, func(call *ast.CallExpr) bool {
		_, opens := handlesFile(types.ExprString(call.Fun))
		return opens
	})
}

// mostOfFiles is the part of all samples with files that one function has, before it is named. Chosen.
const mostOfFiles = 0.4

// openingLoop are the first and last line of the innermost loop of the function of a frame in which its source opens a file;
// 0 where it opens none in a loop of its own. What is around such a loop is not made of the file.
func openingLoop(c *code, at stack.Frame) (first, last int) {
	fn, s := c.function(at), c.parse(at.File)
	if fn == nil {
		return 0, 0
	}
	eachNode(fn.Body, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || last > 0 {
			return
		}
		if _, opens := handlesFile(types.ExprString(call.Fun)); !opens {
			return
		}
		for _, a := range slices.Backward(around) {
			if isLoop(a) {
				first, last = s.lines(a)
				return
			}
		}
	})
	return first, last
}

// fewOpens is in how many samples a function has to be seen with a file: chosen, one may be anything.
const fewOpens = 2

// heaviestOpener is the function in whose name the most samples open, read and close files, if it is seen opening them.
func heaviestOpener(in *Input, p *profile.Profile, index int) (best *opener) {
	v, by := in.view(p), map[string]*opener{}
	files := int64(0)
	for id, w := range p.Samples(index) {
		frames := p.Stacks.Frames(id)
		user := nextUser(v, frames, 0)
		if w <= 0 || user < 0 {
			continue
		}
		handles, opens := false, false
		writes := false
		for _, f := range frames[:user] {
			name := p.Stacks.Frame(f).Func
			h, o := handlesFile(name)
			handles, opens, writes = handles || h, opens || o, writes || makesFile[name]
		}
		if !handles || writes {
			continue
		}
		name := p.Stacks.Frame(frames[user]).Func
		if by[name] == nil {
			by[name] = &opener{name: name, at: p.Stacks.Frame(frames[user]), costs: map[stack.Frame]bool{}}
		}
		if by[name].files += w; opens {
			by[name].opens += w
		}
		files += w
	}
	for _, o := range slices.SortedFunc(maps.Values(by), func(a, b *opener) int { return cmp.Or(cmp.Compare(b.files, a.files), cmp.Compare(a.name, b.name)) }) {
		if o.files >= fewOpens && (o.opens >= fewOpens || opensBySource(in.code, o.at)) && float64(o.files) >= mostOfFiles*float64(files) {
			best = o
			break
		}
	}
	if best == nil {
		return nil
	}
	first, last := openingLoop(in.code, best.at)
	for id, w := range p.Samples(index) {
		frames := facts.Frames(p.Stacks, id)
		at := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.Func == best.name })
		if w <= 0 || at < 0 || last > 0 && (frames[at].Line < first || last < frames[at].Line) {
			continue
		}
		best.weight += w
		best.costs[lineOnly(frames[at])] = true
		if i := slices.IndexFunc(frames[:at], sortsFrame); i >= 0 {
			for !in.Session.Scope().IsUser(frames[i]) {
				i++
			}
			best.sorts, best.sorted = best.sorts+w, frames[i]
		}
		if w > best.most {
			best.most, best.heavy = w, frames[at:]
		}
	}
	return best
}

// sortsFrame tells of a frame that it is that of a function that sorts.
func sortsFrame(f stack.Frame) bool {
	switch stack.Package(f.Func) {
	case "sort":
		return true
	case "slices":
		return strings.Contains(f.Func, "Sort") || strings.Contains(f.Func, "sort")
	}
	return false
}

func (o *opener) finding(r *Rule, in *Input, cpu *facts.Weights, seen facts.Reopened, share stats.Interval, total int64) Finding {
	at := o.heavy[0]
	first := seen.Files[0]
	which := fmt.Sprintf("%s was seen opened %s", path.Base(first.Path), unit.Plural(int64(first.Opened), "time"))
	if n := len(seen.Files); n > 1 {
		which = fmt.Sprintf("%s were seen opened %s times, %s alone %d times", unit.Plural(int64(n), "file"), unit.Count(int64(seen.Opened)), path.Base(first.Path), first.Opened)
	}
	f := r.answer(Found, "%s of the CPU time goes into %s, which opens files and works through them; the same ones are opened again and again: %s, in %s at the open files",
		unit.Percent(share.Estimate), stack.Short(stack.FoldGenerics(o.name)), which, unit.Plural(int64(seen.Looks), "look"))
	f.Severity, f.Score = Info, score(share.Estimate, 0.10, 0.40)
	if share.Low >= r.param("warn") {
		f.Severity = Warning
	}
	f.Impact = &Impact{share.Estimate, "share of CPU samples", share.Low, share.High}
	f.Evidence = []Evidence{in.fileAt(cpu.Entry, at, o.heavy, "%d of %d samples", o.weight, total)}
	for _, x := range seen.Files[:min(len(seen.Files), 3)] {
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s: opened %d times, as far as was seen", x.Path, x.Opened), Path: seen.Entry.Path, Phase: seen.Phase})
	}
	for i, x := range o.heavy {
		if loops := loopsAround(in.code, x); i > 0 && in.Session.Scope().IsUser(x) && len(loops) > 0 {
			first, _ := loops[len(loops)-1].source.lines(loops[len(loops)-1].stmt)
			f.Summary += fmt.Sprintf("; the loop at %s comes to it in each turn", fileLine(x.File, first))
			f.Evidence = append(f.Evidence, in.code.shownAt(x.File, x.Line, "it is called here, in the loop at line %d", first))
			break
		}
	}
	for at := range o.costs {
		f.costs = append(f.costs, cost{file: at.File, line: at.Line})
	}
	f.saves = true
	f.Advice = "Read each file once and keep what was made of it: pass it on to all that need it within one request or run, or keep it by its path, and read it again when its time of modification or its size is another one."
	if seen.Changed {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "some of these files changed while it was recorded: what is kept has to be checked against the time of modification")
	}
	if param := o.dependsOn(in.code); param != "" {
		f.Severity, f.saves = Info, false
		f.Doubts = append(f.Doubts, fmt.Sprintf("what it makes of a file also depends on %s: if that is another one each time, only reading and parsing are saved", param))
	}
	if float64(o.sorts) >= muchOfAll*float64(o.weight) {
		f.Doubts = append(f.Doubts, fmt.Sprintf("%s of it is a sort at %s, within it: keep what is sorted; where another order is asked for each time, the sort stays", unit.Percent(float64(o.sorts)/float64(o.weight)), place(o.sorted)))
	}
	f.Doubts = append(f.Doubts, "if the files are read to find what has changed in them, or is damaged, they have to be read; and a file that is larger than memory cannot be kept")
	f.Doubts = append(f.Doubts, "which file the function opens is not seen where several functions open some; what else it does is counted with it")
	if at, ok := o.changed(in); ok {
		f.keptChanged(in.code, at, "Read each file once and keep what was made of it by its path; read it again when its time of modification or its size is another one.")
	} else {
		f.Doubts = append(f.Doubts, "whoever changes what was made of a file, or what it points to, needs a copy of his own")
	}
	f.Verify = "Record again under the same load: the share should fall below " + unit.Percent(r.param("share")) + "."
	return f
}

// changed finds where what is made of the files is changed by those who get it: what the function returns, or what its caller
// makes of that where it only reads.
func (o *opener) changed(in *Input) (at codeLine, ok bool) {
	d, made := newDerivations(in.code), 0
	way := slices.Clone(o.heavy)
	for i, f := range way {
		if !in.Session.Scope().IsUser(f) {
			way = way[:i]
			break
		}
	}
	for made < 2 && made+1 < len(way) {
		if in, ok := d.at(way[made]); !ok || !handsOnFile(in.decl) {
			break
		}
		made++
	}
	return parsedWritten(d, way, made)
}
