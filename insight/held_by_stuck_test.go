package insight

import (
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestHeldByStuck: goroutines that never finish hold what they have allocated, where the source shows nothing else that does; not what others have
// allocated.
func TestHeldByStuck(t *testing.T) {
	const source = "package shop\n\nfunc (r *reader) work() {\n\tbuf := make([]byte, 1<<20) // made\n\tselect {\n\tcase j := <-r.jobs:\n\t\tj.fill(buf)\n\tcase <-r.ctx.Done():\n\t}\n}\n\nfunc other() {\n\tall := make([]byte, 1<<20)\n\tuse(all)\n}\n\nvar kept = map[string][]byte{}\n\nfunc (r *reader) keep(id string) {\n\tkept[id] = make([]byte, 1<<20)\n\t<-r.never\n}\n"
	const advice = "The goroutines that wait at a.go:5 hold it: see SC10 first."
	for _, c := range []struct {
		name, fn, stuck string
		line            int
		want            bool
	}{
		{"its own", "shop.(*reader).work", "main.main shop.(*reader).work:/src/a.go:5", 4, true},
		{"another's", "shop.other", "main.main shop.(*reader).work:/src/a.go:5", 13, false},
		{"none is stuck", "shop.(*reader).work", "", 4, false},
		{"the source shows what keeps it", "shop.(*reader).keep", "main.main shop.(*reader).keep:/src/a.go:20", 19, false},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase heap 0s..1s profiler=heap\nphase goroutineleak 1s..2s\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(source))
		if c.stuck != "" {
			r.Put(recording.Entry{Path: "goroutineleak.pb.gz", Kind: recording.GoroutineLeak, Phase: "goroutineleak"},
				profiletest.Encode(picture(column{c.stuck, []int64{900}}), profiletest.Options{Types: []string{"goroutineleak/count"}}))
		}
		f, at := Finding{}, stack.Frame{Func: c.fn, File: "/src/a.go", Line: c.line}
		tellHolder(NewInput(session.New(r.Open())), &f, at, []stack.Frame{at}, "otherwise")
		if got := strings.HasPrefix(f.Advice, advice); got != c.want {
			t.Errorf("%s: %s %s", c.name, f.Summary, f.Advice)
		}
	}
}
