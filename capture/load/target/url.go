package target

import (
	"fmt"
	"net/url"
	"strings"

	"loupe/value/secret"
)

// Address is a URL taken apart. Scheme and Host are fixed; Path, with its
// query, may hold templates.
type Address struct {
	Scheme string // http or https
	Host   string // as in the URL: "example.com", "[::1]:8080"
	Path   string // begins with a slash; no fragment
	// User and Password stand before the host, if HasUser.
	User, Password string
	HasUser        bool
}

// Split takes a URL apart. Without a scheme it is http. Templates may stand
// behind the host alone: a run cannot look up a new host for every request.
func Split(text string) (Address, error) {
	var a Address
	bad := func(why string) (Address, error) {
		return Address{}, fmt.Errorf("cannot use URL %s: %s (want http://host:port/path)", quoted(secret.URL(text)), why)
	}
	rest := strings.TrimSpace(text)
	before, after, ok := strings.Cut(rest, "://")
	if ok && !strings.ContainsAny(before, "/?#{") {
		a.Scheme, rest = strings.ToLower(before), after
	} else {
		a.Scheme = "http"
	}
	if a.Scheme != "http" && a.Scheme != "https" {
		return bad(fmt.Sprintf("scheme %q is neither http nor https", a.Scheme))
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority, a.Path = rest[:end], rest[end:]
	}
	if HasTemplate(authority) {
		return bad("its host is a template; only what follows the host may hold templates")
	}
	u, err := url.Parse(a.Scheme + "://" + authority)
	if err != nil {
		if x, ok := err.(*url.Error); ok {
			err = x.Err
		}
		return bad(err.Error())
	}
	if strings.IndexFunc(u.Host, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '%' && u.Host[0] != '[' }) >= 0 {
		return bad("its host has other characters than those of ASCII; write it in its xn-- form")
	}
	if u.Hostname() == "" {
		return bad("it has no host")
	}
	a.Host = u.Host
	if u.User != nil {
		a.HasUser, a.User = true, u.User.Username()
		a.Password, _ = u.User.Password()
	}
	a.Path = fitPath(withoutFragment(a.Path))
	return a, nil
}

// Hostname returns the host without its port, and without the brackets of an
// IPv6 address.
func (a Address) Hostname() string {
	if u, err := url.Parse(a.Scheme + "://" + a.Host); err == nil {
		return u.Hostname()
	}
	return a.Host
}

// Port returns what to dial beside the host's name.
func (a Address) Port() string {
	if u, err := url.Parse(a.Scheme + "://" + a.Host); err == nil && u.Port() != "" {
		return u.Port()
	}
	if a.Scheme == "https" {
		return "443"
	}
	return "80"
}

// String puts the URL together again, without the user.
func (a Address) String() string { return a.Scheme + "://" + a.Host + a.Path }

// withoutFragment cuts at the first # that stands in no template.
func withoutFragment(path string) string {
	for i := 0; i < len(path); i++ {
		if strings.HasPrefix(path[i:], "{{") {
			_, rest, ok := cutGap(path[i+2:])
			if !ok {
				return path
			}
			i = len(path) - len(rest) - 1
			continue
		}
		if path[i] == '#' {
			return path[:i]
		}
	}
	return path
}

// fitPath makes a path begin with a slash, and encodes what cannot stand in
// the first line of a request; templates are left alone.
func fitPath(path string) string {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(path, "{{")
		b.WriteString(keepURL(before))
		if !ok {
			return b.String()
		}
		inner, rest, ok := cutGap(after)
		if !ok {
			b.WriteString("{{" + after) // Parse says what is wrong with it
			return b.String()
		}
		b.WriteString("{{" + inner + "}}")
		path = rest
	}
}
