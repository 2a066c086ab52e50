package profile_test

import (
	"bytes"
	"testing"
	"time"

	google "github.com/google/pprof/profile"

	"loupe/format/profile"
	"loupe/value/stack"
)

func encode(t *testing.T, p *profile.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestEncode decodes real profiles, encodes them and reads that again, with
// our decoder and with google/pprof: everything must be as it was.
func TestEncode(t *testing.T) {
	for name, data := range realProfiles(t) {
		t.Run(name, func(t *testing.T) {
			want, err := profile.Decode(data, profile.Options{})
			if err != nil {
				t.Skip(err) // the compiler writes broken ones at times
			}
			again := encode(t, want)
			got := mustDecode(t, again)
			if a, b := header(want), header(got); a != b {
				t.Errorf("header:\n%s\nwant:\n%s", b, a)
			}
			if got.Len() != want.Len() {
				t.Fatalf("%d samples, want %d", got.Len(), want.Len())
			}
			for i := range want.Len() {
				if a, b := sample(want, i), sample(got, i); a != b {
					t.Fatalf("sample %d:\n%s\nwant:\n%s", i, b, a)
				}
			}
			official, err := google.ParseData(again)
			if err != nil {
				t.Fatal(err)
			}
			if err := official.CheckValid(); err != nil {
				t.Error(err)
			}
			compare(t, again)
		})
	}
}

// TestEncodeByHand encodes a profile that was never read.
func TestEncodeByHand(t *testing.T) {
	stacks := new(stack.Table)
	frame := func(name string, line int) stack.FrameID {
		return stacks.InternFrame(stack.Frame{Func: name, System: name, File: "a.go", Line: line})
	}
	p := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}},
		PeriodType:  profile.ValueType{Type: "trace", Unit: "count"}, Period: 1,
		Time: time.Unix(1, 5), Duration: time.Second, Stacks: stacks,
		StackIDs: []stack.ID{stacks.Intern([]stack.FrameID{frame("[sync]", 0), frame("main.f", 7), frame("main.main", 2)}), 0},
		Values:   [][]int64{{3, 1}, {-5, 1 << 62}},
	}
	data := encode(t, p)
	compare(t, data)
	got := mustDecode(t, data)
	if a, b := header(p), header(got); a != b {
		t.Errorf("header:\n%s\nwant:\n%s", b, a)
	}
	for i := range p.Len() {
		if a, b := sample(p, i), sample(got, i); a != b {
			t.Errorf("sample %d:\n%s\nwant:\n%s", i, b, a)
		}
	}
	p.Values = p.Values[:1]
	if p.Encode(new(bytes.Buffer)) == nil {
		t.Error("a column is missing, and there is no error")
	}
}

// FuzzEncode encodes whatever can be decoded.
func FuzzEncode(f *testing.F) {
	for _, data := range realProfiles(f) {
		if len(data) < 1<<14 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := profile.Decode(data, profile.Options{MaxBytes: 1 << 20})
		if err != nil {
			return
		}
		again := mustDecode(t, encode(t, p))
		for i := range p.Len() {
			if a, b := sample(p, i), sample(again, i); a != b {
				t.Fatalf("sample %d:\n%s\nwant:\n%s", i, b, a)
			}
		}
	})
}
