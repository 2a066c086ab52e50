package target

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Cookie is a line of a cookie file.
type Cookie struct {
	Domain     string
	Subdomains bool // also those of Domain
	Path       string
	Secure     bool // for https alone
	Expires    time.Time
	Name       string
	Value      string
}

// ParseCookies reads a cookie file as curl and browsers' exports write it (the
// form of Netscape: seven fields a line, separated by tabs), or lines of
// "name=value".
func ParseCookies(text []byte) (out []Cookie, err error) {
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		line = strings.TrimPrefix(line, "#HttpOnly_")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) == 1 {
			for part := range strings.SplitSeq(line, ";") {
				name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
				if !ok || !isToken(name) {
					return nil, fmt.Errorf("cannot read cookie file: line %d: want name=value, or seven fields separated by tabs, not %s", n, quoted(line))
				}
				out = append(out, Cookie{Name: name, Value: value})
			}
			continue
		}
		if len(f) == 6 { // an empty value whose tab an editor took away
			f = append(f, "")
		}
		if len(f) != 7 {
			return nil, fmt.Errorf("cannot read cookie file: line %d has %d fields, want 7 separated by tabs", n, len(f))
		}
		c := Cookie{
			Domain: strings.TrimPrefix(strings.ToLower(f[0]), "."), Subdomains: strings.EqualFold(f[1], "TRUE"),
			Path: f[2], Secure: strings.EqualFold(f[3], "TRUE"), Name: f[5], Value: f[6],
		}
		at, err := strconv.ParseInt(f[4], 10, 64)
		if err != nil || !isToken(c.Name) {
			return nil, fmt.Errorf("cannot read cookie file: line %d: %s is not a cookie", n, quoted(line))
		}
		if at > 0 {
			c.Expires = time.Unix(at, 0)
		}
		out = append(out, c)
	}
	return out, nil
}

// CookieLine returns the value of the Cookie header for an address at a time,
// empty when no cookie is for it.
func CookieLine(cookies []Cookie, a Address, now time.Time) string {
	host := strings.ToLower(a.Hostname())
	path, _, _ := strings.Cut(a.Path, "?")
	var parts []string
	for _, c := range cookies {
		switch {
		case c.Domain != "" && host != c.Domain && !(c.Subdomains && strings.HasSuffix(host, "."+c.Domain)):
		case c.Secure && a.Scheme != "https":
		case !c.Expires.IsZero() && c.Expires.Before(now):
		case !under(path, c.Path):
		default:
			parts = append(parts, c.Name+"="+escapeHeader(c.Value))
		}
	}
	return strings.Join(parts, "; ")
}

// under is the path match of RFC 6265, section 5.1.4.
func under(path, cookie string) bool {
	if cookie == "" || cookie == "/" || path == cookie {
		return true
	}
	return strings.HasPrefix(path, cookie) && (cookie[len(cookie)-1] == '/' || path[len(cookie)] == '/')
}
