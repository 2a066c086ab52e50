package symbol

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"loupe/value/stack"
)

var errNoDWARF = errors.New("the binary has no debug information (built with -ldflags=-w or -s, or stripped)")

const defaultMaxDWARF = 1 << 30

// dwarfIndex finds lines and calls by address in DWARF. It knows the addresses
// of all compilation units and decodes a unit when an address falls into it.
type dwarfIndex struct {
	data     *dwarf.Data
	demangle func(string) string
	ranges   []unitRange // by low
}

type unitRange struct {
	low, high uint64
	unit      *unit
}

// unit is one compilation unit: a C file, a Go package.
type unit struct {
	entry   *dwarf.Entry
	version uint16 // of DWARF

	onceLines, onceCalls sync.Once

	rows  []lineRow // by address
	calls []dwarfCall
	outer []callRange // ranges of the functions of the machine, by low
}

// lineRow is a row of the line table; it holds up to the next row.
type lineRow struct {
	addr         uint64
	file         *dwarf.LineFile
	line, column int
	end          bool // nothing is known from here to the next row
}

// dwarfCall is a function, or a call that was inlined into the function that
// stands before it.
type dwarfCall struct {
	name      string
	startLine int
	ranges    [][2]uint64
	inlined   bool
	callFile  string // where an inlined function is called
	callLine  int
	callCol   int
}

type callRange struct {
	low, high uint64
	call      int
}

// debugInfo is the debug information of a binary.
type debugInfo struct {
	img      *image
	limit    int64 // bytes of it in memory
	readable func(symbol string) string
	debug    func() (*dwarfIndex, error)
	params   func() (*paramReader, error)
}

func newDebugInfo(img *image, limit int64, readable func(string) string) debugInfo {
	if limit <= 0 {
		limit = defaultMaxDWARF
	}
	x := debugInfo{img: img, limit: limit, readable: readable}
	unread := x
	x.debug = sync.OnceValues(unread.open)
	indexed := x
	x.params = sync.OnceValues(indexed.openParams)
	return x
}

// HasDWARF says whether there is debug information: -ldflags=-w, -ldflags=-s
// and strip remove it.
func (x *debugInfo) HasDWARF() bool { return x.img.section(".debug_info") != nil }

// DWARF returns the debug information for those who want more of it than
// [Binary.Frames] tells: types and parameters. Where variables are at run time
// is left out of it.
func (x *debugInfo) DWARF() (*dwarf.Data, error) {
	d, err := x.debug()
	if err != nil {
		return nil, err
	}
	return d.data, nil
}

func (x *debugInfo) open() (*dwarfIndex, error) {
	if !x.HasDWARF() {
		return nil, errNoDWARF
	}
	limit := x.limit
	load := func(name string) ([]byte, error) {
		s := x.img.section(".debug_" + name)
		if s == nil {
			return nil, nil
		}
		data, err := x.img.data(s, limit)
		limit -= int64(len(data))
		return data, err
	}
	parts := map[string][]byte{}
	for _, name := range []string{"info", "abbrev", "str", "line", "ranges", "addr", "line_str", "str_offsets", "rnglists"} {
		data, err := load(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read debug information: %w", err)
		}
		parts[name] = data
	}
	data, err := dwarf.New(parts["abbrev"], nil, nil, parts["info"], parts["line"], nil, parts["ranges"], parts["str"])
	if err != nil {
		return nil, fmt.Errorf("cannot read debug information: %w", err)
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if err := data.AddSection(".debug_"+name, parts[name]); err != nil {
			return nil, fmt.Errorf("cannot read debug information: %w", err)
		}
	}
	d := &dwarfIndex{data: data, demangle: x.readable}
	d.readUnits(x.img, parts["info"])
	return d, nil
}

// readUnits lists the compilation units with their addresses. Their headers
// lead from one to the next; to get past a unit with debug/dwarf alone, all
// of its entries would have to be decoded.
func (d *dwarfIndex) readUnits(img *image, info []byte) {
	r := d.data.Reader()
	for off := uint64(0); off+12 <= uint64(len(info)); {
		head := info[off:]
		size, width := uint64(img.order.Uint32(head)), uint64(4)
		if size == 1<<32-1 && len(head) >= 12 {
			size, width = img.order.Uint64(head[4:]), 8
			head = head[8:]
		}
		body := off + (3*width - 8) // behind the length: 4 or 12 bytes
		if size < 7 || size > uint64(len(info))-body || len(head) < 8 {
			return
		}
		first := body + 2 + width + 1 // version, offset of abbreviations, address size
		version := img.order.Uint16(head[4:])
		if version >= 5 {
			first++
			if kind := head[6]; kind == 4 || kind == 5 {
				first += 8 // split units have an id
			}
		}
		off = body + size
		r.Seek(dwarf.Offset(first))
		entry, err := r.Next()
		if err != nil || entry == nil || entry.Tag != dwarf.TagCompileUnit {
			continue
		}
		ranges, err := d.data.Ranges(entry)
		if err != nil {
			continue
		}
		u := &unit{entry: entry, version: version}
		for _, lh := range ranges {
			if lh[0] < lh[1] {
				d.ranges = append(d.ranges, unitRange{lh[0], lh[1], u})
			}
		}
	}
	slices.SortStableFunc(d.ranges, func(x, y unitRange) int { return cmp.Compare(x.low, y.low) })
}

// unit returns the compilation unit of an address.
func (d *dwarfIndex) unit(pc uint64) *unit {
	i := sort.Search(len(d.ranges), func(i int) bool { return pc < d.ranges[i].low }) - 1
	if i < 0 || pc >= d.ranges[i].high {
		return nil
	}
	return d.ranges[i].unit
}

func (d *dwarfIndex) readLines(u *unit) {
	lines, err := d.data.LineReader(u.entry)
	if err != nil || lines == nil {
		return
	}
	var e dwarf.LineEntry
	for lines.Next(&e) == nil {
		u.rows = append(u.rows, lineRow{addr: e.Address, file: e.File, line: e.Line, column: e.Column, end: e.EndSequence})
	}
	// The end of one sequence may be the start of the next.
	slices.SortStableFunc(u.rows, func(x, y lineRow) int {
		if x.addr == y.addr && x.end != y.end {
			if x.end {
				return -1
			}
			return 1
		}
		return cmp.Compare(x.addr, y.addr)
	})
}

// row returns the row of the line table that holds at pc.
func (u *unit) row(pc uint64) (lineRow, bool) {
	i := sort.Search(len(u.rows), func(i int) bool { return pc < u.rows[i].addr }) - 1
	if i < 0 || u.rows[i].end {
		return lineRow{}, false
	}
	return u.rows[i], true
}

// readCalls walks the entries of the unit for functions and what is inlined
// into them, in the order of the tree: callers before callees.
func (d *dwarfIndex) readCalls(u *unit) {
	var files []*dwarf.LineFile
	if lines, err := d.data.LineReader(u.entry); err == nil && lines != nil {
		files = lines.Files()
	}
	r, names := d.data.Reader(), d.data.Reader()
	r.Seek(u.entry.Offset)
	if _, err := r.Next(); err != nil {
		return
	}
	for depth := 1; depth > 0; {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag == 0 {
			depth--
			continue
		}
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			if c, ok := d.call(e, names, files); ok {
				if !c.inlined {
					for _, lh := range c.ranges {
						u.outer = append(u.outer, callRange{lh[0], lh[1], len(u.calls)})
					}
				}
				u.calls = append(u.calls, c)
			} else if e.Tag == dwarf.TagSubprogram && e.Children {
				r.SkipChildren() // abstract: it has no addresses
				continue
			}
		case dwarf.TagLexDwarfBlock, dwarf.TagNamespace, dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType:
			// Functions and inlined calls may be below these.
		default:
			if e.Children {
				r.SkipChildren()
			}
			continue
		}
		if e.Children {
			depth++
		}
	}
	slices.SortStableFunc(u.outer, func(x, y callRange) int { return cmp.Compare(x.low, y.low) })
}

func (d *dwarfIndex) call(e *dwarf.Entry, names *dwarf.Reader, files []*dwarf.LineFile) (dwarfCall, bool) {
	c := dwarfCall{inlined: e.Tag == dwarf.TagInlinedSubroutine}
	ranges, err := d.data.Ranges(e)
	if err != nil || len(ranges) == 0 {
		return c, false
	}
	c.ranges = ranges
	c.name, c.startLine = d.describe(e, names)
	if n, ok := e.Val(dwarf.AttrCallFile).(int64); ok && n >= 0 && n < int64(len(files)) && files[n] != nil {
		c.callFile = files[n].Name
	}
	if n, ok := e.Val(dwarf.AttrCallLine).(int64); ok {
		c.callLine = int(n)
	}
	if n, ok := e.Val(dwarf.AttrCallColumn).(int64); ok {
		c.callCol = int(n)
	}
	return c, true
}

// describe finds the name and first line of a function, which stand at the
// entry itself, at the abstract one that it is an instance of, or at the
// declaration in a class.
func (d *dwarfIndex) describe(e *dwarf.Entry, r *dwarf.Reader) (name string, line int) {
	for range 4 {
		if s, ok := e.Val(dwarf.AttrLinkageName).(string); ok {
			// Without a way to demangle, the plain name reads better.
			if plain := d.demangle(s); plain != s {
				name = plain
			}
		}
		if s, ok := e.Val(dwarf.AttrName).(string); ok && name == "" {
			name = s
		}
		if n, ok := e.Val(dwarf.AttrDeclLine).(int64); ok && line == 0 {
			line = int(n)
		}
		origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if origin, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				break
			}
		}
		r.Seek(origin)
		next, err := r.Next()
		if err != nil || next == nil {
			break
		}
		e = next
	}
	return name, line
}

// line returns the position of the statement at pc.
func (d *dwarfIndex) line(pc uint64) (file string, line, column int) {
	u := d.unit(pc)
	if u == nil {
		return "", 0, 0
	}
	u.onceLines.Do(func() { d.readLines(u) })
	row, ok := u.row(pc)
	if !ok {
		return "", 0, 0
	}
	if row.file != nil {
		file = row.file.Name
	}
	return file, row.line, row.column
}

// frames returns the calls at pc, the innermost first.
func (d *dwarfIndex) frames(pc uint64) []Frame {
	u := d.unit(pc)
	if u == nil {
		return nil
	}
	u.onceCalls.Do(func() { d.readCalls(u) })
	i := sort.Search(len(u.outer), func(i int) bool { return pc < u.outer[i].low }) - 1
	if i < 0 || pc >= u.outer[i].high {
		return nil
	}
	first := u.outer[i].call
	chain := []*dwarfCall{&u.calls[first]} // outermost first
	for j := first + 1; j < len(u.calls) && u.calls[j].inlined; j++ {
		if u.calls[j].holds(pc) {
			chain = append(chain, &u.calls[j])
		}
	}
	frames := make([]Frame, 0, len(chain))
	file, line, column := d.line(pc)
	for i := len(chain) - 1; i >= 0; i-- {
		c := chain[i]
		frames = append(frames, Frame{
			Frame:  stack.Frame{Func: c.name, File: file, Line: line, StartLine: c.startLine, Inlined: c.inlined},
			Column: column,
		})
		file, line, column = c.callFile, c.callLine, c.callCol
	}
	return frames
}

func (c *dwarfCall) holds(pc uint64) bool {
	return slices.ContainsFunc(c.ranges, func(lh [2]uint64) bool { return lh[0] <= pc && pc < lh[1] })
}
