package e2e

import "testing"

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
}
