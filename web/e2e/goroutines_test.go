package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// poolDump is a dump of a program whose pool has given out all that it has.
func poolDump(t *testing.T, name string, n, minutes int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("panic: <img src=x onerror=alert(1)> no connection left\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/pool/main.go:9 +0x1d\n\n")
	for i := range n {
		fmt.Fprintf(&b, "goroutine %d [chan receive, %d minutes]:\nmain.(*P).get(0xc000012345, {0x1?, 0x2})\n\t/src/pool/pool.go:88 +0x1d\ncreated by main.Start in goroutine 1\n\t/src/pool/pool.go:12 +0x2f\n\n", 10+i, minutes+i%7)
	}
	for i := range 12 {
		fmt.Fprintf(&b, "goroutine %d [sync.Mutex.Lock, 3 minutes]:\nsync.runtime_SemacquireMutex(0xc00001a0b4?, 0x0?, 0x1)\n\t/usr/go/src/runtime/sema.go:95 +0x25\nsync.(*Mutex).lockSlow(0xc00001a0b0)\n\t/usr/go/src/sync/mutex.go:173 +0x15d\n"+
			"main.(*Cache).Get(...)\n\t/src/pool/cache.go:47\ncreated by net/http.(*Server).Serve in goroutine 1\n\t/usr/go/src/net/http/server.go:3285 +0x4b4\n\n", 20000+i)
	}
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestGoroutines looks at dumps and at a trace.
func TestGoroutines(t *testing.T) {
	dumps := serve(t, poolDump(t, "before.log", 3, 1), poolDump(t, "after.log", 3102, 41))
	traced := serve(t, record(t, "newssearch", "-phases", "bare,trace,goroutine"))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 360} {
			t.Run(fmt.Sprintf("%s-%d", scheme, width), func(t *testing.T) {
				b := open(t, dumps+"#/1/goroutines?of=dump-1-0", width, 900, scheme)
				b.until("document.querySelectorAll('.goroutines tbody tr[role=row]').length >= 3")
				b.settled()
				// What was printed is text.
				b.until("document.querySelector('.gopanic pre').innerText.includes('<img src=x')")
				if eval[bool](b, "!!document.querySelector('main img')") {
					t.Error("a dump has become HTML")
				}
				b.until("document.querySelector('.gototal').innerText.includes('3,115') && document.querySelector('.gototal').innerText.includes('+3,099')")
				b.accessible()
				b.picture(fmt.Sprintf("goroutines-dump-%s-%d", scheme, width))
				// A row opens by keyboard, and tells all of the group.
				b.do(chromedp.Focus(chromedp.CSS(".goroutines .rows")))
				b.press("\r")
				b.until("location.hash.includes('group=') && document.querySelector('.drawer .frames li')")
				b.until("document.querySelectorAll('.drawer tbody tr[role=row]').length > 5")
				b.settled()
				b.accessible()
				b.picture(fmt.Sprintf("goroutines-group-%s-%d", scheme, width))
				b.press("z")
				b.until("!document.querySelector('.drawer')")
				b.do(chromedp.SendKeys(chromedp.CSS(".gofilter input"), "state:mutex"))
				b.until("document.querySelector('.gototal').innerText.startsWith('12 goroutines')")

				b = open(t, traced+"#/1/goroutines", width, 900, scheme)
				b.until("document.querySelectorAll('.goroutines tbody tr[role=row]').length >= 3 && document.querySelector('.gospark')")
				b.settled()
				b.accessible()
				b.picture(fmt.Sprintf("goroutines-trace-%s-%d", scheme, width))
				if width == 360 {
					wide := eval[string](b, "document.documentElement.scrollWidth + ' of ' + innerWidth")
					if eval[bool](b, "document.documentElement.scrollWidth > innerWidth") {
						t.Errorf("the page scrolls sideways: %s", wide)
					}
					return
				}
				// The instant and the range are followed.
				all := eval[string](b, "document.querySelector('.gocontrols .goshot select').value")
				span := eval[float64](b, fmt.Sprintf("Number(%q.slice(6)) / 1e9", all))
				b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = '#/1/goroutines?t=%.3fs-%.3fs'", span-0.2, span-0.1)))
				b.until(fmt.Sprintf("document.querySelector('.gocontrols .goshot select').value !== %q", all))
				b.settled()
				b.do(chromedp.Evaluate[chromedp.Void]("location.hash = '#/1/goroutines?tab=range'"))
				b.until("document.querySelector('.table') && document.querySelector('.goroutines').innerText.includes('running')")
				b.settled()
				b.accessible()
				b.picture(fmt.Sprintf("goroutines-range-%s-%d", scheme, width))
			})
		}
	}
}
