package insight

import (
	"strings"
	"testing"
)

// TestToldSigns: what is done to one place under the lock is one thing, changes that the rest of the program uses come first, and who only makes a request
// changes nothing.
func TestToldSigns(t *testing.T) {
	const reset = "\tif s.hits > 3 {\n\t\ts.reset()\n\t}\n"
	const request = "\treq, _ := http.NewRequest(\"POST\", k, nil)\n\t_, err := hc.Do(req) // call\n\treturn \"\", err\n"
	for _, c := range []struct{ name, body, has, not string }{
		{"a request that is made and sent", request, "hc.Do sends a request that changes something, going by \"POST\" at a.go:", "http.NewRequest changes"},
		{"a request that only reads", strings.Replace(request, "POST", "GET", 1), "", "changes something"},
		{"one place, checked and changed", "\tif s.left == 0 {\n\t\treturn \"\", nil\n\t}\n\ts.left--\n" + request, "s.left is checked at a.go:59 and changed at a.go:62", "s.left is checked at a.go:59,"},
		{"what others use comes first", "\ts.hits++\n\ts.token = k\n" + reset + request, "under it, s.token is changed", "under it, s.hits is changed"},
		{"by way of a variable", "\tb := s.subs\n\tb[0] = nil\n" + request, "b[0] is changed", ""},
		{"in what it has made", "\tb := make([]string, 3)\n\tb[0] = k\n" + request, "", "b[0] is changed"},
	} {
		code, waiter, holder := lockCode(c.body)
		got := purposeOf(code, waiter, holder).advice(doingCall)
		if !strings.Contains(got, c.has) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
