package insight

import "testing"

// TestSessionPages: pages of a session of the peer may have an order, whatever they are counted by; the token of a login is none.
func TestSessionPages(t *testing.T) {
	const loop = "for n := 0; ; n++ {\nits, err := c.page(n) /*1*/\nif err != nil || len(its) == 0 {\nreturn\n}\nuse(its)\n}\n}\n"
	for query, want := range map[string]numbering{
		"fmt.Sprintf(\"%s/scroll?session=%s&page=%d\", c.base, c.session, n)":      pagesOfSession,
		"fmt.Sprintf(\"%s/items?page=%d&scroll_id=%s\", c.base, n, c.id)":          pagesOfSession,
		"fmt.Sprintf(\"%s/items?token=%s&page=%d\", c.base, c.token, n)":           pagesOfSession,
		"fmt.Sprintf(\"%s/items?page=%d\", c.base, n)":                             pagesByCount,
		"fmt.Sprintf(\"%s/items?access_token=%s&page=%d\", c.base, c.token, n)":    pagesByCount,
		"fmt.Sprintf(\"%s/sessions?kind=%s&page=%d\", c.base, c.kind, n)":          pagesByCount,
		"withHeader(fmt.Sprintf(\"%s/items?page=%d\", c.base, n), \"X-Trace-ID\")": pagesByCount,
	} {
		text := "func (c *client) all() {\n" + loop + "func (c *client) page(n int) ([]item, error) {\nr, err := http.Get(" + query + ")\nif err != nil {\nreturn nil, err\n}\nreturn decode(r)\n}"
		at, code := numbered("package main\n\n" + text)[0], sourcesOf(text).code
		if got := asksByNumber(loopsAround(code, at)[0], code, at); got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}
