package pprof

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/internal/cli/command"
	"loupe/report"
	"loupe/source/bounded"
)

// pprofExtra are the formats that go tool pprof does not have.
type pprofExtra struct {
	table, categories  bool
	folded, speedscope bool
	flame              bool
	pgo                bool
	pgoMatch           string
	format             string
}

func (x *pprofExtra) declare(fs *command.FlagSet) {
	fs.BoolVar(&x.table, "table", false, "top as our own table, with intervals, packages and kinds of work")
	fs.BoolVar(&x.categories, "categories", false, "cost of collection, allocation, scheduling, …, and by owner of the code")
	fs.StringVar(&x.format, "format", "text", "`format` of -table and -categories: text, md, csv or json")
	fs.BoolFunc("csv", "same as -table -format=csv", func(string) error {
		x.table, x.format = true, "csv"
		return nil
	})
	fs.BoolVar(&x.flame, "flame", false, "a flame graph as one page, or as a picture with -output FILE.svg")
	fs.BoolVar(&x.folded, "folded", false, "folded stacks, one per line, for flame graph tools")
	fs.BoolVar(&x.speedscope, "speedscope", false, "a file for speedscope")
	fs.BoolVar(&x.pgo, "pgo", false, "a small profile for the compiler (default.pgo): what it reads of each stack")
	fs.StringVar(&x.pgoMatch, "pgo_match", "", "how much of the compiler's profile `file` still matches the program of SOURCE")
}

func (x *pprofExtra) any() bool {
	return x.table || x.categories || x.flame || x.folded || x.speedscope || x.pgo || x.pgoMatch != ""
}

func (x *pprofExtra) run(s *pprofSession) error {
	cfg := s.flags.config
	switch {
	case x.pgo:
		return x.writePGO(s)
	case x.pgoMatch != "":
		return x.match(s)
	}
	r, err := pprof.New(s.p, []string{"top"}, cfg, s.env())
	if err != nil {
		return err
	}
	return s.to(cfg.Output, func(w io.Writer) error {
		switch {
		case x.flame:
			return s.flame(w, r)
		case x.folded:
			return r.Profile.WriteFolded(w, r.Index())
		case x.speedscope:
			return r.Profile.WriteSpeedscope(w, r.Index())
		case x.categories:
			return x.sheet(s, w, report.ProfileCategories(r), "loupe.categories/1", r)
		}
		return x.sheet(s, w, report.ProfileTable(r, x.format != "text" || s.flags.json), "loupe.table/1", r)
	})
}

func (x *pprofExtra) sheet(s *pprofSession, w io.Writer, t *report.Sheet, schema string, r *pprof.Report) error {
	format := x.format
	if s.flags.json {
		format = "json"
	}
	switch format {
	case "text":
		return report.WriteSheet(w, t, s.e.Style())
	case "md":
		return report.WriteSheetMarkdown(w, t)
	case "csv":
		return report.WriteSheetCSV(w, t)
	case "json":
		return report.WriteJSON(w, map[string]any{
			"schema": schema, "type": r.Type, "unit": r.Unit, "total": r.Total, "filters": r.Filters(), t.Key: t, "notes": t.Notes,
		})
	}
	return command.Usagef("-format: there is no %q; choose text, md, csv or json", format)
}

func (x *pprofExtra) writePGO(s *pprofSession) error {
	p, err := pprof.PGO(s.p)
	if err != nil {
		return fmt.Errorf("cannot make a profile for the compiler: %w", err)
	}
	name := s.flags.config.Output
	if name == "" && command.IsTerminal(s.e.Stdout) {
		name = "default.pgo"
	}
	if err := s.to(name, p.Encode); err != nil {
		return err
	}
	if name != "" {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		s.warn(fmt.Sprintf("%s: %s, %d stacks of %d. The go command uses a default.pgo in the folder of package main.",
			name, report.Bytes(info.Size()), p.Len(), s.p.Len()))
	}
	return nil
}

func (x *pprofExtra) match(s *pprofSession) error {
	data, err := bounded.ReadNamed(x.pgoMatch)
	if err != nil {
		return fmt.Errorf("-pgo_match: %w", err)
	}
	older, err := profile.Decode(data, profile.Options{})
	if err != nil {
		return fmt.Errorf("-pgo_match: cannot read profile %s: %w", x.pgoMatch, err)
	}
	m, err := pprof.PGOMatch(older, s.p)
	if err != nil {
		return err
	}
	if m.Total == 0 {
		return command.Nothing(errors.New("-pgo_match: the profile has no calls"))
	}
	return s.to(s.flags.config.Output, func(w io.Writer) error {
		if s.flags.json {
			return report.WriteJSON(w, map[string]any{
				"schema": "loupe.pgo_match/1", "total": m.Total, "calls": m.Calls, "moved": m.Lines, "functions": m.Functions, "gone": m.Gone, "lost": m.Lost,
			})
		}
		return report.WritePGOMatch(w, filepath.Base(x.pgoMatch), m, s.e.Style())
	})
}
