package web

import (
	"context"
	"fmt"
	"time"

	"loupe/insight"
	"loupe/session/memo"
)

// brief is what a list of sources tells of one.
type brief struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Date is when it was recorded, Command what; both "" where that is not known.
	Date    string `json:"date"`
	Command string `json:"command"`
	// Length is how long it is in ns, Bytes how large.
	Length   int64 `json:"length"`
	Bytes    int64 `json:"bytes"`
	Complete bool  `json:"complete"`
	// Error says why it cannot be opened, "" when it can.
	Error string `json:"error"`
}

// grades counts the findings of a source.
type grades struct {
	Critical int `json:"critical"`
	Warning  int `json:"warning"`
	Info     int `json:"info"`
}

// gradesOf lets the rules look at a source for a list of many: it is opened for
// that, and closed again.
func gradesOf(ctx context.Context, s *subject, _ *query) (*grades, error) {
	return memo.Get(ctx, &s.pinned(ctx).memo, "grades", func(ctx context.Context) (*grades, error) {
		o, err := s.Open(ctx)
		if err != nil {
			return nil, err
		}
		if o.Close != nil {
			defer func() { _ = o.Close() }() // read only: there is nothing to lose
		}
		g := &grades{}
		for _, f := range insight.Run(insight.NewInput(o.Session)) {
			switch {
			case f.State != insight.Found:
			case f.Severity == insight.Critical:
				g.Critical++
			case f.Severity == insight.Warning:
				g.Warning++
			default:
				g.Info++
			}
		}
		return g, ctx.Err()
	})
}

// briefs tells of every source. Each is opened for that once, and closed again:
// a folder may have hundreds.
func briefs(ctx context.Context, s *Server, _ *query) ([]brief, error) {
	subjects := s.sources.there()
	out := []brief{}
	for _, sub := range subjects {
		b, err := memo.Get(ctx, &sub.pinned(ctx).memo, "brief", func(ctx context.Context) (brief, error) { return sub.brief(ctx), nil })
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func (s *subject) brief(ctx context.Context) brief {
	b := brief{ID: s.id, Title: s.Name}
	o, err := s.Open(ctx)
	if err != nil {
		b.Error = err.Error()
		return b
	}
	if o.Close != nil {
		defer func() { _ = o.Close() }() // read only: there is nothing to lose
	}
	m := o.Session.Manifest()
	b.Complete, b.Length = m.Complete || s.Kind != "recording", int64(axisOf(o.Session).Len())
	if !m.Start.IsZero() {
		b.Date = m.Start.Format(time.RFC3339)
	}
	if s.Kind == "recording" {
		b.Title, b.Command = m.Title, fmt.Sprint(m.Target.Name)
	}
	for _, e := range m.Entries {
		b.Bytes += e.Bytes
	}
	return b
}
