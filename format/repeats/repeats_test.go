package repeats_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"loupe/format/repeats"
)

var funcs = []repeats.Func{{Name: "main.main", File: "/a.go", Line: 3}, {Name: "main.load", File: "/a.go", Line: 9}, {Name: "main.idle", File: "/a.go", Line: 20}}

const counts = "loupe repeats 1 5000\np 0 1 0 2 900 10 600 2 8 480 1 3 0 6 5 65 1000\nc 10 600 7 59000\np 0 2 1 1 900 10 50 10 0 0 0 0 0 10 1 0 900\nc 1 2 3 4\nf 0 2 950 7 0\nf 1 10 600 30 77\nt 1 4 300 1 3\ns 0 1 9 2\ne 1 12 700 3 9 500 1 0 65\nr 1 2 800 10 3 7 4 700 6 1 2 5 8 2 65\nb 0 2 60 0 7 0\nl 0 2 2 60 1 1 1\nend\n"

// places are the blocks and loops that counts speak of; the function of the fourth and fifth was never called.
var places = repeats.Counted{
	Blocks: []repeats.CountedBlock{{repeats.Place{File: "/b.go", Line: 3, Offset: 40}, 0}, {repeats.Place{File: "/b.go", Line: 4, Offset: 70}, 0}, {repeats.Place{File: "/b.go", Line: 5, Offset: 90}, 0},
		{repeats.Place{File: "/a.go", Line: 3, Offset: 40}, 3}, {repeats.Place{File: "/a.go", Line: 9, Offset: 99}, 4}},
	Loops: []repeats.Place{{File: "/b.go", Line: 4, Offset: 50}, {File: "/b.go", Line: 8, Offset: 200}},
}

// What the counting code writes becomes a set, which its file keeps.
func TestReadCounts(t *testing.T) {
	s, err := repeats.ReadCounts(strings.NewReader(counts), funcs, places)
	if err != nil {
		t.Fatal(err)
	}
	want := []repeats.Within{{In: 0, Call: 1, Around: 2, AroundTime: 900, WholeTime: 1000, Changed: 3, Most: 6, MostOne: 5, Same: 9, Made: 2, Course: []repeats.Step{{Calls: 10, Time: 600, Size: 7, Digits: 59000}},
		Counts: repeats.Counts{Calls: 10, Time: 600, Distinct: 2, Again: 8, AgainTime: 480, Differ: 1, Traits: repeats.Traits{Partial: true, Refers: true}}}}
	if !reflect.DeepEqual(s.Within, want) || s.For != 5*time.Microsecond {
		t.Errorf("%v, %+v", s.For, s.Within)
	}
	if f := s.Functions[1]; f.Calls != 10 || f.Time != 600 || !f.Cut || f.Together != 4 || f.TogetherTime != 300 || f.Apart != 1 || f.AtOnce != 3 || f.Name != "main.load" {
		t.Errorf("%+v", f)
	}
	if e := s.Functions[1].Everywhere; e == nil || *e != (repeats.Counts{Calls: 12, Time: 700, Distinct: 3, Again: 9, AgainTime: 500, Differ: 1, Traits: repeats.Traits{Partial: true, Refers: true}}) {
		t.Errorf("%+v", e)
	}
	recursion := repeats.Recursion{Around: 2, AroundTime: 800, Calls: 10, Distinct: 3, Again: 7, Tops: 4, TopsTime: 700, Same: 6, Differ: 1, Changed: 2, Results: 5, Most: 8, MostDistinct: 2, Traits: repeats.Traits{Partial: true, Refers: true}}
	if r := s.Functions[1].Recursion; r == nil || *r != recursion {
		t.Errorf("%+v", r)
	}
	files := []repeats.File{
		{Name: "/a.go", Blocks: []repeats.Block{{Line: 3, Offset: 40, Count: 7}}},
		{Name: "/b.go", Blocks: []repeats.Block{{Line: 3, Offset: 40, Count: 2}, {Line: 4, Offset: 70, Count: 60}, {Line: 5, Offset: 90}}, Loops: []repeats.Loop{{Line: 4, Offset: 50, Entered: 2, Looked: 2, Size: 60, Contents: 1, Paired: 1, Alike: 1}}},
	}
	if !reflect.DeepEqual(s.Files, files) {
		t.Errorf("%+v", s.Files)
	}
	if s.Last {
		t.Error("the last counts, of a file that does not say so")
	}
	if last, err := repeats.ReadCounts(strings.NewReader(strings.TrimSuffix(counts, "\n")+" last\n"), funcs, places); err != nil || !last.Last {
		t.Errorf("not the last counts, error %v", err)
	}
	s.Loaded = true
	var b bytes.Buffer
	if err := s.Encode(&b); err != nil {
		t.Fatal(err)
	}
	again, err := repeats.Decode(b.Bytes())
	if err != nil || !reflect.DeepEqual(again.Within, s.Within) || !reflect.DeepEqual(again.Files, files) || !again.Loaded || len(again.Functions) != 2 || again.Functions[again.Within[0].Call].Name != "main.load" || again.Functions[again.Within[0].Call].Everywhere == nil || *again.Functions[again.Within[0].Call].Recursion != recursion {
		t.Errorf("%+v, error %v", again, err)
	}
}

// What is no counts, or has an impossible one, is an error that says what.
func TestDamaged(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "cut"},
		{"hello\n", "line 1"},
		{strings.TrimSuffix(counts, "end\n"), "cut"},
		{strings.Replace(counts, "p 0 1 0", "p 0 9 0", 1), "line 2"},
		{strings.Replace(counts, "f 0", "q 0", 1), "line 6"},
		{strings.Replace(counts, "900", "-900", 1), "is no number"},
		{strings.Replace(counts, "b 0", "b 4", 1), "there is no block 5"},
		{strings.Replace(counts, "l 0", "l 2", 1), "line 13"},
	} {
		if _, err := repeats.ReadCounts(strings.NewReader(test.text), funcs, places); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.text, err, test.want)
		}
	}
	for _, test := range []struct{ text, want string }{
		{"{", "JSON"},
		{`{"schema":"loupe.load/1"}`, "schema"},
		{`{"schema":"loupe.repeats/1","within":[{"in":0,"call":0,"around":1}]}`, "function 0"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":"a"},{"name":"b"}],"within":[{"in":0,"call":1,"around":0}]}`, "possible"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":"a"}],"within":[{"in":0,"call":0,"around":1}]}`, "possible"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":""}]}`, "function 0"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":"a","calls":-1}]}`, "function 0"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":"a"},{"name":"b"}],"within":[{"in":0,"call":1,"around":9223372036854775807}]}`, "possible"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":"a"},{"name":"b"}],"within":[{"in":0,"call":1,"around":1},{"in":0,"call":1,"around":1}]}`, "possible"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":"a"},{"name":"b"}],"within":[{"in":0,"call":1,"around":1,"calls":5,"again":6}]}`, "possible"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":"a"},{"name":"b"}],"within":[{"in":0,"call":1,"around":1,"most":-5}]}`, "possible"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":"a","recursion":{"around":1,"calls":5,"again":6}}]}`, "function 0"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":"a","recursion":{"around":1,"around_ns":5,"tops_ns":6}}]}`, "function 0"},
		{`{"schema":"loupe.repeats/1","files":[{"name":"a","blocks":[{"line":1,"offset":5,"count":1},{"line":1,"offset":5,"count":1}]}]}`, "file 0"},
		{`{"schema":"loupe.repeats/1","files":[{"name":"a","loops":[{"line":1,"offset":5,"entered":1,"looked":2}]}]}`, "file 0"},
		{`{"schema":"loupe.repeats/1","files":[{"name":"a","loops":[{"line":1,"offset":5,"entered":9,"looked":2,"contents":1,"paired":1,"alike":2}]}]}`, "file 0"},
		{`{"schema":"loupe.repeats/1","files":[{"name":"a","loops":[{"line":1,"offset":5,"entered":9,"looked":2,"contents":1,"paired":2}]}]}`, "file 0"},
		{`{"schema":"loupe.repeats/1","files":[{"name":"a","loops":[{"line":1,"offset":5,"entered":9,"size":7}]}]}`, "file 0"},
		{`{"schema":"loupe.repeats/1","files":[{"name":"a","blocks":[{"line":1,"offset":5,"count":-1}]}]}`, "file 0"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":"a","time_ns":5}]}`, "function 0"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":"a","calls":5,"everywhere":{"calls":6}}]}`, "function 0"},
		{two + `"within":[{"in":0,"call":1,"around":1000000000,"calls":8}]}`, `calls of "b" within "a": 8 calls within 1000000000`},
		{two + `"within":[{"in":0,"call":1,"around":4,"calls":8}]}`, "within 4 calls, of the 3 that there were"},
		{two + `"within":[{"in":0,"call":1,"around":1,"calls":9}]}`, "9 calls, of the 8 that there were"},
		{`{"schema":"loupe.repeats/1","functions":[{"name":"a","calls":3},{"name":"b","calls":8,"cut":true}],"within":[{"in":0,"call":1,"around":1,"time_ns":9}]}`, "no calls, which took 9ns"},
		{`{"schema":"loupe.repeats/1","files":[{"name":"a","blocks":[` + many(700) + `]}]}`, "more together"},
	} {
		if _, err := repeats.Decode([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.text, err, test.want)
		}
	}
}

// two are functions with few calls.
const two = `{"schema":"loupe.repeats/1","functions":[{"name":"a","calls":3},{"name":"b","calls":8}],`

// many are blocks that were each entered as often as one can be.
func many(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"line":%d,"offset":%d,"count":%d}`, i+1, i, int64(1)<<53))
	}
	return strings.Join(all, ",")
}

// TestPossible: what the counting code may write is read: calls that go on, and functions of which counting has ended.
func TestPossible(t *testing.T) {
	for _, text := range []string{
		two + `"within":[{"in":0,"call":1,"around":3,"calls":8}]}`,
		two + `"within":[{"in":0,"call":1,"open":true,"around":5,"calls":8}]}`,
		`{"schema":"loupe.repeats/1","functions":[{"name":"a","calls":3,"cut":true},{"name":"b","calls":8}],"within":[{"in":0,"call":1,"around":7,"calls":8}]}`,
		`{"schema":"loupe.repeats/1","functions":[{"name":"a","calls":30},{"name":"b","calls":8,"cut":true}],"within":[{"in":0,"call":1,"around":20,"calls":8}]}`,
		`{"schema":"loupe.repeats/1","functions":[{"name":"a","calls":5,"cut":true,"everywhere":{"calls":6}}]}`,
		`{"schema":"loupe.repeats/1","files":[{"name":"a","blocks":[` + many(100) + `],"loops":[{"line":1,"offset":5,"entered":9,"looked":1,"contents":1,"size":3}]}]}`,
	} {
		if _, err := repeats.Decode([]byte(text)); err != nil {
			t.Errorf("%.200s: %v", text, err)
		}
	}
}

// FuzzDecode: no input may panic, and what can be read can be written and read again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(counts))
	f.Add([]byte(`{"schema":"loupe.repeats/1","functions":[{"name":"a"}],"within":[{"in":0,"call":0,"around":1,"calls":2,"distinct":1,"again":1}]}`))
	f.Add([]byte(strings.TrimSuffix(counts, "\n") + " last\n"))
	f.Add([]byte(two + `"within":[{"in":0,"call":1,"around":1000000000,"calls":8}],"files":[{"name":"a","blocks":[{"line":1,"offset":0,"count":9007199254740992}],"loops":[{"line":1,"offset":5,"entered":9,"looked":2,"contents":1,"size":3,"paired":1,"alike":1}]}]}`))
	f.Add([]byte(`{"schema":"loupe.repeats/1","functions":[{"name":"a","calls":9,"recursion":{"around":2,"calls":5,"again":2,"distinct":3,"most":4,"most_distinct":3},"everywhere":{"calls":9,"distinct":9}},{"name":"b","cut":true}],"within":[{"in":0,"call":1,"open":true,"around":1,"course":[{"calls":64,"time_ns":9,"digits":-1}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := repeats.ReadCounts(bytes.NewReader(data), funcs, places); err == nil {
			if err := s.Encode(&bytes.Buffer{}); err != nil {
				t.Fatal(err)
			}
		}
		s, err := repeats.Decode(data)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := s.Encode(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := repeats.Decode(b.Bytes()); err != nil {
			t.Fatal(err)
		}
	})
}
