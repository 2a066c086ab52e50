package calltree

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Source returns the text of a source file, by the name that the compiler has
// recorded: an absolute path, or a path below a module when the program was
// built with -trimpath.
type Source func(file string) ([]byte, error)

// FS reads sources from a file system. Absolute names are looked up without
// their leading slash, so os.DirFS("/") serves the local disk.
func FS(fsys fs.FS) Source {
	return func(file string) ([]byte, error) {
		return fs.ReadFile(fsys, strings.TrimPrefix(path.Clean(file), "/"))
	}
}

// Line is one line of source and its weight.
type Line struct {
	Number    int
	Flat, Cum int64  // of the line itself, and with all that it calls
	Text      string // without the line end; "" when there is no source
	// Notes are printed below the line. pprof has none; they are for whoever
	// knows more about it.
	Notes []string
}

// Routine is the part of a function that lies in one file.
type Routine struct {
	Func, File string // File is "" when the profile does not know it
	// Flat and Cum are the sums over the lines. A recursive function can have
	// a Cum beyond the total, for it is counted once for each of its lines.
	Flat, Cum int64
	// Lines run from the first line of the function to five lines behind the
	// last one with a weight. Without source only lines with a weight are here.
	Lines []Line
	Err   error // why there is no source
}

// Listing is the source of functions with the weight of every line.
type Listing struct {
	Total    int64 // sum of the absolute weights of all samples
	Routines []Routine
}

// Keep leaves of the listing the functions in the n files whose functions have the most
// weight of their own together.
func (l *Listing) Keep(n int) {
	flat := map[string]int64{}
	for i := range l.Routines {
		flat[l.Routines[i].File] += l.Routines[i].Flat
	}
	if len(flat) <= n {
		return
	}
	files := slices.SortedFunc(maps.Keys(flat), func(a, b string) int { return cmp.Or(cmp.Compare(flat[b], flat[a]), cmp.Compare(a, b)) })
	l.Routines = slices.DeleteFunc(l.Routines, func(r Routine) bool { return !slices.Contains(files[:n], r.File) })
}

// margin is how many lines a listing goes on behind the last weight, and
// begins before the first one if the start of the function is not known.
const margin = 5

// List weighs the source lines of all functions whose names match. It fails
// when none does. A file that cannot be read is an Err of its routine. Of the
// options NoInlines, DropNegative and Path count; lines, modules and all nodes
// are a matter of course.
func List(t *stack.Table, samples iter.Seq[Sample], match *regexp.Regexp, source Source, opt Options) (*Listing, error) {
	g := New(t, samples, Options{
		Granularity: Lines, Modules: true, NoEdges: true, Match: match.MatchString,
		NoInlines: opt.NoInlines, Columns: opt.Columns, DropNegative: opt.DropNegative, Path: opt.Path,
	})
	if len(g.Nodes) == 0 {
		return nil, fmt.Errorf("no matches found for regexp: %s", match)
	}
	routines := map[string]map[string]*lineWeights{} // by name and file
	for _, n := range g.Nodes {
		if routines[n.Func] == nil {
			routines[n.Func] = map[string]*lineWeights{}
		}
		files := routines[n.Func]
		if files[n.File] == nil {
			files[n.File] = &lineWeights{first: n.firstLine(), byLine: map[int]*Line{}}
		}
		files[n.File].add(n)
	}
	l := &Listing{Total: g.Total}
	texts := map[string]*text{}
	for _, name := range slices.Sorted(maps.Keys(routines)) {
		files := routines[name]
		if len(files) > 1 {
			delete(files, "") // pprof shows what it has and is silent on the rest
		}
		for _, file := range slices.Sorted(maps.Keys(files)) {
			r := files[file]
			// The compiler has recorded lines before the first one of their
			// function. Then nothing is shown, and no source is missed.
			if file != "" && texts[file] == nil && r.first <= r.last {
				texts[file] = read(source, file)
			}
			l.Routines = append(l.Routines, r.routine(name, file, texts[file]))
		}
	}
	return l, nil
}

// lineWeights are the lines of one function in one file.
type lineWeights struct {
	first, last int // lines to show
	byLine      map[int]*Line
}

// firstLine is where a listing begins if the node is all that there is.
func (n *Node) firstLine() int {
	if n.StartLine != 0 {
		return n.StartLine
	}
	return n.Line - margin
}

// add counts a node. Weights are sums even where the total is a mean: so does
// pprof.
func (l *lineWeights) add(n *Node) {
	l.first, l.last = min(l.first, n.firstLine()), max(l.last, n.Line+margin)
	line := l.byLine[n.Line]
	if line == nil {
		line = &Line{Number: n.Line}
		l.byLine[n.Line] = line
	}
	line.Flat += n.Flat
	line.Cum += n.Cum
}

func (l *lineWeights) routine(name, file string, src *text) Routine {
	r := Routine{Func: name, File: file}
	for _, line := range l.byLine {
		r.Flat += line.Flat
		r.Cum += line.Cum
	}
	if file != "" && l.first > l.last {
		return r
	}
	if src == nil || src.err != nil {
		for _, line := range l.byLine {
			r.Lines = append(r.Lines, *line)
		}
		slices.SortFunc(r.Lines, func(a, b Line) int { return cmp.Compare(a.Number, b.Number) })
		if src != nil {
			r.Err = src.err
		}
		return r
	}
	for number := max(l.first, 1); number <= min(l.last, len(src.lines)); number++ {
		line := Line{Number: number}
		if weight := l.byLine[number]; weight != nil {
			line = *weight
		}
		line.Text = src.lines[number-1]
		r.Lines = append(r.Lines, line)
	}
	return r
}

// text is a source file cut into lines, or the reason why there is none.
type text struct {
	lines []string
	err   error
}

func read(source Source, file string) *text {
	if source == nil {
		return &text{err: errors.New("no source was given")}
	}
	data, err := source(file)
	if err != nil {
		return &text{err: err}
	}
	t := &text{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		t.lines = append(t.lines, strings.TrimSuffix(line, "\r"))
	}
	return t
}
