package scrape

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"loupe/capture/collect"
)

// Names of labels that say how a target is reached, as Prometheus calls them. What begins
// with two underscores is not kept.
const (
	addressLabel = "__address__"
	schemeLabel  = "__scheme__"
	pathLabel    = "__profile_path__"
	paramPrefix  = "__param_"
	metaPrefix   = "__"
)

// ServiceLabel names the service in the labels of each target: as Pyroscope's clients and
// Grafana call it.
const ServiceLabel = "service_name"

// Target is one process whose profiles are taken.
type Target struct {
	// URL is where its profiles lie, without the name of one: http://host:6060/debug/pprof.
	URL *url.URL
	// Labels are what is kept with its profiles: at least job, instance and service_name.
	Labels Labels
	// Job says how and how often.
	Job *Job
}

// Key identifies the target: where it is, and its labels.
func (t *Target) Key() string {
	var b strings.Builder
	b.WriteString(t.URL.String())
	for _, name := range slices.Sorted(maps.Keys(t.Labels)) {
		fmt.Fprintf(&b, "\xff%s\xff%s", name, t.Labels[name])
	}
	return b.String()
}

// Job is how a group of targets is found, and what is taken of each.
type Job struct {
	Name string
	// Interval is how often all profiles of a target are taken, Length how long the one of
	// the CPU is, Timeout how long an answer may take beyond that.
	Interval, Length, Timeout time.Duration
	// Profiles are those that are taken, in this order.
	Profiles []Kind
	// Access is how the targets are asked.
	Access collect.Access

	scheme, path string
	params       url.Values
	finders      []finder
	rules        []Rule
}

// Group is what a way of finding targets has found: addresses that share labels.
type Group struct {
	Addresses []string
	Labels    Labels
}

// targets makes targets of a group: the rules of the job have the last word.
func (j *Job) targets(g Group) (all []*Target, err error) {
	for _, address := range g.Addresses {
		l := Labels{"job": j.Name, schemeLabel: j.scheme, pathLabel: j.path}
		for name, values := range j.params {
			l.set(paramPrefix+name, values[0])
		}
		for name, value := range g.Labels {
			l.set(name, value)
		}
		l[addressLabel] = address
		l, keep := relabel(l, j.rules)
		if !keep {
			continue
		}
		t, err := j.target(l)
		if err != nil {
			return all, err
		}
		all = append(all, t)
	}
	return all, nil
}

// target is one of labels that the rules have left.
func (j *Job) target(l Labels) (*Target, error) {
	address, scheme := l[addressLabel], l[schemeLabel]
	if address == "" {
		return nil, fmt.Errorf("job %s: a target has no %s", j.Name, addressLabel)
	}
	if scheme != "http" && scheme != "https" {
		return nil, fmt.Errorf("job %s: %s: the scheme is http or https, not %q", j.Name, address, scheme)
	}
	if strings.ContainsAny(address, "/?#@ ") {
		return nil, fmt.Errorf("job %s: %q is not an address: want host:port", j.Name, address)
	}
	host := address
	if _, port, err := net.SplitHostPort(address); err == nil && port == "" {
		return nil, fmt.Errorf("job %s: %q has no port behind the colon", j.Name, address)
	} else if err != nil {
		port := "80"
		if scheme == "https" {
			port = "443"
		}
		host = net.JoinHostPort(strings.Trim(address, "[]"), port)
	}
	t := &Target{Job: j, URL: &url.URL{Scheme: scheme, Host: host, Path: l[pathLabel]}, Labels: Labels{}}
	query := url.Values{}
	for name, value := range l {
		switch param, ok := strings.CutPrefix(name, paramPrefix); {
		case ok:
			query.Set(param, value)
		case !strings.HasPrefix(name, metaPrefix):
			t.Labels.set(name, value)
		}
	}
	t.URL.RawQuery = query.Encode()
	if t.Labels["instance"] == "" {
		t.Labels["instance"] = address
	}
	if t.Labels[ServiceLabel] == "" {
		t.Labels[ServiceLabel] = t.Labels["job"]
	}
	return t, nil
}
