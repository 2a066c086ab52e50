package remote

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/format/querier"
	"loupe/value/unit"
)

// Range is a range of time.
type Range struct{ From, Until time.Time }

// last is the range of so long before now.
func last(d time.Duration, now time.Time) Range { return Range{now.Add(-d), now} }

// millis are the ends in milliseconds since 1970, as querier.v1 has them.
func (r Range) millis() (start, end int64) { return r.From.UnixMilli(), r.Until.UnixMilli() }

// Selection is what profiles are asked for.
type Selection struct {
	Type querier.ProfileType
	// Labels select series: {service_name="shop",pod=~"a|b"}. Empty selects all.
	Labels string
	Range  Range
}

func (s Selection) selector() string {
	if s.Labels == "" {
		return "{}"
	}
	return s.Labels
}

// String says what is selected, for people.
func (s Selection) String() string {
	const form = "2006-01-02 15:04:05"
	return fmt.Sprintf("%s %s from %s to %s", s.Type.ID, s.selector(), s.Range.From.Local().Format(form), s.Range.Until.Local().Format(form))
}

// Question is a selection as people say it: the type may be short, times may be relative.
type Question struct {
	Type        string // "cpu", "memory:inuse_space" or a whole id; empty is cpu
	Labels      string
	From, Until string // as [parseTime] reads them; empty is an hour ago, and now
}

// DefaultRange is how long a question goes back that says nothing of it.
const DefaultRange = time.Hour

// Range reads the times of a question.
func (q *Question) Range(now time.Time) (r Range, err error) {
	r = last(DefaultRange, now)
	if q.Until != "" {
		if r.Until, err = parseTime(q.Until, now); err != nil {
			return r, err
		}
		r.From = r.Until.Add(-DefaultRange)
	}
	if q.From != "" {
		if r.From, err = parseTime(q.From, now); err != nil {
			return r, err
		}
	}
	if !r.From.Before(r.Until) {
		return r, fmt.Errorf("the range is empty: it begins %s and ends %s", r.From.Format(time.RFC3339), r.Until.Format(time.RFC3339))
	}
	return r, nil
}

// parseTime reads a moment: now, now-90m, 90m (that long ago), 2026-11-24T10:00:00Z, a
// date and time of this place without the zone, or seconds or milliseconds since 1970.
func parseTime(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return t, nil
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 1e8 {
		if n > 1e11 {
			return time.UnixMilli(n), nil
		}
		return time.Unix(n, 0), nil
	}
	back, relative := strings.CutPrefix(text, "now")
	if relative && back == "" {
		return now, nil
	}
	if relative {
		back, relative = strings.CutPrefix(back, "-")
		if !relative {
			return now, fmt.Errorf("%q is not a time: want now-1h, 1h, 2026-11-24T10:00:00Z or seconds since 1970", text)
		}
	}
	d, err := ParseLength(back)
	if err != nil {
		return now, fmt.Errorf("%q is not a time: want now-1h, 1h, 2026-11-24T10:00:00Z or seconds since 1970", text)
	}
	return now.Add(-d), nil
}

// ParseLength reads a length of time, in days and weeks too: 90m, 7d, 2w.
func ParseLength(text string) (time.Duration, error) {
	for suffix, day := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			n, err := strconv.ParseFloat(number, 64)
			if err != nil || !(n > 0 && n < 36500) {
				return 0, fmt.Errorf("%q is not a duration: want 90m, 7d or 2w", text)
			}
			return time.Duration(n * float64(day)), nil
		}
	}
	d, err := unit.ParseDuration(text)
	if err == nil && d <= 0 {
		err = fmt.Errorf("%q is not a duration: want 90m, 7d or 2w", text)
	}
	return d, err
}

// Resolve makes a question a selection: it asks the server which types there are.
func (s *Server) Resolve(ctx context.Context, q Question, now time.Time) (Selection, error) {
	r, err := q.Range(now)
	if err != nil {
		return Selection{}, err
	}
	sel := Selection{Labels: q.Labels, Range: r}
	if t, err := querier.ParseProfileType(q.Type); err == nil {
		sel.Type = t
		return sel, nil
	}
	types, err := s.Types(ctx, r)
	if err != nil {
		return sel, err
	}
	if len(types) == 0 {
		return sel, nothingf("%s has no profiles from %s to %s", s, r.From.Local().Format(time.DateTime), r.Until.Local().Format(time.DateTime))
	}
	sel.Type, err = pick(types, q.Type)
	if err != nil {
		return sel, fmt.Errorf("%s: %w", s, err)
	}
	return sel, nil
}

// pick finds the type that a short name stands for: the kind of profile, what is counted,
// or both with a colon between. Of a kind that is counted in several ways it is the one by
// time (of CPU, mutex and block); where that leaves several, they are named.
func pick(types []querier.ProfileType, name string) (querier.ProfileType, error) {
	if name == "" {
		name = "cpu"
	}
	var found []querier.ProfileType
	for _, t := range types {
		if name == t.SampleType || name == t.Name || name == t.Name+":"+t.SampleType {
			found = append(found, t)
		}
	}
	if len(found) > 1 {
		timed := slices.DeleteFunc(slices.Clone(found), func(t querier.ProfileType) bool { return t.SampleUnit != "nanoseconds" })
		if len(timed) == 1 {
			found = timed
		}
	}
	list := func(all []querier.ProfileType) string {
		var names []string
		for _, t := range all {
			names = append(names, t.Name+":"+t.SampleType)
		}
		slices.Sort(names)
		return strings.Join(slices.Compact(names), ", ")
	}
	switch len(found) {
	case 0:
		return querier.ProfileType{}, nothingf("there are no profiles of the type %q, but of %s", name, list(types))
	case 1:
		return found[0], nil
	}
	if short := list(found); strings.Contains(short, ",") {
		return querier.ProfileType{}, fmt.Errorf("%q stands for several types: %s", name, short)
	}
	return querier.ProfileType{}, fmt.Errorf("%q stands for several types: name the whole id, such as %s", name, found[0].ID)
}

// The schemes of addresses of merged profiles, as package source knows them.
const (
	scheme       = "pyroscope"
	secureScheme = "pyroscopes" // over TLS
)

// ParseAddress takes the address of a merged profile apart: that of the server, and what
// is asked for.
//
//	pyroscope://host:4040/shop                         CPU of the service shop in the last hour
//	pyroscope://host:4040/shop?type=alloc_space&last=1d
//	pyroscope://host:4040?query={pod="a"}&from=now-2h&until=now-1h
func ParseAddress(name string) (server string, q Question, err error) {
	u, err := url.Parse(name)
	if err != nil {
		return "", q, fmt.Errorf("%q is not an address: %w", name, err)
	}
	way := "http"
	if u.Scheme == secureScheme {
		way = "https"
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", q, fmt.Errorf("%q is not an address: %w", name, err)
	}
	for key, all := range values {
		if len(all) != 1 {
			return "", q, fmt.Errorf("%q says %s %d times", name, key, len(all))
		}
		switch value := all[0]; key {
		case "type":
			q.Type = value
		case "query":
			q.Labels = value
		case "from":
			q.From = value
		case "until":
			q.Until = value
		case "last":
			if values.Has("from") {
				return "", q, fmt.Errorf("%q says both last and from", name)
			}
			q.From = value
		default:
			return "", q, fmt.Errorf("%q: %q is none of type, query, from, until and last", name, key)
		}
	}
	if service := strings.Trim(u.Path, "/"); service != "" {
		if q.Labels != "" {
			return "", q, fmt.Errorf("%q says both a service and a query: put service_name into the query", name)
		}
		q.Labels = ServiceLabels(service)
	}
	host := u.Host
	if host == "" || host[0] == ':' {
		host = "127.0.0.1" + host
	}
	base := url.URL{Scheme: way, User: u.User, Host: host}
	return base.String(), q, nil
}

// ServiceLabels selects the series of a service.
func ServiceLabels(service string) string { return fmt.Sprintf("{service_name=%q}", service) }

// Address is the address of a merged profile, as [ParseAddress] reads it.
func (s *Server) Address(q Question) string {
	u := url.URL{Scheme: scheme, User: s.base.User, Host: s.base.Host}
	if s.base.Scheme == "https" {
		u.Scheme = secureScheme
	}
	values := url.Values{}
	for key, value := range map[string]string{"type": q.Type, "query": q.Labels, "from": q.From, "until": q.Until} {
		if value != "" {
			values.Set(key, value)
		}
	}
	u.RawQuery = values.Encode()
	return u.String()
}
