package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"loupe/session"
)

var heldText = regexp.MustCompile(`id="held">([^<]*)</script>`)

// TestExport: one file holds the answers, and what programs have printed is
// nowhere read as HTML.
func TestExport(t *testing.T) {
	hostile := "panic: </script><script>alert(1)</script>\n\n" + pool(3, 2)
	var b bytes.Buffer
	_, err := Export(t.Context(), &b, Options{Version: "v1", Sources: []Source{{Name: "</title><b>", Kind: "files", Open: func(context.Context) (*Opened, error) {
		s, known, err := session.Loose(fstest.MapFS{"dump": {Data: []byte(hostile)}}, []string{"dump"})
		return &Opened{Session: s, Files: known}, err
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"alert(1)", "</title><b>", "src=\"app.js\""} {
		if strings.Contains(page, bad) {
			t.Errorf("the file has %q in its HTML", bad)
		}
	}
	m := heldText.FindStringSubmatch(page)
	if m == nil {
		t.Fatal("the file holds no answers")
	}
	packed, err := base64.StdEncoding.DecodeString(m[1])
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var data heldData
	if err := json.NewDecoder(z).Decode(&data); err != nil {
		t.Fatal(err)
	}
	var v goroutineView
	if err := json.Unmarshal(data.Answers["goroutines/view?by=stack&s=1"].Value, &v); err != nil || v.Total != 4 || v.Panic == nil {
		t.Errorf("the goroutines in the file: %+v, %v", v, err)
	}
	for _, key := range []string{"sources?", "source?s=1", "findings?s=1", "cards?s=1", "rules?"} {
		if data.Answers[key].Value == nil {
			t.Errorf("there is no answer to %s", key)
		}
	}
	if a := data.Answers["gc?s=1"]; a.Error == "" || !a.Missing {
		t.Errorf("what is missing is told as %+v", a)
	}
}

// TestHeldJSON: what is written of a file by hand is what package json would make of it.
func TestHeldJSON(t *testing.T) {
	for _, d := range []heldData{
		{Made: "m", Version: "v", Answers: map[string]held{}, Tiles: map[string][]byte{}},
		{Made: "2026-11-23T00:00:00Z", Version: "v\"1\" <&>", Answers: map[string]held{
			"b?": {Value: json.RawMessage(`{"a":[1,2,"\u003cb\u003e"]}`)}, "a?x=<\"é": {Value: json.RawMessage("null\n")},
			"none?": {}, "c?": {Error: "no \"such\" <file>\xff"}, "d?": {Error: "absent", Missing: true}, "e?": {Missing: true},
		}, Tiles: map[string][]byte{"2": {}, "1": {0, 1, 2, 255}, "3": bytes.Repeat([]byte{7}, 100_000)}},
	} {
		var b bytes.Buffer
		if err := d.write(&b); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != string(want) {
			t.Errorf("%.400s\nwant\n%.400s", got, want)
		}
	}
}

// TestExportLicences wants the terms of what is in an exported page to be in it.
func TestExportLicences(t *testing.T) {
	var b bytes.Buffer
	_, err := Export(t.Context(), &b, Options{Sources: []Source{{Name: "x", Kind: "files", Open: func(context.Context) (*Opened, error) {
		s, known, err := session.Loose(fstest.MapFS{}, nil)
		return &Opened{Session: s, Files: known}, err
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../LICENSE", "ui/vendor/preact/LICENSE", "ui/vendor/signals/LICENSE", "ui/vendor/signals-core/LICENSE"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b.Bytes(), bytes.TrimSpace(text)) {
			t.Errorf("the page does not have %s", name)
		}
	}
}
