package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestReport reads a report of one file without a server: every view shows what
// it shows at first.
func TestReport(t *testing.T) {
	rec := record(t, "newssearch", "-phases", "bare,cpu,trace,goroutine")
	name := filepath.Join(t.TempDir(), "report.html")
	page := loupe(t, "report", "-format", "html", rec, poolDump(t, "crash.log", 40, 12))
	if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	if len(page) > 5<<20 {
		t.Errorf("the report has %d bytes", len(page))
	}
	t.Logf("%d bytes", len(page))
	for _, scheme := range []string{"light", "dark"} {
		b := open(t, "file://"+name, 1280, 900, scheme)
		b.until("document.querySelector('.sources, main h1')")
		for _, view := range []string{"1/overview", "1/timeline", "1/profile", "1/gc", "1/scheduler", "1/goroutines", "2/goroutines", "/rules"} {
			b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = '#/%s'", view)))
			b.settled()
			text := b.text("main")
			if strings.Contains(text, "This file holds what each view shows at first") {
				t.Errorf("%s asks for what is not in the file: %.300s", view, text)
			}
			if strings.Contains(text, "loupe does not answer") {
				t.Errorf("%s asks the server: %.300s", view, text)
			}
			b.picture("report-" + strings.ReplaceAll(strings.TrimPrefix(view, "/"), "/", "-") + "-" + scheme)
		}
		b.do(chromedp.Evaluate[chromedp.Void]("location.hash = '#/2/goroutines'"))
		b.until("document.querySelector('.gopanic pre')")
		if eval[bool](b, "!!document.querySelector('main img')") {
			t.Error("a dump has become HTML")
		}
		b.accessible()
	}
}
