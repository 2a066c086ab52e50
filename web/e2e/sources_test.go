package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSources: a folder of recordings is a list, in which new ones appear; one
// that cannot be opened says why, and does not keep the others from it.
func TestSources(t *testing.T) {
	home := t.TempDir()
	one := filepath.Join(home, "one")
	if err := os.CopyFS(one, os.DirFS(record(t, "sieve"))); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(home, "broken")
	if err := os.MkdirAll(broken, 0o755); err == nil {
		err = os.WriteFile(filepath.Join(broken, "manifest.json"), []byte("{"), 0o644)
	} else {
		t.Fatal(err)
	}
	b := open(t, serve(t, home), 1280, 800, "light")
	b.until("document.querySelectorAll('main a[href*=overview]').length === 2")
	b.settled()
	b.accessible()
	b.picture("sources-light")
	loupe(t, "run", "-quiet", "-phases", "bare:1s", "-o", filepath.Join(home, "two.zip"), "./labs/pingpong")
	b.until("document.querySelectorAll('main a[href*=overview]').length === 3")
	// Each says how many findings it has, and those with the gravest come first.
	b.until("document.querySelectorAll('.sourcegrades').length >= 1")
	b.do(chromedp.SetValue("main select", "findings"), chromedp.Evaluate[chromedp.Void]("document.querySelector('main select').dispatchEvent(new Event('change', {bubbles: true}))"))
	b.until("location.hash.includes('sort=findings')")
	b.until("[...document.querySelectorAll('main a[href*=overview]')].at(-1).innerText.includes('broken')")
	b.picture("sources-graded")
	eval[bool](b, "(() => { [...document.querySelectorAll('main a[href*=overview]')].find(a => a.innerText.includes('broken')).click(); return true; })()")
	b.until("document.querySelector('main [role=alert], main .trouble, main .empty')")
	b.press("gu")
	b.until("location.hash.includes('rules')")
	for _, name := range []string{"one", "two.zip"} {
		b := open(t, serve(t, filepath.Join(home, name)), 1280, 800, "light")
		b.until("document.querySelector('main canvas')")
	}
}

// TestNoSources: a folder without recordings says what to do.
func TestNoSources(t *testing.T) {
	b := open(t, serve(t, t.TempDir()), 360, 640, "dark")
	b.until("document.querySelector('main').innerText.includes('loupe run')")
	b.accessible()
	b.picture("sources-none")
}
