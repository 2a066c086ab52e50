package clickhouse

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
)

// Address says where a ClickHouse is and who asks. It is what stands behind -store:
//
//	clickhouse://user:password@host:8123,host:8123/database?cluster=NAME
//
// Every part but a host may be left out. A cluster wants one host of each shard. With
// the scheme clickhouses (or secure=true) it is asked over TLS.
type Address struct {
	Hosts    []string // host:port of the HTTP interface
	Database string   // default loupe
	Cluster  string   // of system.clusters; "" is one server
	Secure   bool

	user, password string // never printed
}

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ParseAddress reads an address. Its errors never have the password.
func ParseAddress(s string) (Address, error) {
	a, err := parseAddress(s)
	if err != nil {
		return Address{}, fmt.Errorf("cannot read the address of ClickHouse: %w (want clickhouse://host:8123/database)", err)
	}
	return a, nil
}

func parseAddress(s string) (a Address, err error) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || scheme != "clickhouse" && scheme != "clickhouses" {
		return a, errors.New("it does not begin with clickhouse://")
	}
	a.Secure = scheme == "clickhouses"
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, password, _ := strings.Cut(authority[:at], ":")
		if a.user, err = url.PathUnescape(user); err == nil {
			a.password, err = url.PathUnescape(password)
		}
		if err != nil {
			return a, errors.New("its user or password has a % that is not followed by two hexadecimal digits (write %25 for a %)")
		}
		authority = authority[at+1:]
	}
	if err := a.values(query); err != nil {
		return a, err
	}
	port := "8123"
	if a.Secure {
		port = "8443"
	}
	for host := range strings.SplitSeq(authority, ",") {
		if host == "" {
			return a, errors.New("it names no host")
		}
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		if u, err := url.Parse("http://" + host); err != nil || u.Host != host {
			return a, fmt.Errorf("%q is not host:port", host)
		}
		a.Hosts = append(a.Hosts, host)
	}
	if len(a.Hosts) > 1 && a.Cluster == "" {
		return a, errors.New("it names several hosts and no cluster (add ?cluster=NAME, as in system.clusters)")
	}
	if a.Database = path; path == "" {
		a.Database = "loupe"
	}
	for _, name := range []string{a.Database, a.Cluster} {
		if name != "" && !word.MatchString(name) {
			return a, fmt.Errorf("%q is no name: want letters, digits and underlines", name)
		}
	}
	return a, nil
}

// values reads what stands behind the question mark.
func (a *Address) values(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("what stands behind ? is not name=value&name=value")
	}
	for name := range values {
		switch v := values.Get(name); {
		case name == "cluster":
			a.Cluster = v
		case name == "secure" && (v == "true" || v == "false"):
			a.Secure = a.Secure || v == "true"
		default:
			return fmt.Errorf("it has no option %q with such a value: want cluster=NAME or secure=true", name)
		}
	}
	return nil
}

// Login returns the address with a user and password, if it names none itself.
func (a Address) Login(user, password string) Address {
	if a.user == "" && a.password == "" {
		a.user, a.password = user, password
	}
	return a
}

// String returns the address without user and password.
func (a Address) String() string {
	s := "clickhouse"
	if a.Secure {
		s += "s"
	}
	s += "://" + strings.Join(a.Hosts, ",") + "/" + a.Database
	if a.Cluster != "" {
		s += "?cluster=" + a.Cluster
	}
	return s
}
