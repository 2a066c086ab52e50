package web

import (
	"crypto/subtle"
	"net"
	"net/http"
	"path"
	"strings"
)

// policy lets the pages load what this server has and nothing else, write no
// text as HTML, and be in no frame. Styles come from the style sheet and, one
// property at a time, from the scripts, which is no inline style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; worker-src 'self'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'; require-trusted-types-for 'script'"

// gate knows who may ask.
type gate struct {
	host     string // and port that the server listens at
	token    string // the secret part of the address
	anywhere bool   // other machines may reach the address, see [Options]
	inside   bool   // another server has checked Host, see [Options]
}

// pass refuses who may not ask, and returns the path behind the token.
//
// A page of another site can send requests here. It cannot know the token; it
// cannot make the browser send a Host that is ours with an address that its own
// name resolves to, nor have it say that the request comes from this server; and
// what acts wants a POST with our Origin.
func (g *gate) pass(w http.ResponseWriter, r *http.Request) (rest string, ok bool) {
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("X-Frame-Options", "DENY")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	refuse := func(status int, why string) (string, bool) {
		head.Set("Connection", "close") // who may not ask need not stay
		http.Error(w, why, status)
		return "", false
	}
	switch {
	case !g.inside && !g.ours(r.Host):
		return refuse(http.StatusForbidden, "this server answers to its own address only")
	case subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) != 1:
		return refuse(http.StatusForbidden, "the address is not complete: open the one that loupe has printed")
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		return refuse(http.StatusMethodNotAllowed, "there is nothing to do with this method")
	case r.Header.Get("Origin") != "" && r.Header.Get("Origin") != "http://"+r.Host && !(g.inside && r.Header.Get("Origin") == "https://"+r.Host):
		return refuse(http.StatusForbidden, "only the pages of this server may ask")
	case r.Method == http.MethodPost && r.Header.Get("Origin") == "":
		return refuse(http.StatusForbidden, "only the pages of this server may do that")
	case !fetchedByUs(r, rest):
		return refuse(http.StatusForbidden, "only the pages of this server may ask")
	case rest != "" && path.Clean("/"+rest) != "/"+rest:
		return refuse(http.StatusNotFound, "there is no such page")
	case rest == "" && !strings.HasSuffix(r.URL.Path, "/"):
		http.Redirect(w, r, "/"+token+"/", http.StatusSeeOther)
		return "", false
	}
	return rest, true
}

// fetchedByUs says whether the browser, where it tells, says that a page of ours
// or the user asks. A link on another page may lead to the first page: the token
// is in it then, so that it was the user who put it there.
func fetchedByUs(r *http.Request, rest string) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return rest == "" && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// ours says whether a Host header names this server: a name that resolves to
// it by somebody else's will does not. The port may be another one, since
// people forward it.
func (g *gate) ours(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if g.anywhere && net.ParseIP(name) != nil {
		return true // no name, so nobody else's
	}
	own, _, _ := net.SplitHostPort(g.host)
	return name == "localhost" || name == "127.0.0.1" || name == "::1" || name == own
}
