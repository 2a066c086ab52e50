package query

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"loupe/capture/remote"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/report"
	"loupe/value/unit"
	"loupe/web"
)

// incidents lists when alert rules fired, and where the recordings are.
func (q *query) incidents() error {
	if len(q.args) > 0 {
		return command.Usagef("too many arguments: %q (incidents takes none)", q.args)
	}
	var got web.FleetIncidents
	err := q.server.Pages(q.e.Ctx, "fleet/incidents", remote.Range{From: q.now, Until: q.now}, url.Values{}, &got)
	if err != nil {
		return q.shown(nil, door.Remote(err))
	}
	if !got.Watches && len(got.Incidents) == 0 {
		return command.Nothingf("%s has no alert rules (loupe serve -alerts)", q.server)
	}
	if len(got.Incidents) == 0 && q.format == "text" {
		return command.Nothingf("%s has no incidents: no alert rule has fired", q.server)
	}
	server := strings.TrimSuffix(q.server.String(), "/")
	if q.format == "text" { // an address is of use as a whole only, which no table has room for
		return command.Buffered(q.e.Stdout, func(w io.Writer) error { return writeIncidents(w, &got, server) })
	}
	return q.shown(incidents(&got, server), nil)
}

// writeIncidents writes them with the command that reads each recording.
func writeIncidents(w io.Writer, v *web.FleetIncidents, server string) error {
	for _, in := range v.Incidents {
		fmt.Fprint(w, command.Line("%s  %s at %s  %s: %s", time.UnixMilli(in.At).UTC().Format(time.RFC3339), in.Service, in.Target, in.Rule, in.Why))
		if in.Again > 0 {
			fmt.Fprintf(w, ", %s again soon after", unit.Plural(in.Again, "time"))
		}
		fmt.Fprintln(w)
		if in.Download != "" {
			fmt.Fprintln(w, command.Line("  loupe report %s", command.ShellWord(server+in.Download)))
		}
		if in.Note != "" {
			fmt.Fprintln(w, command.Line("  (%s)", in.Note))
		}
	}
	return nil
}

// incidents is the table of incidents of a server.
func incidents(v *web.FleetIncidents, server string) *report.Sheet {
	s := &report.Sheet{Key: "incidents", Columns: []report.Column{{Key: "at", Head: "when"}, {Key: "service", Head: "service"}, {Key: "target", Head: "target"},
		{Key: "rule", Head: "rule"}, {Key: "why", Head: "observation"}, {Key: "again", Head: "again"}, {Key: "recording", Head: "recording"}, {Key: "note", Head: "note"}}}
	for _, in := range v.Incidents {
		at := ""
		if in.Download != "" {
			at = server + in.Download
		}
		s.Rows = append(s.Rows, []any{time.UnixMilli(in.At).UTC().Format(time.RFC3339), in.Service, in.Target, in.Rule, in.Why, in.Again, at, in.Note})
	}
	return s
}
