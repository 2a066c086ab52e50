package profiletest

import (
	"cmp"
	"encoding/binary"
	"path"
	"strconv"
	"strings"
)

// Message is a protocol buffer message under construction, for tests that
// need a profile no picture can show, such as a broken one. Its methods append
// a field and return the longer message.
type Message []byte

// Varint appends a number.
func (m Message) Varint(field int, v uint64) Message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), v)
}

// Bytes appends a string or a message.
func (m Message) Bytes(field int, b []byte) Message {
	m = binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3|2), uint64(len(b)))
	return append(m, b...)
}

// Varints appends a list of numbers, packed when it is longer than two, as
// all of Go's writers do.
func (m Message) Varints(field int, list []uint64, packed bool) Message {
	if !packed || len(list) <= 2 {
		for _, v := range list {
			m = m.Varint(field, v)
		}
		return m
	}
	var b []byte
	for _, v := range list {
		b = binary.AppendUvarint(b, v)
	}
	return m.Bytes(field, b)
}

// encoder keeps the tables of a profile that is being written.
type encoder struct {
	opt     Options
	strings map[string]uint64
	table   []string

	locations, functions               map[string]uint64
	locationTable, functionTable, rows Message
}

func (e *encoder) str(s string) uint64 {
	i, ok := e.strings[s]
	if !ok {
		i = uint64(len(e.table))
		e.strings[s] = i
		e.table = append(e.table, s)
	}
	return i
}

func (e *encoder) typ(s string) Message {
	name, unit, _ := strings.Cut(s, "/")
	return Message{}.Varint(1, e.str(name)).Varint(2, e.str(unit))
}

// encode writes the parts in one of the two orders that exist: Go streams the
// tables before the samples that need them and the strings last, google/pprof
// writes the samples first.
func (e *encoder) encode(samples []sample) []byte {
	var types, rest Message
	for _, t := range e.opt.Types {
		types = types.Bytes(1, e.typ(t))
	}
	for _, s := range samples {
		e.sample(s)
	}
	mapping := Message{}.Varint(1, 1).Varint(2, 0x400000).Varint(3, 0x800000).
		Varint(5, e.str(e.opt.Binary)).Varint(6, e.str(e.opt.BuildID)).Varint(7, 1)
	mappings := Message{}.Bytes(3, mapping)
	if !e.opt.Time.IsZero() {
		rest = rest.Varint(9, uint64(e.opt.Time.UnixNano()))
	}
	period, every := "cpu/nanoseconds", int64(10000000)
	if e.opt.Period > 0 {
		period, every = "space/bytes", e.opt.Period
	}
	rest = rest.Varint(10, uint64(e.opt.Duration)).Bytes(11, e.typ(period)).Varint(12, uint64(every))
	for _, c := range e.opt.Comments {
		rest = rest.Varint(13, e.str(c))
	}
	rest = rest.Varint(14, e.str(e.opt.Default))
	var table Message
	for _, s := range e.table {
		table = table.Bytes(6, []byte(s))
	}
	order := []Message{types, rest, e.locationTable, e.functionTable, e.rows, mappings, table}
	if e.opt.SamplesFirst {
		order = []Message{types, e.rows, mappings, e.locationTable, e.functionTable, table, rest}
	}
	var out []byte
	for _, part := range order {
		out = append(out, part...)
	}
	return out
}

func (e *encoder) sample(s sample) {
	var ids, values []uint64
	// Leaf first. Cells inlined into the one above form one location with it.
	for i := len(s.cells) - 1; i >= 0; {
		group := []string{s.cells[i]}
		for i > 0 && strings.HasSuffix(s.cells[i], "~") {
			i--
			group = append(group, s.cells[i])
		}
		i--
		ids = append(ids, e.location(group))
	}
	for _, v := range s.values {
		values = append(values, uint64(v))
	}
	m := Message{}.Varints(1, ids, !e.opt.Unpacked).Varints(2, values, !e.opt.Unpacked)
	for _, l := range s.labels {
		key, value, _ := strings.Cut(l, "=")
		label := Message{}.Varint(1, e.str(key))
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			label = label.Varint(3, uint64(n))
		} else {
			label = label.Varint(2, e.str(value))
		}
		m = m.Bytes(3, label)
	}
	e.rows = e.rows.Bytes(2, m)
}

func (e *encoder) location(group []string) uint64 {
	key := strings.Join(group, " ")
	if id, ok := e.locations[key]; ok {
		return id
	}
	id := uint64(len(e.locations) + 1)
	e.locations[key] = id
	m := Message{}.Varint(1, id).Varint(2, 1).Varint(3, 0x400000+16*id)
	for _, cell := range group {
		if cell == "?" {
			continue
		}
		name, file, line := frame(cell)
		m = m.Bytes(4, Message{}.Varint(1, e.function(name, file)).Varint(2, uint64(line)))
	}
	e.locationTable = e.locationTable.Bytes(4, m)
	return id
}

func (e *encoder) function(name, file string) uint64 {
	key := name + " " + file
	if id, ok := e.functions[key]; ok {
		return id
	}
	id := uint64(len(e.functions) + 1)
	e.functions[key] = id
	m := Message{}.Varint(1, id).Varint(2, e.str(name)).Varint(3, e.str(name)).Varint(4, e.str(file)).Varint(5, uint64(cmp.Or(e.opt.Starts[name], e.opt.Start)))
	e.functionTable = e.functionTable.Bytes(5, m)
	return id
}

// frame reads a cell. Without a file, "a/b.(*T).parse" is in "a/b/parse.go".
func frame(cell string) (name, file string, line int) {
	name, at, _ := strings.Cut(strings.TrimSuffix(cell, "~"), ":")
	line = 1
	if i := strings.LastIndexByte(at, ':'); i >= 0 {
		file, at = at[:i], at[i+1:]
	}
	if n, err := strconv.Atoi(at); err == nil {
		line = n
	} else if at != "" {
		panic("cell " + strconv.Quote(cell) + ": the line is no number")
	}
	if file == "" {
		dir, base := path.Split(name)
		pkg, local, _ := strings.Cut(base, ".")
		file = path.Join(dir, pkg, path.Base(strings.ReplaceAll(local, ".", "/"))+".go")
	}
	return name, file, line
}
