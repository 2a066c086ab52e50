package load

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"loupe/capture/load/internal/http1"
	"loupe/capture/load/target"
)

// origin is where requests go: what a connection is good for.
type origin struct {
	scheme  string
	address string // to dial: host:port
	name    string // for TLS
}

// message is one kind of request, ready to be filled in and written.
type message struct {
	origin *origin
	number int // of the origin
	method string
	host   string // for the Host header
	// whole is the request when nothing in it varies.
	whole []byte
	// What it is made of otherwise: the parts up to the body's length, and
	// the body.
	head    []*target.Template
	body    *target.Template
	lengthy bool // has a Content-Length
	address target.Address
	fields  []http1.Field // their values may be templates
}

// newMessages makes the requests of a run, and the places that they go to.
func (c *Config) newMessages() (list []*message, origins []*origin, err error) {
	targets := c.Targets
	if len(targets) == 0 {
		if !strings.Contains(c.URL, "://") {
			return nil, nil, fmt.Errorf("cannot use URL %q: want http://host:port/path", c.URL)
		}
		t := target.Target{Method: c.Method, URL: target.Quote(c.URL), Body: target.Quote(string(c.Body))}
		targets = []target.Target{t}
	}
	numbers := map[origin]int{}
	for i := range targets {
		m, err := c.newMessage(&targets[i])
		if err != nil {
			return nil, nil, err
		}
		n, ok := numbers[*m.origin]
		if !ok {
			n = len(origins)
			numbers[*m.origin] = n
			origins = append(origins, m.origin)
		}
		m.number, m.origin = n, origins[n]
		list = append(list, m)
	}
	return list, origins, nil
}

func (c *Config) newMessage(t *target.Target) (*message, error) {
	a, err := target.Split(t.URL)
	if err != nil {
		return nil, err
	}
	m := &message{method: cmp.Or(t.Method, c.Method), host: cmp.Or(c.Host, a.Host), address: a}
	if c.GRPC {
		m.method = http.MethodPost
	}
	m.fields = c.fields(t, a)
	if i := slices.IndexFunc(m.fields, func(f http1.Field) bool { return strings.EqualFold(f.Name, "Host") }); i >= 0 {
		m.host = m.fields[i].Value
		m.fields = slices.Delete(m.fields, i, i+1)
	}
	name, _, err := net.SplitHostPort(m.host)
	if err != nil {
		name = strings.Trim(m.host, "[]")
	}
	m.origin = &origin{scheme: a.Scheme, address: net.JoinHostPort(a.Hostname(), a.Port()), name: name}
	if !validToken(m.method) {
		return nil, fmt.Errorf("cannot use method %q", m.method)
	}
	for _, f := range m.fields {
		if !validToken(f.Name) || strings.ContainsAny(f.Value, "\r\n\x00") {
			return nil, fmt.Errorf("cannot use header %q", f.Name+": "+f.Value)
		}
	}
	if strings.ContainsAny(m.host, "\r\n \x00") {
		return nil, fmt.Errorf("cannot use host %q", m.host)
	}
	return m, c.template(m, t.Body)
}

// template makes what is rendered for each request, or the whole request when
// nothing in it varies.
func (c *Config) template(m *message, body string) error {
	uri := m.address.Path
	if c.Proxy != nil && m.origin.scheme == "http" {
		uri = m.address.String()
	}
	fixed := "" // that no template has taken up yet
	flush := func() error {
		if fixed == "" {
			return nil
		}
		t, err := target.Parse(target.Quote(fixed), target.InBody, nil)
		m.head, fixed = append(m.head, t), ""
		return err
	}
	add := func(text string, in target.Place) error {
		t, err := target.Parse(text, in, c.Sources)
		if err != nil {
			return err
		}
		if same, ok := t.Constant(); ok {
			fixed += same
			return nil
		}
		if err := flush(); err != nil {
			return err
		}
		m.head = append(m.head, t)
		return nil
	}
	fixed = m.method + " "
	if err := add(uri, target.InURL); err != nil {
		return err
	}
	fixed += " HTTP/1.1\r\nHost: " + m.host + "\r\n"
	for _, f := range m.fields {
		fixed += f.Name + ": "
		if err := add(f.Value, target.InHeader); err != nil {
			return err
		}
		fixed += "\r\n"
	}
	if c.Proxy != nil && c.Proxy.User != nil && m.origin.scheme == "http" {
		fixed += "Proxy-Authorization: " + basicOf(c.Proxy.User) + "\r\n"
	}
	if c.NoKeepAlive {
		fixed += "Connection: close\r\n"
	}
	var err error
	if m.body, err = target.Parse(body, target.InBody, c.Sources); err != nil {
		return err
	}
	m.lengthy = body != "" || http1.Bodied(m.method)
	same, constant := m.body.Constant()
	if constant && len(m.head) == 0 {
		m.whole = []byte(fixed)
		if m.lengthy {
			m.whole = http1.AppendLength(m.whole, len(same))
		}
		m.whole = append(append(m.whole, "\r\n"...), same...)
		return nil
	}
	return flush()
}

// varies tells whether requests differ.
func (m *message) varies() bool { return m.whole == nil }

// render appends the request that v stands at. scratch holds the body, whose
// length comes before it; it is returned to be used again.
func (m *message) render(dst, scratch []byte, v *target.Values) (request, used []byte) {
	for _, t := range m.head {
		dst = t.Append(dst, v)
	}
	scratch = m.body.Append(scratch[:0], v)
	if m.lengthy {
		dst = http1.AppendLength(dst, len(scratch))
	}
	dst = append(dst, "\r\n"...)
	return append(dst, scratch...), scratch
}

// fields are the header fields of a target: its own, those of the run, and
// what every request has.
func (c *Config) fields(t *target.Target, a target.Address) []http1.Field {
	var list []http1.Field
	has := func(name string) bool {
		return slices.ContainsFunc(list, func(f http1.Field) bool { return strings.EqualFold(f.Name, name) })
	}
	own := map[string]bool{}
	for _, f := range t.Header {
		own[textproto.CanonicalMIMEHeaderKey(f.Name)] = true
		list = append(list, http1.Field{Name: f.Name, Value: f.Value})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Header)) {
		for _, v := range c.Header[name] {
			if !own[textproto.CanonicalMIMEHeaderKey(name)] {
				list = append(list, http1.Field{Name: name, Value: target.Quote(v)})
			}
		}
	}
	tool := cmp.Or(c.Tool, "loupe")
	if i := slices.IndexFunc(list, func(f http1.Field) bool { return strings.EqualFold(f.Name, "User-Agent") }); i < 0 {
		list = append(list, http1.Field{Name: "User-Agent", Value: target.Quote(tool)})
	} else if !own["User-Agent"] {
		list[i].Value += " " + target.Quote(tool)
	}
	if !c.NoCompression && !has("Accept-Encoding") && !has("Range") && cmp.Or(t.Method, c.Method) != http.MethodHead {
		list = append(list, http1.Field{Name: "Accept-Encoding", Value: "gzip"})
	}
	user := url.UserPassword(c.BasicUser, c.BasicPassword)
	if c.BasicUser == "" && a.HasUser {
		user = url.UserPassword(a.User, a.Password)
	}
	if user.Username() != "" && !own["Authorization"] {
		list = slices.DeleteFunc(list, func(f http1.Field) bool { return strings.EqualFold(f.Name, "Authorization") })
		list = append(list, http1.Field{Name: "Authorization", Value: target.Quote(basicOf(user))})
	}
	return list
}

// basicOf is the value of an Authorization header.
func basicOf(u *url.Userinfo) string {
	password, _ := u.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password))
}

// validToken tells whether s can be a method or the name of a header field.
func validToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
