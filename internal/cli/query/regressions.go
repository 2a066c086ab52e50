package query

import (
	"fmt"
	"io"
	"net/url"
	"time"

	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/report"
	"loupe/web"
)

// regressions asks what new versions take more of. Growth is a finding.
func (q *query) regressions() error {
	ask, err := q.one()
	if err != nil {
		return err
	}
	if ask.From == "" {
		ask.From = "now-1d" // a release is rarely of the last hour
	}
	r, err := ask.Range(q.now)
	if err != nil {
		return command.Usage(err)
	}
	var got web.FleetRegressions
	if err := q.server.Pages(q.e.Ctx, "fleet/regressions", r, url.Values{"select": {ask.Labels}, "type": {ask.Type}}, &got); err != nil {
		return door.Remote(err)
	}
	if q.format == "json" {
		err = command.Buffered(q.e.Stdout, func(w io.Writer) error {
			return report.WriteJSON(w, map[string]any{"schema": "loupe.query/1", "server": q.server.String(), "regressions": got})
		})
	} else {
		err = q.releases(&got)
	}
	for _, one := range got.Releases {
		if err == nil && len(one.More) > 0 {
			err = command.ErrFound
		}
	}
	return err
}

// releases prints what there is of each new version, one below the other.
func (q *query) releases(got *web.FleetRegressions) error {
	if got.Left > 0 {
		fmt.Fprintf(q.e.Stderr, "%d of %d services were examined, %d were not: name a service, or a selector of fewer\n", got.Services, got.Services+got.Left, got.Left)
	}
	if len(got.Releases) == 0 {
		return command.Nothingf("no new version or build of %s in this range (-last 7d looks further back; the labels version and build_id identify them)", services(got.Services))
	}
	return command.Buffered(q.e.Stdout, func(w io.Writer) error {
		for i := range got.Releases {
			if i > 0 {
				fmt.Fprintln(w)
			}
			var err error
			switch s := sheet(&got.Releases[i], got.Of); q.format {
			case "md":
				err = report.WriteSheetMarkdown(w, s)
			case "csv":
				err = report.WriteSheetCSV(w, s)
			default:
				err = report.WriteSheet(w, s, q.e.Style())
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func services(n int) string {
	if n == 1 {
		return "the service"
	}
	return fmt.Sprintf("%d services", n)
}

// sheet is the table of one release.
func sheet(r *web.FleetRelease, of string) *report.Sheet {
	how := "in the period before"
	if r.Beside {
		how = "running side by side"
	}
	at := time.UnixMilli(r.At).UTC().Format("2006-01-02 15:04 UTC")
	s := &report.Sheet{Key: "regressions", Title: fmt.Sprintf("%s since %s %s (%s), against %s %s", r.Service, r.Label, r.New, at, r.Old, how),
		Columns: []report.Column{{Key: "function", Head: "function"}, {Key: "change", Head: "change, of " + of}, {Key: "before", Head: "before"}, {Key: "after", Head: "after"}, {Key: "false_alarms", Head: "false alarms"}}}
	for _, list := range [][]web.FleetChange{r.More, r.Less} {
		for _, c := range list {
			s.Rows = append(s.Rows, []any{c.Function, c.Shown, report.Share(c.Old), report.Share(c.New), report.Share(c.False)})
		}
	}
	if r.Judged > 0 {
		text := fmt.Sprintf("%d functions tested; expected false alarms among those listed: at most 5 %%.", r.Judged)
		if len(s.Rows) == 0 {
			text = fmt.Sprintf("%d functions tested; no significant change.", r.Judged)
		}
		s.Notes = append(s.Notes, text)
		if len(s.Rows) > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("Percentages are relative to %s of %s, for the same amount of work.", of, r.Old))
		}
	}
	if r.Others > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d smaller changes are not shown.", r.Others))
	}
	if r.Note != "" {
		s.Notes = append(s.Notes, r.Note)
	}
	return s
}
