package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestGC looks at collections: a row chooses its time, and everything follows.
func TestGC(t *testing.T) {
	address := serve(t, underLoad(t))
	log := serve(t, "../../format/godebug/testdata/go1.10.8.gctrace1.txt")
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

// TestWhatIf moves the knobs: what they do is said, drawn, in the table and in
// the address.
func TestWhatIf(t *testing.T) {
	log := serve(t, "../../analysis/gc/testdata/go1.26.0-gogc25.log")
	for scheme, width := range map[string]int64{"light": 1280, "dark": 360} {
		t.Run(fmt.Sprintf("%s-%d", scheme, width), func(t *testing.T) {
			b := open(t, log+"#/1/gc", width, 900, scheme)
			b.until("document.querySelector('.gc-whatif [role=status]')?.innerText.startsWith('GOGC=200:') && document.querySelector('.gc-whatif canvas')")
			// The slider's steps are keys.
			eval[bool](b, "document.querySelector('.gc-whatif input[type=range]').focus(), true")
			b.press(kb.ArrowRight)
			b.until("location.hash.includes('gogc=300') && document.querySelector('.gc-whatif [role=status]').innerText.startsWith('GOGC=300:')")
			// Any number can be typed, and a limit beside it.
			typed := func(name, value string) {
				eval[bool](b, fmt.Sprintf("(i => { i.focus(); i.value = %q; i.dispatchEvent(new Event('input', {bubbles: true})); i.form.requestSubmit(); return true })(document.querySelector('.gc-whatif input[name=%s]'))", value, name))
			}
			typed("gogc", "120")
			b.until("location.hash.includes('gogc=120') && document.querySelector('.gc-whatif [role=status]').innerText.startsWith('GOGC=120:')")
			typed("memlimit", "64MB")
			b.until("document.querySelector('.gc-whatif').innerText.includes('KiB, MiB, GiB or TiB')")
			typed("memlimit", "64MiB")
			b.until("document.querySelector('.gc-whatif [role=status]')?.innerText.startsWith('GOGC=120 GOMEMLIMIT=64MiB:')")
			typed("container", "256MiB")
			b.until("document.querySelector('.gc-whatif').innerText.includes('In a container of 256 MiB set GOGC=')")
			b.settled()
			b.accessible()
			b.fits()
			eval[bool](b, "document.querySelector('.gc-whatif').scrollIntoView(), true")
			b.picture(fmt.Sprintf("gc-whatif-%s-%d", scheme, width))
		})
	}
}

// TestRounds reads rounds side by side, and one of them with its remarks, which
// the address keeps.
func TestRounds(t *testing.T) {
	address := serve(t, record(t, "newssearch", "-phases", "bare", "-rounds", "2", "-load", "http://localhost:5000/search?term=topic&cnn=on", "-n", "300", "-c", "10"))
	for scheme, width := range map[string]int64{"light": 1280, "dark": 360} {
		t.Run(fmt.Sprintf("%s-%d", scheme, width), func(t *testing.T) {
			b := open(t, address+"#/1/gc", width, 900, scheme)
			b.until("document.querySelector('.figureparts [role=grid]')?.innerText.includes('bare-2')")
			b.settled()
			b.accessible()
			b.fits()
			b.picture(fmt.Sprintf("gc-rounds-%s-%d", scheme, width))
			eval[bool](b, "(s => { s.value = 'bare-2'; s.dispatchEvent(new Event('change', {bubbles: true})); return true })(document.querySelector('.figureparts select'))")
			b.until("location.hash.includes('round=bare-2') && document.querySelector('.figureparts h3').innerText === 'bare-2' && document.querySelector('.figurelist dd')")
			b.settled()
			b.accessible()
			b.fits()
		})
	}
}
