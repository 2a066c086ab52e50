package main

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// cases are inputs with what must become of them, each by itself.
var cases = []struct{ in, out string }{
	{"abc", "abc"},
	{"elvis", "Elvis"},
	{"aElvis", "aElvis"},
	{"abcelvis", "abcElvis"},
	{"eelvis", "eElvis"},
	{"aelvis", "aElvis"},
	{"aabeeeelvis", "aabeeeElvis"},
	{"e l v i s", "e l v i s"},
	{"aa bb e l v i saa", "aa bb e l v i saa"},
	{" elvi s", " elvi s"},
	{"elvielvis", "elviElvis"},
	{"elvielvielviselvi1", "elvielviElviselvi1"},
	{"elvielviselvis", "elviElvisElvis"},
}

var elvis, corrected = []byte("elvis"), []byte("Elvis")

// stream is all inputs in a row, and what must become of them.
func stream() (in, out []byte) {
	for _, c := range cases {
		in, out = append(in, c.in...), append(out, c.out...)
	}
	return in, out
}

// TestCases: every case alone, and all of them in one stream.
func TestCases(t *testing.T) {
	f := func(mode, in, want string) {
		t.Helper()
		var out bytes.Buffer
		modes[mode]([]byte(in), elvis, corrected, &out)
		if out.String() != want {
			t.Errorf("%s makes %q of %q, want %q", mode, out.String(), in, want)
		}
	}
	for mode := range modes {
		for _, c := range cases {
			f(mode, c.in, c.out)
		}
		in, out := stream()
		f(mode, string(in), string(out))
		f(mode, "", "")
	}
}

// agree holds both algorithms against the standard library.
func agree(t *testing.T, data, find, repl []byte) {
	t.Helper()
	if len(find) == 0 {
		return
	}
	want := bytes.ReplaceAll(data, find, repl)
	for mode, replace := range modes {
		var out bytes.Buffer
		replace(data, find, repl, &out)
		if !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%s replaces %q by %q in %q and gets %q, want %q", mode, find, repl, data, out.Bytes(), want)
		}
	}
}

// TestRandom draws from few letters, so that words overlap with themselves.
func TestRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(longest int) []byte {
		b := make([]byte, random.IntN(longest+1))
		for i := range b {
			b[i] = "elv"[random.IntN(2+random.IntN(2))]
		}
		return b
	}
	for range 20_000 {
		agree(t, text(40), text(6), text(3))
	}
}

func FuzzReplace(f *testing.F) {
	in, _ := stream()
	f.Add(in, elvis, corrected)
	f.Add([]byte("aabaabaaab"), []byte("aabaaab"), []byte{})
	f.Fuzz(func(t *testing.T, data, find, repl []byte) {
		if len(data)*len(find) < 1<<20 {
			agree(t, data, find, repl)
		}
	})
}

// TestAllocations: what the lab is about.
func TestAllocations(t *testing.T) {
	in, _ := stream()
	var out bytes.Buffer
	out.Grow(2 * len(in))
	f := func(mode string, want float64) {
		t.Helper()
		got := testing.AllocsPerRun(100, func() {
			out.Reset()
			modes[mode](in, elvis, corrected, &out)
		})
		if got != want {
			t.Errorf("%s allocates %v times, want %v", mode, got, want)
		}
	}
	f("one", 2)
	f("two", 0)
}

// TestCorrect: the program as a whole gives the same in every form.
func TestCorrect(t *testing.T) {
	size, sum := correct(replaceOne, 3000)
	if s, h := correct(replaceTwo, 3000); s != size || h != sum || size == 0 {
		t.Errorf("two: %d bytes, %x, one: %d, %x", s, h, size, sum)
	}
}

func BenchmarkAlgorithmOne(b *testing.B) { benchmark(b, replaceOne) }
func BenchmarkAlgorithmTwo(b *testing.B) { benchmark(b, replaceTwo) }

func benchmark(b *testing.B, replace func(data, find, repl []byte, out *bytes.Buffer)) {
	in, _ := stream()
	var out bytes.Buffer
	out.Grow(2 * len(in))
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		replace(in, elvis, corrected, &out)
	}
}
