package serve

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"loupe/capture/incident"
	"loupe/internal/cli/command"
	"loupe/internal/cli/pages"
	"loupe/value/unit"
	"loupe/web"
	"loupe/web/fleet"
)

// checkAlerts refuses rules that nothing would be held against.
func (f *flags) checkAlerts(targets bool) error {
	switch {
	case f.alerts == "" && f.incidents != "":
		return command.Usagef("-incidents: needs -alerts FILE.yml")
	case f.alerts != "" && !targets:
		return command.Usagef("-alerts: nothing to watch: add -targets or -local")
	}
	return nil
}

// guard makes what holds the targets against rules. The file is read before anything is served.
func (s *serving) guard(f *flags) (err error) {
	if f.alerts == "" {
		return nil
	}
	if _, err := incident.Read(f.alerts); err != nil {
		return err
	}
	dir := f.incidents
	if dir == "" {
		data, err := f.folder() // also where the profiles are in a database
		if err != nil {
			return fmt.Errorf("%w (or the recordings of alerts with -incidents)", err)
		}
		dir = filepath.Join(data, "incidents")
	}
	if dir, err = filepath.Abs(dir); err != nil { // hooks may run anywhere
		return err
	}
	s.alerts = f.alerts
	s.monitor, err = incident.New(s.scraper, incident.Options{Dir: dir, Tool: command.Version(), Tell: s.tell})
	return err
}

// incidents returns what the pages say of alerts; nil where there are no rules.
func (s *serving) incidents() func() *web.FleetIncidents {
	if s.monitor == nil {
		return nil
	}
	return func() *web.FleetIncidents {
		out := &web.FleetIncidents{Watches: true, Rules: []web.FleetRule{}, Incidents: []web.FleetIncident{}}
		for _, r := range s.monitor.Rules() {
			out.Rules = append(out.Rules, web.FleetRule{Rule: r.Rule, Targets: r.Targets, Known: r.Known})
		}
		for _, in := range s.monitor.List() {
			one := web.FleetIncident{At: in.At.UnixMilli(), Service: in.Service, Target: in.Target, Rule: in.Rule, Why: in.Why, Again: in.Again, Note: in.Note}
			if in.Recorded {
				one.Source, one.Folder, one.Size = fleet.IncidentSource(in.ID), s.monitor.Place(in.ID), unit.Bytes(in.Bytes).String()
			}
			out.Incidents = append(out.Incidents, one)
		}
		return out
	}
}

// recording opens the one of an incident for the pages.
func (s *serving) recording(id string) (web.Source, error) {
	if s.monitor == nil {
		return web.Source{}, web.NotThere("There is no incident %.100q: this server runs without -alerts.", id)
	}
	dir := s.monitor.Place(id)
	if dir == "" {
		return web.Source{}, web.NotThere("The recording of incident %.100q is gone.", id)
	}
	return pages.Recording(dir), nil
}

// shownIncidents is how many a person sees who asks by curl.
const shownIncidents = 20

// aboutIncidents lists the last incidents.
func (s *serving) aboutIncidents(w io.Writer) {
	if s.monitor == nil {
		return
	}
	all := s.monitor.List()
	fmt.Fprintf(w, "\n%s:\n", unit.Plural(len(all), "incident"))
	for _, in := range all[:min(len(all), shownIncidents)] {
		fmt.Fprintf(w, "  %s  %s  %s: %s", in.At.UTC().Format(time.RFC3339), in.Service, in.Rule, in.Why)
		if dir := s.monitor.Place(in.ID); dir != "" {
			fmt.Fprintf(w, "  loupe report %s", command.ShellWord(dir))
		}
		if in.Note != "" {
			fmt.Fprintf(w, "  (%s)", in.Note)
		}
		fmt.Fprintln(w)
	}
}
