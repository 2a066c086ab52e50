package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP20Owners: a search in the own list of each element of a list that lives on is that of all of them, and is found by an
// index of what is compared. It is none where each element has something done, where the elements are few, made for one use,
// changed or asked for something of their own, or where all are gone through once.
func TestCP20Owners(t *testing.T) {
	const (
		kinds = "type watcher struct {\n\tprefixes []string\n\tids []int\n\tspans []span\n\tseen int\n\tname string\n}\ntype span struct{ from, to int }\ntype hub struct {\n\tall []*watcher\n\tnow atomic.Pointer[hub]\n}\n"
		calls = "func serve(h *hub, keys []string) {\n\tfor _, k := range keys {\n\t\th.match(k) // B\n\t}\n}\n"
		open  = "func (h *hub) match(key string) (found []*watcher) {\n"
		inner = "\t\tfor _, p := range w.prefixes {\n\t\t\tif strings.HasPrefix(key, p) { // A\n\t\t\t\tfound = append(found, w)\n\t\t\t\tbreak\n\t\t\t}\n\t\t}\n"
		flag  = "\t\tok := false\n\t\tfor _, p := range w.prefixes {\n\t\t\tif strings.HasPrefix(key, p) { // A\n\t\t\t\tok = true\n\t\t\t\tbreak\n\t\t\t}\n\t\t}\n"
		end   = "\t}\n\treturn found\n}\n"
		loop  = "\tfor _, w := range h.all {\n"
		by    = "runtime.main main.serve@B main.(*hub).match@A"
	)
	for _, c := range []struct{ name, source, stack, advises string }{
		{"prefixes", calls + open + loop + inner + end, by, "beside h.all, and change it where that is changed: a prefix tree"},
		{"numbers", strings.ReplaceAll(calls+open+loop+inner+end, "strings.HasPrefix(key, p)", "p == key"), by, "a map from each entry of these lists to the elements that have it"},
		{"ranges", strings.ReplaceAll(calls+open+loop+inner+end, "strings.HasPrefix(key, p)", "p.from <= key && key < p.to"), by, "an interval tree"},
		{"in whatever case", strings.ReplaceAll(calls+open+loop+inner+end, "strings.HasPrefix(key, p)", "strings.EqualFold(key, p)"), by, "in one case, to the elements"},
		{"the first one", strings.Replace(calls+open+loop+inner+end, "found = append(found, w)\n\t\t\t\tbreak", "return []*watcher{w}", 1), by, "beside h.all"},
		{"with a flag", calls + open + loop + flag + "\t\tif ok {\n\t\t\tfound = append(found, w)\n\t\t}\n" + end, by, "beside h.all"},
		{"with a flag that skips", calls + open + loop + flag + "\t\tif !ok {\n\t\t\tcontinue\n\t\t}\n\t\tw.seen++\n" + end, by, "beside h.all"},
		{"some are left out", calls + open + loop + "\t\tif w.closed {\n\t\t\tcontinue\n\t\t}\n" + inner + end, by, "beside h.all"},
		{"a list that was taken under a lock", calls + open + "\tall := h.all\n\tfor _, w := range all {\n" + inner + end, by, "beside all"},
		{"a snapshot", calls + open + "\tnow := h.now.Load()\n\tfor _, w := range now.all {\n" + inner + end, by, "beside now.all"},
		{"a variable of the package", "var watchers []*watcher\n" + calls + open + "\tfor _, w := range watchers {\n" + inner + end, by, "beside watchers"},
		{"by a method", calls + open + loop + "\t\tif w.has(key) { // C\n\t\t\tfound = append(found, w)\n\t\t}\n" + end + "func (w *watcher) has(key string) bool {\n\tfor _, p := range w.prefixes {\n\t\tif strings.HasPrefix(key, p) { // A\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n",
			"runtime.main main.serve@B main.(*hub).match@C main.(*watcher).has@A", "beside h.all"},

		{"each is counted", calls + open + loop + "\t\tw.seen++\n" + inner + end, by, ""},
		{"each is asked something", calls + open + loop + "\t\tw.touch()\n" + inner + end, by, ""},
		{"those that do not match are needed", calls + open + loop + flag + "\t\tif !ok {\n\t\t\tfound = append(found, w)\n\t\t}\n" + end, by, ""},
		{"all are done something with", calls + open + loop + flag + "\t\tif ok {\n\t\t\tfound = append(found, w)\n\t\t} else {\n\t\t\tw.miss()\n\t\t}\n" + end, by, ""},
		{"few", "var watchers = []*watcher{a, b, c}\n" + calls + open + "\tfor _, w := range watchers {\n" + inner + end, by, ""},
		{"made for one use", calls + open + "\tall := h.collect()\n\tfor _, w := range all {\n" + inner + end, by, ""},
		{"given", strings.Replace(strings.Replace(calls, "h.match(k)", "h.match(k, all())", 1)+open, "key string", "key string, all []*watcher", 1) + "\tfor _, w := range all {\n" + inner + end, by, ""},
		{"changed here", calls + open + "\th.all = append(h.all, next())\n" + loop + inner + end, by, ""},
		{"something of its own", calls + open + loop + strings.Replace(inner, "HasPrefix(key, p)", "HasPrefix(w.name, p)", 1) + end, by, ""},
		{"once", "func serve(h *hub) {\n\th.match(\"a\") // B\n}\n" + open + loop + inner + end, by, ""},
		{"by a method, once", "func serve(h *hub) {\n\th.match(\"a\") // B\n}\n" + open + loop + "\t\tif w.has(key) { // C\n\t\t\tfound = append(found, w)\n\t\t}\n" + end + "func (w *watcher) has(key string) bool {\n\tfor _, p := range w.prefixes {\n\t\tif strings.HasPrefix(key, p) { // A\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n",
			"runtime.main main.serve@B main.(*hub).match@C main.(*watcher).has@A", ""},
		{"patterns", strings.ReplaceAll(calls+open+loop+inner+end, "strings.HasPrefix(key, p)", "p.MatchString(key)"), by, ""},
	} {
		text := "package main\n\nimport (\n\t\"strings\"\n\t\"sync/atomic\"\n)\n\n" + kinds + c.source
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		withProfile(r, recording.CPU, "cpu", column{stackAt(text, c.stack), []int64{80}}, column{"runtime.main main.other:/src/other.go:3", []int64{20}})
		f := answers(t, r, "CP20")[0]
		warns := f.State == Found && f.Severity == Warning
		if warns != (c.advises != "") || !strings.Contains(f.Advice, c.advises) {
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}
