package calltree_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	pprof "github.com/google/pprof/profile"
)

// fuzzed makes profiles with everything that Go's profiles seldom or never
// have: several binaries, columns, functions without a name or with the name
// of another one, locations without lines, labels of both kinds, negative
// values, recursion and names of three languages.
func fuzzed(t *testing.T) map[string][]byte {
	all := map[string][]byte{"names": encode(t, namesProfile())}
	for seed := range uint64(3) {
		all[fmt.Sprint("fuzzed ", seed)] = encode(t, fuzzedProfile(rand.New(rand.NewPCG(seed, 7)), seed))
	}
	return all
}

func encode(t *testing.T, p *pprof.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func fuzzedProfile(r *rand.Rand, seed uint64) *pprof.Profile {
	p := &pprof.Profile{
		SampleType: []*pprof.ValueType{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "bytes"}},
		PeriodType: &pprof.ValueType{Type: "space", Unit: "bytes"}, Period: 512,
		TimeNanos: 1e18, DurationNanos: 3e9, Comments: []string{"a comment", "# a hidden one"}, DocURL: "https://example.org/doc",
	}
	for i := range 3 {
		p.Mapping = append(p.Mapping, &pprof.Mapping{
			ID: uint64(i + 1), Start: uint64(i+1) << 20, Limit: uint64(i+2) << 20, File: fmt.Sprintf("/bin/program%d", i),
			BuildID: fmt.Sprint("build", i), HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
		})
	}
	const functions = 30
	for i := range functions {
		f := &pprof.Function{
			ID: uint64(i + 1), Name: fmt.Sprintf("example.org/a/b%d.f%d", i%4, i%25), Filename: fmt.Sprintf("/root/src/./b%d/f%d.go", i%4, i%7), StartLine: int64(10 * i),
		}
		switch {
		case i == 5:
			f.Name = ""
		case i == 6:
			f.Filename = ""
		case i == 7:
			f.StartLine = 0
		case i == 8:
			f.Name, f.Filename = "", ""
		}
		p.Function = append(p.Function, f)
	}
	for i := range 80 {
		l := &pprof.Location{ID: uint64(i + 1), Mapping: p.Mapping[i%3]}
		l.Address = l.Mapping.Start + uint64(i*i*13+1)
		for range r.IntN(4) {
			f := p.Function[r.IntN(functions)]
			l.Line = append(l.Line, pprof.Line{Function: f, Line: f.StartLine + int64(r.IntN(9)), Column: int64(r.IntN(3))})
		}
		if i%20 == 0 {
			l.Mapping = nil
		}
		p.Location = append(p.Location, l)
	}
	for i := range 300 {
		s := &pprof.Sample{Value: []int64{int64(r.IntN(5)), r.Int64N(1 << (8 + r.IntN(20)))}}
		for range 1 + r.IntN(12) {
			s.Location = append(s.Location, p.Location[r.IntN(len(p.Location))])
		}
		if seed%2 == 1 && r.IntN(3) == 0 {
			s.Value[0], s.Value[1] = -s.Value[0], -s.Value[1]
		}
		if i%3 == 0 {
			s.Label = map[string][]string{"tenant": {fmt.Sprint("t", r.IntN(6))}}
			if i%2 == 0 {
				s.Label["kind"] = []string{"x", "y"}
			}
		}
		if i%4 < 2 {
			n := int64(1) << r.IntN(20)
			s.NumLabel = map[string][]int64{"bytes": {n, n + 3}, "request": {n}}
			if i%5 == 0 {
				s.NumLabel["bytes"] = []int64{n}
			}
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

// namesProfile has one sample for each of many names: its picture shows how
// they are shortened.
func namesProfile() *pprof.Profile {
	p := &pprof.Profile{SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"}}}
	names := []string{
		"", "main", "main.main", "net/http.(*conn).serve", "github.com/a/b/v2.F", "github.com/a/b/v2/c.(*T).M", "gopkg.in/yaml.v3.F",
		"github.com/a/v1/b.F", "github.com/a/v10/b.F", "github.com/a/v01/b.F", "a/v2", "a/v2x.F", "/v2.F", "a/v9/v8/b.F", "x/v0/v3.F",
		"github.com/blah-blah/vendor/x.y/z.F", "a b/c.d", "a/b", "a/.b", "a/b.", "a/b..", "a/b.c/d.e", "a.b/c.d[...]", "m.F[go.shape.int]", "a/m.F[b/c.T]",
		"java.lang.Float.parseFloat", "java.bufferedReader.readLine(java.lang.String)", "java.util.concurrent.ThreadPoolExecutor$Worker.run",
		"java.util.A.<init>", "java.util.A.<init>()", "java.util.A.<init>x", "java.util.A.B", "com.A.run$12", "com.A.run$", "A.b", "A.b(", "a.B.c.d", "$A.b", "com.A$.b(x)",
		"std::vector::Push", "foo::bar::Class::Method", "foo::Class::~Class", "foo::_Class::method<int>", "foo::bar::Class::Method(int) const",
		"foo::Class::operator()", "(anonymous namespace)::foo::Class::Method", "(anonymous namespace)::f", "a::B::c<d::E<f>>::g", "a::B::c<d", "a::_b::C::d", "_a::_B::_c",
		"a::b::c", "A::B::C::d", "A::b", "a::1b::C::d", "a::B::~", "x::Y::z>", "google::Foo<a>::Bar", "operator new", "foo/bar::Baz::qux",
		"日本/語.関数", "a/日本.F", "a\\b.c", `q"uote.F`, "type..eq.[2]string", "runtime/debug.(*T).M-fm", "a/b.init.0", "a/b.F.func1.2", "sync.(*Pool).Get-range1",
	}
	r := rand.New(rand.NewPCG(3, 4))
	parts := []string{"a", "b-c", "Cl", "v2", "v1", "v12", "/", "/", "/v3", ".", ".", "::", "::", "_", "$", "<", ">", "(", ")", "~", "1", "[...]", "<init>", "ñ", "(anonymous namespace)::"}
	for range 1500 {
		name := ""
		for range 2 + r.IntN(9) {
			name += parts[r.IntN(len(parts))]
		}
		names = append(names, name)
	}
	seen := map[string]bool{}
	m := &pprof.Mapping{ID: 1, Limit: 1 << 20, File: "/bin/names", HasFunctions: true}
	p.Mapping = append(p.Mapping, m)
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		id := uint64(len(p.Function) + 1)
		f := &pprof.Function{ID: id, Name: name}
		l := &pprof.Location{ID: id, Mapping: m, Address: id, Line: []pprof.Line{{Function: f}}}
		p.Function, p.Location = append(p.Function, f), append(p.Location, l)
		p.Sample = append(p.Sample, &pprof.Sample{Location: []*pprof.Location{l}, Value: []int64{int64(1e6 + id)}})
	}
	return p
}
