package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"loupe/format/dump"
	"loupe/format/exectrace/fixture"
	"loupe/format/kind"
	"loupe/report"
	"loupe/session"
)

// pagesOfFiles serves files that stand alone.
func pagesOfFiles(t testing.TB, files fstest.MapFS, names ...string) *pages {
	t.Helper()
	return pagesFrom(t, Source{Name: "test", Kind: "files", Open: func(context.Context) (*Opened, error) {
		s, known, err := session.Loose(files, names)
		return &Opened{Session: s, Files: known}, err
	}})
}

func pool(n, minutes int) string {
	var b strings.Builder
	b.WriteString("goroutine 1 [running]:\nmain.main()\n\t/src/pool/main.go:9 +0x1d\n\n")
	for i := range n {
		fmt.Fprintf(&b, "goroutine %d [chan receive, %d minutes]:\nmain.(*P).get(0xc000012345)\n\t/src/pool/pool.go:88 +0x1d\ncreated by main.Start in goroutine 1\n\t/src/pool/pool.go:12 +0x2f\n\n", 10+i, minutes+i)
	}
	return b.String()
}

// TestGoroutinesOfDumps: growth between two dumps, and a group with all that is
// in it.
func TestGoroutinesOfDumps(t *testing.T) {
	p := pagesOfFiles(t, fstest.MapFS{"before": {Data: []byte(pool(2, 1))}, "after": {Data: []byte(pool(31, 6))}}, "before", "after")
	var shots []shotItem
	p.get("goroutines/shots?s=1", &shots)
	if len(shots) != 2 || shots[0].Goroutines != 3 || shots[1].Goroutines != 32 {
		t.Fatalf("the shots are %+v", shots)
	}
	var v goroutineView
	p.get("goroutines/view?s=1&of="+shots[1].ID, &v)
	if v.Total != 32 || v.Before != 3 || v.Against == nil || v.Against.Name != "before" {
		t.Errorf("%d goroutines, %d before, against %v", v.Total, v.Before, v.Against)
	}
	if got := v.Groups.Shown[0]; fmt.Sprint(got) != "[31 +29 chan receive 21 min 36 min main.(*P).get pool.go:88 main.Start pool.go:12]" {
		t.Errorf("the first group is %v", got)
	}
	if len(v.Suspects) == 0 || v.Rows[0].Suspect != v.Suspects[0] {
		t.Errorf("suspects %v, the first group %+v", v.Suspects, v.Rows[0])
	}
	var group groupView
	p.get("goroutines/group?s=1&of="+shots[1].ID+"&key="+v.Rows[0].Key, &group)
	if len(group.Stacks) != 1 || len(group.Places) != 31 || group.Goroutines.Shown[0][0] != "g40" || group.Goroutines.Shown[0][2] != "36 min" {
		t.Errorf("the group is %+v", group)
	}
	var one goroutineText
	p.get(fmt.Sprintf("goroutines/one?s=1&of=%s&g=%d", shots[1].ID, group.Places[0]), &one)
	if one.ID != 40 || one.Frames[0].Args != "(0xc000012345)" || !one.Frames[1].Created || one.Frames[1].Function != "main.Start" {
		t.Errorf("goroutine 40 is %+v", one)
	}

	f := func(filter string, want int64) {
		t.Helper()
		var v goroutineView
		p.get("goroutines/view?s=1&of="+shots[1].ID+"&q="+url.QueryEscape(filter), &v)
		if v.Total != want {
			t.Errorf("%q leaves %d, want %d", filter, v.Total, want)
		}
	}
	f("state:chan", 31)
	f("state:CHAN age>30m", 6)
	f("pool.go", 31)
	f(`state="chan receive" age<=10m`, 5)
	f("g12", 1)
	f("nowhere", 0)
	f("creator:start", 31)
	if w := p.ask(t.Context(), "goroutines/view?s=1&q="+url.QueryEscape("age>soon"), nil); w.Code != 400 || !strings.Contains(w.Body.String(), "want a time") {
		t.Errorf("a bad filter: %d %s", w.Code, w.Body)
	}
}

// TestGoroutinesAsStacks: the numbers are those of loupe stacks, for dumps of
// every version.
func TestGoroutinesAsStacks(t *testing.T) {
	names, err := filepath.Glob("../format/dump/testdata/*.txt")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d dumps: %v", len(names), err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if k, _, err := kind.Of(bytes.NewReader(data)); err != nil || k == kind.Unknown {
			continue
		}
		file := dump.Parse(data)
		p := pagesOfFiles(t, fstest.MapFS{"dump": {Data: data}}, "dump")
		var shots []shotItem
		p.get("goroutines/shots?s=1", &shots)
		for n := range file.Dumps {
			var v goroutineView
			p.get("goroutines/view?s=1&vs=none&of="+shots[n].ID, &v)
			var want struct {
				Goroutines int64
				Groups     []struct{ Count int64 }
				Suspects   []struct{ Text string }
			}
			var b bytes.Buffer
			if err := report.WriteJSON(&b, report.StacksJSON(&report.Stacks{Name: name, File: file, Dump: n})); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(b.Bytes(), &want); err != nil {
				t.Fatal(err)
			}
			if v.Total != want.Goroutines || len(v.Rows) != len(want.Groups) || len(v.Suspects) != len(want.Suspects) {
				t.Errorf("%s, dump %d: %d goroutines in %d groups, %d suspects; want %d, %d, %d", name, n, v.Total, len(v.Rows), len(v.Suspects), want.Goroutines, len(want.Groups), len(want.Suspects))
			}
			if d := file.Dumps[n]; d.Kind == dump.Panic && (v.Panic == nil || v.Panic.Message != d.Message || v.Panic.First == nil) {
				t.Errorf("%s: the panic is %+v", name, v.Panic)
			}
		}
	}
}

// TestGoroutinesOfTrace: what goroutines do at the end of a trace, and what has
// changed since its begin.
func TestGoroutinesOfTrace(t *testing.T) {
	data := fixture.Trace(t, "Trace Go1.26\nEventBatch m=1 time=1000\nProcStatus dt=1 p=0 pstatus=running\nGoStatus dt=1 g=1 m=1 gstatus=running\n"+
		"GoCreate dt=1000 new_g=7 new_stack=main.work@/src/f.go:3 stack=main.main@/src/f.go:9\n"+
		"GoBlock dt=1000 reason_string=\"chan receive\" stack=main.main@/src/f.go:12\nGoStart dt=1000 g=7 g_seq=1\n"+
		"GoBlock dt=1000 reason_string=sync stack=sync.(*Mutex).Lock@/src/mutex.go:5;main.work@/src/f.go:4\n")
	p := pagesOfFiles(t, fstest.MapFS{"trace": {Data: data}}, "trace")
	var v goroutineView
	p.get("goroutines/view?s=1", &v)
	if v.Total != 2 || v.Before > 1 || v.Of.Kind != "trace" {
		t.Fatalf("%d goroutines of %+v, %d before: %v", v.Total, v.Of, v.Before, v.Groups.Shown)
	}
	p.get("goroutines/view?s=1&q=state:sync&by=function", &v)
	if v.Total != 1 || v.Rows[0].Entry != "main.work" {
		t.Errorf("those that wait for a lock: %d, %+v", v.Total, v.Rows)
	}
	var over facts
	p.get("goroutines/range?s=1", &over)
	if len(over.Tables) == 0 {
		t.Error("no table of the range")
	}
	var trends []trend
	p.get("goroutines/trends?s=1", &trends)
	if len(trends) == 0 {
		t.Error("no trends")
	}
}
