package web

import (
	"context"

	"loupe/compare"
	"loupe/insight"
)

var overviewEndpoints = []endpoint{
	on("findings", func(ctx context.Context, s *subject, _ *query) ([]insight.Finding, error) {
		seen, err := s.examined(ctx)
		if err != nil {
			return nil, err
		}
		return seen.findings, nil
	}),
}

// examined is what the rules and the comparison say of a source.
type examined struct {
	input    *insight.Input
	facts    *compare.Facts
	findings []insight.Finding
}

// examined lets the rules look.
func (s *subject) examined(ctx context.Context) (*examined, error) {
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return memo(ctx, s, "examined", func(context.Context) (*examined, error) {
		tell := s.job("looking for what is wrong")
		defer tell(1)
		in := insight.NewInput(o.Session)
		found := insight.Run(in)
		if o.Rename != nil {
			for i := range found {
				rename(&found[i], o.Rename)
			}
		}
		return &examined{in, in.Facts, found}, nil
	})
}

// rename puts the names that people know into a finding.
func rename(f *insight.Finding, known func(string) string) {
	f.Advice, f.Verify = known(f.Advice), known(f.Verify)
	for i := range f.Evidence {
		f.Evidence[i].Path = known(f.Evidence[i].Path)
	}
}
