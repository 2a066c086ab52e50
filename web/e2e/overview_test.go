package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// underLoad is a recording of a service under load, with a trace.
func underLoad(t *testing.T) string {
	return record(t, "newssearch", append([]string{"-load", "http://localhost:5000/search?term=topic&cnn=on&bbc=on&nyt=on", "-c", "4"}, short...)...)
}

// brush drags over the lanes, from one part of their width to another.
func (b *tab) brush(from, to float64) {
	b.t.Helper()
	eval[bool](b, "document.querySelector('.laneover').scrollIntoView({block: 'center'}), true")
	place := eval[[]float64](b, "(() => { const r = document.querySelector('.laneover').getBoundingClientRect(); return [r.left, r.width, innerHeight / 2]; })()")
	b.do(chromedp.DragAndDropXY(place[0]+from*place[1], place[2], place[0]+to*place[1], place[2]))
	b.until("location.hash.includes('t=')")
	b.settled()
	// What the header hides would be too small a target.
	eval[bool](b, "scrollTo(0, 0), true")
	b.until("document.getAnimations().length === 0") // older figures fade while newer ones are awaited
}

// keyed sends a key to the lanes.
func (b *tab) keyed(key string, shift bool) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf("document.querySelector('.laneover').focus(), document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: %q, shiftKey: %v, bubbles: true, cancelable: true})) || true", key, shift))
}

// TestOverview goes from the findings to their evidence, and chooses ranges.
func TestOverview(t *testing.T) {
	address := serve(t, underLoad(t))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 360} {
			t.Run(fmt.Sprintf("%s-%d", scheme, width), func(t *testing.T) {
				b := open(t, address+"#/1/overview", width, 900, scheme)
				b.until("document.querySelectorAll('.lane canvas').length >= 8 && document.querySelector('.ov-finding') && document.querySelector('.ov-figures dd')")
				b.settled()
				b.accessible()
				b.fits()
				b.picture(fmt.Sprintf("overview-%s-%d", scheme, width))

				// A finding opens with its evidence, which the address keeps.
				b.do(chromedp.Click(chromedp.CSS(".ov-finding button")))
				b.until("location.hash.includes('show=') && document.querySelector('.ov-detail')")
				b.accessible()

				// A brush restricts everything.
				figures, top := b.text(".ov-figures"), b.text(".ov-two")
				b.brush(0.05, 0.3)
				b.until(fmt.Sprintf("document.querySelector('.ov-figures')?.innerText !== %q", figures))
				if got := b.text(".ov-figures h2"); !strings.Contains(got, " s to ") {
					t.Errorf("the figures are %q, want them of the range", got)
				}
				if b.text(".ov-two") == top {
					t.Error("where time goes and what ran are the same in the range")
				}
				b.settled()
				b.until("document.getAnimations().length === 0")
				if eval[int](b, "document.querySelectorAll('.laneover [role=slider]').length") != 2 {
					t.Error("the range has no edges")
				}
				b.accessible()
				b.picture(fmt.Sprintf("overview-range-%s-%d", scheme, width))

				// The same by keys: Escape takes it back, Shift and arrows make another.
				b.keyed("Escape", false)
				b.until("!location.hash.includes('t=')")
				b.keyed("Home", false)
				for range 5 {
					b.keyed("PageDown", true)
				}
				b.until("document.getElementById('said').innerText.includes('chosen')")
				b.keyed("Enter", false)
				b.until("/t=0s-/.test(location.hash)")
				b.settled()

				// And as a table.
				eval[bool](b, "[...document.querySelectorAll('.lanebar button')].find(b => b.innerText === 'As table').click(), true")
				b.until("document.querySelectorAll('.lanes [role=grid] [role=row]').length > 5")
				eval[bool](b, "scrollTo(0, 0), true")
				b.accessible()
			})
		}
	}
}

// TestFindingsInRange: with a range each finding says what it is of, and rules
// that look at the trace alone are checked on it.
func TestFindingsInRange(t *testing.T) {
	b := open(t, serve(t, record(t, "mutex", "-phases", "bare,trace"))+"#/1/overview", 1280, 800, "light")
	b.settled()
	b.until("document.querySelectorAll('.ov-finding, .ov-fine').length > 0")
	eval[string](b, `fetch("api/timeline/lanes?s=1&kinds=gc").then(r => r.json()).then(l => (location.hash = "#/1/overview?t=" + Math.round(l.span.start_ns) + "ns-" + Math.round((l.span.start_ns + l.span.end_ns) / 2) + "ns"))`)
	b.until("document.querySelector('.ov-findings .note')?.innerText.includes('were checked on the selected range')")
	b.until("[...document.querySelectorAll('.ov-finding .chip')].every(c => /of the range|whole recording|outside/.test(c.innerText))")
	b.accessible()
	b.picture("overview-range")
}

// TestFailure: how a program ended is the first thing that its dump shows, as
// text, one click away from the goroutine.
func TestFailure(t *testing.T) {
	address := serve(t, poolDump(t, "crash.log", 40, 41))
	for scheme, width := range map[string]int64{"light": 1280, "dark": 360} {
		t.Run(fmt.Sprintf("%s-%d", scheme, width), func(t *testing.T) {
			b := open(t, address+"#/1/overview", width, 900, scheme)
			b.until("document.querySelector('.ov-finding.critical .ov-summary')?.innerText.includes('<img src=x onerror=alert(1)> no connection left')")
			b.settled()
			eval[bool](b, "document.querySelector('.ov-finding.critical button').click(), true")
			b.until("location.hash.includes('show=FA01') && document.querySelector('.ov-evidence')?.innerText.includes('main.go:9')")
			b.accessible()
			b.fits()
			b.picture(fmt.Sprintf("overview-failure-%s-%d", scheme, width))
			eval[bool](b, "[...document.querySelectorAll('.ov-ways button')].find(x => x.innerText === 'Goroutines').click(), true")
			b.until("location.hash.includes('/goroutines') && document.querySelector('.gopanic')")
		})
	}
}
