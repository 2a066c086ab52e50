package push

import (
	"slices"
	"strings"
	"unicode/utf8"

	"loupe/format/connect"
	"loupe/format/profile"
)

// Label is one label of a profile. It is types.v1.LabelPair of Pyroscope and Label of
// Parca on the wire.
type Label struct {
	Name  string `pb:"1,name"`
	Value string `pb:"2,value"`
}

// Labels that have a meaning to everybody.
const (
	nameLabel    = "__name__"
	serviceLabel = "service_name"
	spyLabel     = "pyroscope_spy"
	sessionLabel = "__session_id__"
	deltaLabel   = "__delta__"
)

// unknown is the service of a client that gives no name, as OpenTelemetry's
// conventions have it.
const unknown = "unknown_service"

// normal checks the labels and sorts them. Labels without a value do not exist, and
// private ones are left out; of two with one name the request is wrong. Names get underscores for what no selector can
// name, such as the dots of OpenTelemetry's attributes.
func (d *decoder) normal(labels []Label) ([]Label, error) {
	out := make([]Label, 0, len(labels))
	for _, l := range labels {
		if l.Value == "" || private(l.Name) {
			continue
		}
		if l.Name == "" {
			return nil, connect.Errorf(connect.InvalidArgument, "a label with the value %.50q has no name", l.Value)
		}
		if len(l.Name) > d.LabelBytes || len(l.Value) > d.LabelBytes {
			return nil, connect.Errorf(connect.InvalidArgument, "the label %.50q has more than %d bytes", l.Name, d.LabelBytes)
		}
		if !utf8.ValidString(l.Value) {
			return nil, connect.Errorf(connect.InvalidArgument, "the label %.50q has a value that is not UTF-8", l.Name)
		}
		out = append(out, Label{labelName(l.Name), l.Value})
	}
	if len(out) > d.Labels {
		return nil, connect.Errorf(connect.InvalidArgument, "the profile has %d labels, more than %d", len(out), d.Labels)
	}
	slices.SortStableFunc(out, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(out); i++ {
		if out[i].Name == out[i-1].Name {
			if out[i].Value != out[i-1].Value {
				return nil, connect.Errorf(connect.InvalidArgument, "the label %.50q comes twice, as %.50q and %.50q", out[i].Name, out[i-1].Value, out[i].Value)
			}
			out = slices.Delete(out, i, i+1)
			i--
		}
	}
	return out, nil
}

// private tells whether a label is a note of the client to the server, such as
// __session_id__, and not one that the profile is found by.
func private(name string) bool {
	return strings.HasPrefix(name, "__") && name != nameLabel
}

// noteOf returns a note of the client to the server.
func noteOf(labels []Label, name string) string {
	for _, l := range labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// labelName makes a name that Prometheus takes.
func labelName(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !nameRune(r) }) < 0 && !('0' <= s[0] && s[0] <= '9') {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if nameRune(r) {
			return r
		}
		return '_'
	}, s)
	if '0' <= s[0] && s[0] <= '9' {
		return "_" + s
	}
	return s
}

func nameRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
}

// appName takes the name of /ingest apart, such as shop.cpu{region=eu,pod=a}. Values
// have no quotes and no commas.
func appName(s string) (app string, labels []Label, err error) {
	app, rest, tagged := strings.Cut(s, "{")
	if app = strings.TrimSpace(app); app == "" {
		return "", nil, connect.Errorf(connect.InvalidArgument, "the parameter name is empty (want name=SERVICE or name=SERVICE{label=value})")
	}
	if !tagged {
		return app, nil, nil
	}
	rest, _, closed := strings.Cut(rest, "}")
	if !closed {
		return "", nil, connect.Errorf(connect.InvalidArgument, "the name %.100q has no closing brace", s)
	}
	if strings.TrimSpace(rest) == "" {
		return app, nil, nil
	}
	for pair := range strings.SplitSeq(rest, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			return "", nil, connect.Errorf(connect.InvalidArgument, "the label %.100q of the name is not of the form label=value", pair)
		}
		if name == nameLabel {
			continue
		}
		labels = append(labels, Label{name, strings.TrimSpace(value)})
	}
	return app, labels, nil
}

// kindOf is the __name__ of a profile by its sample types, where shown are other names
// that the client has for them: contentions are of mutexes or of anything that blocks,
// and nothing in the profile tells.
func kindOf(p *profile.Profile, shown map[string]string) string {
	for _, t := range p.SampleTypes {
		if t.Type == "wall" {
			return "wall"
		}
	}
	for _, t := range p.SampleTypes {
		name := t.Type
		if s := shown[name]; s != "" {
			name = s
		}
		if kind := kindByType(name); kind != "" {
			return kind
		}
	}
	if t := p.PeriodType.Type; t == "cpu" {
		return "process_cpu"
	}
	if len(p.SampleTypes) > 0 {
		return p.SampleTypes[len(p.SampleTypes)-1].Type
	}
	return "unknown"
}

func kindByType(t string) string {
	switch {
	case strings.Contains(t, "off_cpu"):
		return "off_cpu"
	case strings.Contains(t, "cpu"):
		return "process_cpu"
	case strings.HasPrefix(t, "alloc_"), strings.HasPrefix(t, "inuse_"), t == "space", t == "objects":
		return "memory"
	case strings.HasPrefix(t, "mutex_"), t == "contentions", t == "delay":
		return "mutex"
	case strings.HasPrefix(t, "block_"):
		return "block"
	case strings.HasPrefix(t, "goroutine"): // goroutine, goroutines, goroutineleak, goroutine_leak
		return t
	}
	return ""
}
