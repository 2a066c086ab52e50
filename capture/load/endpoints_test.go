package load

import (
	"net/url"
	"slices"
	"testing"

	"loupe/capture/load/target"
)

// TestEndpoints: what a load connects to is told as it is dialled.
func TestEndpoints(t *testing.T) {
	f := func(c Config, want ...Endpoint) {
		t.Helper()
		got, err := c.Endpoints()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: %v, %v, want %v", c, got, err, want)
		}
	}
	tcp := func(address string) Endpoint { return Endpoint{"tcp", address} }
	f(Config{URL: "http://localhost:8080/a"}, tcp("localhost:8080"))
	f(Config{URL: "http://localhost/a{{b"}, tcp("localhost:80"))
	f(Config{URL: "https://[::1]/"}, tcp("[::1]:443"))
	f(Config{URL: "http://a/", Unix: "/run/a.sock"}, Endpoint{"unix", "/run/a.sock"})
	elsewhere := map[string]string{"a:80": "127.0.0.1:9"}
	f(Config{URL: "http://a/", ConnectTo: elsewhere}, tcp("127.0.0.1:9"))
	f(Config{URL: "http://a/", ConnectTo: elsewhere, Proxy: &url.URL{Scheme: "http", Host: "p:3128"}}, tcp("a:80"))
	f(Config{ConnectTo: elsewhere, Targets: []target.Target{{URL: "http://b:1/{{uuid}}"}, {URL: "http://a/x"}, {URL: "http://b:1/"}}}, tcp("b:1"), tcp("127.0.0.1:9"))
}
