package lab

import (
	"net"
	"net/url"
	"time"
)

// Address is the host and port of a lab's URL.
func Address(of string) string {
	u, err := url.Parse(of)
	if err != nil {
		panic("BUG: the URL of a lab: " + err.Error())
	}
	return u.Host
}

// FreeAddress returns address, or another port of the same host where something
// answers there already: on macOS AirPlay has port 5000.
func FreeAddress(address string) string {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return address
	}
	c.Close()
	host, _, _ := net.SplitHostPort(address)
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return address
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return net.JoinHostPort(host, port)
}
