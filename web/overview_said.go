package web

import (
	"context"

	"loupe/analysis/why"
	"loupe/recording"
	"loupe/report"
)

// overviewSaid is what logs say besides collections and the scheduler (package
// initialisation, the scavenger, the pacer), and outputs of the compiler that stand
// alone, as loupe report prints it: empty where they say nothing.
func overviewSaid(ctx context.Context, s *subject, _ *query) ([]*table, error) {
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	sheets := []*report.Sheet{}
	for _, e := range o.Session.Manifest().Of(recording.Stderr) {
		log, err := o.Session.Runtime(e.Run)
		if err != nil {
			continue // the findings say so
		}
		name := ""
		if o.Rename != nil {
			name = o.Rename(e.Path)
		}
		if r := report.RuntimeLinesOf(name, log.Log); r != nil {
			sheets = append(sheets, r.Sheets()...)
		}
	}
	if s.Kind != "recording" {
		if set, _ := o.Session.Compiler(); set != nil { // what there is of it
			sheets = append(sheets, (&report.CompilerLog{Digest: why.DigestOf(set)}).Sheets()...)
		}
	}
	all := []*table{}
	for _, sheet := range sheets {
		all = append(all, tableOf(sheet))
	}
	return all, ctx.Err()
}
