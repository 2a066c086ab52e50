package e2e

import (
	"testing"
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
		b.accessible()
		b.picture("rules-" + scheme)
		b.press("z")
		b.until("location.hash.startsWith('#/1/overview')")
		b.press("Z")
		b.until("location.hash.startsWith('#/1/rules')")
	}
}
