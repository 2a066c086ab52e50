package insight

import (
	"strings"
	"testing"
)

// TestOwnText: what a function of the library converts for itself has an advice that fits it, and what the program converts has none
// of these.
func TestOwnText(t *testing.T) {
	for inner, want := range map[string]string{
		"strconv.FormatFloat":                        "strconv.AppendFloat",
		"internal/strconv.FormatFloat":               "strconv.AppendFloat",
		"strconv.Itoa":                               "strconv.AppendInt",
		"strconv.formatBits":                         "AppendInt or AppendUint",
		"time.Time.Format":                           "AppendFormat",
		"fmt.Sprintf":                                "fmt.Appendf",
		"encoding/hex.EncodeToString":                "hex.AppendEncode",
		"encoding/base64.(*Encoding).EncodeToString": "AppendEncode",
		"bytes.(*Buffer).String":                     "strings.Builder",
		"bufio.(*Scanner).Text":                      "the scanner's Bytes",
		"net/url.escape":                             "url.escape converts for itself",
		"shop/page.render":                           "",
		"main.main":                                  "",
	} {
		got, ok := ownText(inner, false)
		if ok != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", inner, got, want)
		}
	}
	if got, _ := ownText("strconv.Itoa", true); !strings.Contains(got, "Where it is kept") {
		t.Errorf("kept: %q", got)
	}
}

// TestMadeForOne: a channel that each call makes for one value is no queue.
func TestMadeForOne(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"for one answer", "done := make(chan int)\ngo func() {\ndone <- ask() /*1*/\n}()\nselect {\ncase <-done:\ncase <-t.C:\n}", true},
		{"with a capacity that is given", "done := make(chan int, n)\ngo func() {\ndone <- ask() /*1*/\n}()", true},
		{"in a turn of a loop around all", "for range all {\ndone := make(chan int)\ngo func() {\ndone <- ask() /*1*/\n}()\n}", true},
		{"in a loop", "jobs := make(chan int)\nfor x := range all {\njobs <- x /*1*/\n}", false},
		{"by many", "out := make(chan int)\nfor range all {\ngo func() {\nout <- ask() /*1*/\n}()\n}", false},
		{"of the package", "queue <- 1 /*1*/", false},
	} {
		text := "package main\n\nvar queue = make(chan int)\n\nfunc f(n int) {\n" + c.body + "\n}\n"
		channel := "done"
		for _, name := range []string{"jobs", "out", "queue"} {
			if strings.Contains(c.body, name+" <-") {
				channel = name
			}
		}
		if _, ok := madeForOne(sourceOf(text), numbered(text)[0], channel); ok != c.want {
			t.Errorf("%s: %v", c.name, ok)
		}
	}
	given := "package main\n\nfunc f(done chan int) {\ndone <- 1 /*1*/\n}\n"
	if _, ok := madeForOne(sourceOf(given), numbered(given)[0], "done"); ok {
		t.Error("one that is given")
	}
}
