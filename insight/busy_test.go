package insight

import (
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// selects is a source with a select that waits (line 5), one that does not (line 14), and
// one between pieces of work (line 24).
const selects = `package shop

func serve() {
	for {
		select {
		case m := <-in:
			use(m)
		case <-quit:
			return
		}
	}
}
func poll() {
	for { select { // line 14
		case m := <-in:
			use(m)
		case <-quit:
			return
		default:
		}
	}
}
func crunch() {
	for work() { select { // line 24
		case <-quit:
			return
		default:
		}
	}
}
`

// selecting is a CPU profile with time in one select, and in the rest of its function.
func selecting(function, line, callee string, in, beside string) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase cpu 10s..15s profiler=cpu\n" +
		"-- source/shop.go source from=/src/shop.go --\n" + selects)
	return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(
		"shop."+function+":/src/shop.go:"+line+"  shop."+function+":/src/shop.go:30  shop.other\n"+callee+" . .\n= "+in+" "+beside+" 100"))
}

func TestSC13(t *testing.T) {
	f := expect(t, "spins", selecting("poll", "14", "runtime.selectgo", "400", "10"), "SC13", Found, "78.4%", "shop.go:14 in shop.poll", "has a default case")
	severity(t, "spins", f, Warning)
	if !strings.HasPrefix(f.Advice, "Remove the default case") {
		t.Errorf("only waits: %s", f.Advice)
	}
	for name, loop := range map[string]string{
		"does something":     "for { select {\n\t\tcase m := <-in:\n\t\t\tuse(m)\n\t\tdefault:\n\t\t\tif stop.Load() {\n\t\t\t\treturn\n\t\t\t}\n\t\t}\n\t}",
		"work beside it":     "for { select {\n\t\tcase m := <-in:\n\t\t\tuse(m)\n\t\tdefault:\n\t\t}\n\t\tn += step()\n\t}",
		"a condition":        "for !stop.Load() { select {\n\t\tcase m := <-in:\n\t\t\tuse(m)\n\t\tdefault:\n\t\t}\n\t}",
		"no loop of its own": "{ select {\n\t\tcase m := <-in:\n\t\t\tuse(m)\n\t\tdefault:\n\t\t}\n\t}",
	} {
		text := "package shop\n\nfunc poll() {\n\t" + loop + "\n}\n"
		if _, only, known := defaultOf(sourceOf(text), stack.Frame{Func: "shop.poll", File: "a.go", Line: 4}); only || !known {
			t.Errorf("%s: it only waits: %v, %v", name, only, known)
		}
	}
	expect(t, "of one case", selecting("poll", "99", "runtime.selectnbrecv", "400", "10"), "SC13", Found, "runtime.selectnbrecv")
	expect(t, "waits", selecting("serve", "5", "runtime.selectgo", "400", "10"), "SC13", Fine)
	expect(t, "without its source", selecting("poll", "99", "runtime.selectgo", "400", "10"), "SC13", Fine)
	expect(t, "between pieces of work", selecting("crunch", "24", "runtime.selectgo", "100", "400"), "SC13", Fine)
	expect(t, "little of it", selecting("poll", "14", "runtime.selectgo", "3", "0"), "SC13", Fine)
}

func TestSC16(t *testing.T) {
	f := expect(t, "a storm", computing("runtime.mcall runtime.mcall main.main\nruntime.findRunnable runtime.findRunnable main.work\nruntime.(*timers).check runtime.stealWork .\nruntime.(*timer).unlockAndRun . .\n= 80 20 100"), "SC16", Found, "40.0%")
	severity(t, "a storm", f, Warning)
	doubted(t, f, "no line of the program")
	f = expect(t, "set at a line", computing("main.main main.main\nshop/search.find:/src/rss.go:5 main.work\ntime.After .\nruntime.(*timer).modify .\n= 30 170"), "SC16", Found, "15.0%", "rss.go:5")
	severity(t, "set at a line", f, Info)
	expect(t, "some", computing("main.main main.main\nshop/search.find:/src/rss.go:5 main.work\nruntime.(*timer).modify .\n= 4 196"), "SC16", Fine)
	if !strings.Contains(f.Advice, "fewer timers") {
		t.Errorf("advice %q", f.Advice)
	}
}
