package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP28Handed: what each receiver computes of a value that a loop sends to all is told with the line that sends it; what a loop makes for each, what one
// channel distributes, and what returns something else is not.
func TestCP28Handed(t *testing.T) {
	const (
		head = "package main\n\nimport \"encoding/json\"\n\nfunc encode(w *conn, ev *event) { // 5\n\tb, _ := json.Marshal(ev) // 6\n\tw.send(b)\n}\n\ntype event struct{ kind string; at []int }\n\ntype conn struct{ ch chan *event; name string }\n\nfunc (c *conn) send([]byte) {}\n\ntype hub struct{ all map[*conn]bool; list []chan *event; jobs chan *event }\n\n"
		loop = "func (w *conn) loop() {\n\tfor ev := range w.ch {\n\t\tencode(w, ev)\n\t}\n}\n"
		each = "func (h *hub) publish(ev *event) {\n\tfor c := range h.all {\n\t\tc.ch <- ev // sent\n\t}\n}\n"
		same = `"distinct":100,"again":9900,"again_ns":900000000,"refers":true`
	)
	for _, c := range []struct {
		name, source, counts string
		state                State
		severity             Severity
	}{
		{"by a loop", head + loop + each, same, Found, Warning},
		{"in a select", head + strings.Replace(loop, "for ev := range w.ch {", "for {\n\tselect {\n\tcase ev := <-w.ch:", 1) + "}\n" + each, same, Found, Warning},
		{"received with ok", head + strings.NewReplacer("for ev := range w.ch {", "for {\n\tev, ok := <-w.ch\n\tif !ok { return }").Replace(loop) + each, same, Found, Warning},
		{"what is sent without waiting", head + loop + strings.Replace(each, "c.ch <- ev // sent", "select {\n\t\tcase c.ch <- ev: // sent\n\t\tdefault:\n\t\t}", 1), same, Found, Warning},
		{"a part of it", strings.Replace(head, "json.Marshal(ev)", "json.Marshal(ev.at)", 1) + loop + each, same, Found, Warning},
		{"to channels of a list", head + loop + strings.NewReplacer("c := range h.all", "_, ch := range h.list", "c.ch <-", "ch <-").Replace(each), same, Found, Warning},
		{"a part of the time", head + loop + each, same, Found, Info},
		{"another argument, beside what was sent", strings.Replace(head, "json.Marshal(ev) //", "json.Marshal(w.name); note(ev) //", 1) + loop + each, same, Fine, ""},
		{"what was sent, on the next line", strings.Replace(head, "json.Marshal(ev) // 6\n", "json.Marshal(w.name) // 6\n\tb, _ = json.Marshal(ev)\n", 1) + loop + each, same, Fine, ""},
		{"half of it was not there before", head + loop + each, `"distinct":6000,"again":4000,"again_ns":400000000,"refers":true`, Fine, ""},
		{"its results differ", head + loop + each, same + `,"differ":3`, Fine, ""},
		{"results that were not compared", head + loop + each, same + `,"vague":true`, Fine, ""},
		{"it writes itself", head + loop + each, same + `,"writes":true`, Fine, ""},
		{"one channel that many receive from", head + strings.Replace(loop, "w.ch", "jobs", 1) + "var jobs = make(chan *event)\n\nfunc (h *hub) publish(evs []*event) {\n\tfor _, ev := range evs {\n\t\tjobs <- ev\n\t}\n}\n", same, Fine, ""},
		{"one event again and again to one channel", head + loop + "func (h *hub) publish(c *conn, ev *event) {\n\tfor range 10 {\n\t\tc.ch <- ev\n\t}\n}\n", same, Fine, ""},
		{"a copy for each", head + loop + strings.Replace(each, "c.ch <- ev // sent", "one := &event{kind: c.name}\n\t\tc.ch <- one", 1), same, Fine, ""},
		{"made in place for each", head + loop + strings.Replace(each, "c.ch <- ev // sent", "c.ch <- &event{kind: c.name}", 1), same, Fine, ""},
		{"values of another type", head + loop + "type tick struct{}\n\nfunc (h *hub) publish(t *tick, all []chan *tick) {\n\tfor _, c := range all {\n\t\tc <- t\n\t}\n}\n", same, Fine, ""},
		{"another call gives it what was not sent", head + loop + each + "func replay(w *conn, old []*event) {\n\tfor _, ev := range old {\n\t\tencode(w, ev)\n\t}\n}\n", same, Fine, ""},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(c.source))
		samples := int64(700) // of 1,000
		if c.severity == Info {
			samples = 150
		}
		withProfile(r, recording.CPU, "cpu", column{"main.(*conn).loop:/src/main.go:20 main.encode:/src/main.go:6 encoding/json.Marshal", []int64{samples}}, column{"main.(*conn).loop:/src/main.go:20 main.encode:/src/main.go:7", []int64{1000 - samples}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":true,"ns":4000000000,"functions":[{"name":"main.encode","file":"/src/main.go","line":5,"calls":10000,"time_ns":2000000000},
{"name":"json.Marshal","file":"/src/main.go","line":6,"caller":"main.encode","calls":10000,"time_ns":1000000000,"everywhere":{"calls":10000,"time_ns":1000000000,%s}}],"within":[]}`, c.counts))
		f := answers(t, r, "CP28")[0]
		if f.State != c.state || f.State == Found && (f.Severity != c.severity || f.Title != "Each receiver computes the same again" || f.Evidence[0].Line != 6 || !strings.Contains(c.source, "// sent") || !strings.Contains(f.Evidence[len(f.Evidence)-1].Source, "// sent")) {
			t.Errorf("%s: %s %s: %s %+v %q", c.name, f.State, f.Severity, f.Summary, f.Evidence, f.Doubts)
		}
	}
}
