package calltree

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"

	"loupe/value/stack"
)

// Granularity says which frames are one node: those that agree in all that it
// names.
type Granularity uint8

// The granularities of pprof.
const (
	Functions     Granularity = iota // name of the function
	FileFunctions                    // name and file
	Files                            // file
	Lines                            // name, file and line
	Addresses                        // name, file, line, column and address
)

// ParseGranularity finds a granularity by pprof's name; "" is functions.
func ParseGranularity(name string) (Granularity, error) {
	if name == "" {
		return Functions, nil
	}
	for g := Functions; g <= Addresses; g++ {
		if g.String() == name {
			return g, nil
		}
	}
	return 0, fmt.Errorf("cannot use granularity %q: choose functions, filefunctions, files, lines or addresses", name)
}

// String returns pprof's name: "functions", "filefunctions", "files", "lines"
// or "addresses".
func (g Granularity) String() string {
	names := [...]string{"functions", "filefunctions", "files", "lines", "addresses"}
	if int(g) < len(names) {
		return names[g]
	}
	return fmt.Sprintf("Granularity(%d)", uint8(g))
}

// Place is what makes a node: the frames that are equal in it count together.
// The granularity says which fields are filled. Module and StartLine are there
// when the options ask for modules, and where there is no name to go by.
type Place struct {
	Func, File, Module string
	Address            uint64
	Line, Column       int
	StartLine          int
}

// String returns the name of a place as pprof prints it: address, function and
// position, as far as they are known, or else "[binary]" or "<unknown>".
func (p Place) String() string { return strings.Join(p.Components(), " ") }

// Components returns the parts of [Place.String]: the address, the name of the
// function, and the file with line and column.
func (p Place) Components() []string {
	var parts []string
	if p.Address != 0 {
		parts = append(parts, fmt.Sprintf("%016x", p.Address))
	}
	if p.Func != "" {
		parts = append(parts, p.Func)
	}
	switch {
	case p.Line != 0 && p.Column != 0:
		parts = append(parts, p.File+":"+strconv.Itoa(p.Line)+":"+strconv.Itoa(p.Column))
	case p.Line != 0:
		parts = append(parts, p.File+":"+strconv.Itoa(p.Line))
	case p.File != "":
		parts = append(parts, p.File)
	case p.Func != "":
	case p.Module != "":
		parts = append(parts, "["+path.Base(p.Module)+"]")
	default:
		parts = append(parts, "<unknown>")
	}
	return parts
}

// function returns the place of the whole function.
func (p Place) function() Place {
	if p.Address != 0 || p.Line != 0 {
		p.Address, p.Line, p.Column = 0, 0, 0
	}
	return p
}

func (p Place) compare(q Place) int {
	return cmp.Or(strings.Compare(p.Func, q.Func), cmp.Compare(p.Address, q.Address), strings.Compare(p.File, q.File),
		cmp.Compare(p.StartLine, q.StartLine), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column),
		strings.Compare(p.Module, q.Module))
}

// What a frame is when it is no node.
const (
	dropped = -1 // it was cut: a call over it is residual
	absent  = -2 // it is not there at all
)

// places are the nodes of a table under some options.
type places struct {
	of      []int32         // node by frame, or dropped or absent
	inlined []bool          // by frame
	list    []Place         // by node
	frames  []stack.FrameID // by node, the first that was met
}

// newPlaces gives every frame its node.
func newPlaces(t *stack.Table, opt *Options) *places {
	p := &places{of: make([]int32, t.NumFrames()), inlined: make([]bool, t.NumFrames())}
	byFunc := map[string]int32{} // the common case has a cheaper key
	byPlace := map[Place]int32{}
	matches := map[string]bool{}
	clean := map[string]string{}
	for id := range p.of {
		f := t.Frame(stack.FrameID(id))
		p.inlined[id] = f.Inlined
		if opt.NoInlines && f.Inlined {
			p.of[id] = absent
			continue
		}
		if opt.Match != nil {
			hit, known := matches[f.Func]
			if !known {
				hit = opt.Match(f.Func)
				matches[f.Func] = hit
			}
			if !hit {
				p.of[id] = dropped
				continue
			}
		}
		file, known := clean[f.File]
		if !known {
			file = opt.cleanPath(f.File)
			clean[f.File] = file
		}
		place := opt.place(&f, file)
		bare := place == Place{Func: place.Func}
		n, ok := int32(0), false
		if bare {
			n, ok = byFunc[place.Func]
		} else {
			n, ok = byPlace[place]
		}
		if !ok {
			n = int32(len(p.list))
			p.list = append(p.list, place)
			p.frames = append(p.frames, stack.FrameID(id))
			if bare {
				byFunc[place.Func] = n
			} else {
				byPlace[place] = n
			}
		}
		p.of[id] = n
	}
	return p
}

func (o *Options) cleanPath(file string) string {
	if file == "" || o.Granularity == Functions {
		return ""
	}
	if o.Path != nil {
		if file = o.Path(file); file == "" {
			return ""
		}
	}
	return path.Clean(file)
}

// place tells which node a frame belongs to.
func (o *Options) place(f *stack.Frame, file string) Place {
	var p Place
	if o.Group != nil {
		p.Func = o.Group(*f)
	} else if o.Granularity != Files {
		p.Func = f.Func
	}
	if o.Granularity != Functions {
		p.File = file
	}
	if o.Granularity >= Lines {
		p.Line = f.Line
		// With addresses pprof leaves the locations as they are, columns and
		// all, unless it has to take the inlined calls out of them.
		if o.Columns || o.Granularity == Addresses && !o.NoInlines {
			p.Column = f.Column
		}
	}
	if o.Granularity == Addresses {
		p.Address = f.Address
	}
	if o.Modules || p.Func == "" {
		p.Module, p.StartLine = f.Module, f.StartLine
	}
	return p
}

// PlaceOf returns the place of a frame under the options.
func (o *Options) PlaceOf(f stack.Frame) Place { return o.place(&f, o.cleanPath(f.File)) }
