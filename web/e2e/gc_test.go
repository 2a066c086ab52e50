package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// gctrace is the log of so many collections, of a program whose live heap is 20 MB and grows
// by so many MB from each collection to the next.
func gctrace(t *testing.T, collections, growth int) string {
	t.Helper()
	var b strings.Builder
	for i := range collections {
		live := 20 + growth*i
		fmt.Fprintf(&b, "gc %d @%d.000s 2%%: 0.10+20+0.10 ms clock, 0.40+0/20/0+0.40 ms cpu, %d->%d->%d MB, %d MB goal, 0 MB stacks, 0 MB globals, 4 P\n", i+1, i+1, 2*live-2+growth, 2*live+growth, live+growth, 2*live)
	}
	name := filepath.Join(t.TempDir(), "gctrace.log")
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestWhatIf moves the sliders: what they do is said, drawn, in the table and in
// the address.
func TestWhatIf(t *testing.T) {
	log := serve(t, gctrace(t, 24, 0))
	const said = "document.querySelector('.gc-whatif [role=status]')?.innerText"
	for scheme, width := range map[string]int64{"light": 1280, "dark": 360} {
		t.Run(fmt.Sprintf("%s-%d", scheme, width), func(t *testing.T) {
			b := open(t, log+"#/1/gc", width, 900, scheme)
			b.until(said + ".startsWith('GOGC=200:') && document.querySelector('.gc-whatif canvas')")
			b.until("document.querySelector('.gc-predicted').innerText.includes('collections') && document.querySelector('.gc-predicted').innerText.includes('Grade fair')")
			// The slider's steps are keys.
			focus := func(name string) {
				eval[bool](b, fmt.Sprintf("document.querySelector('.gc-whatif input[type=range][aria-label=%s]').focus(), true", name))
			}
			focus("GOGC")
			b.press(kb.ArrowRight)
			b.until("location.hash.includes('gogc=300') && " + said + ".startsWith('GOGC=300:')")
			// Without a limit its slider stands at its end, from where it comes down to what is too small.
			before := b.text(".gc-predicted")
			focus("GOMEMLIMIT")
			b.press(kb.ArrowLeft)
			b.until("location.hash.includes('memlimit=') && /^GOGC=300 GOMEMLIMIT=\\d+MiB:/.test(" + said + ")")
			if left := b.text(".gc-predicted"); left == before {
				t.Errorf("the figures stay as they were: %s", left)
			}
			focus("GOMEMLIMIT")
			b.press(kb.Home)
			b.until(said + ".includes('next to no room') && document.querySelector('.gc-predicted').innerText.includes('Grade poor')")
			focus("GOMEMLIMIT")
			b.press(kb.End)
			b.until(said + ".startsWith('GOGC=300:')")
			// Any number can be typed, and becomes a step of the slider.
			typed := func(name, value string) {
				eval[bool](b, fmt.Sprintf("(i => { i.focus(); i.value = %q; i.dispatchEvent(new Event('input', {bubbles: true})); i.form.requestSubmit(); return true })(document.querySelector('.gc-whatif input[name=%s]'))", value, name))
			}
			typed("gogc", "120")
			b.until("location.hash.includes('gogc=120') && " + said + ".startsWith('GOGC=120:') && document.querySelector('.gc-whatif input[aria-label=GOGC]').getAttribute('aria-valuetext') === '120'")
			typed("memlimit", "64MB")
			b.until("document.querySelector('.gc-whatif').innerText.includes('KiB, MiB, GiB or TiB')")
			typed("memlimit", "64MiB")
			b.until(said + ".startsWith('GOGC=120 GOMEMLIMIT=64MiB:')")
			// What is recommended is one press away.
			typed("container", "256MiB")
			b.until("document.querySelector('.gc-advice')?.innerText.includes('For a memory limit of 256 MiB set GOGC=')")
			eval[bool](b, "document.querySelector('.gc-advice button').focus(), true")
			b.press(kb.Enter)
			b.until("document.querySelector('.gc-advice button').innerText === 'Show ' + " + said + ".split(':')[0]")
			b.settled()
			b.accessible()
			b.fits()
			eval[bool](b, "document.querySelector('.gc-whatif').scrollIntoView(), true")
			b.picture(fmt.Sprintf("gc-whatif-%s-%d", scheme, width))
		})
	}
}

// TestWhatIfRefused: where the live heap rises towards a limit nothing is predicted, and
// nothing is recommended; both with the reason.
func TestWhatIfRefused(t *testing.T) {
	log := serve(t, gctrace(t, 12, 3))
	for scheme, width := range map[string]int64{"dark": 1280, "light": 360} {
		t.Run(fmt.Sprintf("%s-%d", scheme, width), func(t *testing.T) {
			b := open(t, log+"#/1/gc?gogc=off&memlimit=100MiB&container=512MiB", width, 900, scheme)
			b.until("document.querySelector('.gc-refused')?.innerText.includes('Reason: the live heap rises towards the limit') && document.querySelector('.gc-predicted').innerText.includes('at least ')")
			b.until("document.querySelector('.gc-advice').innerText.startsWith('No advice for 512 MiB: the live heap was still rising') && !document.querySelector('.gc-advice button')")
			b.settled()
			b.accessible()
			b.fits()
			eval[bool](b, "document.querySelector('.gc-whatif').scrollIntoView(), true")
			b.picture(fmt.Sprintf("gc-whatif-refused-%s-%d", scheme, width))
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
