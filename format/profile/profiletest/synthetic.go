package profiletest

import (
	"fmt"
	"math/rand/v2"
)

// Synthetic returns a heap profile with this many samples, for benchmarks. Its
// shape is that of a large real one: four sample types, stacks of about 30
// locations that share their roots, four of five of them distinct, one
// location in four with an inlined call, a numeric label on every sample.
// Equal arguments give equal profiles.
func Synthetic(samples, functions int) []byte {
	const perFunction = 4
	r := rand.New(rand.NewPCG(1, uint64(samples)))
	e := &encoder{strings: map[string]uint64{"": 0}, table: []string{""}}
	var types Message
	for _, t := range []string{"alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"} {
		types = types.Bytes(1, e.typ(t))
	}
	var tables Message
	for f := range functions {
		name := e.str(fmt.Sprintf("example.com/service/pkg%d.(*Type%d).Method%d", f%97, f%31, f))
		file := e.str(fmt.Sprintf("/src/example.com/service/pkg%d/file%d.go", f%97, f%13))
		tables = tables.Bytes(5, Message{}.Varint(1, uint64(f+1)).Varint(2, name).Varint(3, name).Varint(4, file).Varint(5, uint64(f%700+1)))
	}
	locations := functions * perFunction
	for l := range locations {
		line := func(f int) Message {
			return Message{}.Varint(1, uint64(f%functions+1)).Varint(2, uint64(f%functions%700+l%perFunction*9+2))
		}
		m := Message{}.Varint(1, uint64(l+1)).Varint(2, 1).Varint(3, uint64(0x400000+16*l)).Bytes(4, line(l/perFunction))
		if l%4 == 3 {
			m = m.Bytes(4, line(l/perFunction+1))
		}
		tables = tables.Bytes(4, m)
	}
	bytesKey := e.str("bytes")
	var rows Message
	path := []uint64{uint64(locations)}
	ids := make([]uint64, 0, 64)
	for range samples {
		if r.IntN(5) > 0 { // go back a few calls and on along another way
			path = path[:max(1, len(path)-1-r.IntN(8))]
			for want := 22 + r.IntN(16); len(path) < want; {
				path = append(path, uint64(r.IntN(locations)*r.IntN(len(path)+1)/(len(path)+1)+1))
			}
		}
		ids = ids[:0]
		for i := len(path) - 1; i >= 0; i-- {
			ids = append(ids, path[i])
		}
		size, n := uint64(16<<r.IntN(12)), uint64(1+r.IntN(5000))
		values := []uint64{n, n * size, 0, 0}
		if r.IntN(4) == 0 {
			values[2], values[3] = 1, size
		}
		rows = rows.Bytes(2, Message{}.Varints(1, ids, true).Varints(2, values, true).
			Bytes(3, Message{}.Varint(1, bytesKey).Varint(3, size)))
	}
	tables = tables.Bytes(3, Message{}.Varint(1, 1).Varint(5, e.str("/bin/service")).Varint(7, 1))
	rest := Message{}.Varint(9, 1700000000e9).Bytes(11, e.typ("space/bytes")).Varint(12, 524288)
	var table Message
	for _, s := range e.table {
		table = table.Bytes(6, []byte(s))
	}
	var out []byte
	for _, part := range []Message{types, rest, tables, rows, table} {
		out = append(out, part...)
	}
	return Gzip(out)
}
