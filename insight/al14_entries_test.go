package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestAL14Entries: entries of a registry that main fills, one line each, are told as such, and not as the same pattern
// again; not where a loop, or a goroutine of its own, does it.
func TestAL14Entries(t *testing.T) {
	of := func(root, load string, lines int) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nrun 0s..5s exit=\"exit status 0\"\nphase cpu 0s..5s profiler=cpu\n")
		rows := make([]string, 6)
		for i := range lines {
			for j, name := range []string{root + ":/src/main.go:4", fmt.Sprintf("shop.load:/src/load.go:%d", 4+i), "shop.build:/src/build.go:4", "regexp.MustCompile", "regexp.compile"} {
				rows[j] += name + "  "
			}
			rows[5] += " 20"
		}
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(strings.Join(rows[:5], "\n")+"\n="+rows[5]+"\n"))
		for name, text := range map[string]string{
			"/src/main.go":  "package main\n\nfunc main() {\n\tshop.Load()\n}\n",
			"/src/load.go":  load,
			"/src/build.go": "package shop\n\nfunc build(p string) {\n\tall = append(all, regexp.MustCompile(p))\n}\n",
		} {
			r.Put(recording.Entry{Path: "source" + name, Kind: recording.Source, Source: name}, []byte(text))
		}
		return r
	}
	calls := strings.Repeat("\tbuild(x)\n", 12)
	plain := "package shop\n\nfunc load() {\n" + calls + "}\n"
	looped := "package shop\n\nfunc load() { for {\n" + calls + "} }\n"
	f := expect(t, "a registry", of("main.main", plain, 12), "AL14", Found, "12 different lines lead there, each once in a run, the first load.go:4")
	if !strings.Contains(f.Advice, "build each on first use") {
		t.Errorf("advice %q", f.Advice)
	}
	for what, r := range map[string]*recordingtest.Recording{
		"in a loop": of("main.main", looped, 12), "for each request": of("shop.serve", plain, 12), "few": of("main.main", plain, 3),
	} {
		if f := expect(t, what, r, "AL14", Found); !strings.Contains(f.Advice, "cache the compiled expression") || strings.Contains(f.Summary, "each once") {
			t.Errorf("%s: %q, %q", what, f.Summary, f.Advice)
		}
	}
}

// TestAL14Longest: an expression that Longest is called on by a condition is not one for all.
func TestAL14Longest(t *testing.T) {
	for more, two := range map[string]bool{"if long {\nre.Longest()\n}\n": true, "re.Longest()\n": false, "": false} {
		const head = "package shop\n\nimport \"regexp\"\n\nfunc find(s string, long bool) string {\nre := regexp.MustCompile(`(a|ab)`) // 6\n"
		r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nrun 0s..5s exit=\"exit status 0\"\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("net/http.(*conn).serve\nshop.find:/src/find.go:6\nregexp.MustCompile\nregexp.compile\n= 100\n"))
		r.Put(recording.Entry{Path: "source/find.go", Kind: recording.Source, Source: "/src/find.go"}, []byte(head+more+"return re.FindString(s)\n}\n"))
		f := expect(t, more, r, "AL14", Found, "find.go:6")
		if strings.Contains(f.Advice, "keep a second variable") != two || !strings.Contains(f.Advice, "compile it once") {
			t.Errorf("%q: %s", more, f.Advice)
		}
	}
}
