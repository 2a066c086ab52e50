package pprof

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/format/symbol"
)

// Routine is a function of the machine with the weights of its instructions.
type Routine struct {
	Names      []string // of the symbols at its address
	Start, End uint64   // addresses as linked
	Flat, Cum  int64    // sums over the instructions
	Code       []Instruction
}

// Instruction is one machine instruction and its weight.
type Instruction struct {
	symbol.Inst
	Sampled       string // function that its samples name; "" without samples
	Flat, FlatDiv int64
	Cum, CumDiv   int64
}

// FlatValue returns the weight of the instruction itself, or the mean of it.
func (i *Instruction) FlatValue() int64 { return divide(i.Flat, i.FlatDiv) }

// CumValue returns the weight with all that the instruction calls, or the mean
// of it.
func (i *Instruction) CumValue() int64 { return divide(i.Cum, i.CumDiv) }

func divide(v, by int64) int64 {
	if by == 0 {
		return v
	}
	return v / by
}

// addressed is a node of the graph at an address as linked.
type addressed struct {
	*calltree.Node
	at uint64
}

// Disassembly returns the functions with weights whose symbols match, by name,
// or the one that holds the address, if the expression is one. It opens the
// binaries that the mappings name.
func (r *Report) Disassembly() ([]Routine, error) {
	opt := graphOptions(r)
	opt.Modules = true
	g := graphOf(r, opt)
	address, err := strconv.ParseUint(r.match.String(), 0, 64)
	isAddress := err == nil
	matched := map[string]bool{} // binaries
	for _, n := range g.Nodes {
		if n.Module != "" && r.match.MatchString(n.Place.String()) {
			matched[n.Module] = true
		}
	}
	var routines []Routine
	found := false
	var failed error
	for _, m := range r.Profile.Mappings {
		if !matched[m.File] && !(isAddress && m.Start <= address && address <= m.Limit) {
			continue
		}
		b, err := openBinary(r, m)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		list, any, err := disassemble(r, b, m, g, address, isAddress)
		if err != nil {
			return nil, err
		}
		found = found || any
		routines = append(routines, list...)
	}
	if len(routines) == 0 {
		switch {
		case failed != nil:
			return nil, failed
		case !isAddress:
			return nil, fmt.Errorf("no matches found for regexp %s", r.match)
		case !found:
			return nil, fmt.Errorf("no matches found for address 0x%x", address)
		}
		return nil, fmt.Errorf("address 0x%x found in binary, but the corresponding symbols do not have samples in the profile", address)
	}
	slices.SortFunc(routines, func(a, b Routine) int {
		return cmp.Or(cmp.Compare(a.Names[0], b.Names[0]), cmp.Compare(a.Start, b.Start))
	})
	return routines, nil
}

// openBinary opens the binary of a mapping and says plainly when it is not the one
// that the profile was taken of.
func openBinary(r *Report, m profile.Mapping) (*symbol.Binary, error) {
	if r.env.Binary == nil {
		return nil, fmt.Errorf("cannot open %s: there are no binaries", m.File)
	}
	b, err := r.env.Binary(m)
	if err != nil {
		return nil, err
	}
	for _, fact := range b.Judge(mappingOf(m)) {
		if fact.Kind == symbol.OtherBuild || fact.Kind == symbol.NoSymbols || fact.Kind == symbol.Trimmed {
			r.env.warn("%s: %s", filepath.Base(m.File), fact.Text)
		}
	}
	return b, nil
}

func mappingOf(m profile.Mapping) symbol.Mapping {
	return symbol.Mapping{Start: m.Start, Limit: m.Limit, Offset: m.Offset, BuildID: m.BuildID}
}

// disassemble finds the routines of one binary. Any says whether some symbol
// matched, be there samples in it or not.
func disassemble(r *Report, b *symbol.Binary, m profile.Mapping, g *calltree.Graph, address uint64, isAddress bool) (routines []Routine, any bool, err error) {
	where := mappingOf(m)
	var nodes []addressed
	for _, n := range g.Nodes {
		if at, err := b.Translate(where, n.Address); err == nil { // or it is in another mapping
			nodes = append(nodes, addressed{n, at})
		}
	}
	if isAddress {
		if at, err := b.Translate(where, address); err == nil {
			address = at
		}
	}
	slices.SortStableFunc(nodes, func(x, y addressed) int { return cmp.Compare(x.at, y.at) })
	syms, err := b.Symbols(nil)
	if err != nil {
		return nil, false, err
	}
	syntax := symbol.GoSyntax
	if r.Config.IntelSyntax {
		syntax = symbol.IntelSyntax
	}
	for i := 0; i < len(syms); {
		group := syms[i : i+1]
		for i++; i < len(syms) && syms[i].Addr == group[0].Addr; i++ {
			group = syms[i-len(group) : i+1]
		}
		routine := Routine{Start: group[0].Addr}
		hit := false
		for _, s := range group {
			if !s.IsText() {
				continue
			}
			routine.Names = append(routine.Names, s.Name)
			routine.End = max(routine.End, s.Addr+s.Size)
			hit = hit || r.match.MatchString(s.Name)
		}
		if isAddress {
			hit = hit || routine.Start <= address && address < routine.End
		}
		if !hit {
			continue
		}
		any = true
		inside := within(nodes, routine.Start, routine.End)
		if len(inside) == 0 {
			continue
		}
		code, err := b.Disassemble(routine.Start, routine.End, syntax)
		if err != nil {
			return nil, any, err
		}
		routine.annotate(code, inside)
		routines = append(routines, routine)
	}
	return routines, any, nil
}

// within returns the nodes from one address to before another.
func within(nodes []addressed, start, end uint64) []addressed {
	at := func(a uint64) int {
		i, _ := slices.BinarySearchFunc(nodes, a, func(n addressed, a uint64) int { return cmp.Compare(n.at, a) })
		return i
	}
	return nodes[at(start):at(end)]
}

// annotate gives every instruction the weights from its address to the next
// one's: a sample may lie in the middle of an instruction.
func (r *Routine) annotate(code []symbol.Inst, nodes []addressed) {
	r.Code = make([]Instruction, len(code))
	n := 0
	for i, in := range code {
		out := &r.Code[i]
		out.Inst = in
		next := ^uint64(0)
		if i+1 < len(code) {
			next = code[i+1].PC
		}
		for ; n < len(nodes) && nodes[n].at < next; n++ {
			x := nodes[n]
			out.Flat, out.FlatDiv = out.Flat+x.Flat, out.FlatDiv+x.FlatDiv
			out.Cum, out.CumDiv = out.Cum+x.Cum, out.CumDiv+x.CumDiv
			if out.File == "" {
				out.File = x.File
			}
			if out.Line == 0 {
				out.Line = x.Line
			}
			if out.Sampled == "" {
				out.Sampled = x.Func
			}
			r.Flat, r.Cum = r.Flat+x.Flat, r.Cum+x.Cum
		}
	}
}

// writeDisassembly prints the routines as go tool pprof -disasm does.
func writeDisassembly(r *Report, w io.Writer) error {
	routines, err := r.Disassembly()
	if err != nil {
		return err
	}
	return writeRoutines(r, w, routines)
}

// WriteHeaviest writes the instructions of the n functions with the most weight of their
// own, those with more first, as the pages of go tool pprof do.
func WriteHeaviest(r *Report, w io.Writer, n int) error {
	routines, err := r.Disassembly()
	if err != nil {
		return err
	}
	return writeRoutines(r, w, Heaviest(routines, n))
}

// Heaviest returns the n routines with the most weight of their own, those with more
// first, and of equal ones by name.
func Heaviest(routines []Routine, n int) []Routine {
	out := slices.Clone(routines)
	slices.SortStableFunc(out, func(a, b Routine) int {
		return cmp.Or(cmp.Compare(b.Flat, a.Flat), cmp.Compare(a.Names[0], b.Names[0]), cmp.Compare(a.Start, b.Start))
	})
	return out[:min(n, len(out))]
}

func writeRoutines(r *Report, w io.Writer, routines []Routine) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "Total:", valueOf(r, r.Total))
	for i := range routines {
		writeRoutine(r, b, &routines[i])
	}
	return b.Flush()
}

func writeRoutine(r *Report, b *bufio.Writer, x *Routine) {
	fmt.Fprintf(b, "ROUTINE ======================== %s\n", x.Names[0])
	for _, name := range x.Names[1:] {
		fmt.Fprintf(b, "    AKA ======================== %s\n", name)
	}
	fmt.Fprintf(b, "%10s %10s (flat, cum) %s of Total\n", valueOf(r, x.Flat), valueOf(r, x.Cum), calltree.Percent(x.Cum, r.Total))
	var before place
	for i := range x.Code {
		in := &x.Code[i]
		line := fmt.Sprintf("%10s %10s %10x: ", orDot(r, in.FlatValue()), orDot(r, in.CumValue()), in.PC)
		here := place{in.Sampled, "", in.Line}
		if in.File != "" {
			here.file = filepath.Base(in.File)
		}
		where := ""
		if here != before {
			before, where = here, here.String()
		}
		switch {
		case where == "":
			fmt.Fprintf(b, "%s%s\n", line, in.Text)
		case len(in.Text) < 40:
			fmt.Fprintf(b, "%s%-40s;%s\n", line, in.Text, where)
		default:
			fmt.Fprintf(b, "%74s;%s\n%s%s\n", "", where, line, in.Text)
		}
	}
}

// place is what is printed behind an instruction, when it changes.
type place struct {
	function, file string
	line           int
}

func (p place) String() string {
	s := ""
	if p.function != "" {
		s = p.function + " "
	}
	if p.file == "" {
		return s
	}
	if s += p.file; p.line != 0 {
		s += ":" + strconv.Itoa(p.line)
	}
	return s
}

// orDot prints a weight, or a dot when there is none.
func orDot(r *Report, v int64) string {
	if v == 0 {
		return "."
	}
	return valueOf(r, v)
}
