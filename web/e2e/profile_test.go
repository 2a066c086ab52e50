package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestProfile goes through the views of weights by mouse and keyboard.
func TestProfile(t *testing.T) {
	address := serve(t, record(t, "sieve"))
	const canvas = "document.querySelector('.pflame canvas')"
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			b := open(t, address+"#/1/profile", 1280, 900, scheme)
			b.until(canvas + "?.width > 300")
			b.settled()
			b.accessible()
			b.picture("profile-flame-" + scheme)

			// By keyboard: to a callee, into it, out again.
			eval[bool](b, canvas+".focus() || true")
			b.press(kb.ArrowDown)
			b.press(kb.ArrowDown)
			b.until("document.getElementById('said').textContent.includes('itself')")
			b.press(kb.Enter)
			b.until("location.hash.includes('at=') && document.querySelector('.pcrumbs')")
			b.settled()
			b.accessible()
			eval[bool](b, canvas+".focus() || true")
			b.press(kb.Backspace)
			b.until("!location.hash.includes('at=') || document.querySelectorAll('.pcrumbs li').length < 3")

			// A click zooms into the box under it.
			before := b.text("main")
			eval[bool](b, `(() => { const c = `+canvas+`, r = c.getBoundingClientRect();
				c.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: r.left + 20, clientY: r.top + 30})); return true })()`)
			b.until("location.hash.includes('at=')")
			b.settled()
			if before == "" {
				t.Error("the view said nothing")
			}

			// Each view has something in it.
			for key, selector := range map[string]string{"2": ".pgraph svg .pbox", "3": "[role=grid] [role=row]", "4": ".pflame canvas, [role=grid]", "5": ".ppeek, [role=grid]", "7": ".empty, .plabels"} {
				eval[bool](b, "document.querySelector('[role=tab][aria-selected=true]').focus() || true")
				b.press(key)
				b.until("document.querySelector('" + selector + "')")
				b.settled()
				b.accessible()
				b.picture("profile-" + key + "-" + scheme)
			}
		})
	}
	t.Run("range", func(t *testing.T) {
		b := open(t, address+"#/1/profile?p=trace/running", 1280, 900, "light")
		b.until(canvas + "?.width > 300 && document.querySelector('.pabout b')")
		b.settled()
		all := b.text(".pabout")
		// The middle of what the trace covers.
		eval[bool](b, `fetch('api/profile/kinds?s=1').then(r => r.json()).then(all => {
			const s = all.find(k => k.key === 'trace/running').span, mid = (s.start_ns + s.end_ns) / 2;
			location.hash = '#/1/profile?p=trace/running&t=' + Math.round(mid) + 'ns-' + Math.round(mid + 2e7) + 'ns'; return true })`)
		b.until("document.querySelector('.pabout')?.innerText.includes('the range') || document.querySelector('main .empty')")
		b.settled()
		if part := b.text(".pabout"); part == all {
			t.Errorf("the range shows what the whole does: %s", part)
		}
		b.picture("profile-range")
		b = open(t, address+"#/1/profile?t=1s-2s", 1280, 900, "light")
		b.until("document.querySelector('main').innerText.includes('does not restrict')")
	})
	t.Run("narrow", func(t *testing.T) {
		b := open(t, address+"#/1/profile", 360, 800, "dark")
		b.until(canvas + "?.width > 200")
		b.settled()
		if wide := eval[float64](b, "document.documentElement.scrollWidth"); wide > 360 {
			t.Errorf("the page is %v pixels wide", wide)
		}
		b.accessible()
		b.picture("profile-360")
	})
}

// TestProfileHostile shows names that others have chosen as text.
func TestProfileHostile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "hostile.folded")
	if err := os.WriteFile(name, []byte("main.main;<img src=x onerror=window.hit=1>.f 7\nmain.main;\"><script>window.hit=1</script> 5\nmain.main;\u202eevil 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	address := serve(t, name)
	b := open(t, address+"#/1/profile?tab=top", 1280, 900, "light")
	b.until("document.querySelector('main').innerText.includes('<script>window')")
	for _, tab := range []string{"flame", "graph", "top"} {
		eval[bool](b, "(location.hash = '#/1/profile?tab="+tab+"', true)")
		b.settled()
	}
	if eval[bool](b, "window.hit === 1 || !!document.querySelector('main img, main script')") {
		t.Error("a name was taken for markup")
	}
	if text := b.text("main"); strings.Contains(text, "\u202e") {
		t.Error("a name turns the direction of the text")
	}
}
