package profile_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/value/stack"
)

const picture = `
	main.main      main.main      main.main    main.main
	main.parse:12  main.parse:12  main.write   main.parse:12
	main.grow:7~   main.scan:9                 main.grow:7~
	runtime.mallocgc                           runtime.mallocgc
	= 1 2 3 4
	= 10 20 30 40
	@ a=b - bytes=64 a=b
	@ -   - -        user=x`

var pictureOptions = profiletest.Options{
	Types: []string{"alloc_objects/count", "alloc_space/bytes"}, Default: "alloc_space",
	Binary: "/bin/search", BuildID: "abc", Time: time.Unix(1700000000, 5), Duration: 3 * time.Second,
	Comments: []string{"#internal", "for people"}, Starts: map[string]int{"main.parse": 1},
}

func mustDecode(t testing.TB, data []byte) *profile.Profile {
	t.Helper()
	p, err := profile.Decode(data, profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDecode(t *testing.T) {
	p := mustDecode(t, profiletest.Encode(picture, pictureOptions))
	if p.Len() != 4 || len(p.Values) != 2 || p.Stacks.Len() != 4 || p.NumLabelSets() != 4 {
		t.Errorf("%d samples, %d columns, %d stacks, %d label sets", p.Len(), len(p.Values), p.Stacks.Len(), p.NumLabelSets())
	}
	if p.StackIDs[0] != p.StackIDs[3] || p.StackIDs[0] == p.StackIDs[1] {
		t.Errorf("stack ids = %v", p.StackIDs)
	}
	var got []string
	for id, v := range p.Samples(1) {
		var s strings.Builder
		for _, f := range p.Stacks.Frames(id) {
			frame := p.Stacks.Frame(f)
			fmt.Fprintf(&s, "%s:%d %v; ", frame.Func, frame.Line, frame.Inlined)
		}
		got = append(got, fmt.Sprintf("%d %s", v, s.String()))
	}
	want := []string{
		"10 runtime.mallocgc:1 false; main.grow:7 true; main.parse:12 false; main.main:1 false; ",
		"20 main.scan:9 false; main.parse:12 false; main.main:1 false; ",
		"30 main.write:1 false; main.main:1 false; ",
		"40 runtime.mallocgc:1 false; main.grow:7 true; main.parse:12 false; main.main:1 false; ",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("samples:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := fmt.Sprint(p.Labels(p.LabelSets[0]), p.Labels(p.LabelSets[1]), p.Labels(p.LabelSets[2]), p.Labels(p.LabelSets[3])); got !=
		"[{a b 0  false}] [] [{bytes  64  true}] [{a b 0  false} {user x 0  false}]" {
		t.Errorf("labels = %s", got)
	}
	frame := p.Stacks.Frame(p.Stacks.Frames(p.StackIDs[1])[1])
	if want := (stack.Frame{Func: "main.parse", System: "main.parse", File: "main/parse.go", Module: "/bin/search", Address: frame.Address, Line: 12, StartLine: 1}); frame != want {
		t.Errorf("frame = %+v, want %+v", frame, want)
	}
	if p.Mappings[0].BuildID != "abc" || p.Duration != 3*time.Second || !p.Time.Equal(time.Unix(1700000000, 5)) ||
		p.Period != 10000000 || p.PeriodType.String() != "cpu/nanoseconds" || len(p.Comments) != 2 {
		t.Errorf("header = %+v", p)
	}
	if p.Total(0) != 10 || p.Total(1) != 100 {
		t.Errorf("totals = %d, %d", p.Total(0), p.Total(1))
	}
}

func TestIndex(t *testing.T) {
	heap := []string{"alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"}
	old := []string{"objects/count", "space/bytes"}
	f := func(types []string, def, name string, want int, wantErr string) {
		t.Helper()
		p := mustDecode(t, profiletest.Encode("main.main", profiletest.Options{Types: types, Default: def}))
		got, err := p.Index(name)
		if wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), wantErr) {
				t.Errorf("Index(%q): error %v, want %q", name, err, wantErr)
			}
			return
		}
		if got != want || err != nil {
			t.Errorf("Index(%q) = %d, %v, want %d", name, got, err, want)
		}
	}
	f(heap, "", "", 3, "")
	f(heap, "alloc_space", "", 1, "")
	f(heap, "nothing", "", 3, "")
	f(heap, "alloc_space", "inuse_space", 3, "")
	f(heap, "", "2", 2, "")
	f(old, "", "inuse_space", 1, "")
	f(old, "", "inuse_objects", 0, "")
	f(heap, "", "4", 0, "the types 0 to 3")
	f(heap, "", "-1", 0, "the types 0 to 3")
	f(heap, "", "cpu", 0, "choose one of alloc_objects, alloc_space, inuse_objects, inuse_space")
	p := mustDecode(t, profiletest.Message{}.Bytes(6, nil))
	if _, err := p.Index(""); err == nil {
		t.Error("an empty profile has a sample type")
	}
}

func TestErrors(t *testing.T) {
	type M = profiletest.Message
	good := M(profiletest.Encode("main.main  main.main\nmain.f  main.g\n@ a=b a=c", profiletest.Options{Raw: true}))
	f := func(data []byte, want string) {
		t.Helper()
		_, err := profile.Decode(data, profile.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q", err, want)
		}
	}
	f(nil, "the input is empty")
	f(good[:len(good)-3], "byte")
	f(good[:20], "cut")
	f(profiletest.Gzip(good)[:40], "was the file cut")
	f([]byte("\x1f\x8bxxxxxxxx"), "cannot inflate profile: gzip: invalid header")
	f(append(good[:len(good):len(good)], good...), "it holds two profiles")
	timed := profiletest.Encode("main.main", profiletest.Options{Time: time.Unix(1, 0)})
	f(append(timed[:len(timed):len(timed)], timed...), "it holds two profiles")
	f(good.Varint(2, 1), "field sample has wire type 0")
	f(good.Bytes(2, M{}.Varint(1, 1)), "has 0 values, but there are 1 sample types")
	f(good.Bytes(2, M{}.Varint(1, 99).Varint(2, 1)), "location 99 is not in the table")
	f(good.Bytes(2, M{}.Varint(1, 1).Varint(2, 1).Bytes(3, M{}.Varint(1, 99))), "string 99 is not in the table")
	f(good.Bytes(4, M{}.Varint(1, 50).Bytes(4, M{}.Varint(1, 99))), "function 99 is not in the table")
	f(good.Bytes(4, M{}.Varint(1, 1)), "has the id 1, which is taken")
	f(good.Bytes(4, M{}.Varint(3, 1)), "has the id 0, which is reserved")
	f(good.Bytes(5, M{}.Varint(1, 50).Varint(2, 99)), "is not in the table")
	f(good.Bytes(3, M{}.Varint(1, 50).Varint(5, 99)), "is not in the string table")
	f(M{}.Bytes(1, M{}.Varint(1, 99)).Bytes(6, nil), "sample_type: string 99")
	f(M{}.Bytes(6, []byte("x")), "want it empty")
	f(M{}.Bytes(1, M{}.Varint(1, 0)), "there is no string table")
	f(make([]byte, 1000), "byte 0: there is no field of the number 0")

	// What is no profile.proto is named.
	f([]byte("<!DOCTYPE html><html>"), "a web page")
	f([]byte("404 page not found\n"), "is net/http/pprof imported")
	f([]byte("\x7fELF\x02\x01\x01"), "an ELF binary")
	f([]byte("go 1.26 trace\x00\x00\x00"), "execution trace")
	f([]byte("hello"), `text that begins with "hello"`)
	f(profiletest.Gzip(profiletest.Gzip(good)), "gzip inside gzip")
	f([]byte("\x28\xb5\x2f\xfd...."), "zstd")
	f([]byte(`{"a":1}`), "JSON, but none of the kinds")
}

// TestBombs feeds small inputs that would need much memory if lengths and
// counts were believed.
func TestBombs(t *testing.T) {
	type M = profiletest.Message
	f := func(name string, data []byte, opt profile.Options, want string) {
		t.Helper()
		_, err := profile.Decode(data, opt)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
	zeros := profiletest.Gzip(make([]byte, 10<<20))
	f("inflate", zeros, profile.Options{MaxBytes: 1 << 20}, "more than 1048576 bytes come out")
	f("raw size", make([]byte, 100), profile.Options{MaxBytes: 50}, "Options.MaxBytes")

	lying := profiletest.Gzip([]byte("x"))
	copy(lying[len(lying)-4:], "\xff\xff\xff\xff")
	f("trailer", lying, profile.Options{}, "gzip: invalid checksum")

	var wide M
	for range 1000 {
		wide = wide.Bytes(1, nil).Bytes(2, nil)
	}
	f("types times samples", wide.Bytes(6, nil), profile.Options{}, "has 0 values, but there are 1 sample types")

	location := M{}.Varint(1, 1)
	for range 5000 {
		location = location.Bytes(4, M{}.Varint(1, 1))
	}
	inlined := M{}.Bytes(1, nil).Bytes(4, location).Bytes(5, M{}.Varint(1, 1)).Bytes(6, nil)
	for n := range 1000 {
		inlined = inlined.Bytes(2, M{}.Varints(1, make1(n+1), true).Varint(2, 1))
	}
	f("inlined frames", inlined, profile.Options{}, "which no compiler makes")
}

func make1(n int) []uint64 {
	ones := make([]uint64, n)
	for i := range ones {
		ones[i] = 1
	}
	return ones
}
