package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/facts"
	"loupe/value/stack"
)

// TestBodyWays: the source shows on which ways out an answer's body is closed before it is read, or handed on open. The call
// is on line 6.
func TestBodyWays(t *testing.T) {
	const head = "package main\n\nimport \"net/http\"\n\nfunc (c *client) get(req *http.Request) (any, error) {\n\tresp, err := c.http.Do(req)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n"
	const tail = "\treturn io.ReadAll(resp.Body)\n}\n"
	const status = "\tif resp.StatusCode != 200 {\n\t\treturn nil, errStatus\n\t}\n"
	const close, done = "\tdefer resp.Body.Close()\n", "\treturn all, nil\n}\n"
	for _, c := range []struct {
		name, body     string
		unread, handed string
	}{
		{"an error status", "\tdefer resp.Body.Close()\n" + status + tail, "[12]", "0"},
		{"a switch", "\tdefer resp.Body.Close()\n\tswitch {\n\tcase gone(resp.StatusCode):\n\t\treturn nil, errGone\n\tcase resp.StatusCode != 200:\n\t\treturn nil, errStatus\n\t}\n" + tail, "[13 15]", "0"},
		{"released by a field", "\tdefer c.release(resp.Body)\n" + status + tail + "\nvar only = &client{release: func(body io.ReadCloser) { body.Close() }}\n", "[12]", "0"},
		{"released by a field that may read", "\tdefer c.release(resp.Body)\n" + status + tail + "\nvar only = &client{release: func(body io.ReadCloser) { body.Close() }}\nfunc set(c *client) { c.release = drain }\nfunc drain(body io.ReadCloser) { io.Copy(io.Discard, body); body.Close() }\n", "[12]", "0"},
		{"released by one that reads", "\tdefer drain(resp.Body)\n" + status + tail + "\nfunc drain(body io.ReadCloser) { io.Copy(io.Discard, body); body.Close() }\n", "[]", "0"},
		{"a closure that reads", "\tdefer func() { io.Copy(io.Discard, resp.Body); resp.Body.Close() }()\n" + status + tail, "[]", "0"},
		{"read before each way out", "\tdefer resp.Body.Close()\n\tif resp.StatusCode != 200 {\n\t\tio.Copy(io.Discard, resp.Body)\n\t\treturn nil, errStatus\n\t}\n" + tail, "[]", "0"},
		{"its text is in the error", "\tdefer resp.Body.Close()\n\tif resp.StatusCode != 200 {\n\t\ttext, _ := io.ReadAll(resp.Body)\n\t\treturn nil, fail(text)\n\t}\n" + tail, "[]", "0"},
		{"without a body", "\tdefer resp.Body.Close()\n\tif resp.StatusCode == http.StatusNoContent {\n\t\treturn nil, nil\n\t}\n" + tail, "[]", "0"},
		{"read first", "\tdefer resp.Body.Close()\n\tall, err := io.ReadAll(resp.Body)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n" + status + "\treturn all, nil\n}\n", "[]", "0"},
		{"handed on in a value", "\tif resp.StatusCode != 200 {\n\t\tio.Copy(io.Discard, resp.Body)\n\t\tresp.Body.Close()\n\t\treturn nil, errStatus\n\t}\n\treturn &records{body: resp.Body, scan: bufio.NewScanner(resp.Body)}, nil\n}\nfunc (r *records) close() { r.body.Close() }\n", "[]", "15"},
		{"handed on", "\treturn resp.Body, nil\n}\n", "[]", "10"},
		{"read in one branch, the other returns", close + "\tif resp.StatusCode == 200 {\n\t\tall, _ = io.ReadAll(resp.Body)\n\t} else {\n\t\treturn nil, errStatus\n\t}\n" + done, "[14]", "0"},
		{"read in both branches", close + "\tif resp.StatusCode == 200 {\n\t\tall, _ = io.ReadAll(resp.Body)\n\t} else if c.drain {\n\t\tio.Copy(io.Discard, resp.Body)\n\t} else {\n\t\tio.Copy(w, resp.Body)\n\t}\n" + done, "[]", "0"},
		{"read in one of two", close + "\tif resp.StatusCode == 200 {\n\t\tall, _ = io.ReadAll(resp.Body)\n\t} else {\n\t\tlog(resp.StatusCode)\n\t}\n" + done, "[16]", "0"},
		{"read in one branch alone", close + "\tif resp.StatusCode == 200 {\n\t\tall, _ = io.ReadAll(resp.Body)\n\t}\n" + done, "[14]", "0"},
		{"a branch that closes and returns", "\tif resp.StatusCode != 200 {\n\t\tresp.Body.Close()\n\t\treturn nil, errStatus\n\t} else {\n\t\tall, _ = io.ReadAll(resp.Body)\n\t\tresp.Body.Close()\n\t}\n" + done, "[12]", "0"},
		{"all branches return", close + "\tif resp.StatusCode == 200 {\n\t\treturn io.ReadAll(resp.Body)\n\t} else {\n\t\tpanic(resp.Status)\n\t}\n" + done, "[]", "0"},
		{"a switch with a default", close + "\tswitch resp.StatusCode {\n\tcase 200:\n\t\tall, _ = io.ReadAll(resp.Body)\n\tdefault:\n\t\tio.Copy(io.Discard, resp.Body)\n\t}\n" + done, "[]", "0"},
		{"a switch without one", close + "\tswitch resp.StatusCode {\n\tcase 200:\n\t\tall, _ = io.ReadAll(resp.Body)\n\t}\n" + done, "[15]", "0"},
		{"a switch that falls through", close + "\tswitch resp.StatusCode {\n\tcase 201:\n\t\tfallthrough\n\tcase 200:\n\t\tall, _ = io.ReadAll(resp.Body)\n\tdefault:\n\t\treturn nil, errStatus\n\t}\n" + done, "[17]", "0"},
		{"a switch over types", close + "\tswitch v := v.(type) {\n\tcase *bytes.Buffer:\n\t\tv.ReadFrom(resp.Body)\n\tdefault:\n\t\tjson.NewDecoder(resp.Body).Decode(v)\n\t}\n" + done, "[]", "0"},
		{"a switch over types that reads in one", close + "\tswitch v := v.(type) {\n\tcase *bytes.Buffer:\n\t\tv.ReadFrom(resp.Body)\n\tcase nil:\n\t}\n" + done, "[16]", "0"},
		{"a select", close + "\tselect {\n\tcase <-ctx.Done():\n\t\treturn nil, errDone\n\tcase s <- 1:\n\t\tall, _ = io.ReadAll(resp.Body)\n\t}\n" + done, "[13]", "0"},
		{"a select that reads in one", close + "\tselect {\n\tcase <-ctx.Done():\n\tcase s <- 1:\n\t\tall, _ = io.ReadAll(resp.Body)\n\t}\n" + done, "[16]", "0"},
		{"a body unless it has none", close + "\tif resp.StatusCode != http.StatusNoContent {\n\t\tall, _ = io.ReadAll(resp.Body)\n\t}\n" + done, "[]", "0"},
		{"returned where it has one", close + "\tif resp.StatusCode != http.StatusNoContent {\n\t\treturn nil, errStatus\n\t}\n" + done, "[12]", "0"},
		{"the status of it", "\tdefer resp.Body.Close()\n\tio.Copy(io.Discard, resp.Body)\n\treturn resp.StatusCode, nil\n}\n", "[]", "0"},
	} {
		code := sourceOf(head + c.body)
		b, ok := bodyWaysOf(code, stack.Frame{Func: "main.(*client).get", File: "a.go", Line: 6})
		if !ok || fmt.Sprint(b.unread) != c.unread && !(len(b.unread) == 0 && c.unread == "[]") || fmt.Sprint(b.handed) != c.handed {
			t.Errorf("%s: %v unread %v, handed %d", c.name, ok, b.unread, b.handed)
		}
		f := Finding{Advice: "Reuse."}
		told := b.tell(&f, "")
		if told != (c.unread != "[]" || c.handed != "0") || told == (f.Advice == "Reuse.") {
			t.Errorf("%s: it says %s", c.name, f.Advice)
		}
		if c.name == "handed on in a value" && (!strings.Contains(f.Advice, "closed in this function only where it is not (line 12)") || !strings.Contains(f.Advice, "closes it at a.go:17") || len(f.Evidence) != 2) {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}

// TestOtherRemedies: what the source shows to be followed already is not advised.
func TestOtherRemedies(t *testing.T) {
	const get = "func (c *client) get(url string) {\nresp, err := %s.Get(url)\n}\n"
	const one, many = "use one http.Client", "MaxIdleConnsPerHost"
	for _, c := range []struct {
		name, declares, of string
		want               []string
	}{
		{"both", "var t = &http.Transport{MaxIdleConnsPerHost: 16}", "c.http", nil},
		{"no bound is set", "", "c.http", []string{many}},
		{"a small bound", "var t = &http.Transport{MaxIdleConnsPerHost: 1}", "c.http", []string{many}},
		{"another Transport is without", "var t = &http.Transport{MaxIdleConnsPerHost: 16}; var u = &http.Transport{}", "c.http", []string{many}},
		{"a client of the call", "var t = &http.Transport{MaxIdleConnsPerHost: 16}", "newClient()", []string{one}},
	} {
		code := connSources{sourceOf("package main\n\nimport \"net/http\"\n" + c.declares + "\n" + fmt.Sprintf(get, c.of))}
		got := code.others(stack.Frame{Func: "main.(*client).get", File: "a.go", Line: 6})
		for _, part := range []string{one, many} {
			if strings.Contains(got, part) != slices.Contains(c.want, part) {
				t.Errorf("%s: %q", c.name, got)
			}
		}
	}
}

// TestWaitsForDial: who waits for a peer at a line whose connections are made anew waits for that, where much of the wait, or of
// the CPU time, goes there.
func TestWaitsForDial(t *testing.T) {
	at := stack.Frame{Func: "main.ask", File: "ask.go", Line: 9}
	kinds := map[string]account.Kind{"network": account.Answer, "dial": account.Dial, "tls": account.Handshake}
	row := func(key string, d time.Duration) *facts.UnitRow {
		return &facts.UnitRow{Kind: kinds[key], Site: facts.UnitSite{Frame: at}, Time: d}
	}
	wait := func(rows ...*facts.UnitRow) Finding {
		return Finding{Rule: "WT02", State: Found, Severity: Warning, waits: rows}
	}
	dial := func(s Severity, line int) Finding {
		return Finding{Rule: "LD06", State: Found, Severity: s, Evidence: []Evidence{{File: "ask.go", Line: line}}}
	}
	const ms = time.Millisecond
	handed := func(key string, line int) *facts.UnitRow {
		r := row("network", 3*ms)
		r.Kind, r.Site.Frame.Line = account.WaitGroup, 30
		r.Cause = facts.UnitCause{Kind: kinds[key], Site: facts.UnitSite{Frame: stack.Frame{Func: "main.ask", File: "ask.go", Line: line}}}
		return r
	}
	remark := wait(row("network", ms), row("dial", 3*ms))
	remark.Rule = "WT03"
	for _, x := range []struct {
		name       string
		wait, dial Finding
		want       bool
	}{
		{"for dials", wait(row("network", ms), row("dial", ms), row("tls", 2*ms)), dial(Warning, 9), true},
		{"for a goroutine that makes one", wait(handed("tls", 9)), dial(Warning, 9), true},
		{"for a goroutine that makes one elsewhere", wait(handed("tls", 20)), dial(Warning, 9), false},
		{"for a goroutine that waits for answers", wait(handed("network", 9)), dial(Warning, 9), false},
		{"for answers", wait(row("network", 9*ms), row("dial", ms)), dial(Warning, 9), false},
		{"at another line", wait(row("network", ms), row("dial", 3*ms)), dial(Warning, 20), false},
		{"a remark", wait(row("network", ms), row("dial", 3*ms)), dial(Info, 9), false},
		{"another rule", remark, dial(Warning, 9), false},
	} {
		c := &causal{all: []Finding{x.wait, x.dial}}
		if got := waitsForDial(c, 0, 1) || handedDial(c, 0, 1); got != x.want {
			t.Errorf("%s: %v", x.name, got)
		}
		if c.follows(0, 1) != x.want || x.want && c.follows(1, 0) {
			t.Errorf("%s: it does not go where it should", x.name)
		}
	}
	// The CPU time of the handshakes is enough, too.
	c := &causal{all: []Finding{wait(row("network", 9*ms)), dial(Warning, 9)}, marks: map[int][]bool{1: {true, false}}, spent: &spent{total: 100, counts: []int64{50, 50}}}
	c.all[1].saves = true
	if !waitsForDial(c, 0, 1) {
		t.Error("half of the CPU time is not enough")
	}
	if c.spent.counts = []int64{10, 90}; waitsForDial(c, 0, 1) {
		t.Error("a tenth of the CPU time is enough")
	}
}

// TestBodyKept: the source shows that a body is read to its end and closed on every path; what is read in part, closed late, decoded or given away is not.
func TestBodyKept(t *testing.T) {
	for _, c := range []struct {
		name, rest string
		kept       bool
		limited    int
	}{
		{"read", "defer resp.Body.Close()\nb, err := io.ReadAll(resp.Body)\nreturn b, err\n", true, 0},
		{"an error with a limit", "defer resp.Body.Close()\nif resp.StatusCode != 200 {\nb, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))\nreturn nil, fmt.Errorf(\"%s %s\", resp.Status, b)\n}\nb, err := io.ReadAll(resp.Body)\nreturn b, err\n", true, 13},
		{"copied", "defer resp.Body.Close()\n_, err = io.Copy(w, resp.Body)\nreturn nil, err\n", true, 0},
		{"an error unread", "defer resp.Body.Close()\nif resp.StatusCode != 200 {\nreturn nil, errStatus\n}\nb, err := io.ReadAll(resp.Body)\nreturn b, err\n", false, 0},
		{"only as far as a limit", "defer resp.Body.Close()\nb, err := io.ReadAll(io.LimitReader(resp.Body, 4096))\nreturn b, err\n", false, 12},
		{"decoded", "defer resp.Body.Close()\nerr = json.NewDecoder(resp.Body).Decode(&v)\nreturn nil, err\n", false, 0},
		{"closed late", "b, err := io.ReadAll(resp.Body)\nif err != nil {\nreturn nil, err\n}\nresp.Body.Close()\nreturn b, nil\n", false, 0},
		{"not closed", "b, err := io.ReadAll(resp.Body)\nreturn b, err\n", false, 0},
		{"the answer is given away", "defer resp.Body.Close()\ncheck(resp)\nb, err := io.ReadAll(resp.Body)\nreturn b, err\n", false, 0},
	} {
		code := sourceOf("package main\n\nimport \"net/http\"\n\nfunc (c *client) get(r *http.Request) ([]byte, error) {\n// asks\nresp, err := c.http.Do(r)\nif err != nil {\nreturn nil, err\n}\n" + c.rest + "}\n")
		at := stack.Frame{Func: "main.(*client).get", File: "a.go", Line: 7}
		b, ok := bodyWaysOf(code, at)
		if !ok || b.kept() != c.kept || b.limited != c.limited {
			t.Errorf("%s: %v, kept %v, limit %d", c.name, ok, b.kept(), b.limited)
			continue
		}
		f := Finding{Doubts: []string{restDoubt}}
		tellEnded(&f, &b, connSources{code}, at)
		if want := "By the source, the body is read and closed on every path there. Set its Transport's MaxIdleConnsPerHost " + perHostDefault; c.kept && (!strings.HasPrefix(f.Advice, want) || len(f.Doubts) != min(1, c.limited)) {
			t.Errorf("%s: %s; %q", c.name, f.Advice, f.Doubts)
		}
	}
}
