package e2e

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestCompare lays two recordings side by side, and goes through all that is
// compared.
func TestCompare(t *testing.T) {
	address := serve(t, loaded(t), record(t, "sieve"))
	for _, scheme := range []string{"light", "dark"} {
		b := open(t, address+"#/1/compare", 1280, 900, scheme)
		b.settled()
		b.until("document.querySelectorAll('main tbody [role=row]').length > 3")
		b.accessible()
		b.picture("compare-" + scheme)
		eval[string](b, "document.querySelector('.cmp-pair button').click();''")
		b.until("location.hash.includes('a=2') && location.hash.includes('b=1')")
		b.settled()
		b.until("document.querySelectorAll('main tbody [role=row]').length > 3")
	}
	b := open(t, address+"#/1/compare?tab=time", 1280, 900, "light")
	b.settled()
	b.until("document.querySelectorAll('main .lanes').length === 2")
	b.accessible()
	b.picture("compare-time")
	b = open(t, address+"#/1/compare", 360, 800, "light")
	b.settled()
	b.accessible()
	b.picture("compare-narrow")

	// The profiles have their flame graphs of the difference in the other view.
	dir := record(t, "sieve")
	files, err := filepath.Glob(filepath.Join(dir, "*allocs*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no profile of allocations in %s: %v", dir, err)
	}
	b = open(t, serve(t, dir, files[0])+"#/1/compare?tab=profiles", 1280, 900, "light")
	b.until("document.querySelector('.benchbar a[href*=\"/profile?\"]')")
	b.do(chromedp.Click(".benchbar a[href*='/profile?']"))
	b.until("location.hash.includes('/profile') && location.hash.includes('bs=') && document.querySelector('[aria-label=\"compare with\"]')")
	b.settled()
	b.until("document.querySelector('main').innerText.includes('before')")
}
