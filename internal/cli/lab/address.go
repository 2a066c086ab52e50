package lab

import "net/url"

// Address is the host and port of a lab's URL.
func Address(of string) string {
	u, err := url.Parse(of)
	if err != nil {
		panic("BUG: the URL of a lab: " + err.Error())
	}
	return u.Host
}
