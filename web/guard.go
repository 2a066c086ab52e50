package web

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// policy lets the pages load what this server has and nothing else. Styles are
// set by script in many places, which the policy counts as inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"

// guard refuses who may not ask, and returns the path behind the token.
//
// A page of another site can send requests here. It cannot know the token; it
// cannot make the browser send a Host that is ours with an address that its own
// name resolves to; and what acts wants a POST with our Origin.
func (s *Server) guard(w http.ResponseWriter, r *http.Request) (rest string, ok bool) {
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case !s.ours(r.Host):
		http.Error(w, "this server answers to its own address only", http.StatusForbidden)
	case subtle.ConstantTimeCompare([]byte(token), []byte(s.opts.Token)) != 1:
		http.Error(w, "the address is not complete: open the one that loupe has printed", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		http.Error(w, "there is nothing to do with "+r.Method, http.StatusMethodNotAllowed)
	case r.Header.Get("Origin") != "" && !s.sameOrigin(r.Header.Get("Origin")):
		http.Error(w, "only the pages of this server may ask", http.StatusForbidden)
	case r.Method == http.MethodPost && r.Header.Get("Origin") == "":
		http.Error(w, "only the pages of this server may do that", http.StatusForbidden)
	case rest != "" && path.Clean("/"+rest) != "/"+rest:
		http.Error(w, "there is no such page", http.StatusNotFound)
	case rest == "" && !strings.HasSuffix(r.URL.Path, "/"):
		http.Redirect(w, r, "/"+token+"/", http.StatusSeeOther)
	default:
		return rest, true
	}
	return "", false
}

// ours says whether a Host header names this server: a name that resolves to
// it by somebody else's will does not. The port may be another one, since
// people forward it.
func (s *Server) ours(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	own, _, _ := net.SplitHostPort(s.host)
	return name == "localhost" || name == "127.0.0.1" || name == "::1" || name == own
}

// sameOrigin says whether an Origin header is of a page of ours.
func (s *Server) sameOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && s.ours(u.Host)
}
