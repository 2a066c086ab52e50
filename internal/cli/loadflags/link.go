package loadflags

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"loupe/capture/load"
	"loupe/capture/load/target"
	"loupe/internal/cli/command"
)

// linking are the flags of how requests get there.
type linking struct {
	ca, cert, key string
	verify        bool
	unix          string
	connectTo     []string
	engine        string
	remote        bool
	// curl is what a curl command says of all that.
	curl *target.Curl
}

func (l *linking) declare(fs *command.FlagSet) {
	l.declareWay(fs)
	fs.BoolVar(&l.verify, "verify", false, "verify the server's TLS certificate")
	fs.StringVar(&l.engine, "engine", "", "engine that sends: epoll, net or http2; an empty `name` chooses automatically")
	fs.BoolVar(&l.remote, "yes-remote", false, "allow heavy load on hosts that are neither this machine nor in a private\nnetwork: only use it on your own")
}

// declareWay declares those of them that every client has a use for.
func (l *linking) declareWay(fs *command.FlagSet) {
	fs.StringVar(&l.ca, "cacert", "", "verify it with the CA certificates in this PEM `file`")
	fs.StringVar(&l.cert, "cert", "", "present the certificate in this PEM `file` to the server")
	fs.StringVar(&l.key, "key", "", "PEM `file` with the key of -cert; the -cert file itself if empty")
	fs.StringVar(&l.unix, "unix", "", "connect to this Unix `socket`, whatever the URL's host")
	fs.Func("connect-to", "connect elsewhere, as in curl: `HOST:PORT:HOST2:PORT2`, where an empty HOST or\nPORT means any, an empty HOST2 or PORT2 the same (repeatable)", func(v string) error {
		l.connectTo = append(l.connectTo, v)
		return nil
	})
}

// setLink puts into c how requests get there.
func (f *Flags) setLink(c *load.Config) error {
	l := f.link
	c.VerifyTLS = l.verify || l.ca != ""
	if l.curl != nil { // curl verifies unless it is told otherwise
		c.VerifyTLS = c.VerifyTLS || !l.curl.Insecure
		for _, s := range []struct {
			to   *string
			from string
		}{{&l.ca, l.curl.CA}, {&l.cert, l.curl.Cert}, {&l.key, l.curl.Key}, {&l.unix, l.curl.UnixSocket}} {
			if *s.to == "" {
				*s.to = s.from
			}
		}
		l.connectTo = append(l.connectTo[:len(l.connectTo):len(l.connectTo)], l.curl.ConnectTo...)
	}
	c.Unix, c.Engine, c.Remote = l.unix, l.engine, l.remote
	if c.Unix != "" && (c.Proxy != nil || len(l.connectTo) > 0) {
		return errors.New("-unix excludes -x and -connect-to")
	}
	var err error
	if c.TLS, err = f.certificates(l); err != nil {
		return err
	}
	c.ConnectTo, err = connectTo(c, l.connectTo)
	return err
}

// certificates reads those of the flags.
func (f *Flags) certificates(l linking) (*tls.Config, error) {
	if l.ca == "" && l.cert == "" {
		if l.key != "" {
			return nil, errors.New("-key needs its certificate (-cert)")
		}
		return nil, nil
	}
	c := &tls.Config{}
	if l.ca != "" {
		text, err := f.read(l.ca)
		if err != nil {
			return nil, fmt.Errorf("-cacert: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("-cacert: there is no certificate in %s (want a PEM file)", l.ca)
		}
	}
	if l.cert != "" {
		cert, err := f.read(l.cert)
		if err != nil {
			return nil, fmt.Errorf("-cert: %w", err)
		}
		key := cert
		if l.key != "" {
			if key, err = f.read(l.key); err != nil {
				return nil, fmt.Errorf("-key: %w", err)
			}
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("-cert: %w (-key names the key file if it is separate)", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// connectTo says for each address of the load where to connect instead: the
// first rule that fits counts.
func connectTo(c *load.Config, rules []string) (map[string]string, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	parsed := make([][4]string, len(rules))
	for i, rule := range rules {
		parts, err := splitConnectTo(rule)
		if err != nil {
			return nil, fmt.Errorf("-connect-to: %w", err)
		}
		parsed[i] = parts
	}
	list := c.Targets
	if len(list) == 0 {
		list = []target.Target{{URL: target.Quote(c.URL)}}
	}
	out := map[string]string{}
	for _, t := range list {
		a, err := target.Split(t.URL)
		if err != nil {
			return nil, err
		}
		host, port := a.Hostname(), a.Port()
		for _, p := range parsed {
			if p[0] != "" && !strings.EqualFold(p[0], host) || p[1] != "" && p[1] != port {
				continue
			}
			to := [2]string{host, port}
			for i, s := range p[2:] {
				if s != "" {
					to[i] = s
				}
			}
			out[net.JoinHostPort(host, port)] = net.JoinHostPort(to[0], to[1])
			break
		}
	}
	return out, nil
}

// splitConnectTo splits HOST:PORT:HOST2:PORT2, where a host may be an IPv6
// address in brackets.
func splitConnectTo(s string) (parts [4]string, err error) {
	rest := s
	for i := range parts {
		end := strings.IndexByte(rest, ':')
		if strings.HasPrefix(rest, "[") {
			end = strings.IndexByte(rest, ']') + 1
		}
		last := i == len(parts)-1
		if last && end <= 0 {
			end = len(rest)
		}
		if end < 0 || last != (end == len(rest)) || !last && rest[end] != ':' {
			return parts, fmt.Errorf("cannot read %q: want HOST:PORT:HOST2:PORT2", s)
		}
		parts[i] = strings.Trim(rest[:end], "[]")
		if !last {
			rest = rest[end+1:]
		}
	}
	return parts, nil
}
