package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// TestShell goes through the frame of the page by keyboard.
func TestShell(t *testing.T) {
	address := serve(t, record(t, "sieve"))
	for _, scheme := range []string{"light", "dark"} {
		b := open(t, address, 1280, 800, scheme)
		b.until("location.hash.startsWith('#/1/overview')")
		b.settled()
		if got := eval[string](b, "document.documentElement.dataset.theme"); got != scheme {
			t.Errorf("theme %q, want %q", got, scheme)
		}
		b.press("?")
		b.until("document.querySelector('dialog[open]')")
		b.accessible()
		b.picture("help-" + scheme)
		b.press("\x1b")
		b.until("!document.querySelector('dialog[open]')")
		b.press("gu")
		b.until("location.hash.startsWith('#/1/rules') && document.querySelectorAll('.rules details').length > 50")
		b.until("document.activeElement.id === 'main'")
		if title := eval[string](b, "document.title"); !strings.HasPrefix(title, "Rules · ") {
			t.Errorf("title %q", title)
		}
		b.accessible()
		b.picture("rules-" + scheme)
		b.press("z")
		b.until("location.hash.startsWith('#/1/overview')")
		b.press("zzz") // never off the page
		b.press("Z")
		b.until("location.hash.startsWith('#/1/rules')")
		b.press("ZZZ")
		b.press("gp")
		b.until("location.hash.startsWith('#/1/profile')")

		// The palette does by name what a key does.
		b.do(chromedp.KeyEvent("k", chromedp.KeyModifiers(2)))
		b.until("document.activeElement?.getAttribute('role') === 'combobox'")
		b.accessible()
		b.press("go time")
		b.until("document.querySelector('[role=option][aria-selected=true]')?.textContent.includes('Timeline')")
		b.press("\r")
		b.until("location.hash.startsWith('#/1/timeline') && !document.querySelector('dialog')")
	}
}

// TestOnlySource: the only source there is is opened, also where the page was sent before anything was known of it.
func TestOnlySource(t *testing.T) {
	address := serve(t, record(t, "sieve"))
	b := open(t, "about:blank", 1280, 800, "light")
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
			const parse = JSON.parse;
			JSON.parse = (text) => {
				const value = parse(text);
				if (value?.sources?.sources && value.source) {
					delete value.source;
					window.late = value.sources.sources.length;
				}
				return value;
			};`})
		return err
	}), chromedp.Navigate(address))
	b.until("window.late === 1 && location.hash.startsWith('#/1/overview')")
	b.settled()
}

// TestKeys: single keys can be changed and turned off, and the browser
// remembers.
func TestKeys(t *testing.T) {
	b := open(t, serve(t, record(t, "sieve")), 1280, 800, "light")
	b.until("location.hash.startsWith('#/1/overview')")
	b.do(chromedp.Evaluate[chromedp.Void](`localStorage.setItem("loupe.keys", '{"undo":"u"}'); window.old = true`), chromedp.Reload())
	b.until("!window.old && document.querySelector('nav a[aria-current]')")
	b.settled()
	b.press("gu")
	b.until("location.hash.startsWith('#/1/rules')")
	b.press("z")
	b.press("u")
	b.until("location.hash.startsWith('#/1/overview')")
	b.press("?")
	b.until("document.querySelector('dialog input[type=checkbox]')")
	eval[bool](b, "document.querySelector('dialog input[type=checkbox]').click(), true")
	b.press("\x1b")
	b.until("!document.querySelector('dialog')")
	b.press("gu?")
	time.Sleep(200 * time.Millisecond)
	if hash := eval[string](b, "location.hash"); !strings.HasPrefix(hash, "#/1/overview") || eval[bool](b, "!!document.querySelector('dialog')") {
		t.Errorf("keys that are turned off lead to %s", hash)
	}
	b.until(`localStorage.getItem("loupe.keys").includes('"on":false')`)
}

// TestRange types a range, goes further in, and out again by the steps.
func TestRange(t *testing.T) {
	b := open(t, serve(t, record(t, "sieve")), 1280, 800, "light")
	b.until("document.querySelector('.range input')")
	field := func(n int, text string) {
		eval[bool](b, "(f => { f.focus(); f.select(); return true })(document.querySelectorAll('.range input')["+strconv.Itoa(n)+"])")
		b.press(text + "\r")
	}
	field(0, "10ms-400ms")
	b.until("location.hash.includes('t=10ms-400ms')")
	field(1, "200ms")
	b.until("location.hash.includes('t=10ms-200ms') && document.querySelectorAll('.steps button').length === 2")
	field(0, "300ms")
	b.until("document.querySelector('.range [role=alert]')")
	b.accessible()
	field(0, "nonsense")
	b.until("document.querySelector('.range [role=alert]')?.textContent.includes('nonsense')")
	eval[bool](b, "document.activeElement.blur(), true")
	b.until("location.hash.includes('t=10ms-200ms') && !document.querySelector('.range [role=alert]')")
	eval[bool](b, "document.querySelectorAll('.steps button')[1].click(), true")
	b.until("location.hash.includes('t=10ms-400ms')")
	b.press("0")
	b.until("!location.hash.includes('t=')")
	b.press("z")
	b.until("location.hash.includes('t=10ms-400ms')")
}

// TestManySources finds one of 200 by typing, also on a narrow page.
func TestManySources(t *testing.T) {
	// Small ones: two hundred traces would take eight gigabytes.
	from, dir := record(t, "pingpong", "-phases", "bare:1s"), t.TempDir()
	for i := range 200 {
		if err := os.CopyFS(filepath.Join(dir, "recording-"+strconv.Itoa(i)), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	address := serve(t, dir)
	for _, width := range []int64{1280, 320} {
		b := open(t, address, width, 700, "dark")
		b.until("document.querySelectorAll('.sources li').length === 200")
		b.picture("sources-" + strconv.FormatInt(width, 10))
		eval[bool](b, "document.querySelector('.picker').click(), true")
		b.until("document.activeElement?.getAttribute('role') === 'combobox'")
		b.press("ing-177")
		b.until("document.querySelectorAll('[role=option]').length === 1")
		b.accessible()
		b.press("\r")
		b.until("document.querySelector('.picker')?.title.endsWith('recording-177')")
	}
}

// TestReflow: the frame fits on a narrow page, and on a very wide one; nothing
// of it scrolls sideways.
func TestReflow(t *testing.T) {
	address := serve(t, record(t, "sieve"))
	for _, width := range []int64{320, 360, 768, 1024, 3840} {
		b := open(t, address+"#/1/rules?t=1ms-300ms", width, 900, "light")
		b.until("document.querySelectorAll('.rules details').length > 50")
		b.fits()
		b.accessible()
		b.picture("rules-" + strconv.FormatInt(width, 10))
	}
}

// TestFirstPaint measures how soon the first page of a recording says something:
// the frame with the name, and then the first figures. What the scripts would ask
// first the page has with it.
func TestFirstPaint(t *testing.T) {
	address := serve(t, record(t, "sieve"))
	for range 3 {
		b := open(t, "about:blank", 1280, 800, "light")
		b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Call(ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
			return err
		}), chromedp.Navigate(address))
		b.settled()
		b.until("performance.getEntriesByName('first-contentful-paint').length && document.querySelector('main .ov-figures dl')")
		paint := eval[float64](b, "performance.getEntriesByName('first-contentful-paint')[0].startTime")
		if asked := eval[string](b, "performance.getEntriesByType('resource').map(r => r.name).filter(n => /api.sources?([?]|$)/.test(n)).join(' ')"); asked != "" {
			t.Errorf("the page asks %s, which it was sent with", asked)
		}
		var cpu float64
		b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			m, err := chromedp.Call(ctx, performance.GetMetrics, cdp.Empty{})
			if err != nil {
				return err
			}
			for _, x := range m.Metrics {
				if x.Name == "TaskDuration" {
					cpu = x.Value * 1e3
				}
			}
			return nil
		}))
		t.Logf("first contentful paint after %.0f ms; loaded after %.0f ms; %.0f ms of CPU time until all was there", paint, eval[float64](b, "performance.timing.loadEventEnd - performance.timing.navigationStart"), cpu)
		if paint > 3000 {
			t.Errorf("the first paint takes %.0f ms", paint) // it is 100 ms where nothing else runs
		}
	}
}
