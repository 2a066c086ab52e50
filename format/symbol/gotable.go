package symbol

import "sync"

// goTable answers from Go's own table of functions alone.
type goTable struct {
	table    func() (*pclntab, error)
	oldTypes func() module // bounds of types, where the table does not have them
}

func newGoTable(img *image, bounds func() module) goTable {
	bounds = sync.OnceValue(bounds)
	return goTable{
		table:    sync.OnceValues(func() (*pclntab, error) { return openTable(img, bounds) }),
		oldTypes: bounds,
	}
}

// IsGo says whether the binary holds Go code with its table of functions.
func (x *goTable) IsGo() bool {
	_, err := x.table()
	return err == nil
}

// FrameSize returns how many bytes the stack pointer has moved since the entry
// of the Go function that holds pc, when the instruction there has not run yet:
// the return address lies so far above it, but on machines with a link register.
func (x *goTable) FrameSize(pc uint64) (int, bool) {
	t, err := x.table()
	if err != nil {
		return 0, false
	}
	f, ok := t.find(pc)
	if !ok || f.t.uint32(f.field(fieldFrame)) == 0 {
		return 0, false
	}
	it := f.moved()
	return int(it.seek(pc)), true
}

// FunctionsNamed returns the functions with these names, several of one name
// where a generic function is compiled for several types. The names are those of
// tracebacks: "main.Map[...]".
func (x *goTable) FunctionsNamed(names map[string]bool) (map[string][]Func, error) {
	t, err := x.table()
	if err != nil {
		return nil, err
	}
	out := map[string][]Func{}
	for i := range t.nfunc {
		f, ok := t.funcAt(i)
		if !ok {
			continue
		}
		name := t.p.cstring(f.nameOff())
		if names[string(name)] {
			out[string(name)] = append(out[string(name)], f.export())
			continue
		}
		if folded := PrintedName(string(name)); names[folded] {
			out[folded] = append(out[folded], f.export())
		}
	}
	return out, nil
}

// typeBounds returns where the descriptions of types are.
func (x *goTable) typeBounds() (types, end uint64) {
	t, err := x.table()
	if err != nil {
		return 0, 0
	}
	if t.types != 0 {
		return t.types, t.typesEnd
	}
	m := x.oldTypes()
	return m.types, m.typesEnd
}
