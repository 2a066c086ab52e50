package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestGC looks at collections: a row chooses its time, and everything follows.
func TestGC(t *testing.T) {
	address := serve(t, underLoad(t))
	log := serve(t, "../../godebug/testdata/go1.10.8.gctrace1.txt")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 360} {
			t.Run(fmt.Sprintf("%s-%d", scheme, width), func(t *testing.T) {
				b := open(t, address+"#/1/gc", width, 900, scheme)
				b.until("document.querySelector('.figurelist dd') && document.querySelectorAll('.lane canvas').length >= 4 && document.querySelector('[role=grid] tbody [role=row]')")
				b.settled()
				b.accessible()
				b.fits()
				b.picture(fmt.Sprintf("gc-%s-%d", scheme, width))
				figures := b.text(".figureparts")
				b.brush(0.1, 0.4)
				b.until(fmt.Sprintf("document.querySelector('.figureparts')?.innerText !== %q", figures))
				before := eval[string](b, "location.hash")
				eval[bool](b, "document.querySelector('[role=grid] tbody tr.open').click(), true")
				b.until(fmt.Sprintf("location.hash !== %q && location.hash.includes('t=')", before))
				b.settled()
				b.accessible()

				// A log of an old Go has no trace: the curve is from gctrace.
				b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(log+"#/1/gc"))
				b.until("document.querySelector('main').innerText.includes('taken to be even') && document.querySelector('.figurelist').innerText.includes('of them forced')")
				b.settled()
				b.accessible()
				b.picture(fmt.Sprintf("gc-log-%s-%d", scheme, width))
			})
		}
	}
}
