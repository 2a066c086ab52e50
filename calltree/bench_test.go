package calltree_test

import (
	"io"
	"regexp"
	"testing"

	"loupe/calltree"
	"loupe/profile"
	"loupe/profile/profiletest"
	"loupe/stack"
)

func benchProfile(b *testing.B) *profile.Profile {
	p, err := profile.Decode(profiletest.Synthetic(50000, 5000), profile.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func BenchmarkTop(b *testing.B) {
	p := benchProfile(b)
	b.ReportAllocs()
	for b.Loop() {
		r := calltree.Top(p.Stacks, p.Samples(1), calltree.PprofDefaults)
		if err := calltree.WriteTop(io.Discard, calltree.Header{Unit: "bytes"}, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	p := benchProfile(b)
	match := regexp.MustCompile(`Method4\d\b`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := calltree.List(p.Stacks, calltree.Plain(p.Samples(1)), match, nil, calltree.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSites(b *testing.B) {
	p := benchProfile(b)
	lower := func(f stack.Frame) bool { return f.StartLine == 5 }
	b.ReportAllocs()
	for b.Loop() {
		calltree.Sites(p.Stacks, p.Samples(1), calltree.SiteOptions{Callee: lower})
	}
}
