package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestScheduler looks at waits for a P: a row chooses its time, and everything
// follows.
func TestScheduler(t *testing.T) {
	address := serve(t, underLoad(t))
	log := serve(t, "../../format/godebug/testdata/go1.10.8.schedtrace.txt")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 360} {
			t.Run(fmt.Sprintf("%s-%d", scheme, width), func(t *testing.T) {
				b := open(t, address+"#/1/scheduler", width, 900, scheme)
				b.until("document.querySelectorAll('.distribution canvas').length >= 2 && document.querySelectorAll('[role=grid]').length >= 4")
				b.settled()
				b.accessible()
				b.fits()
				b.picture(fmt.Sprintf("scheduler-%s-%d", scheme, width))

				// The longest run chooses its own time.
				facts := b.text(".sc-facts")
				eval[bool](b, "[...document.querySelectorAll('main section.table')].find(s => /longest runs/.test(s.innerText)).querySelector('tbody tr.open').click(), true")
				b.until("location.hash.includes('t=')")
				b.settled()
				b.until(fmt.Sprintf("document.querySelector('.sc-facts')?.innerText !== %q && document.querySelector('main').innerText.includes('loupe trace sched -filter')", facts))
				b.accessible()

				b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(log+"#/1/scheduler"))
				b.until("document.querySelector('.figurelist')?.innerText.includes('Ps running') && document.querySelectorAll('.lane canvas').length >= 2")
				b.settled()
				b.accessible()
			})
		}
	}
}
