package symbol

import (
	"slices"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	kinds := func(b *Binary, id string) (out []FactKind) {
		for _, f := range b.Judge(Mapping{BuildID: id}) {
			if !strings.HasSuffix(f.Text, ".") || strings.Contains(f.Text, ". ") || strings.Contains(f.Text, "\n") {
				t.Errorf("not one sentence: %q", f.Text)
			}
			out = append(out, f.Kind)
		}
		return out
	}
	f := func(g target, id string, want ...FactKind) {
		t.Helper()
		b := g.open(t)
		if id == "own" {
			id = strings.ToUpper(b.BuildID)
		}
		if got := kinds(b, id); !slices.Equal(got, want) {
			t.Errorf("%s: Judge(%q) = %v, want %v", g, id, got, want)
		}
	}
	hello := "./testdata/hello"
	f(target{goos: "linux", goarch: "amd64", pkg: hello}, "own", SameBuild)
	f(target{goos: "linux", goarch: "amd64", pkg: hello}, "", UnknownBuild)
	f(target{goos: "linux", goarch: "amd64", pkg: hello, flags: "-ldflags=-w"}, "0123abc", OtherBuild, NoDWARF)
	f(target{goos: "linux", goarch: "amd64", pkg: hello, flags: `-trimpath -ldflags="-s -w"`}, "own", SameBuild, NoSymbols, Trimmed)
	f(target{goos: "linux", goarch: "amd64", pkg: hello, flags: "-ldflags=-B=none"}, "0123abc", UnknownBuild)
	f(target{goos: "windows", goarch: "amd64", pkg: hello}, `C:\hello.exe2026-01-02 03:04:05`, UnknownBuild)
	f(target{goos: "darwin", goarch: "arm64", pkg: hello}, "", UnknownBuild)
}
