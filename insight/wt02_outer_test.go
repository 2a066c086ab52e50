package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestWT02Outer: where a loop that makes calls is run by another one of the same unit, for each of its items, that is the line to change; a loop that
// runs it a few times, that is beyond the unit, goes through parts, or needs the answers of earlier turns, is not named.
func TestWT02Outer(t *testing.T) {
	const source = `package main

func handle(ids []int) {
	for _, id := range ids { // FOR
		show(id) // OUT
	}
}

func show(id int) {
	links := getLinks(id) // LINKS
	for _, l := range links { // RANGE
		getItem(l) // IN
	}
}

func serve(all [][]int) {
	for _, ids := range all {
		handle(ids) // BEYOND
	}
}
`
	const ms = 2 * time.Millisecond
	for _, c := range []struct {
		name, from, to string // what of the source is replaced
		outer, inner   int    // turns
		links, beyond  bool
		says, advises  string // "" is that nothing is told of another loop
	}{
		{"a page of items", "", "", 8, 4, true, false, "in main.handle at main.go:5, which runs it about 8 times in each request, and makes about 8 other calls to a peer: with these,", "for all items of the outer loop at main.go:4, before it, with its other calls too"},
		{"not known how often", "", "", 8, 4, false, false, "that loop is within another one, in main.handle at main.go:5", "If the loop at main.go:4 runs that at main.go:11 several times in each request"},
		{"three items", "", "", 3, 9, true, false, "", ""},
		{"a loop beyond the unit", "	for _, id := range ids { // FOR\n		show(id) // OUT\n	}\n", "	show(ids[0]) // OUT\n", 1, 9, true, true, "", ""},
		{"it tries again", "for _, id := range ids { // FOR", "for { // FOR", 8, 4, true, false, "", ""},
		{"each needs the one before", "	for _, id := range ids { // FOR\n		show(id) // OUT\n	}\n", "	id := ids[0]\n	for id != 0 { // FOR\n		id = show(id) // OUT\n	}\n", 8, 4, true, false, "", ""},
		{"parts of a list", "	for _, id := range ids { // FOR\n		show(id) // OUT\n	}\n", "	for part := range slices.Chunk(ids, 50) { // FOR\n		show(part) // OUT\n	}\n", 8, 4, true, false, "", ""},
	} {
		text := strings.Replace(source, c.from, c.to, 1)
		at := func(fn, mark string) string {
			return fmt.Sprintf("main.%s@/src/main.go:%d", fn, lineOfMark(text, mark))
		}
		way := []string{at("handle", "OUT")}
		if c.beyond {
			way = append(way, at("serve", "BEYOND"))
		}
		r := served(t, 20, func(p *accounttest.Program) {
			for range c.outer {
				if c.links {
					ask(p, ms, slices.Concat([]string{"main.getLinks@/src/db.go:30", at("show", "LINKS")}, way)...)
				}
				for range c.inner {
					ask(p, ms, slices.Concat([]string{"main.getItem@/src/db.go:40", at("show", "IN")}, way)...)
				}
			}
		})
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		f := answers(t, r, "WT02")[0]
		if f.State != Found || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advises) || c.says == "" && strings.Contains(f.Summary+f.Advice, "another one,") {
			t.Errorf("%s: %s: %s\n%s", c.name, f.State, f.Summary, f.Advice)
		}
		want := lineOfMark(text, "IN")
		if c.outer == 8 && c.links && c.says != "" {
			want = lineOfMark(text, "OUT")
		}
		if f.State == Found && f.Evidence[0].Line != want {
			t.Errorf("%s: it is seen at line %d, want %d", c.name, f.Evidence[0].Line, want)
		}
	}
}

// TestWT02OuterCounted: where the trace does not tell how often the inner loop runs, the run that counts may.
func TestWT02OuterCounted(t *testing.T) {
	const source = "package main\n\nfunc handle(ids []int) {\n\tfor _, id := range ids {\n\t\tfor _, l := range links[id] {\n\t\t\tgetItem(l) // IN\n\t\t}\n\t}\n}\n\nvar links = map[int][]int{}\n"
	out, in := strings.Index(source, "for _, id"), strings.Index(source, "for _, l ")
	for entered, says := range map[int]string{160: "which runs it 8 times each time that it begins", 20: "main.go:6 in a loop: ", 60: "main.go:6 in a loop: "} {
		r := served(t, 20, func(p *accounttest.Program) {
			for range 32 {
				ask(p, 2*time.Millisecond, "main.getItem@/src/db.go:40", fmt.Sprintf("main.handle@/src/main.go:%d", lineOfMark(source, "IN")))
			}
		})
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","loaded":true,"ns":4000000000,"functions":[{"name":"main.handle","file":"/src/main.go","line":3,"calls":20}],"within":[],"files":[{"name":"/src/main.go","blocks":[{"line":3,"offset":38,"count":20}],"loops":[{"line":4,"offset":%d,"entered":20,"looked":20,"size":160,"contents":20},{"line":5,"offset":%d,"entered":%d,"looked":20,"size":80,"contents":20}]}]}`, out, in, entered))
		f := answers(t, r, "WT02")[0]
		if f.State != Found || !strings.Contains(f.Summary, says) || strings.Contains(f.Summary, "that loop is within that at main.go:4") != (entered == 160) {
			t.Errorf("%d times: %s: %s\n%s", entered, f.State, f.Summary, f.Advice)
		}
	}
}

// TestQueriesOnce: each moment of a unit is of one query: no part of its time is more than all, however many ways lead to a line; and what reads rows
// elsewhere is counted where it is known of which queries they are.
func TestQueriesOnce(t *testing.T) {
	const query, handle = "main.query@db.go:40", "main.handle@main.go:7"
	const scan, rows = "main.scan@db.go:60", "database/sql.(*Rows).Next@sql.go:9"
	reads := func(p *accounttest.Program, frames ...string) {
		await(p, 3*time.Millisecond, "sync", append([]string{"sync.(*Mutex).Lock@mutex.go:1", rows}, frames...)...)
	}
	computes := func(p *accounttest.Program, d time.Duration) {
		p.Pass(d)
		p.Preempt(accounttest.In("main.compute@main.go:90", handle))
		p.Start(5)
	}
	for _, c := range []struct {
		name  string
		do    func(p *accounttest.Program)
		share string
	}{
		{"by two ways", func(p *accounttest.Program) {
			queried(p, 8, query, "main.a@db.go:10", handle)
			queried(p, 8, query, "main.b@db.go:20", handle)
		}, "50.0% of its time"},
		{"its rows are read elsewhere", func(p *accounttest.Program) {
			for range 8 {
				queried(p, 1, query, "main.a@db.go:10", handle)
				reads(p, scan, "main.query@db.go:41", "main.a@db.go:10", handle)
			}
			computes(p, 40*time.Millisecond)
		}, "50.0% of its time"},
		{"others read there as well", func(p *accounttest.Program) {
			for range 8 {
				queried(p, 1, query, "main.a@db.go:10", handle)
				reads(p, scan, "main.query@db.go:41", "main.a@db.go:10", handle)
			}
			queried(p, 1, "main.export@db.go:50", handle)
			reads(p, scan, "main.export@db.go:51", handle)
			computes(p, 30*time.Millisecond)
		}, "21.3% of its time"},
	} {
		f := answers(t, served(t, 20, c.do), "WT02")[0]
		if f.State != Found || !strings.Contains(f.Summary, c.share) || f.Impact.Value > 1 {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
		}
	}
}

// TestWT02Reads: the reading of an answer in the loop that makes the calls is a part of them; that after the loop is not.
func TestWT02Reads(t *testing.T) {
	const source = `package main

func handle(names []string) {
	for _, n := range names {
		load(n) // IN
	}
	rest() // AFTER
}
`
	at := func(mark string) string {
		return fmt.Sprintf("main.handle@/src/main.go:%d", lineOfMark(source, mark))
	}
	body := func(p *accounttest.Program, frames ...string) {
		await(p, 2*time.Millisecond, "network", append([]string{readNet, "net/http.(*bodyEOFSignal).Read@transport.go:1", "io.Copy@io.go:1"}, frames...)...)
	}
	for mark, says := range map[string]string{
		"IN":    "100% of its time, 4.00 ms each, on average over 20, with the reading of the answers in main.load at load.go:20",
		"AFTER": "50.0% of its time, 2.00 ms each",
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			for range 8 {
				ask(p, 2*time.Millisecond, "main.do@load.go:10", "main.load@load.go:18", at("IN"))
				if mark == "IN" {
					body(p, "main.load@load.go:20", at(mark))
				}
			}
			for range 8 {
				if mark != "IN" {
					body(p, "main.rest@load.go:30", at(mark))
				}
			}
		})
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		if f := answers(t, r, "WT02")[0]; f.State != Found || !strings.Contains(f.Summary, says) || strings.Contains(f.Summary, "reading of") != (mark == "IN") {
			t.Errorf("%s: %s: %s", mark, f.State, f.Summary)
		}
	}
}

// TestCalledBackBy: the function that a loop of an iterator calls is named, where its outer function has handed it over, and not one of the loop's own.
func TestCalledBackBy(t *testing.T) {
	frame := func(fn string, line int) stack.Frame { return stack.Frame{Func: fn, File: "a.go", Line: line} }
	loop := frame("main.(*Bucket).Iter", 56)
	for name, path := range map[string][]stack.Frame{
		"handed over":       {frame("main.get", 28), frame("main.Download.func1", 94), loop, frame("main.Download", 92)},
		"a plain function":  {frame("main.get", 28), frame("main.each", 94), loop, frame("main.Download", 92)},
		"of somewhere else": {frame("main.get", 28), frame("main.init.func1", 94), loop, frame("main.Download", 92)},
		"the loop's own":    {frame("main.get", 28), frame("main.(*Bucket).Iter.func1", 58), loop, frame("main.(*Bucket).Iter", 50)},
	} {
		if _, ok := calledBackBy(path, loop); ok != (name == "handed over") {
			t.Errorf("%s: %v", name, ok)
		}
	}
}

// TestWithinNeedless: what says only that a kind of work is costly stands under what says that most of it is done again; not where that is a remark, is
// little of the work, or is elsewhere.
func TestWithinNeedless(t *testing.T) {
	line := cost{file: "/src/search.go", line: 5}
	costly := func(rule string) Finding { return seenAt(rule, Warning, 95, "/src/search.go", 5).costing(line) }
	repeated := func(severity Severity, part float64, at cost) Finding {
		f := seenAt("CP26", severity, 60, "/src/page.go", 30).costing(at)
		f.part = part
		return f
	}
	for _, c := range []struct {
		name string
		a, b Finding
		want string
	}{
		{"all of it", costly("CP02"), repeated(Warning, 0.95, line), "CP26(CP02)"},
		{"encoding", costly("CP23"), repeated(Warning, 0.95, line), "CP26(CP23)"},
		{"allocation", costly("AL09"), repeated(Warning, 0.95, line), "CP26(AL09)"},
		{"little of it", costly("CP02"), repeated(Warning, 0.3, line), "CP02(CP26)"},
		{"a remark", costly("CP02"), repeated(Info, 0.95, line), "CP02(CP26)"},
		{"elsewhere", costly("CP02"), repeated(Warning, 0.95, cost{file: "/src/page.go", line: 9}), "CP02 CP26"},
		{"it says itself what is needless", costly("CP20"), repeated(Warning, 0.5, line), "CP20(CP26)"},
	} {
		in := NewInput(session.New(working("10s").Open()))
		all := []Finding{c.a, c.b}
		if got := drawn(all, Cards(in, all)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestCP02Again: what to cache is said where a document may be decoded again, and not where the run that counts has seen each once.
func TestCP02Again(t *testing.T) {
	const again = `,"everywhere":{"calls":40,"time_ns":600000000,"distinct":4,"again":36,"again_ns":500000000}`
	for _, c := range []struct {
		name, calls, callee, rest string
		once                      bool
	}{
		{"each once", "2", "encoding/xml.Unmarshal", "", true},
		{"some again", "40", "encoding/xml.Unmarshal", again, false},
		{"it was not followed to the end", "40", "encoding/xml.Unmarshal", `,"cut":true`, false},
		{"a stream", "2", "encoding/xml.(*Decoder).Decode", "", false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		withProfile(r, recording.CPU, "cpu", column{"main.main:/src/main.go:30 main.load:/src/main.go:7 " + c.callee + " encoding/xml.(*Decoder).unmarshal", []int64{700}}, column{"main.main:/src/main.go:31", []int64{300}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","ns":4000000000,"functions":[{"name":"xml.%s","file":"/src/main.go","line":7,"caller":"main.load","calls":%s,"time_ns":600000000%s}],"within":[]}`, ownName(c.callee), c.calls, c.rest))
		f := answers(t, r, "CP02")[0]
		if f.State != Found || strings.Contains(f.Advice, "nothing to cache") != c.once || strings.Contains(f.Advice, "If the same document") == c.once {
			t.Errorf("%s: %s: %s\n%s", c.name, f.State, f.Summary, f.Advice)
		}
	}
}

// TestRaiseLoops: calls of a loop are a warning where they are most of a wait that warns of a line alone; not where they are a remark for a reason of their
// own, are little of that wait, or where it names more than a line.
func TestRaiseLoops(t *testing.T) {
	row, other := &facts.UnitRow{Time: 30}, &facts.UnitRow{Time: 70}
	find := func(rule string, severity Severity, share float64, rows ...*facts.UnitRow) Finding {
		return Finding{Rule: rule, State: Found, Severity: severity, Title: "x", Advice: "It makes one call after another (N+1 queries): ask", Impact: &Impact{Value: share, Unit: "share of the time of requests"}, waits: rows}
	}
	for name, c := range map[string]struct {
		wait   Finding
		share  float64
		slight bool
		want   Severity
	}{
		"most of it":           {find("WT01", Warning, 0.5, row), 0.3, true, Warning},
		"little of it":         {find("WT01", Warning, 0.9, row), 0.3, true, Info},
		"another reason":       {find("WT01", Warning, 0.5, row), 0.3, false, Info},
		"a remark":             {find("WT01", Info, 0.5, row), 0.3, true, Info},
		"mostly other waits":   {find("WT01", Warning, 0.5, row, other), 0.3, true, Info},
		"what names the fault": {find("WT04", Warning, 0.5, row), 0.3, true, Info},
	} {
		loop := find("WT02", Info, c.share, row)
		loop.slight = c.slight
		all := []Finding{loop, c.wait}
		if raiseLoops(all); all[0].Severity != c.want {
			t.Errorf("%s: %s", name, all[0].Severity)
		}
	}
}

// TestWT02OuterEnds: where the outer loop may end early, or leave out items, by what other turns may have brought, the calls of all its items are advised with
// that as a condition; an end by a failure, of something within, or what an item alone decides, is none.
func TestWT02OuterEnds(t *testing.T) {
	const frame = "package main\n\nfunc handle(ids []item, room int, n int) error {\n%s\n\treturn nil\n}\n\nfunc show(id item) {\n%s\n}\n"
	const call = "\t\tshow(id) // OUT\n"
	const inner = "\tfor _, l := range links[id.n] {\n\t\tgetItem(l) // IN\n\t}\n"
	each := func(before, after string) string {
		return "\tfor _, id := range ids {\n" + before + call + after + "\t}\n"
	}
	for _, c := range []struct{ name, outer, inner, says string }{
		{"all", each("", ""), inner, ""},
		{"room is used up", each("\t\tif room <= 0 {\n\t\t\tbreak\n\t\t}\n", "\t\troom--\n"), inner, "the loop is left at main.go:6 by room <= 0"},
		{"a function asks", each("\t\tif full() {\n\t\t\treturn nil\n\t\t}\n", ""), inner, "the loop is left at main.go:6 by full()"},
		{"it ends behind the calls", each("", "\t\tif done {\n\t\t\tbreak\n\t\t}\n"), inner, "by done"},
		{"a case ends it", each("", "\t\tswitch {\n\t\tcase done:\n\t\t\treturn nil\n\t\t}\n"), inner, "by done"},
		{"a case is left", each("", "\t\tswitch {\n\t\tcase done:\n\t\t\tbreak\n\t\t}\n"), inner, ""},
		{"a loop within is left", each("\t\tfor _, x := range more {\n\t\t\tif x {\n\t\t\t\tbreak\n\t\t\t}\n\t\t}\n", ""), inner, ""},
		{"by its label, from there", "all:\n" + each("\t\tfor _, x := range more {\n\t\t\tif x {\n\t\t\t\tbreak all\n\t\t\t}\n\t\t}\n", ""), inner, "the loop is left at main.go:8 by x"},
		{"a failure", each("\t\tif err := check(); err != nil {\n\t\t\treturn err\n\t\t}\n", ""), inner, ""},
		{"a made one", each("\t\tif bad(id) {\n\t\t\treturn errors.New(\"x\")\n\t\t}\n", ""), inner, ""},
		{"an item is left out by what turns keep", each("\t\tif seen[id] {\n\t\t\tcontinue\n\t\t}\n", ""), inner, "a turn makes no calls at main.go:6 by seen[id]"},
		{"by itself", each("\t\tif id.n == 0 || !id.on {\n\t\t\tcontinue\n\t\t}\n", ""), inner, ""},
		{"behind the calls", each("", "\t\tif seen[id] {\n\t\t\tcontinue\n\t\t}\n"), inner, ""},
		{"a condition around the call", "\tfor _, id := range ids {\n\t\tif room > 0 {\n\t" + call + "\t\t}\n\t}\n", inner, "a turn makes no calls at main.go:5 by room > 0"},
		{"that of an item", "\tfor _, id := range ids {\n\t\tif id.on {\n\t" + call + "\t\t}\n\t}\n", inner, ""},
		{"a count", "\tfor i := 0; i < n; i++ {\n\t\tid := ids[i]\n" + strings.Replace(call, "id)", "ids[i])", 1) + "\t}\n", inner, ""},
		{"a count and a limit", "\tfor i := 0; i < n && room > 0; i++ {\n" + strings.Replace(call, "id)", "ids[i])", 1) + "\t}\n", inner, "by i < n && room > 0"},
		{"a list that grows", "\tfor i := 0; i < len(ids); i++ {\n" + strings.Replace(call, "id)", "ids[i])", 1) + "\t\tids = append(ids, more(i)...)\n\t}\n", inner, "by i < len(ids)"},
		{"the called function asks first", each("", ""), "\tif left() <= 0 {\n\t\treturn\n\t}\n" + inner, "by left() <= 0"},
		{"for a failure", each("", ""), "\tif err != nil {\n\t\treturn\n\t}\n" + inner, ""},
		{"behind its loop", each("", ""), inner + "\tif left() <= 0 {\n\t\treturn\n\t}\n", ""},
		{"a function without a name returns", each("\t\tf := func() bool { return true }\n", ""), inner, ""},
	} {
		text := fmt.Sprintf(frame, c.outer, c.inner)
		at := func(fn, mark string) string {
			return fmt.Sprintf("main.%s@/src/main.go:%d", fn, lineOfMark(text, mark))
		}
		for _, known := range []bool{true, false} {
			r := served(t, 20, func(p *accounttest.Program) {
				for range 8 {
					if known {
						ask(p, 2*time.Millisecond, "main.getLinks@/src/db.go:30", at("show", "range links"), at("handle", "OUT"))
					}
					for range 6 {
						ask(p, 2*time.Millisecond, "main.getItem@/src/db.go:40", at("show", "IN"), at("handle", "OUT"))
					}
				}
			})
			r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
			f := answers(t, r, "WT02")[0]
			needed := strings.Contains(f.Advice, "the calls of all items of the outer loop are needed, whatever earlier turns bring")
			if f.State != Found || !strings.Contains(f.Advice, "once for all") || needed != (c.says != "") || !strings.Contains(f.Advice, c.says) {
				t.Errorf("%s, %v: %s: %s\n%s", c.name, known, f.State, f.Summary, f.Advice)
			}
		}
	}
}
