package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// symbols is a service that decodes a request without copying its text, and keeps the names in it in a table, some calls away.
const symbols = `func (h *handler) push(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	req, err := decode(body)
	if err := h.in.take(req); err != nil {
		return
	}
}
func decode(body []byte) (*batch, error) {
	text := unsafe.String(unsafe.SliceData(body), len(body))
	req := &batch{}
	var cur *series
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		switch {
		case line[0] == '@':
			req.all = append(req.all, series{title: line[1:]})
			cur = &req.all[len(req.all)-1]
		default:
			e, err := entryOf(line)
			if err != nil {
				return nil, err
			}
			cur.entries = append(cur.entries, e)
		}
	}
	return req, nil
}
func entryOf(line string) (e entry, err error) {
	for line != "" {
		var kv string
		kv, line, _ = strings.Cut(line, " ")
		key, value, ok := strings.Cut(kv, "=")
		if !ok {
			return e, errPair
		}
		e.pairs = append(e.pairs, pair{key: key, value: value})
	}
	e.message = line
	return e, nil
}
func (in *intake) take(req *batch) error {
	for _, s := range req.all {
		st := in.series(strings.Clone(s.title))
		if err := st.put(s.entries); err != nil {
			return err
		}
	}
	return nil
}
func (s *stored) put(list []entry) error {
	for _, e := range list {
		s.head = append(s.head, e.message...)
		for _, n := range s.table.numbers(e.pairs) {
			s.head = binary.AppendUvarint(s.head, uint64(n.key))
		}
	}
	return nil
}
func (t *table) numbers(list []pair) []numbered {
	out := make([]numbered, len(list))
	for i, p := range list {
		out[i] = numbered{key: t.number(p.key), value: t.number(p.value)}
	}
	return out
}
func (t *table) number(name string) uint32 {
	id, ok := t.ids[name]
	if ok {
		return id
	}
	id = uint32(len(t.names))
	t.names = append(t.names, name)
	t.ids[name] = id
	return id
}
type stored struct {
	head  []byte
	table *table
}
type table struct {
	ids   map[string]uint32
	names []string
}
type batch struct { all []series }
type series struct { title string; entries []entry }
type entry struct { pairs []pair; message string }
type pair struct { key, value string }
type numbered struct { key, value uint32 }`

// TestHolderSymbols: parts that a request is made of, which ends with the call, are followed to the table that keeps them; where nothing does, the source says nothing.
func TestHolderSymbols(t *testing.T) {
	change := func(pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(symbols, pairs[i]) {
				t.Fatalf("no %q", pairs[i])
			}
		}
		return strings.NewReplacer(pairs...).Replace(symbols)
	}
	at := func(source, text string) int { return 2 + lineWith(source, text).Line }
	const stores = "t.names = append(t.names, name)"
	names := fmt.Sprintf("goes into t.names and keeps the whole alive: copy the part at a.go:%d (and at a.go:%d), before it is stored (strings.Clone)", at(symbols, stores), at(symbols, stores)+1)
	clones := change(stores, "if t.own {\n\tname = strings.Clone(name)\n\t}\n\t"+stores)
	for _, c := range []heldCase{
		{"a table of names", symbols, names, at(symbols, stores), nil},
		{"a request by its own variable", change("req := &batch{}", "req := new(batch)"), names, at(symbols, stores), nil},
		{"a copy before it is stored", change(stores, "name = strings.Clone(name)\n\t"+stores), "", 0, nil},
		{"copies where it is cut", change("pair{key: key, value: value}", "pair{key: strings.Clone(key), value: strings.Clone(value)}"), "", 0, nil},
		{"a copy in a branch", clones, "copy it always", at(clones, stores), nil},
		{"only looked up", change(stores+"\n\tt.ids[name] = id\n", ""), "", 0, nil},
		{"only bytes of it are appended", change("s.table.numbers(e.pairs)", "s.table.all()"), "", 0, nil},
		{"entries that are kept", change("s.head = append(s.head, e.message...)", "s.list = append(s.list, e)"), "goes into s.list and keeps the whole alive", 0, nil},
		{"a field alone", change(stores+"\n\tt.ids[name] = id\n", "t.last = name\n"), "one that ends with the call is not what holds it", 0, nil},
	} {
		c.check(t)
	}
}

// TestHolderNotEntered: a copy in a branch that the run that counts has never entered is none.
func TestHolderNotEntered(t *testing.T) {
	const stores = "t.names = append(t.names, name)"
	source := "package main\n\n" + strings.Replace(symbols, stores, "if t.own {\n\tname = strings.Clone(name)\n\t}\n\t"+stores, 1) + "\n"
	block := func(mark string, n int) string {
		at := strings.Index(source, mark) + len(mark) - 1
		return fmt.Sprintf(`{"line":%d,"offset":%d,"count":%d}`, lineWith(source, mark).Line, at, n)
	}
	for entered, want := range map[int]string{0: "before it is stored (strings.Clone)", 7: "copy it always"} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(source))
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","ns":4000000000,"functions":[{"name":"main.main","file":"a.go","line":3,"calls":1}],"within":[],"files":[{"name":"a.go","blocks":[%s,%s]}]}`,
			block("number(name string) uint32 {", 90), block("if t.own {", entered)))
		f := Finding{}
		frame := stack.Frame{Func: "main.f", File: "a.go", Line: 4}
		if tellHolder(NewInput(session.New(r.Open())), &f, frame, []stack.Frame{frame}, "otherwise"); !strings.Contains(f.Advice, want) {
			t.Errorf("entered %d times: %s", entered, f.Advice)
		}
	}
}

// TestPartPasses: where a call with a part is not followed, it is said that the source does not show what keeps it, and no object of a function is named as what does.
func TestPartPasses(t *testing.T) {
	const before = `func (h *handler) push(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	req := &batch{}
	for line := range bytes.Lines(body) {
		req.all = append(req.all, line[:8])
	}
	CALL
}
type batch struct { all [][]byte }
`
	const two = "func (a *first) take(b *batch) { a.n++ }\nfunc (a *second) take(b *batch) { a.kept = append(a.kept, b.all[0]) }"
	for _, c := range []heldCase{
		{"one of two", strings.Replace(before, "CALL", "h.of().take(req)", 1) + two, "Parts of it (substrings or slices) go into req.all (a.go:7), without a copy. Look for where one of them goes on", 7, nil},
		{"nothing goes on", strings.Replace(before, "CALL", "h.n += len(req.all)", 1), "", 0, nil},
		{"the library", strings.Replace(before, "CALL", "json.NewEncoder(w).Encode(req)", 1), "", 0, nil},
	} {
		c.check(t)
	}
}
