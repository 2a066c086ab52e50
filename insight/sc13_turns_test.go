package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// TestEmptyTurns: the turns of a loop that spins are its select, its default case and what the loop asks beside it; not what its cases do, and not what
// stands under a condition. The lines that count are marked.
func TestEmptyTurns(t *testing.T) {
	const head = "package shop\n\nfunc poll() {\n"
	for name, body := range map[string]string{
		"a default case":         "\tfor { //+\n\t\tselect { //+ select\n\t\tcase m := <-in:\n\t\t\tuse(m)\n\t\tcase <-quit:\n\t\t\treturn\n\t\tdefault: //+\n\t\t\tlook() //+\n\t\t}\n\t}\n",
		"under a condition":      "\tfor { //+\n\t\tselect { //+ select\n\t\tcase m := <-in:\n\t\t\tuse(m)\n\t\tdefault: //+\n\t\t\tif n > 0 && time.Since(last) > d { //+\n\t\t\t\tpublish()\n\t\t\t} else if stop.Load() { //+\n\t\t\t\treturn\n\t\t\t} else {\n\t\t\t\twork()\n\t\t\t}\n\t\t}\n\t}\n",
		"a switch and a loop":    "\tfor { //+\n\t\tselect { //+ select\n\t\tcase m := <-in:\n\t\t\tuse(m)\n\t\tdefault: //+\n\t\t\tswitch state() { //+\n\t\t\tcase 1:\n\t\t\t\twork()\n\t\t\t}\n\t\t\tfor _, q := range queues { //+\n\t\t\t\tif q.ready() { //+\n\t\t\t\t\twork()\n\t\t\t\t}\n\t\t\t}\n\t\t}\n\t}\n",
		"beside the select":      "\tfor !stop.Load() { //+\n\t\tselect { //+ select\n\t\tcase m := <-in:\n\t\t\tuse(m)\n\t\tdefault: //+\n\t\t}\n\t\tstep()\n\t\tif time.Since(last) > d { //+\n\t\t\tflush()\n\t\t}\n\t}\n",
		"on one line":            "\tfor { //+\n\t\tselect { //+ select\n\t\tcase m := <-in: use(m)\n\t\tdefault: if n > 0 { work() }\n\t\t}\n\t}\n",
		"another goroutine":      "\tfor { //+\n\t\tselect { //+ select\n\t\tcase m := <-in:\n\t\t\tuse(m)\n\t\tdefault: //+\n\t\t\tgo func() { //+\n\t\t\t\twork()\n\t\t\t}() //+\n\t\t}\n\t}\n",
		"a function in the loop": "\tfor n := range 9 {\n\t\tf(func() {\n\t\t\tselect { //+ select\n\t\t\tdefault: //+\n\t\t\t}\n\t\t})\n\t}\n",
		"it waits":               "\tfor {\n\t\tselect { // select\n\t\tcase m := <-in:\n\t\t\tuse(m)\n\t\t}\n\t}\n",
	} {
		text, want, at := head+body+"}\n", []int(nil), 0
		for i, line := range strings.Split(text, "\n") {
			if strings.Contains(line, "//+") {
				want = append(want, i+1)
			}
			if strings.Contains(line, "//+ select") || strings.Contains(line, "// select") {
				at = i + 1
			}
		}
		if got := emptyTurns(sourceOf(text), stack.Frame{Func: "shop.poll", File: "a.go", Line: at}); !slices.Equal(got, want) {
			t.Errorf("%s: lines %v, want %v", name, got, want)
		}
	}
	if emptyTurns(sourceOf(head+"}\n"), stack.Frame{File: "b.go", Line: 4}) != nil {
		t.Error("without the source")
	}
}

// spinning is a program of which the loop polls a channel, reads the clock in its default case, publishes there under a condition, and handles messages.
func spinning(selects, clock, publish, handles, other int64) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase cpu 10s..15s profiler=cpu\n-- source/shop.go source from=/src/shop.go --\n" +
		"package shop\n\nfunc poll() {\n\tfor {\n\t\tselect { // 5\n\t\tcase m := <-in:\n\t\t\tuse(m) // 7\n\t\tdefault: // 8\n\t\t\tif time.Since(last) > d { // 9\n\t\t\t\tpublish() // 10\n\t\t\t}\n\t\t}\n\t}\n}\n")
	at := func(line int) string { return fmt.Sprintf("shop.poll:/src/shop.go:%d", line) }
	picture := strings.Join([]string{at(5), at(9), at(10), at(7), "shop.serve:/src/serve.go:3"}, "  ") + "\nruntime.selectgo time.Since shop.publish shop.use shop.other\n. time.now . . .\n= " + fmt.Sprint(selects, clock, publish, handles, other) + "\n"
	return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(picture))
}

// TestSpinTakes: the share is that of all that the empty turns do, and what runs only in them stands under it.
func TestSpinTakes(t *testing.T) {
	f := expect(t, "with the clock", spinning(300, 120, 20, 40, 520), "SC13", Found, "42.0% of the CPU time goes into turns of a loop that find nothing: shop.go:5 in shop.poll, calling runtime.selectgo, which has a default case and does not wait (30.0%), and what each such turn does beside it")
	near(t, "with the clock", f, 0.42)
	severity(t, "with the clock", f, Warning)
	if !slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.Line == 9 && strings.Contains(e.Text, "120 of 1000 samples") }) {
		t.Errorf("evidence %+v", f.Evidence)
	}
	f = expect(t, "the select alone", spinning(300, 0, 20, 40, 640), "SC13", Found, "30.0% of the CPU time goes into select statements: shop.go:5 in shop.poll, calling runtime.selectgo, which has a default case and does not wait")
	near(t, "the select alone", f, 0.3)
	expect(t, "its cases work", spinning(100, 20, 20, 400, 460), "SC13", Fine)
}
