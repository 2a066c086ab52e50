package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// bytesAnswer is what CP03 says of a program whose samples decode in two ways.
func bytesAnswer(t *testing.T, source, stacks string) Finding {
	r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
	r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
	columns := []column{{"net/http.(*conn).serve main.rest:/src/other.go:3", []int64{20}}}
	for _, s := range strings.Split(stacks, "|") {
		columns = append(columns, column{stackAt(source, s), []int64{40}})
	}
	withProfile(r, recording.CPU, "cpu", columns...)
	return answers(t, r, "CP03")[0]
}

// TestCP03BytesWritten: values of the same bytes that are changed afterwards cannot be one value; what only reads them, sets
// something before they are decoded, or changes others, does not matter.
func TestCP03BytesWritten(t *testing.T) {
	const head = "package main\n\nimport (\"bytes\"; \"encoding/json\"; \"io\"; \"net/http\"; \"sort\")\n\ntype item struct { Qty int; Tags []string; Ext map[string]int }\ntype msg struct { ID int; Items []*item; Parts []item }\ntype keeper struct { cur, undo *msg; val msg; n int }\nvar sum int\n"
	const serve = "net/http.(*conn).serve "
	const direct = serve + "main.handle@A encoding/json.Unmarshal|" + serve + "main.handle@B encoding/json.Unmarshal"
	const helper = serve + "main.handle@C main.decode@A encoding/json.Unmarshal|" + serve + "main.handle@D main.decode@A encoding/json.Unmarshal"
	const method = serve + "main.(*keeper).handle@A encoding/json.Unmarshal|" + serve + "main.(*keeper).handle@B encoding/json.Unmarshal"
	const handle = "func handle(w http.ResponseWriter, r *http.Request) {\nbody, _ := io.ReadAll(r.Body)\n"
	const twice = "cur := new(msg)\njson.Unmarshal(body, cur) // A\nundo := new(msg)\njson.Unmarshal(body, undo) // B\n"
	const values = "var a, b msg\njson.Unmarshal(body, &a) // A\njson.Unmarshal(body, &b) // B\n"
	const byHelper = "var a, b msg\ndecode(body, &a) // C\ndecode(body, &b) // D\n"
	const decode = "func decode(b []byte, to any) { json.Unmarshal(b, to) } // A\n"
	const made = "a := decode(body) // C\nb := decode(body) // D\n"
	const making = "func decode(body []byte) *msg {\nm := new(msg)\njson.Unmarshal(body, m) // A\nfill(m)\nreturn m\n}\nfunc fill(m *msg) { m.ID++ }\n"
	for _, c := range []struct {
		name, source, stacks string
		written              bool
	}{
		{"only read", handle + twice + "for _, it := range cur.Items {\nsum += it.Qty + len(undo.Items)\n}\n}\n", direct, false},
		{"set before it is decoded", handle + "cur, undo := new(msg), new(msg)\ncur.ID = 3\nundo.Items = cur.Items\njson.Unmarshal(body, cur) // A\njson.Unmarshal(body, undo) // B\nuse(cur, undo)\n}\n", direct, false},
		{"another value is changed", handle + twice + "o := &msg{}\no.ID = cur.ID\nitems := make([]item, 3)\nitems[0].Qty = undo.ID\n}\n", direct, false},
		{"a copy of a struct is changed", handle + twice + "for _, p := range cur.Parts {\np.Qty++\nsum += p.Qty\n}\n}\n", direct, false},
		{"the variable is set", handle + twice + "sum += cur.ID\ncur = nil\n}\n", direct, false},
		{"by a helper that only decodes", handle + byHelper + "sum += a.ID\n}\n" + decode, helper, false},
		{"a value of other bytes, by the same helper", handle + byHelper + "other(r)\n}\nfunc other(r *http.Request) {\nvar m msg\ndecode(next(r), &m)\nm.Items[0].Qty = 3\n}\n" + decode, helper, false},
		{"a result of other bytes, of the same function", handle + made + "use(a, b)\nother(r)\n}\nfunc other(r *http.Request) {\nm := decode(next(r))\nm.Items[0].Qty = 3\n}\n" + making, helper, false},
		{"what makes it fills it", handle + made + "use(a, b)\n}\n" + making, helper, false},

		{"a value of another type", handle + "var a msg\nvar b map[string]any\njson.Unmarshal(body, &a) // A\njson.Unmarshal(body, &b) // B\ndelete(b, \"id\")\nuse(a, b)\n}\n", direct, false},
		{"by pointers of a list", handle + twice + "for _, it := range cur.Items {\nit.Qty *= 2\n}\nuse(undo)\n}\n", direct, true},
		{"a map in it", handle + twice + "cur.Items[0].Ext[\"a\"] = 1\n}\n", direct, true},
		{"a list in it is sorted", handle + twice + "sort.Strings(undo.Items[0].Tags)\n}\n", direct, true},
		{"a field of it", handle + twice + "cur.ID++\n}\n", direct, true},
		{"a field of a variable", handle + values + "a.ID = 3\n}\n", direct, true},
		{"an element by value", handle + values + "b.Parts[1].Qty = 3\n}\n", direct, true},
		{"by a function", handle + twice + "sell(cur.Items)\n}\nfunc sell(all []*item) {\nfor _, it := range all {\nit.Qty--\n}\n}\n", direct, true},
		{"by a method", handle + values + "a.clean()\n}\nfunc (m *msg) clean() { m.Items = nil }\n", direct, true},
		{"by a helper that decodes", handle + byHelper + "a.Items[0].Qty = 2\n}\n" + decode, helper, true},
		{"a result", handle + made + "a.Items[0].Qty = 2\nuse(b)\n}\n" + making, helper, true},
		{"a result that another gives on", handle + made + "use(b)\nwork(a.Items[0])\n}\nfunc work(it *item) { it.Tags[0] = \"sold\" }\n" + making, helper, true},
		{"decoded over", handle + values + "json.Unmarshal(patch, &a)\n}\n", direct, true},
		{"a field that somebody else changes", "func (k *keeper) handle(body []byte) {\njson.Unmarshal(body, &k.val) // A\nk.undo = new(msg)\njson.Unmarshal(body, k.undo) // B\n}\nfunc (k *keeper) back() { k.undo.Items[0].Qty = 0 }\n", method, true},
		{"a field of a field", "func (k *keeper) handle(body []byte) {\njson.Unmarshal(body, &k.val) // A\nk.undo = new(msg)\njson.Unmarshal(body, k.undo) // B\nk.n++\n}\nfunc (k *keeper) back() { k.val.ID = 0 }\n", method, true},
		{"other fields of the one who has it", "func (k *keeper) handle(body []byte) {\njson.Unmarshal(body, &k.val) // A\nk.undo = new(msg)\njson.Unmarshal(body, k.undo) // B\nk.n++\n}\n", method, false},
	} {
		f := bytesAnswer(t, head+c.source, c.stacks)
		if !strings.Contains(f.Title, "same bytes") {
			t.Errorf("%s: %s %s", c.name, f.Title, f.Summary)
			continue
		}
		if written := f.Severity == Info && strings.Contains(f.Advice, "needs its own") && strings.Contains(f.Summary, "changed afterwards"); written != c.written || !written && f.Severity != Warning {
			t.Errorf("%s: %s: %s %s", c.name, f.Severity, f.Summary, f.Advice)
		}
	}
}

// TestCP03BytesModes: a decoder that is set up in another way, or is of another package, is not one that another can stand
// for.
func TestCP03BytesModes(t *testing.T) {
	const head = "package main\n\nimport (\"bytes\"; \"encoding/json\"; \"io\"; \"net/http\"; \"gopkg.in/yaml.v3\"; \"google.golang.org/protobuf/encoding/protojson\"; jsoniter \"github.com/json-iterator/go\")\n\ntype msg struct { ID int }\nvar tagged = jsoniter.Config{TagKey: \"db\"}.Froze()\nvar plain = jsoniter.Config{}.Froze()\n"
	const serve = "net/http.(*conn).serve "
	of := func(a, b string) string { return serve + "main.handle@A " + a + "|" + serve + "main.handle@B " + b }
	const unmarshal, decoder, valid = "encoding/json.Unmarshal", "encoding/json.(*Decoder).Decode", "encoding/json.Valid"
	const iter = "github.com/json-iterator/go.(*frozenConfig).Unmarshal"
	const proto = "google.golang.org/protobuf/encoding/protojson.UnmarshalOptions.Unmarshal"
	const handle = "func handle(w http.ResponseWriter, r *http.Request) {\nbody, _ := io.ReadAll(r.Body)\nvar a, b msg\n"
	const two = "d := json.NewDecoder(bytes.NewReader(body))\nSETA\nd.Decode(&a) // A\ne := json.NewDecoder(bytes.NewReader(body))\nSETB\ne.Decode(&b) // B\n}\n"
	set := func(a, b string) string { return handle + strings.NewReplacer("SETA", a, "SETB", b).Replace(two) }
	const helper = "func decode(body []byte, to any, strict bool) {\nd := json.NewDecoder(bytes.NewReader(body))\nif strict {\nd.DisallowUnknownFields()\n}\nd.Decode(to) // A\n}\n"
	const byHelper = serve + "main.handle@C main.decode@A " + decoder + "|" + serve + "main.handle@D main.decode@A " + decoder
	for _, c := range []struct {
		name, source, stacks string
		again                bool
		says                 string
	}{
		{"two of the same", set("", ""), of(decoder, decoder), true, "Decode them once"},
		{"both strict", set("d.DisallowUnknownFields()", "e.DisallowUnknownFields()"), of(decoder, decoder), true, "Decode them once"},
		{"a Decoder and Unmarshal", handle + "json.NewDecoder(bytes.NewReader(body)).Decode(&a) // A\njson.Unmarshal(body, &b) // B\n}\n", of(decoder, unmarshal), true, "Decode them once"},
		{"asked for more", set("d.More()", ""), of(decoder, decoder), true, "Decode them once"},
		{"set up afterwards", handle + "d := json.NewDecoder(bytes.NewReader(body))\nd.Decode(&a) // A\nd.UseNumber()\njson.Unmarshal(body, &b) // B\n}\n", of(decoder, unmarshal), true, "Decode them once"},
		{"checked before", handle + "if !json.Valid(body) { // A\nreturn\n}\njson.Unmarshal(body, &b) // B\n}\n", of(valid, unmarshal), true, "Leave out the check with Valid"},
		{"the same helper", handle + "decode(body, &a) // C\ndecode(body, &b) // D\n}\n" + strings.NewReplacer(", strict bool", "", "if strict", "if lax == false").Replace(helper), byHelper, true, "Decode them once"},
		{"the same options", handle + "o := protojson.UnmarshalOptions{DiscardUnknown: true}\no.Unmarshal(body, &a) // A\no.Unmarshal(body, &b) // B\n}\n", of(proto, proto), true, "Decode them once"},
		{"the same configuration", handle + "tagged.Unmarshal(body, &a) // A\ntagged.Unmarshal(body, &b) // B\n}\n", of(iter, iter), true, "Decode them once"},

		{"a strict one", set("d.DisallowUnknownFields()", ""), of(decoder, decoder), false, ""},
		{"numbers as they are written", set("", "e.UseNumber()"), of(decoder, decoder), false, ""},
		{"one of each", set("d.UseNumber()", "e.DisallowUnknownFields()"), of(decoder, decoder), false, ""},
		{"a strict one and Unmarshal", handle + "json.Unmarshal(body, &a) // A\ne := json.NewDecoder(bytes.NewReader(body))\ne.DisallowUnknownFields()\ne.Decode(&b) // B\n}\n", of(unmarshal, decoder), false, ""},
		{"a caller decides", handle + "decode(body, &a, true) // C\ndecode(body, &b, false) // D\n}\n" + helper, byHelper, false, ""},
		{"set up elsewhere", set("strict(d)", ""), of(decoder, decoder), false, ""},
		{"a check of all before a Decoder, which stops after the first value", handle + "if !json.Valid(body) { // A\nreturn\n}\njson.NewDecoder(bytes.NewReader(body)).Decode(&b) // B\n}\n", of(valid, decoder), false, ""},
		{"another package", handle + "json.Unmarshal(body, &a) // A\nyaml.Unmarshal(body, &b) // B\n}\n", of(unmarshal, "gopkg.in/yaml%2ev3.Unmarshal"), false, ""},
		{"a check of another package", handle + "if !json.Valid(body) { // A\nreturn\n}\nyaml.Unmarshal(body, &b) // B\n}\n", of(valid, "gopkg.in/yaml%2ev3.Unmarshal"), false, ""},
		{"another set of tags", handle + "tagged.Unmarshal(body, &a) // A\nplain.Unmarshal(body, &b) // B\n}\n", of(iter, iter), false, ""},
		{"other options", handle + "protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, &a) // A\no := protojson.UnmarshalOptions{}\no.Unmarshal(body, &b) // B\n}\n", of(proto, proto), false, ""},
		{"an option that is handed over", handle + "json.Unmarshal(body, &a) // A\njson.Unmarshal(body, &b, json.RejectUnknownMembers(true)) // B\n}\n", of(unmarshal, unmarshal), false, ""},
		{"a strict function", handle + "yaml.Unmarshal(body, &a) // A\nyaml.UnmarshalStrict(body, &b) // B\n}\n", of("gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml%2ev3.UnmarshalStrict"), false, ""},
		{"a field of the decoder", strings.NewReplacer("json.", "xml.").Replace(set("d.Strict = false", "")), strings.ReplaceAll(of(decoder, decoder), "json", "xml"), false, ""},
	} {
		f := bytesAnswer(t, head+c.source, c.stacks)
		if again := strings.Contains(f.Title, "same bytes"); again != c.again || again && !strings.Contains(f.Advice, c.says) {
			t.Errorf("%s: %s %s: %s %s", c.name, f.State, f.Title, f.Summary, f.Advice)
		}
	}
}
