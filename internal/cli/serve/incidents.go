package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"loupe/capture/incident"
	"loupe/internal/cli/command"
	"loupe/internal/cli/pages"
	"loupe/internal/cli/stores"
	"loupe/store"
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
	opt := incident.Options{Dir: f.incidents, Tool: command.Version(), Tell: s.tell, Pinned: s.pinned}
	switch {
	case stores.IsBucket(f.incidents):
		opt.Dir = ""
		if opt.Bucket, err = stores.Incidents(f.incidents, ""); err != nil {
			return err
		}
	case f.archive != "":
		if opt.Bucket, err = stores.Incidents("", f.archive); err != nil {
			return err
		}
	}
	if opt.Dir == "" {
		data, err := f.folder() // also where the profiles are in a database
		if err != nil {
			return fmt.Errorf("%w (or the recordings of alerts with -incidents)", err)
		}
		opt.Dir = filepath.Join(data, "incidents")
	}
	if opt.Dir, err = filepath.Abs(opt.Dir); err != nil { // hooks may run anywhere
		return err
	}
	s.alerts = f.alerts
	s.monitor, err = incident.New(s.scraper, opt)
	return err
}

// pinned returns what tells whether an incident is in a pinned range of its series.
func (s *serving) pinned() (func(*incident.Incident) bool, error) {
	pins, err := s.engine.Pins(s.e.Ctx)
	if err != nil || len(pins) == 0 {
		return nil, err
	}
	return func(in *incident.Incident) bool {
		var list []store.Label
		for name, value := range in.Labels {
			list = append(list, store.Label{Name: name, Value: value})
		}
		labels := store.MakeLabels(list)
		return slices.ContainsFunc(pins, func(p store.Pin) bool {
			return !in.At.Before(p.Range.Start) && (p.Range.End.IsZero() || in.At.Before(p.Range.End)) && p.Matchers.Match(labels)
		})
	}, nil
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
				one.Source, one.Folder, one.Size = fleet.IncidentSource(in.ID), s.where(in), unit.Bytes(in.Bytes).String()
				one.Download = fleet.RecordingPath(in.ID)
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
	if dir := s.monitor.Place(id); dir != "" {
		return pages.Recording(dir), nil
	}
	if !slices.ContainsFunc(s.monitor.List(), func(in incident.Incident) bool { return in.ID == id && in.Recorded }) {
		return web.Source{}, web.NotThere("The recording of incident %.100q is gone.", id)
	}
	return web.Source{Name: id, Files: []string{id}, Kind: "recording", Open: func(ctx context.Context) (*web.Opened, error) {
		dir, err := s.monitor.Fetch(ctx, id)
		if err != nil {
			return nil, err
		}
		return pages.Recording(dir).Open(ctx)
	}}, nil
}

// where is the place of a recording for people.
func (s *serving) where(in incident.Incident) string {
	if dir := s.monitor.Place(in.ID); dir != "" || in.Stored == nil {
		return dir
	}
	return in.Stored.Name
}

// download sends the recording of an incident, packed. It is a file as any that loupe reads.
func (s *serving) download(w http.ResponseWriter, r *http.Request, id string) {
	if s.monitor == nil {
		http.Error(w, "this server runs without -alerts", http.StatusNotFound)
		return
	}
	temp, err := os.MkdirTemp("", "loupe-incident-")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer os.RemoveAll(temp)
	name, err := s.monitor.Packed(r.Context(), id, temp)
	switch {
	case errors.Is(err, incident.ErrNone):
		http.Error(w, fmt.Sprintf("there is no recording of an incident %.100q", id), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", id+".zip"))
	w.Header().Set("Content-Type", "application/zip")
	http.ServeFile(w, r, name)
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
		fmt.Fprint(w, command.Line("  %s  %s  %s: %s", in.At.UTC().Format(time.RFC3339), in.Service, in.Rule, in.Why))
		if dir := s.monitor.Place(in.ID); dir != "" {
			fmt.Fprintf(w, "  loupe report %s", command.ShellWord(dir))
		} else if in.Recorded {
			fmt.Fprintf(w, "  in the bucket; loupe report reads it at %s", fleet.RecordingPath(in.ID))
		}
		if in.Note != "" {
			fmt.Fprint(w, command.Line("  (%s)", in.Note))
		}
		fmt.Fprintln(w)
	}
}
