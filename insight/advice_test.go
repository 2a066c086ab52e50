package insight

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/session"
)

// TestAdviceHarmless holds the sources of the rules against advice that did harm
// to who followed it: such words stand only where a guard is asked.
func TestAdviceHarmless(t *testing.T) {
	advice := regexp.MustCompile(`(?m)(\.Advice\s*\+?=|^\t\treturn ")(.*)`)
	forbidden := []struct {
		words, guard string
		others       []string // whose words are not this test's
	}{
		{`[Ss]tart about|Let about`, "\x00", nil},
		{`GOGC=\d`, "\x00", []string{"gc03_cpu_share.go", "gc04_pace.go", "gc05_assist.go"}}, // which have guards of their own
		{`[Kk]eep (the|one|a) buffer|use it again`, "reuse(", nil},
		{`sync\.Pool|puts? back`, "whenDone", nil},
		{`workers as there are Ps|worker for each P`, "\x00", nil},
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range files {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range advice.FindAllString(string(text), -1) {
			for _, f := range forbidden {
				if regexp.MustCompile(f.words).MatchString(line) && !strings.Contains(string(text), f.guard) && !strings.Contains(strings.Join(f.others, " "), e.Name()) && !strings.HasPrefix(e.Name(), "ld0") {
					t.Errorf("%s advises without a guard: %s", e.Name(), line)
				}
			}
		}
	}
}

// TestPoolAdvice: who follows the advice on a sync.Pool word by word gives nothing to two.
func TestPoolAdvice(t *testing.T) {
	var pool, boxes Finding
	in := NewInput(session.New(reasoned(t, boxing(540_000, 460_000)).Open()))
	tellPool(&hit{in: in}, &pool)
	tellBoxes(&hit{in: in, lines: []*hitLine{{}}}, &boxes)
	for _, f := range []Finding{pool, boxes} {
		if !strings.Contains(f.Advice, "once, and only when nothing uses it") {
			t.Errorf("the advice has no condition: %s", f.Advice)
		}
	}
}

// TestReuse: a buffer that is kept is not to be used again, and one of which
// nothing is known only under a condition.
func TestReuse(t *testing.T) {
	r := reasoned(t, boxing(540_000, 460_000))
	g := &reasonLine{}
	g.at.File, g.at.Line, g.at.Func = "/src/page.go", 5, "shop/page.write"
	says := func(name, want string) {
		t.Helper()
		if got := reuse(NewInput(session.New(r.Open())), g); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", name, got, want)
		}
	}
	says("no heap profile", "is safe only if nothing keeps")
	heap := func(kept int64) {
		data := profiletest.Encode(picture(column{"shop/page.write:/src/page.go:5", []int64{kept, kept << 10}}, column{"main.main:/src/m.go:1", []int64{1, 1 << 20}}),
			profiletest.Options{Types: []string{"inuse_objects/count", "inuse_space/bytes"}, Period: 512 << 10})
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap}, data)
	}
	heap(4096)
	says("kept", "Do not reuse one buffer")
	r = reasoned(t, boxing(540_000, 460_000))
	heap(0)
	says("garbage", "None of it was in use")
}
