package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// TestOwnServer: where a program accepts about as many connections as it opens, and its source closes those that it serves, the line
// is named; where it accepts few, or closes none, it is not.
func TestOwnServer(t *testing.T) {
	const serve = "package rates\n\nimport \"net/http\"\n\nfunc handle(w http.ResponseWriter, r *http.Request) {\n\tw.Header().Set(\"Connection\", \"close\")\n}\n"
	const off = "package rates\n\nimport \"net/http\"\n\nfunc main() {\n\ts := &http.Server{}\n\ts.SetKeepAlivesEnabled(false)\n\ts.ListenAndServe()\n}\n"
	for _, c := range []struct {
		name, text string
		accepted   int
		named      string
	}{
		{"Connection: close", serve, 400, "a.go:6"},
		{"keep-alive is off", off, 380, "a.go:7"},
		{"of others", serve, 40, ""},
		{"it keeps them", strings.Replace(serve, "close", "keep-alive", 1), 400, ""},
	} {
		s := calling(t, 400, 400, 0)
		s.beside = append(s.beside, func(r *recordingtest.Recording) { withSource(r, "a.go", c.text) })
		s.group("net/http.(*conn).serve", c.accepted, c.accepted, time.Second, 0)
		f := s.expect("LD06", Found, "opened 400 connections")
		if told := strings.Contains(f.Advice, "If these responses go through "+c.named+", remove that line"); told != (c.named != "") {
			t.Errorf("%s: %s: %s", c.name, f.Summary, f.Advice)
		}
	}
}

// TestTooSeldom: an early way out is blamed for new connections where enough calls take it, or nothing was counted.
func TestTooSeldom(t *testing.T) {
	text := func(early string) string {
		return "package main\n\nimport \"net/http\"\n\nfunc (c *client) get(req *http.Request) (any, error) {\n\tresp, err := c.http.Do(req)\n\tif err != nil { // =0\n\t\treturn nil, err\n\t}\n\tdefer resp.Body.Close()\n\tif resp.StatusCode != 200 { // =" + early + "\n\t\treturn nil, errStatus\n\t}\n\treturn io.ReadAll(resp.Body)\n}\n"
	}
	at := stack.Frame{Func: "main.(*client).get", File: "a.go", Line: 6}
	for _, c := range []struct {
		name, early string
		counted     bool
		part        float64 // of the answers that connections were made for
		blamed      bool
	}{
		{"one in a hundred", "1", true, 1, false},
		{"all", "100", true, 1, true},
		{"few, as the connections are", "4", true, 0.06, true},
		{"nothing was counted", "1", false, 1, true},
	} {
		code := sourceOf(text(c.early))
		if c.counted {
			countBlocks(code, text(c.early))
		}
		ways, ok := bodyWaysOf(code, at)
		f := Finding{Advice: "Reuse."}
		why := tellWays(&f, &ways, connSources{code}, at, c.part)
		blamed, doubted := strings.Contains(f.Advice, "the function returns at a.go:12"), len(f.Doubts) > 0
		measured, may := strings.Contains(f.Advice, "By the counts, "+c.early+" of 100 calls went that way. Read these answers to their end"), strings.Contains(f.Advice, "are not rare")
		if blamed && (measured != c.counted || may == c.counted) || why != (c.blamed && c.counted) {
			t.Errorf("%s: why %v: %s", c.name, why, f.Advice)
		}
		if !ok || blamed != c.blamed || doubted == c.blamed {
			t.Errorf("%s: %s %q", c.name, f.Advice, f.Doubts)
		}
		if doubted && !strings.Contains(f.Doubts[0], "in 1 of 100 calls") {
			t.Errorf("%s: %s", c.name, f.Doubts[0])
		}
	}
}

// TestWaysTaken: of the ways out before the body is read only those are named that were taken; what the source keeps to all hosts together is left out
// where they are why, but not what closes each connection or keeps two of a host.
func TestWaysTaken(t *testing.T) {
	const text = "package main\n\nimport \"net/http\"\n\nvar shared = &http.Client{Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 64}}\n\nfunc send(req *http.Request) error {\n\tresp, err := shared.Do(req)\n\tif err != nil { // =0\n\t\treturn err\n\t}\n\tdefer resp.Body.Close()\n\tif resp.StatusCode/100 != 2 { // =0\n\t\treturn errStatus\n\t}\n\treturn nil\n}\n"
	at := stack.Frame{Func: "main.send", File: "a.go", Line: 8}
	code := sourceOf(text)
	countBlocks(code, text)
	ways, ok := bodyWaysOf(code, at)
	f := Finding{Advice: "Reuse."}
	if why := tellWays(&f, &ways, connSources{code}, at, 1); !ok || !why || !strings.Contains(f.Advice, "the function returns at a.go:16 before") || !strings.Contains(f.Advice, "100 of 100 calls") {
		t.Errorf("%v %v: %s", ok, why, f.Advice)
	}
	settings := []connSetting{{does: "total"}, {does: "off", sure: true}, {does: "two", unset: true}}
	if got := whereAnswersAreRead(true, append([]connSetting(nil), settings...)); len(got) != 2 || got[0].does != "off" {
		t.Errorf("%+v", got)
	}
	if got := whereAnswersAreRead(false, settings); len(got) != 3 {
		t.Errorf("%+v", got)
	}
}
