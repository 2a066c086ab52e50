package loadflags

import (
	"fmt"
	"net/http"
	"slices"

	"loupe/capture/collect"
	"loupe/capture/load"
	"loupe/capture/load/target"
	"loupe/internal/cli/command"
)

// AccessFlags are the flags of a load that say who asks and how to get there:
// they hold for every request to the service, also for those of the recording.
var AccessFlags = []string{
	"A", "H", "T", "U", "a", "bearer", "cookie", "host", "literal", "x",
	"cacert", "cert", "connect-to", "key", "unix", "verify",
}

// DeclareAccess declares the flags of a command that asks a service and sends no load.
func (f *Flags) DeclareAccess(fs *command.FlagSet) {
	f.given = fs.Given
	f.what.literal = true
	fs.Group("Access to services", func() {
		f.declareWho(fs)
		f.what.declareWho(fs)
		f.link.declareWay(fs)
	})
}

// GivenAccess lists those of them that were given.
func (f *Flags) GivenAccess() (names []string) {
	for _, name := range AccessFlags {
		if f.IsGiven(name) {
			names = append(names, name)
		}
	}
	return names
}

// Access says how the pprof of a service is to be asked: address is its.
func (f *Flags) Access(address string) (collect.Access, error) {
	c := load.Config{Header: http.Header{}, Host: f.host}
	if u, err := collect.PprofURL(address); err == nil {
		c.URL = u.String()
	}
	var err error
	if c.Proxy, err = proxyOf(f.proxy); err != nil {
		return collect.Access{}, fmt.Errorf("-x: %w", err)
	}
	fields, err := f.headerOf(&c, false)
	if err != nil {
		return collect.Access{}, err
	}
	one := []target.Target{{URL: target.Quote(c.URL)}}
	if c.URL != "" {
		if err := f.addCookies(one); err != nil {
			return collect.Access{}, err
		}
	}
	out := collect.Access{Header: http.Header{}, Host: c.Host, Proxy: c.Proxy}
	if f.auth != "" {
		user, password, err := f.basic()
		if err != nil {
			return collect.Access{}, err
		}
		r := http.Request{Header: out.Header}
		r.SetBasicAuth(user, password)
	}
	for i, h := range slices.Concat(fields, one[0].Header) {
		text := h.Value
		if i >= len(fields) || !f.what.literal {
			if text, err = f.filled(text); err != nil {
				return collect.Access{}, err
			}
		}
		if name := http.CanonicalHeaderKey(h.Name); name == "Authorization" {
			out.Header.Set(name, text) // there is one, and it replaces that of -a
		} else {
			out.Header.Add(name, text)
		}
	}
	if err := f.setLink(&c); err != nil {
		return collect.Access{}, err
	}
	out.Unix, out.ConnectTo, out.TLS = c.Unix, c.ConnectTo, c.TLS
	return out, nil
}

// filled fills in the templates of a header for requests that are not counted.
func (f *Flags) filled(text string) (string, error) {
	if !target.HasTemplate(text) {
		return text, nil
	}
	sources, err := f.sources()
	if err != nil {
		return "", err
	}
	t, err := target.Parse(text, target.InHeader, sources)
	if err != nil {
		return "", err
	}
	v := target.NewValues(0)
	v.Begin(0)
	return string(t.Append(nil, v)), nil
}
