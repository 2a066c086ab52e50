package web

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"loupe/analysis/calltree"
	"loupe/analysis/pprof"
	"loupe/report"
	"loupe/value/stack"
)

// profileFile gives what is shown as a file: as is pb.gz, csv, svg (the call
// graph), flame.svg, html (the flame graph, which needs nothing else), folded
// or txt (pprof's top).
func profileFile(ctx context.Context, s *Server, w http.ResponseWriter, q *query) error {
	var b bytes.Buffer
	as := q.Get("as")
	write, ok := profileFiles[as]
	if !ok {
		return &refusal{http.StatusBadRequest, fmt.Sprintf("there is no file of the kind %q", as)}
	}
	if err := write(ctx, s, q, &b); err != nil {
		return err
	}
	name := strings.NewReplacer("/", "-", ".pb.gz", "").Replace(q.Get("p"))
	if name == "" {
		name = "profile"
	}
	head := w.Header()
	head.Set("Content-Type", "application/octet-stream")
	head.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": clean(name) + "." + as}))
	_, err := w.Write(b.Bytes())
	return err
}

var profileFiles = map[string]func(ctx context.Context, s *Server, q *query, b *bytes.Buffer) error{
	"pb.gz": func(ctx context.Context, s *Server, q *query, b *bytes.Buffer) error {
		return writeReport(ctx, s, q, b, nil, "proto")
	},
	"txt": func(ctx context.Context, s *Server, q *query, b *bytes.Buffer) error {
		return writeReport(ctx, s, q, b, nil, "top")
	},
	"csv": func(ctx context.Context, s *Server, q *query, b *bytes.Buffer) error {
		r, err := s.report(ctx, q, everything, "top")
		if err != nil {
			return err
		}
		return report.WriteSheetCSV(b, report.ProfileTable(r.Report, true))
	},
	"svg": func(ctx context.Context, s *Server, q *query, b *bytes.Buffer) error {
		r, err := s.report(ctx, q, func(c *pprof.Config) { c.FoldGenerics = true }, "svg")
		if err != nil {
			return err
		}
		return report.CallGraphSVG(b, &report.CallGraph{Graph: r.CallGraph(), Header: r.Header()})
	},
	"flame.svg": func(ctx context.Context, s *Server, q *query, b *bytes.Buffer) error {
		f, err := flameFile(ctx, s, q)
		if err != nil {
			return err
		}
		return report.FlameSVG(b, f)
	},
	"html": func(ctx context.Context, s *Server, q *query, b *bytes.Buffer) error {
		f, err := flameFile(ctx, s, q)
		if err != nil {
			return err
		}
		return report.FlameHTML(b, f)
	},
	"folded": func(ctx context.Context, s *Server, q *query, b *bytes.Buffer) error {
		r, err := s.report(ctx, q, nil, "top")
		if err != nil {
			return err
		}
		t, sums := r.Profile.Stacks, map[string]int64{}
		var names []string
		for id, v := range r.Weights() {
			names = names[:0]
			for _, f := range slices.Backward(t.Frames(id)) {
				names = append(names, strings.ReplaceAll(clean(nameOf(t.Frame(f))), ";", ":"))
			}
			sums[strings.Join(names, ";")] += v
		}
		for _, stack := range slices.Sorted(maps.Keys(sums)) {
			fmt.Fprintf(b, "%s %d\n", stack, sums[stack])
		}
		return nil
	},
}

func writeReport(ctx context.Context, s *Server, q *query, b *bytes.Buffer, change func(*pprof.Config), command string) error {
	r, err := s.report(ctx, q, change, command)
	if err != nil {
		return err
	}
	return r.Write(b)
}

// flameFile is the flame graph of a report as a file of its own.
func flameFile(ctx context.Context, s *Server, q *query) (*report.Flame, error) {
	r, err := s.report(ctx, q, nil, "top")
	if err != nil {
		return nil, err
	}
	t := r.Profile.Stacks
	opt := calltree.FlameOptions{MinShare: report.FlameShare, NoInlines: r.Config.NoInlines, FoldGenerics: true}
	if r.diff {
		opt.Base = r.weights(true)
	}
	f := &report.Flame{Header: r.Header(), Diff: r.diff, Scope: r.scope, Source: func(id stack.FrameID) string {
		x := t.Frame(id)
		if x.File == "" {
			return ""
		}
		return fmt.Sprintf("%s:%d", path.Base(x.File), x.Line)
	}}
	f.Graph = calltree.Flame(t, r.weights(false), opt)
	opt.Inverted = true
	f.Inverted = calltree.Flame(t, r.weights(false), opt)
	return f, nil
}
