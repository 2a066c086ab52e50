package insight

import (
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestEncodedCopies: which functions copy by encoding and decoding, whatever the package, and which do not.
func TestEncodedCopies(t *testing.T) {
	const helpers = "\ntype conf struct{}\nfunc (c *conf) Bytes() ([]byte, error) { return json.Marshal(c) }\nfunc load(b []byte) (*conf, error) {\n\tc := &conf{}\n\tif err := json.Unmarshal(b, c); err != nil {\n\t\treturn nil, err\n\t}\n\treturn c, nil\n}\n" +
		"func loadTOML(b []byte) *conf {\n\tc := &conf{}\n\ttoml.Unmarshal(b, c)\n\treturn c\n}\ntype doc struct{}\nfunc (d *doc) Bytes() []byte { return d.raw }\n" +
		"func dump(r *rule) []byte {\n\tb, _ := json.Marshal(r.cfg)\n\treturn b\n}\nfunc poll(r *rule) []byte {\n\tm := conf{}\n\tm.fill(r)\n\tb, _ := json.Marshal(m)\n\treturn b\n}\nfunc answer(r *rule) []byte {\n\tb, _ := json.Marshal(conf{})\n\treturn b\n}\n" +
		"func other(r *rule) []byte {\n\tr = r.last\n\tb, _ := json.Marshal(r)\n\treturn b\n}\n"
	const reads = "func read(r io.Reader) (any, error) {\n\td := json.NewDecoder(r)\n\td.UseNumber()\n\tvar v any\n\tif err := d.Decode(&v); err != nil {\n\t\treturn nil, err\n\t}\n\treturn v, nil\n}\n"
	for _, c := range []struct {
		name, source  string
		copies, isNew bool
	}{
		{"a call apart", "b, _ := r.cfg.Bytes()\nc, _ := load(b)\nreturn c", true, true},
		{"gob", "var buf bytes.Buffer\ngob.NewEncoder(&buf).Encode(r)\nvar c rule\ngob.NewDecoder(&buf).Decode(&c)", true, true},
		{"gob by variables", "buf := new(bytes.Buffer)\nenc := gob.NewEncoder(buf)\ndec := gob.NewDecoder(buf)\nenc.Encode(r)\nc := new(rule)\ndec.Decode(c)", true, true},
		{"yaml", "b, _ := yaml.Marshal(r)\nvar c rule\nyaml.Unmarshal(b, &c)", true, true},
		{"into what is given", "b, _ := json.Marshal(r)\njson.Unmarshal(b, dst)", true, false},
		{"into a field", "b, _ := json.Marshal(r)\njson.Unmarshal(b, &r.last)", true, false},
		{"from one format to another", "b, _ := json.Marshal(r)\nvar c rule\nyaml.Unmarshal(b, &c)", false, false},
		{"from one to another, a call apart", "b, _ := r.cfg.Bytes()\nc := loadTOML(b)\nreturn c", false, false},
		{"the buffer is sent as well", "var buf bytes.Buffer\ngob.NewEncoder(&buf).Encode(r)\nw.Write(buf.Bytes())\nvar c rule\ngob.NewDecoder(&buf).Decode(&c)", false, false},
		{"two buffers", "gob.NewEncoder(&out).Encode(r)\nvar c rule\ngob.NewDecoder(&in).Decode(&c)", false, false},
		{"an answer before the next question", "b, _ := json.Marshal(r)\nw.Write(b)\nvar c rule\njson.Unmarshal(next(), &c)", false, false},
		{"the field of what is given, a call apart", "c, _ := load(dump(r))\nreturn c", true, true},
		{"what a function has made for its answer", "c, _ := load(poll(r))\nreturn c", false, false},
		{"what it has made, by a variable", "b := answer(r)\nc, _ := load(b)\nreturn c", false, false},
		{"what it was given at first", "c, _ := load(other(r))\nreturn c", false, false},
		{"what is made here", "m := conf{}\nb, _ := json.Marshal(m)\nc, _ := load(b)\nreturn c", true, true},
		{"by a decoder of what was encoded", "b, _ := json.Marshal(r)\nvar c any\njson.NewDecoder(bytes.NewReader(b)).Decode(&c)\nreturn c", true, true},
		{"by a decoder with settings", "b, _ := json.Marshal(r)\nd := json.NewDecoder(strings.NewReader(string(b)))\nd.UseNumber()\nvar c any\nd.Decode(&c)\nreturn c", true, true},
		{"by a decoder, a call apart", "b, _ := json.Marshal(r)\nc, _ := read(bytes.NewReader(b))\nreturn c", true, true},
		{"by a decoder of what comes in", "b, _ := json.Marshal(r)\nw.Write(b)\nc, _ := read(body)\nreturn c", false, false},
		{"by a decoder, of what is sent as well", "b, _ := json.Marshal(r)\nw.Write(b)\nc, _ := read(bytes.NewReader(b))\nreturn c", false, false},
		{"by a decoder of another format", "b, _ := json.Marshal(r)\nvar c any\nyaml.NewDecoder(bytes.NewReader(b)).Decode(&c)\nreturn c", false, false},
		{"what is read back was there before", "d := &doc{}\nb := d.Bytes()\nc, _ := load(b)\nreturn c", false, false},
	} {
		text := "package main\n\ntype rule struct {\n\tcfg *conf\n\tlast *rule\n}\nfunc f(r *rule, dst any) *conf {\n" + c.source + "\n}\n" + helpers + reads
		code := sourceOf(text)
		at := marked("package main\n\n\n\n\n\n\n// 1", "main.f")[0]
		got, ok := encodedCopyIn(code, at)
		if ok != c.copies {
			t.Errorf("%s: %v", c.name, ok)
			continue
		}
		if d := deepCopyOf(code, at); ok && d.intoNew(code) != c.isNew {
			t.Errorf("%s: into something new: %v, %+v", c.name, !c.isNew, got)
		}
	}
}

// TestDeepCopy: the function that copies is named, with both halves, and not that which decodes for it.
func TestDeepCopy(t *testing.T) {
	const source = "package state\n\ntype res struct { cfg *Config }\n\nfunc (r *res) DeepCopy() *Config {\n\tb, err := r.cfg.Bytes()\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tc, err := Load(b)\n\treturn c\n}\n%s" +
		"func (c *Config) Bytes() ([]byte, error) { return json.Marshal(c) }\ntype Config struct { Name string }\n\nfunc Load(b []byte) (*Config, error) {\n\tc := &Config{}\n\treturn c, json.Unmarshal(b, c)\n}\n"
	r := func(text string, loads int64) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase cpu 10s..15s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/state.go", Kind: recording.Source, Source: "/src/state.go"}, []byte(text))
		return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(picture(
			column{"main.main shop/state.get:/src/state.go:40 shop/state.(*res).DeepCopy:/src/state.go:6 shop/state.(*Config).Bytes:/src/state.go:13 encoding/json.Marshal encoding/json.appendString", []int64{100}},
			column{"main.main shop/state.get:/src/state.go:40 shop/state.(*res).DeepCopy:/src/state.go:10 shop/state.Load:/src/state.go:18 encoding/json.Unmarshal encoding/json.checkValid", []int64{500}},
			column{"main.main shop/state.boot:/src/state.go:50 shop/state.Load:/src/state.go:18 encoding/json.Unmarshal encoding/json.checkValid", []int64{loads}},
			column{"main.main shop/state.other:/src/state.go:60", []int64{200}},
			column{"main.main shop/state.get:/src/state.go:40 shop/state.(*res).DeepCopy:/src/state.go:6 shop/state.(*Config).Bytes:/src/state.go:13 fmt.Sprintf", []int64{100}}, // no part of the copying
		)))
	}
	text := strings.Replace(source, "%s", "", 1)
	f := expect(t, "a copy", r(text, 10), "CP03", Found, "65.9% of the CPU time went into copying values by way of package json: state.go:6 in state.(*res).DeepCopy", "(line 10)")
	severity(t, "a copy", f, Warning)
	if f.Evidence[0].Line != 10 || f.Evidence[1].Line != 6 || !strings.Contains(f.Advice, "copy it by hand") {
		t.Errorf("%+v %s", f.Evidence, f.Advice)
	}
	all := answers(t, r(text, 400), "CP03")
	if len(all) != 2 || !strings.Contains(all[1].Summary, "30.8% of the CPU time went into encoding/json") || strings.Contains(all[1].Advice, "not into a map") || !strings.Contains(all[1].Advice, "leave out of the struct") {
		t.Errorf("what is decoded beside it: %+v", all)
	}
	sent := strings.Replace(text, "\tc, err := Load(b)\n", "\tc, err := Load(b); r.send(b)\n", 1)
	f = expect(t, "sent as well", r(sent, 10), "CP03", Found, "went into encoding/json")
	if strings.Contains(f.Advice, "by hand") || strings.Contains(f.Advice, "not into a map") {
		t.Errorf("sent as well: %s", f.Advice)
	}
}
