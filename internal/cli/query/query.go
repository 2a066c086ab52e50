// Package query has loupe query and loupe push: what a server of profiles is asked, and
// what it is sent.
package query

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"loupe/capture/remote"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/loadflags"
	"loupe/report"
	"loupe/report/kept"
)

// Commands are loupe query and loupe push.
var Commands = []*command.Command{queryCommand, pushCommand}

// address is where a server is by default: loupe serve, or a Pyroscope, on this machine.
const address = "127.0.0.1:" + remote.DefaultPort

var queryCommand = &command.Command{
	Name:  "query",
	Short: "query the profiles in loupe serve or Pyroscope",
	Args:  "[flags] WHAT [SERVICE|SELECTOR]…",
	Example: []string{
		"loupe query types                              the available profile types",
		"loupe query labels service_name                the services",
		"loupe query top shop                           functions of the service, CPU of the last hour",
		"loupe query top -type alloc_space -last 1d '{service_name=\"shop\",version=\"v1.42\"}'",
		"loupe query series -by pod shop                how much each pod takes, over time",
		"loupe query diff -from 2d -until 1d shop       … against the last hour",
		"loupe query diff '{version=\"v1.41\"}' '{version=\"v1.42\"}'",
		"loupe query cost                               cost of each service; cost shop: of each function",
		"loupe query regressions shop                   regressions of its newest version, by function",
		"loupe query flame -o flame.html shop",
		"loupe query findings shop                      findings of the rules on profiles",
		"loupe query incidents                          what alert rules have recorded",
		"loupe query pgo -o cmd/shop/default.pgo shop   PGO profile of the last week",
		"loupe query profile -last 7d -o shop.pb.gz shop",
		"loupe query pin -from 2d -until 1d v1.41 '{version=\"v1.41\"}'",
		"loupe pgo make -for ./cmd/shop 'pyroscope://127.0.0.1:4040/shop?last=7d'",
	},
	About: `
WHAT is one of

  types      the types of profiles, with their ids
  labels     the names of labels, or with NAME its values (labels NAME [SELECTOR])
  series     totals over time, by the labels of -by
  top        functions by what they take themselves, as loupe pprof -top; of loupe serve
             from roll-ups, for ranges of months
  cost       CPUs, allocations and memory in use by service, or by function of a
             selection (loupe serve only)
  flame      a flame graph as one page or picture (-o FILE.html or FILE.svg)
  diff       two selections by function, as loupe compare; of one selection the range
             of -from and -until is held against the same length until now
  regressions
             functions that cost more since the newest version of a service, with
             intervals (default: of the last day; loupe serve only)
  findings   what is wrong, as loupe report
  heatmap    profiles by time and by how large they are
  pgo        default.pgo for the compiler, from the last week of a service (-o FILE;
             loupe pgo make -for also checks that it fits a package)
  profile    the sum as a file for go tool pprof (-o FILE.pb.gz)
  incidents  when alert rules fired, with the address of each recording, which loupe
             report and loupe open read (loupe serve only)
  pin        keep a selection in full, whatever its age and -keep: pin NAME [SELECTOR] with
             -from and -until, and a -reason for people (needs the write role)
  pins       the pins
  unpin      remove a pin: unpin NAME (needs the write role)

What follows selects series: a service, or a Prometheus selector such as
{service_name="shop",pod=~"a|b"}; without it, all series. -type is a short name (cpu,
alloc_space, inuse_space, goroutine, mutex, block) or a full id. Times are relative (-last
90m, -from 2d), dates, or seconds since 1970.

Every other command takes the same as a URL: loupe open, report, pprof, compare and pgo read
pyroscope://HOST:4040/SERVICE?type=cpu&last=1d, with query=SELECTOR instead of the service,
from= and until=; pyroscopes:// uses TLS.

Pins exist in loupe serve only: a Pyroscope has none.

Exits with 3 if regressions finds any, with 4 if the server does not answer, or has no such data.`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &queryFlags{}
		fs.StringVar(&f.to, "to", address, "`address` of the server")
		fs.StringVar(&f.ask.Type, "type", "", "`type` of profile (default cpu)")
		fs.StringVar(&f.last, "last", "", "`time` back from now (default 1h)")
		fs.StringVar(&f.ask.From, "from", "", "start: a `time` such as now-2h, 2h, 2026-11-24T10:00:00Z")
		fs.StringVar(&f.ask.Until, "until", "", "end: a `time` (default now)")
		fs.StringVar(&f.by, "by", "", "`labels` to group series by, separated by commas")
		fs.StringVar(&f.step, "step", "", "`time` between two points of a series (default a sixtieth of the range)")
		fs.IntVar(&f.n, "n", 20, "at most this `many` rows of top and cost")
		fs.StringVar(&f.reason, "reason", "", "`text` that says why something is pinned")
		fs.StringVar(&f.format, "format", "text", "`format` of lists, series and heatmaps: text, md, csv or json")
		fs.StringVar(&f.out, "o", "", "`file` for flame, profile and pgo")
		fs.BoolVar(&f.replace, "replace", false, "pgo: overwrite an existing file")
		f.asking.DeclareAccess(fs)
		return f.run
	},
}

type queryFlags struct {
	to, last, by, step, format, out, reason string
	n                                       int
	replace                                 bool
	ask                                     remote.Question
	asking                                  loadflags.Flags
}

// query is one question under way.
type query struct {
	*queryFlags
	e      *command.Env
	server *remote.Server
	now    time.Time
	args   []string // behind WHAT
}

// verbs are what may be asked.
var verbs = map[string]func(*query) error{
	"types": (*query).types, "labels": (*query).labels, "series": (*query).series, "heatmap": (*query).heatmap,
	"top": (*query).top, "flame": (*query).flame, "diff": (*query).diff, "findings": (*query).findings, "profile": (*query).profile, "regressions": (*query).regressions,
	"cost": (*query).cost, "pgo": (*query).pgo, "pin": (*query).pin, "pins": (*query).pins, "unpin": (*query).unpin, "incidents": (*query).incidents,
}

func (f *queryFlags) run(e *command.Env, args []string) error {
	if len(args) == 0 {
		return command.Usagef("nothing to query: types, labels, series, top, cost, flame, diff, regressions, findings, heatmap, pgo, profile, incidents, pin, pins or unpin")
	}
	verb := verbs[args[0]]
	if verb == nil {
		return command.Usagef("there is no query %q%s", args[0], command.Meant(args[0], []string{"types", "labels", "series", "top", "flame", "diff", "regressions", "findings", "heatmap", "profile", "cost", "pgo", "pin", "pins", "unpin", "incidents"}))
	}
	if !slices.Contains([]string{"text", "md", "csv", "json"}, f.format) {
		return command.Usagef("-format: there is no %q; choose text, md, csv or json", f.format)
	}
	if f.reason != "" && args[0] != "pin" {
		return command.Usagef("-reason is for pin: %s does nothing with it", args[0])
	}
	if f.last != "" {
		if f.ask.From != "" {
			return command.Usagef("-last and -from both say when the range begins: give one of them")
		}
		if _, err := remote.ParseLength(f.last); err != nil {
			return command.Usagef("-last: %w", err)
		}
		f.ask.From = "now-" + f.last
	}
	server, err := serverAt(f.to, &f.asking)
	if err != nil {
		return err
	}
	return verb(&query{f, e, server, time.Now(), args[1:]})
}

// serverAt makes a client of the server at an address.
func serverAt(to string, asking *loadflags.Flags) (*remote.Server, error) {
	access, err := asking.Access(to)
	if err != nil {
		return nil, command.Usage(err)
	}
	server, err := remote.New(to, access)
	if err != nil {
		return nil, command.Usagef("-to: %w", err)
	}
	return server, nil
}

// selector makes what names series a selector: braces are one, and a word is a service.
func selector(text string) string {
	if text == "" || strings.HasPrefix(strings.TrimSpace(text), "{") {
		return text
	}
	return remote.ServiceLabels(text)
}

// one is the question of which the series are named by at most one argument.
func (q *query) one() (remote.Question, error) {
	ask := q.ask
	if len(q.args) > 1 {
		return ask, command.Usagef("too many arguments: %q (one selector takes all labels: {service_name=\"shop\",pod=\"a\"})", q.args[1:])
	}
	if len(q.args) == 1 {
		ask.Labels = selector(q.args[0])
	}
	return ask, nil
}

// selection asks the server what the question stands for.
func (q *query) selection() (remote.Selection, error) {
	ask, err := q.one()
	if err != nil {
		return remote.Selection{}, err
	}
	sel, err := q.server.Resolve(q.e.Ctx, ask, q.now)
	return sel, door.Remote(err)
}

// shown prints a sheet in the form that was asked for.
func (q *query) shown(s *report.Sheet, err error) error {
	if err != nil {
		return door.Remote(err)
	}
	if len(s.Rows) == 0 && q.format == "text" {
		return command.Nothingf("%s has none in this range (-last 7d looks further back)", q.server)
	}
	return command.Buffered(q.e.Stdout, func(w io.Writer) error {
		switch q.format {
		case "md":
			return report.WriteSheetMarkdown(w, s)
		case "csv":
			return report.WriteSheetCSV(w, s)
		case "json":
			return report.WriteJSON(w, map[string]any{"schema": "loupe.query/1", "server": q.server.String(), s.Key: s})
		}
		return report.WriteSheet(w, s, q.e.Style())
	})
}

func (q *query) types() error {
	if len(q.args) > 0 {
		return command.Usagef("too many arguments: %q (the types are those of all series)", q.args)
	}
	r, err := q.ask.Range(q.now)
	if err != nil {
		return command.Usage(err)
	}
	types, err := q.server.Types(q.e.Ctx, r)
	return q.shown(kept.Types(types), err)
}

func (q *query) labels() error {
	r, err := q.ask.Range(q.now)
	if err != nil {
		return command.Usage(err)
	}
	switch len(q.args) {
	case 0:
		names, err := q.server.LabelNames(q.e.Ctx, "", r)
		return q.shown(kept.Names("labels", names), err)
	case 1, 2:
		labels := ""
		if len(q.args) == 2 {
			labels = selector(q.args[1])
		}
		values, err := q.server.LabelValues(q.e.Ctx, q.args[0], labels, r)
		return q.shown(kept.Names("values", values), err)
	}
	return command.Usagef("too many arguments: want labels [NAME [SELECTOR]]")
}

// steps is how long a step of a range is: a sixtieth of it in whole seconds, or as it was
// said.
func (q *query) steps(r remote.Range) (time.Duration, error) {
	if q.step == "" {
		return max(time.Second, (r.Until.Sub(r.From) / 60).Round(time.Second)), nil
	}
	d, err := remote.ParseLength(q.step)
	if err == nil && d < time.Second {
		err = fmt.Errorf("want a second at least")
	}
	if err != nil {
		return 0, command.Usagef("-step: %w", err)
	}
	return d, nil
}

func (q *query) series() error {
	sel, err := q.selection()
	if err != nil {
		return err
	}
	step, err := q.steps(sel.Range)
	if err != nil {
		return err
	}
	var by []string
	if q.by != "" {
		by = strings.Split(q.by, ",")
	}
	all, err := q.server.Series(q.e.Ctx, sel, by, step)
	return q.shown(kept.Series(sel.Type, all, sel.Range.Until.Sub(sel.Range.From), step), err)
}

func (q *query) heatmap() error {
	sel, err := q.selection()
	if err != nil {
		return err
	}
	step, err := q.steps(sel.Range)
	if err != nil {
		return err
	}
	all, err := q.server.Heatmap(q.e.Ctx, sel, step)
	return q.shown(kept.Heatmap(sel.Type, all), err)
}

// merged gets the sum of what is selected as a file, which other commands read under the
// address that names it.
func (q *query) merged(ask remote.Question) (file string, err error) {
	if _, err := ask.Range(q.now); err != nil {
		return "", command.Usage(err)
	}
	in, err := door.TakeOne(q.e, door.New(q.e, "", &q.asking), q.server.Address(ask))
	if err != nil {
		return "", err
	}
	return in.Path, nil
}

// handed shows what is selected by another command, whose last argument is the profile.
func (q *query) handed(args ...string) error {
	ask, err := q.one()
	if err != nil {
		return err
	}
	file, err := q.merged(ask)
	if err != nil {
		return err
	}
	return command.Exit(q.e.Call(append(args, file)))
}

func (q *query) findings() error { return q.handed("report") }

func (q *query) flame() error {
	if q.out == "" {
		return command.Usagef("-o names the file of the flame graph: flame.html, or flame.svg for a picture")
	}
	return q.handed("pprof", "-flame", "-output="+q.out)
}

func (q *query) profile() error {
	if q.out == "" {
		return command.Usagef("-o names the file of the profile: shop.pb.gz")
	}
	return q.handed("pprof", "-proto", "-output="+q.out)
}

// diff holds one selection against another: two of series, or of one the range that was
// named against one of the same length until now.
func (q *query) diff() error {
	before, after := q.ask, q.ask
	switch len(q.args) {
	case 0, 1:
		if q.ask.Until == "" {
			return command.Usagef("a difference needs two sides: give two selectors, or -from and -until of the earlier range")
		}
		r, err := q.ask.Range(q.now)
		if err != nil {
			return command.Usage(err)
		}
		after.From, after.Until = "now-"+r.Until.Sub(r.From).String(), ""
		if len(q.args) == 1 {
			before.Labels, after.Labels = selector(q.args[0]), selector(q.args[0])
		}
	case 2:
		before.Labels, after.Labels = selector(q.args[0]), selector(q.args[1])
	default:
		return command.Usagef("too many arguments: a difference is of two selectors")
	}
	old, err := q.merged(before)
	if err != nil {
		return err
	}
	now, err := q.merged(after)
	if err != nil {
		return err
	}
	return command.Exit(q.e.Call([]string{"compare", old, now}))
}
