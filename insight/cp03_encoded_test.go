package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// askedCP03 makes a recording of a source and its stacks, of which each has some samples, and asks CP03.
func askedCP03(t *testing.T, source string, stacks ...string) Finding {
	t.Helper()
	r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
	r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
	columns := []column{{"net/http.(*conn).serve main.rest:/src/other.go:3", []int64{20}}}
	for _, s := range stacks {
		columns = append(columns, column{stackAt(source, s), []int64{40}})
	}
	withProfile(r, recording.CPU, "cpu", columns...)
	return answers(t, r, "CP03")[0]
}

// TestCP03Encoded: what is encoded already is told by what package json does with it, and named by the source.
func TestCP03Encoded(t *testing.T) {
	const head = "package main\n\nimport \"encoding/json\"\n\ntype event struct { Name string; Data, Rest json.RawMessage; Seq int }\ntype own struct { raw []byte }\nfunc (o *own) MarshalJSON() ([]byte, error) { return o.raw, nil }\ntype batch struct { All []*own }\n"
	const line = "net/http.(*conn).serve main.send@A encoding/json.Marshal encoding/json.structEncoder.encode "
	const copied = line + "encoding/json.marshalerEncoder encoding/json.appendCompact encoding/json.stateInString"
	const other = line + "encoding/json.stringEncoder encoding/json.appendString"
	for _, c := range []struct {
		name, source string
		stacks       []string
		want         string // of the summary; empty for nothing
	}{
		{"fields", "func send(e *event) { json.Marshal(e) } // A\n", []string{copied, copied, other}, "66.7% of what that line takes checks and copies JSON that is encoded already: the json.RawMessage in Data and Rest of event"},
		{"by a pointer's method", "func send(b batch) { json.Marshal(b) } // A\n", []string{strings.Replace(copied, "marshalerEncoder", "addrMarshalerEncoder", 1)}, "100% of what that line takes checks and copies JSON that is encoded already: what MarshalJSON of own returns"},
		{"in a map", "func send(raw json.RawMessage) { json.Marshal(map[string]any{\"a\": 1, \"data\": raw}) } // A\n", []string{copied}, "the json.RawMessage raw"},
		{"by a helper", "func send(v any) { json.Marshal(v) } // A\nfunc handle(e *event) { send(e) } // B\n", []string{strings.Replace(copied, "main.send", "main.handle@B main.send", 1)}, "Data and Rest of event"},
		{"jsonv2", "func send(e *event) { json.Marshal(e) } // A\n", []string{line + "encoding/json/v2.makeStructArshaler.func1 encoding/json/v2.makeMethodArshaler.func3 encoding/json/jsontext.(*encoderState).WriteValue encoding/json/jsontext.(*encoderState).reformatValue"}, "Data and Rest of event"},
		{"a small part of it", "func send(e *event) { json.Marshal(e) } // A\n", []string{copied, other, other}, ""},
		{"what the method does itself", "func send(b batch) { json.Marshal(b) } // A\n", []string{line + "encoding/json.marshalerEncoder main.(*own).MarshalJSON:/src/main.go:7 strconv.AppendInt", other}, ""},
		{"bytes that are indented", "func send(e *event) { json.Marshal(e) } // A\n", []string{line + "encoding/json.appendIndent"}, ""},
	} {
		f := askedCP03(t, head+c.source, c.stacks...)
		if told := strings.Contains(f.Summary, "encoded already"); told != (c.want != "") || !strings.Contains(f.Summary, c.want) || told && !strings.Contains(f.Advice, "Write these bytes as they are") {
			t.Errorf("%s: %s %s\n%s", c.name, f.Title, f.Summary, f.Advice)
		}
	}
}

// TestCP03EncodedInLoop: the same value for many receivers is told from one that depends on the receiver, from one that
// changes, and from a loop that waits for the next one.
func TestCP03EncodedInLoop(t *testing.T) {
	const head = "package main\n\nimport (\"encoding/json\"; \"time\")\n\ntype conn struct { name string; out chan []byte }\ntype event struct { Name string; Data map[string]int; Seq int }\ntype hub struct { conns []*conn; last event }\n"
	const direct = "main.run main.(*hub).send@A encoding/json.Marshal encoding/json.structEncoder.encode"
	const called = "main.run main.(*hub).send@B main.(*conn).write@A encoding/json.Marshal encoding/json.structEncoder.encode"
	for _, c := range []struct {
		name, source, stack string
		same                bool
	}{
		{"for each receiver", "func (h *hub) send(e *event) {\nfor _, c := range h.conns {\nb, _ := json.Marshal(e) // A\nc.out <- b\n}\n}\n", direct, true},
		{"to those who want it", "func (h *hub) send(e *event) {\nfor _, c := range h.conns {\nif c.name == \"\" {\ncontinue\n}\nb, _ := json.Marshal(e) // A\nc.out <- b\n}\n}\n", direct, true},
		{"by a function of the receiver", "func (h *hub) send(e *event) {\nfor _, c := range h.conns {\nc.write(e) // B\n}\n}\nfunc (c *conn) write(e *event) {\nb, _ := json.Marshal(e) // A\nc.out <- b\n}\n", called, true},
		{"an envelope around it", "func (h *hub) send(e *event) {\nfor _, c := range h.conns {\nb, _ := json.Marshal(map[string]any{\"type\": \"event\", \"name\": e.Name}) // A\nc.out <- b\n}\n}\n", direct, true},

		{"the name of the receiver", "func (h *hub) send(e *event) {\nfor _, c := range h.conns {\nb, _ := json.Marshal(event{Name: c.name, Data: e.Data}) // A\nc.out <- b\n}\n}\n", direct, false},
		{"numbered", "func (h *hub) send(e *event) {\nfor _, c := range h.conns {\ne.Seq++\nb, _ := json.Marshal(e) // A\nc.out <- b\n}\n}\n", direct, false},
		{"numbered by a function", "func (h *hub) send(e *event) {\nfor _, c := range h.conns {\ne.next()\nb, _ := json.Marshal(e) // A\nc.out <- b\n}\n}\nfunc (e *event) next() { e.Seq++ }\n", direct, false},
		{"filled in", "func (h *hub) send(e *event) {\nfor _, c := range h.conns {\ne.Data[c.name] = 1\nb, _ := json.Marshal(e) // A\nc.out <- b\n}\n}\n", direct, false},
		{"each event", "func (h *hub) send(events []*event) {\nfor _, e := range events {\nb, _ := json.Marshal(e) // A\nh.conns[0].out <- b\n}\n}\n", direct, false},
		{"each event of a channel", "func (h *hub) send(events chan *event) {\nfor e := range events {\nb, _ := json.Marshal(e) // A\nh.conns[0].out <- b\n}\n}\n", direct, false},
		{"now and then", "func (h *hub) send(every *time.Ticker) {\nfor range every.C {\nb, _ := json.Marshal(h.last) // A\nh.conns[0].out <- b\n}\n}\n", direct, false},
		{"once, kept", "func (h *hub) send(e *event) {\nvar kept []byte\nfor _, c := range h.conns {\nif kept == nil {\nkept, _ = json.Marshal(e) // A\n}\nc.out <- kept\n}\n}\n", direct, false},
		{"for the first, kept", "func (h *hub) send(e *event) {\nvar kept []byte\nfor i, c := range h.conns {\nif i == 0 {\nkept, _ = json.Marshal(e) // A\n}\nc.out <- kept\n}\n}\n", direct, false},
		{"before the loop", "func (h *hub) send(e *event) {\nb, _ := json.Marshal(e) // A\nfor _, c := range h.conns {\nc.out <- b\n}\n}\n", direct, false},
	} {
		f := askedCP03(t, head+c.source, c.stack, c.stack)
		if same := strings.Contains(f.Summary, "encodes the same value in each turn"); same != c.same || same && !strings.Contains(f.Advice, "Encode it once before the loop at main.go:9") {
			t.Errorf("%s: %s %s\n%s", c.name, f.Title, f.Summary, f.Advice)
		}
	}
}

// TestCP03DecodeAdvice: a struct is no advice where one is decoded into, where the parts stay bytes, and where the program
// reads fields that it does not name.
func TestCP03DecodeAdvice(t *testing.T) {
	const head = "package main\n\nimport \"encoding/json\"\n\ntype doc struct { n int }\n"
	const direct = "net/http.(*conn).serve main.read@A encoding/json.Unmarshal encoding/json.checkValid"
	const called = "net/http.(*conn).serve main.handle@B main.read@A encoding/json.Unmarshal encoding/json.checkValid"
	for _, c := range []struct{ name, source, stack, want string }{
		{"a map of anything", "func read(b []byte) any {\nvar m map[string]any\njson.Unmarshal(b, &m) // A\nreturn m[\"a\"]\n}\n", direct, "Decode into a struct with only the needed fields, not into a map"},
		{"a struct", "func read(b []byte) (d doc) {\njson.Unmarshal(b, &d) // A\nreturn d\n}\n", direct, "leave out of the struct"},
		{"rows of anything", "type rows struct {\nCols []string\nRows [][]any\n}\nfunc read(b []byte) (r rows) {\njson.Unmarshal(b, &r) // A\nreturn r\n}\n", direct, "fields of any type"},
		{"a struct of structs of anything is its maker's", "type deep struct {\nA []doc\nB map[string]doc\n}\nfunc read(b []byte) (r deep) {\njson.Unmarshal(b, &r) // A\nreturn r\n}\n", direct, "leave out of the struct"},
		{"one field of several is of any type", "type wide struct {\nA, B, C string\nMeta map[string]any\n}\nfunc read(b []byte) (r wide) {\njson.Unmarshal(b, &r) // A\nreturn r\n}\n", direct, "leave out of the struct"},
		{"what nobody decodes into is of any type", "type shut struct {\nA string\nmeta, more any\n}\nfunc read(b []byte) (r shut) {\njson.Unmarshal(b, &r) // A\nreturn r\n}\n", direct, "leave out of the struct"},
		{"a map of bytes", "func read(b []byte) (m map[string]json.RawMessage) {\njson.Unmarshal(b, &m) // A\nreturn m\n}\n", direct, "stays bytes here"},
		{"a list of bytes", "func read(b []byte) (m []json.RawMessage) {\njson.Unmarshal(b, &m) // A\nreturn m\n}\n", direct, "stays bytes here"},
		{"what is not known is read", "func read(b []byte) map[string]any {\nvar m map[string]any\njson.Unmarshal(b, &m) // A\ndelete(m, \"id\")\nreturn m\n}\n", direct, "the program does not name"},
		{"all keys are read", "func read(b []byte) {\nvar m map[string]any\njson.Unmarshal(b, &m) // A\nfor k := range m {\nprintln(k)\n}\n}\n", direct, "the program does not name"},
		{"by a helper", "func read(b []byte, to any) { json.Unmarshal(b, to) } // A\nfunc handle(b []byte) {\nvar d doc\nread(b, &d) // B\n}\n", called, "leave out of the struct"},
		{"by a helper, of any type", "func read(b []byte, to any) { json.Unmarshal(b, to) } // A\nfunc handle(b []byte) {\nvar d map[string]any\nread(b, &d) // B\n}\n", called, "not into a map"},
		{"nobody knows", "func read(b []byte, to any) { json.Unmarshal(b, to) } // A\n", direct, "if it is a map or an interface now"},
	} {
		if f := askedCP03(t, head+c.source, c.stack, c.stack); !strings.Contains(f.Advice, c.want) {
			t.Errorf("%s: %s\n%s", c.name, f.Summary, f.Advice)
		}
	}
}

// TestCP03AllNeeded: where each request brings a document of its own and all fields are read, nothing is known to be needless; it
// is a warning where one of these is not shown.
func TestCP03AllNeeded(t *testing.T) {
	const head = "package main\n\nimport (\"encoding/json\"; \"net/http\"; \"io\"; \"os\")\n\ntype doc struct { Name string `json:\"name\"`; Vals []val; note string; Skip int `json:\"-\"` }\ntype val struct { At int64 }\n"
	const use = "func use(d doc) {\nfor _, v := range d.Vals {\nprintln(d.Name, v.At)\n}\n}\n"
	const direct = "net/http.(*conn).serve main.read@A encoding/json.Unmarshal encoding/json.checkValid"
	const called = "net/http.(*conn).serve main.handle@B main.read@A encoding/json.(*Decoder).Decode encoding/json.checkValid"
	const unmarshal = "func read(w http.ResponseWriter, r *http.Request) {\nb, _ := io.ReadAll(r.Body)\nvar d doc\njson.Unmarshal(b, &d) // A\nuse(d)\n}\n"
	for _, c := range []struct {
		name, source, stack string
		severity            Severity
	}{
		{"a body", unmarshal + use, direct, Info},
		{"by a reader", "func read(r io.Reader) {\nvar d []doc\njson.NewDecoder(r).Decode(&d) // A\nuse(d[0])\n}\nfunc handle(w http.ResponseWriter, q *http.Request) {\nread(http.MaxBytesReader(w, q.Body, 99)) // B\n}\n" + use, called, Info},
		{"a field that nobody reads", unmarshal + strings.Replace(use, "v.At", "len(d.Vals), v", 1), direct, Warning},
		{"a field that is only set", unmarshal + strings.Replace(use, "println(d.Name, v.At)", "d.Name = \"\"; println(v.At)", 1), direct, Warning},
		{"a file", strings.Replace(unmarshal, "io.ReadAll(r.Body)", "os.ReadFile(name)", 1) + use, direct, Warning},
		{"an answer of a peer", strings.Replace(unmarshal, "r *http.Request", "r *http.Response", 1) + use, direct, Warning},
		{"a field of any type", strings.Replace(unmarshal, "var d doc", "var d struct{ doc; A, B, C string; Any any }\nprintln(d.A, d.B, d.C, d.Any)", 1) + use, direct, Warning},
	} {
		f := askedCP03(t, head+c.source, c.stack, c.stack)
		if f.State != Found || f.Severity != c.severity || strings.Contains(f.Advice, "Only a cheaper decoder") != (c.severity == Info) {
			t.Errorf("%s: %s %s: %s\n%s %q", c.name, f.State, f.Severity, f.Summary, f.Advice, f.Doubts)
		}
	}
}

// TestCP03Items: that each value is another one is said of the items of one loop of a program that works by itself, and not
// of a value that comes again, of turns over the same items, or of a service.
func TestCP03Items(t *testing.T) {
	const head = "package main\n\nimport \"encoding/json\"\n\ntype item struct { Name string }\n"
	const called = "main.main@B main.send@A encoding/json.Marshal encoding/json.structEncoder.encode"
	const direct = "main.main@A encoding/json.Marshal encoding/json.structEncoder.encode"
	const started = "main.run.func1@A encoding/json.Marshal encoding/json.structEncoder.encode"
	for _, c := range []struct {
		name, source, stack string
		want                bool
	}{
		{"the item", "func main() {\n\tfor _, x := range items {\n\t\tjson.Marshal(x) // A\n\t}\n}\n", direct, true},
		{"by a call", "func main() {\n\tfor _, x := range items {\n\t\tsend(ctx, x) // B\n\t}\n}\nfunc send(ctx any, y item) {\n\tdoc := map[string]any{}\n\tdoc[\"name\"] = y.Name\n\tjson.Marshal(doc) // A\n}\n", called, true},
		{"in parts", "func main() {\n\tfor _, p := range pages {\n\t\tfor _, x := range p.items {\n\t\t\tjson.Marshal(x) // A\n\t\t}\n\t}\n}\n", direct, true},
		{"by a goroutine", "func run() {\n\tfor _, x := range items {\n\t\tgo func() {\n\t\t\tjson.Marshal(x) // A\n\t\t}()\n\t}\n}\n", started, true},
		{"the same", "func main() {\n\tfor _, x := range items {\n\t\tsend(x, config) // B\n\t}\n}\nfunc send(y item, doc any) {\n\tjson.Marshal(doc) // A\n}\n", called, false},
		{"in rounds", "func main() {\n\tfor round := range rounds {\n\t\tfor _, x := range items {\n\t\t\tjson.Marshal(x) // A\n\t\t}\n\t}\n}\n", direct, false},
		{"in turn", "func main() {\n\tfor i := range n {\n\t\tjson.Marshal(docs[i%3]) // A\n\t}\n}\n", direct, false},
		{"of a request", "func handle() {\n\tfor _, x := range items {\n\t\tjson.Marshal(x) // A\n\t}\n}\n", "net/http.(*conn).serve " + strings.Replace(direct, "main.main", "main.handle", 1), false},
		{"what has all items", "type store struct { all []item }\nfunc main() {\n\tvar s store\n\tfor _, x := range items {\n\t\ts.all = append(s.all, x)\n\t\ts.send() // B\n\t}\n}\nfunc (s *store) send() {\n\tjson.Marshal(s.all) // A\n}\n", strings.Replace(called, "main.send", "main.(*store).send", 1), false},
		{"a map with all items", "func main() {\n\tall := map[string]item{}\n\tfor _, x := range items {\n\t\tall[x.Name] = x\n\t\tjson.Marshal(all) // A\n\t}\n}\n", direct, false},
		{"another field than the one with the item", "type store struct { last item; rest any }\nfunc main() {\n\tvar s store\n\tfor _, x := range items {\n\t\ts.last = x\n\t\ts.send() // B\n\t}\n}\nfunc (s *store) send() {\n\tjson.Marshal(s.rest) // A\n}\n", strings.Replace(called, "main.send", "main.(*store).send", 1), false},
		{"the field with the item", "type store struct { last item }\nfunc main() {\n\tvar s store\n\tfor _, x := range items {\n\t\ts.last = x\n\t\ts.send() // B\n\t}\n}\nfunc (s *store) send() {\n\tjson.Marshal(s.last) // A\n}\n", strings.Replace(called, "main.send", "main.(*store).send", 1), true},
		{"a list of the item's parts", "func main() {\n\tfor _, x := range items {\n\t\tvar parts []string\n\t\tparts = append(parts, x.Name)\n\t\tjson.Marshal(parts) // A\n\t}\n}\n", direct, true},
		{"no loop", "func main() {\n\tjson.Marshal(items) // A\n}\n", direct, false},
	} {
		f := askedCP03(t, head+c.source, c.stack)
		if got := strings.Contains(f.Advice, "another item of the loop at main.go"); got != c.want {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}

// TestCP03Spliced: a value that is the same for all receivers but for a few fields is told by these; a value of the receiver's own, one that changes, and one with a method of its
// own are not.
func TestCP03Spliced(t *testing.T) {
	const head = "package main\n\nimport \"encoding/json\"\n\ntype conn struct { name string; seq int; own map[string]int; out chan []byte }\ntype event struct { Name string; Data map[string]int; Seq int; At int64 }\ntype frame struct { To string; Seq int; Event *event }\ntype special struct { Seq int; A, B map[string]int }\nfunc (s special) MarshalJSON() ([]byte, error) { return nil, nil }\ntype hub struct { conns []*conn }\n"
	const direct = "main.run main.(*hub).send@A encoding/json.Marshal encoding/json.structEncoder.encode"
	const called = "main.run main.(*hub).send@B main.(*conn).write@A encoding/json.Marshal encoding/json.structEncoder.encode"
	each := func(e, body string) string {
		return "func (h *hub) send(e " + e + ") {\nfor _, c := range h.conns {\n" + body + "c.out <- b\n}\n}\n"
	}
	for _, c := range []struct {
		name, source, stack string
		want                string // of the summary; empty for nothing
	}{
		{"a copy with a number", each("event", "msg := e\nmsg.Seq = c.seq\nb, _ := json.Marshal(msg) // A\n"), direct, "only Seq differs for each of those that the loop at main.go:12 goes through, and the rest of e is the same for all"},
		{"a copy of what a pointer has", each("*event", "msg := *e\nmsg.Seq = c.seq\nb, _ := json.Marshal(&msg) // A\n"), direct, "only Seq differs"},
		{"by a function of the receiver", "func (h *hub) send(e *event) {\nfor _, c := range h.conns {\nc.write(e) // B\n}\n}\nfunc (c *conn) write(e *event) {\nmsg := *e\nmsg.Seq = c.seq\nb, _ := json.Marshal(msg) // A\nc.out <- b\n}\n", called, "only Seq differs"},

		{"a value of its own", each("*event", "msg := event{Name: c.name, Data: c.own}\nmsg.Seq = c.seq\nb, _ := json.Marshal(msg) // A\n"), direct, ""},
		{"a literal of its own", each("*event", "b, _ := json.Marshal(event{Name: c.name, Data: c.own}) // A\n"), direct, ""},
		{"a list that grows", each("*event", "e.Data[c.name] = 1\nmsg := *e\nmsg.Seq = c.seq\nb, _ := json.Marshal(msg) // A\n"), direct, ""},
		{"most fields are its own", each("event", "msg := e\nmsg.Seq, msg.Name, msg.Data = c.seq, c.name, c.own\nb, _ := json.Marshal(msg) // A\n"), direct, ""},
		{"it encodes itself", each("special", "msg := e\nmsg.Seq = c.seq\nb, _ := json.Marshal(msg) // A\n"), direct, ""},
		{"a text for all", each("*event", "b, _ := json.Marshal(frame{To: c.name, Seq: int(e.At)}) // A\n"), direct, ""},
		{"each event", "func (h *hub) send(events []event) {\nfor i, e := range events {\nmsg := e\nmsg.Seq = i\nb, _ := json.Marshal(msg) // A\nh.conns[0].out <- b\n}\n}\n", direct, ""},
	} {
		f := askedCP03(t, head+c.source, c.stack, c.stack)
		if told := strings.Contains(f.Summary, "by the source, only"); told != (c.want != "") || !strings.Contains(f.Summary, c.want) || told && !strings.Contains(f.Advice, "once before the loop at main.go:12") {
			t.Errorf("%s: %s %s\n%s", c.name, f.Title, f.Summary, f.Advice)
		}
	}
}

// TestCP03Handed: the same is told where the goroutine of each receiver gets the value by its channel from a loop over them; not of values that are its own,
// that are sent to one alone, that all may change, or that come by another channel.
func TestCP03Handed(t *testing.T) {
	const head = "package main\n\nimport \"encoding/json\"\n\ntype event struct { Name string; Data map[string]int; Seq int; At int64; Tags []string }\ntype item struct { e *event }\ntype conn struct { name string; seq int; in, other chan *event; vals chan event; items chan item; w chan []byte }\ntype hub struct { conns []*conn }\nfunc use(*event) {}\nfunc (e *event) trim() { e.Tags = nil }\n"
	const toAll = "func (h *hub) send(e *event) {\nfor _, c := range h.conns {\nc.in <- e\n}\n}\n"
	const vals = "func (h *hub) send(e event) {\nfor _, c := range h.conns {\nc.vals <- e\n}\n}\n"
	const stack = "main.(*conn).run@A encoding/json.Marshal encoding/json.structEncoder.encode"
	run := func(body string) string { return "func (c *conn) run() {\n" + body + "}\n" }
	encode := func(body string) string {
		return run("for e := range c.in {\nmsg := *e\n" + body + "b, _ := json.Marshal(msg) // A\nc.w <- b\n}\n")
	}
	const own = "msg.Seq = c.seq\n"
	for _, c := range []struct {
		name, source, stack string
		told                bool
	}{
		{"a copy with a number", toAll + encode(own), stack, true},
		{"received one by one", toAll + run("for {\ne := <-c.in\nmsg := *e\n"+own+"b, _ := json.Marshal(msg) // A\nc.w <- b\n}\n"), stack, true},
		{"in a select", toAll + run("for {\nselect {\ncase e := <-c.in:\nmsg := *e\n"+own+"b, _ := json.Marshal(msg) // A\nc.w <- b\n}\n}\n"), stack, true},
		{"a value", vals + run("for e := range c.vals {\ne.Seq = c.seq\nb, _ := json.Marshal(e) // A\nc.w <- b\n}\n"), stack, true},
		{"within a message", "func (h *hub) send(e *event) {\nm := item{e}\nfor _, c := range h.conns {\nc.items <- m\n}\n}\n" + run("for m := range c.items {\nmsg := *m.e\n"+own+"b, _ := json.Marshal(msg) // A\nc.w <- b\n}\n"), stack, true},
		{"by a function of the receiver", toAll + "func (c *conn) run() {\nfor e := range c.in {\nc.write(e) // B\n}\n}\nfunc (c *conn) write(e *event) {\nmsg := *e\n" + own + "b, _ := json.Marshal(msg) // A\nc.w <- b\n}\n", "main.(*conn).run@B main.(*conn).write@A encoding/json.Marshal encoding/json.structEncoder.encode", true},
		{"a channel that is given", toAll + "func (c *conn) start() {\ngo c.run(c.in)\n}\nfunc (c *conn) run(in <-chan *event) {\nfor e := range in {\nmsg := *e\n" + own + "b, _ := json.Marshal(msg) // A\nc.w <- b\n}\n}\n", stack, true},
		{"if one can take it", strings.Replace(toAll, "c.in <- e", "select {\ncase c.in <- e:\ndefault:\n}", 1) + encode(own), stack, true},

		{"one made for each", strings.Replace(toAll, "c.in <- e", "o := *e\no.Name = c.name\nc.in <- &o", 1) + encode(own), stack, false},
		{"to one of them", "func (h *hub) send(e *event) {\nh.conns[0].in <- e\n}\n" + encode(own), stack, false},
		{"each to one of them", "func (h *hub) send(es []*event) {\nfor i, e := range es {\nh.conns[i%9].in <- e\n}\n}\n" + encode(own), stack, false},
		{"by another channel", strings.Replace(toAll, "c.in <- e", "c.other <- e", 1) + encode(own), stack, false},
		{"nothing of its own", toAll + run("for e := range c.in {\nb, _ := json.Marshal(e) // A\nc.w <- b\n}\n"), stack, false},
		{"most fields are its own", toAll + encode("msg.Seq, msg.Name, msg.Data = c.seq, c.name, nil\n"), stack, false},
		{"an element of a field", toAll + encode(own+"msg.Data[c.name] = 1\n"), stack, false},
		{"an element of a field of what all have", toAll + encode(own+"e.Data[c.name] = 1\n"), stack, false},
		{"a function gets its address", toAll + encode(own+"use(&msg)\n"), stack, false},
		{"a method of it", toAll + encode(own+"msg.trim()\n"), stack, false},
		{"sometimes another value", toAll + run("for e := range c.in {\nmsg := *e\nif c.seq == 0 {\nmsg = event{Name: c.name}\n}\n"+own+"b, _ := json.Marshal(msg) // A\nc.w <- b\n}\n"), stack, false},
	} {
		f := askedCP03(t, head+c.source, c.stack, c.stack)
		told := strings.Contains(f.Summary, "sends the same value to the goroutine of each receiver, and only Seq differs there")
		if told != c.told || told && !strings.Contains(f.Advice, "once before the loop at main.go:1") {
			t.Errorf("%s: %s %s\n%s", c.name, f.Title, f.Summary, f.Advice)
		}
	}
}
