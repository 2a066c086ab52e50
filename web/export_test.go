package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
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
	written, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var data heldData
	if text, _ := heldParts(t, written); json.Unmarshal(text, &data) != nil {
		t.Fatalf("no JSON: %.100s", text)
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

// heldParts takes apart what a file holds: the JSON, and the bytes behind it.
func heldParts(t *testing.T, b []byte) (text, rest []byte) {
	t.Helper()
	if len(b) < 4 || int(binary.LittleEndian.Uint32(b)) > len(b)-4 {
		t.Fatalf("%d bytes are held", len(b))
	}
	n := int(binary.LittleEndian.Uint32(b))
	return b[4 : 4+n], b[4+n:]
}

// TestHeldJSON: what is written of a file by hand is what package json would make of it,
// and the tiles are where it says.
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
		text, rest := heldParts(t, b.Bytes())
		var places struct{ Tiles map[string][2]int }
		if err := json.Unmarshal(text, &places); err != nil {
			t.Fatal(err)
		}
		for k, want := range d.Tiles {
			if at := places.Tiles[k]; !bytes.Equal(rest[at[0]:at[1]], want) {
				t.Errorf("the tiles of %s are not at %v of %d bytes", k, at, len(rest))
			}
		}
		want, err := json.Marshal(struct {
			heldData
			Tiles map[string][2]int `json:"tiles"`
		}{d, places.Tiles})
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != string(want) || len(places.Tiles) != len(d.Tiles) {
			t.Errorf("%.400s\nwant\n%.400s", text, want)
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
