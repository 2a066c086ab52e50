package mcp

import (
	"context"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// fleet has the tools that ask a store.
type fleet struct{ *server }

// offerFleet lists the tools that ask a store.
func offerFleet(in *server, m *sdk.Server) {
	s := fleet{in}
	add(in, m, tool{name: "fleet_services", about: "The services of the store and what each costs."}, s.services)
	add(in, m, tool{name: "fleet_top", about: "Functions of a service by cost, from the store."}, s.top)
	add(in, m, tool{name: "fleet_findings", about: "What the rules find in a service's profiles in the store."}, s.findings)
	add(in, m, tool{name: "fleet_regressions", about: "What has changed: functions that cost more or less since the newest version of a service."}, s.regressions)
	add(in, m, tool{name: "fleet_diff", about: "Two selections of the store compared by function: versions, pods or times."}, s.diff)
}

// Stored asks a store.
type Stored struct {
	Paged
	Service string `json:"service,omitempty" jsonschema:"a service, or a selector such as {service_name=\"shop\",version=\"v1.42\"}"`
	Type    string `json:"type,omitempty" jsonschema:"cpu (the default), alloc_space, inuse_space, goroutine, mutex, block or a full id"`
	Last    string `json:"last,omitempty" jsonschema:"how far back from now, such as 90m or 7d; default 1h"`
}

func (q *Stored) files() []*string { return nil }

// address is what the selection is called.
func (s fleet) address(service, kind, from, until string) string {
	q := url.Values{}
	set := func(key, v string) {
		if v != "" {
			q.Set(key, v)
		}
	}
	set("type", kind)
	set("from", from)
	set("until", until)
	a := "pyroscope://" + s.to + "/"
	if strings.HasPrefix(strings.TrimSpace(service), "{") {
		set("query", service)
	} else {
		a += url.PathEscape(service)
	}
	if len(q) > 0 {
		a += "?" + q.Encode()
	}
	return a
}

// since is when a length until now began.
func since(last string) string {
	if last == "" {
		return ""
	}
	return "now-" + last
}

func (s fleet) services(ctx context.Context, in *Stored) (*answer, error) {
	args := []string{"query", "-to=" + s.to, "-format=json"}
	if in.Last != "" {
		args = append(args, "-last="+in.Last)
	}
	args = append(args, "--", "cost")
	if in.Service != "" {
		args = append(args, in.Service)
	}
	o, notes, err := s.asked(ctx, args...)
	if err != nil {
		return nil, err
	}
	a := &answer{says: "What services cost, or the functions of one.", open: words(args...)}
	a.whole(o, "schema")
	a.list("messages", notes)
	return a, nil
}

func (s fleet) top(ctx context.Context, in *Stored) (*answer, error) {
	name := s.address(in.Service, in.Type, since(in.Last), "")
	return s.functions(ctx, []string{"pprof", "-top", "--", name}, name)
}

func (s fleet) findings(ctx context.Context, in *Stored) (*answer, error) {
	return s.diagnose(ctx, &File{Path: s.address(in.Service, in.Type, since(in.Last), "")})
}

func (s fleet) regressions(ctx context.Context, in *Stored) (*answer, error) {
	args := []string{"query", "-to=" + s.to, "-format=json"}
	if in.Last != "" {
		args = append(args, "-last="+in.Last)
	}
	if in.Type != "" {
		args = append(args, "-type="+in.Type)
	}
	args = append(args, "--", "regressions")
	if in.Service != "" {
		args = append(args, in.Service)
	}
	o, notes, err := s.asked(ctx, args...)
	if err != nil {
		return nil, err
	}
	a := &answer{says: "What new versions take more of, or less, with the expected share of false alarms.", open: words(args...)}
	for _, r := range o.list("regressions.releases") {
		a.facts("release", "service", r.text("service"), "label", r.text("label"), "new", r.text("new"), "old", r.text("old"), "note", r.text("note"), "functions tested", cell("", r.at("judged")))
		for _, side := range []string{"more", "less"} {
			t := table{name: side, columns: []string{"function", "change of the share", "share before", "share after", "expected false alarms"}}
			for _, c := range r.list(side) {
				t.rows = append(t.rows, []any{c.text("function"), c.text("shown"), cell("share", c.at("old")), cell("share", c.at("new")), cell("share", c.at("false"))})
			}
			a.add(t)
		}
	}
	if len(a.tables) == 0 {
		a.says = "There is no new version or build in this time."
	}
	a.list("messages", notes)
	return a, nil
}

// StoredSides asks for two selections.
type StoredSides struct {
	Paged
	Before      string `json:"before" jsonschema:"a service or selector"`
	After       string `json:"after,omitempty" jsonschema:"another one; default: the same, until now"`
	Type        string `json:"type,omitempty" jsonschema:"cpu (the default), alloc_space, inuse_space, goroutine, mutex, block or a full id"`
	BeforeFrom  string `json:"before_from,omitempty" jsonschema:"when before begins, such as now-2d"`
	BeforeUntil string `json:"before_until,omitempty" jsonschema:"when before ends, such as now-1d"`
	Last        string `json:"last,omitempty" jsonschema:"how far back from now after goes; default 1h"`
}

func (q *StoredSides) files() []*string { return nil }

func (s fleet) diff(ctx context.Context, in *StoredSides) (*answer, error) {
	after := in.After
	if after == "" {
		after = in.Before
	}
	from := in.BeforeFrom
	if from == "" && in.BeforeUntil == "" {
		from = since(in.Last)
	}
	return s.sides(ctx, []string{"compare", "--", s.address(in.Before, in.Type, from, in.BeforeUntil), s.address(after, in.Type, since(in.Last), "")})
}
