package collect

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Access is how a service is reached and what it is shown with every request,
// where that is more than its address. The zero Access asks as anybody would.
type Access struct {
	// Header goes with every request; Host replaces the address's.
	Header http.Header
	Host   string
	// Proxy is asked instead of the service. Unix is a socket to connect to
	// whatever the address, ConnectTo other places: host:port to host:port.
	Proxy     *url.URL
	Unix      string
	ConnectTo map[string]string
	// TLS has certificates; nil verifies with those of the system.
	TLS *tls.Config
}

// Client makes a client that goes the way of a. No connection is left idle in the
// target, and no proxy is taken from the environment: most targets are local.
func (a *Access) Client() *http.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: a.TLS, ForceAttemptHTTP2: true}
	if a.Proxy != nil {
		transport.Proxy = http.ProxyURL(a.Proxy)
	}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if a.Unix != "" {
			network, address = "unix", a.Unix
		} else if to, ok := a.ConnectTo[address]; ok {
			address = to
		}
		return dialer.DialContext(ctx, network, address)
	}
	return &http.Client{Transport: transport, CheckRedirect: sameService}
}

// sameService follows redirects within the host that was named: what is shown to
// it is for nobody else, and not to be sent in the clear.
func sameService(to *http.Request, via []*http.Request) error {
	first := via[0].URL
	upgraded := first.Scheme == "http" && to.URL.Scheme == "https" && to.URL.Hostname() == first.Hostname()
	switch {
	case to.URL.Host != first.Host && !upgraded:
		return fmt.Errorf("it sends on to %s, which was not named", to.URL.Host)
	case first.Scheme == "https" && to.URL.Scheme != "https":
		return fmt.Errorf("it sends on from https to %s", to.URL.Scheme)
	case len(via) >= 10:
		return fmt.Errorf("it sends on %d times", len(via))
	}
	return nil
}

// Show puts into a request what the service is to be shown.
func (a *Access) Show(req *http.Request) {
	for name, values := range a.Header {
		req.Header[name] = values
	}
	if a.Host != "" {
		req.Host = a.Host
	}
}
