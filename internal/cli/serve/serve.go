// Package serve is loupe serve: it takes profiles of services all the time, keeps them, and
// answers questions about them.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"loupe/capture/incident"
	"loupe/capture/scrape"
	"loupe/internal/cli/command"
	"loupe/internal/cli/forwarding"
	"loupe/internal/cli/pages"
	"loupe/internal/cli/query"
	"loupe/internal/cli/stores"
	"loupe/store"
	"loupe/store/intake"
	"loupe/value/secret"
	"loupe/value/unit"
	"loupe/web"
	"loupe/web/fleet"
)

// Commands are loupe serve and those that speak to it.
var Commands = slices.Concat([]*command.Command{serveCommand}, query.Commands)

var serveCommand = &command.Command{
	Name:  "serve",
	Short: "continuous profiling of services: scrape, store, query, and answer Grafana",
	Args:  "[flags] [FROM TO]",
	Example: []string{
		"loupe serve                                      accept pushes on 127.0.0.1:4040",
		"loupe serve -local                               all Go programs here that serve /debug/pprof",
		"loupe serve -targets api-1:6060,api-2:6060       these services",
		"loupe serve -targets prometheus.yml              targets as Prometheus finds them",
		"loupe serve -store clickhouse://db:8123/loupe    store the profiles in ClickHouse",
		"loupe serve -local -alerts alerts.yml            with a capture when something goes wrong",
		"loupe serve -tokens tokens -new-token read,write:ada",
		"loupe serve -listen :4040 -tokens tokens -tls-cert cert.pem -tls-key key.pem",
		"loupe serve -local -forward http://pyroscope:4040    send everything to Pyroscope too",
		"loupe serve -archive 's3://bucket/prefix?endpoint=https://host:9000'",
		"loupe serve -copy old/profiles /srv/profiles     copy all profiles to another store",
		"loupe serve -copy old/profiles clickhouse://db:8123/loupe",
		"loupe serve -copy s3://bucket/prefix /srv/profiles    restore an archive",
	},
	About: `
Profiles are scraped or pushed. -targets names the services to scrape, or a file with
scrape_configs as Prometheus defines them (reloaded when it changes); -local finds the
programs on this machine. They need only net/http/pprof. A target is asked for one
profile at a time, and as rarely as the cost limit -budget requires. The service of a
host:port is called what its program is called (/debug/pprof/cmdline). Pushes are accepted
from Pyroscope's clients (POST /ingest and push.v1), OpenTelemetry (OTLP v1development,
HTTP and gRPC), and clients of Parca's WriteRaw. Allocations, contentions and delays,
which Go counts from the start of a process, are stored as differences; restarts are
detected.

-alerts applies rules like those of loupe watch to every target. When a rule fires, the
readings before it and profiles of the moment become an ordinary recording, which the
pages list and hooks report. docs/guide/serve.md describes the file. With -archive, or if
-incidents is s3://bucket/prefix, recordings are also uploaded, survive the loss of the
disk, and are fetched when they are opened.

Open the address in a browser to see the services, what they cost, and their profiles.
The query API is Pyroscope's querier.v1: in Grafana, add a data source of type Pyroscope
with this address; profilecli works as well.

An address that other machines can reach needs -tokens, a file with the digests of tokens
that may read, write or both (-new-token adds one), and TLS; with -insecure, a proxy in
front is expected to provide TLS. A token is sent as a bearer token, or as the password of
basic authentication.

Accepted profiles are on disk. They are kept in full for a week, as 5-minute sums for a
month and as hourly sums for a year, and dropped earlier if -keep is reached. On Ctrl-C
or SIGTERM, requests in progress are completed.

-store keeps the profiles in ClickHouse instead of a folder: one server, or the shards of
a cluster (one host of each, and ?cluster=NAME). If the URL has no user, CLICKHOUSE_USER
and CLICKHOUSE_PASSWORD are used. Any number of loupe serve processes can share a database;
-shard 1/3, 2/3 and 3/3 divide -targets among three of them, which must have the same list.

-archive uploads blocks to an S3 bucket as soon as they are sealed: ten minutes after their
first profile, or at the next start. Data that is downsampled or dropped locally stays in the
archive at full resolution. Each block is read back and checked against its SHA-256.
Credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from the profile
AWS_PROFILE in ~/.aws/credentials.

-forward also sends every accepted profile to a Pyroscope: scraped and pushed ones, counters
as differences. The URL may contain user and password; tokens and tenants go into the file of
-forward-headers. Ingestion never waits: up to 10,000 profiles are queued while the server
is down, and dropped profiles are reported.

-copy FROM TO copies all profiles and pins from one store to another and exits. FROM is a
folder, a ClickHouse database or an archive, TO a folder or a database, which may already
contain profiles. Neither may be in use. Downsampled data keeps its resolution. At the end
both stores are compared, profile by profile. After Ctrl-C or a failure, repeat the command
to continue.`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &flags{}
		fs.StringVar(&f.listen, "listen", "127.0.0.1:4040", "`address` to listen on; any but loopback needs -tokens and TLS")
		fs.StringVar(&f.data, "data", "", "`folder` for the profiles (default: loupe in the user's data folder)")
		fs.StringVar(&f.targets, "targets", "", "`list` of host:port, or a file of scrape_configs (.yml)")
		fs.StringVar(&f.store, "store", "", "`URL` of a ClickHouse database to use instead of -data: clickhouse://host:8123/database")
		fs.StringVar(&f.shard, "shard", "", "scrape only one in n of the targets: `i/n`, from 1/n to n/n")
		fs.BoolVar(&f.local, "local", false, "scrape the Go programs on this machine")
		fs.StringVar(&f.keep, "keep", "10GB", "maximum `bytes` on disk")
		fs.StringVar(&f.archive, "archive", "", "S3 `bucket` to upload sealed blocks to: s3://bucket/prefix")
		f.forward.Declare(fs)
		fs.BoolVar(&f.copying, "copy", false, "copy all profiles from one store to another: FROM TO")
		fs.StringVar(&f.alerts, "alerts", "", "`file` of alert rules for the targets (YAML; reloaded when it changes)")
		fs.StringVar(&f.incidents, "incidents", "", "`folder` or s3://bucket/prefix for the recordings of alerts (default: incidents below -data)")
		f.access.declare(fs)
		fs.Float64Var(&f.budget, "budget", 1, "maximum `percent` of one CPU that profiling may cost a target")
		return func(e *command.Env, args []string) error {
			if f.copying {
				return f.copy(e, fs, args)
			}
			return f.run(e, args)
		}
	},
}

type flags struct {
	copying                     bool
	listen, data, targets, keep string
	archive                     string
	forward                     forwarding.Flags
	store, shard                string
	alerts, incidents           string
	local                       bool
	budget                      float64
	access                      access
}

// place is where the profiles are kept: a folder, or a URL.
func (f *flags) place() (string, error) {
	if f.store != "" {
		if f.data != "" {
			return "", command.Usagef("-store and -data are two places for the same profiles: name one")
		}
		if f.archive != "" {
			return "", command.Usagef("-archive keeps the blocks of a folder: back up ClickHouse by its own BACKUP")
		}
		return f.store, nil
	}
	return f.folder()
}

// folder is that of -data, or the usual one.
func (f *flags) folder() (string, error) {
	if f.data != "" {
		return f.data, nil
	}
	dir, err := userData()
	if err != nil {
		return "", fmt.Errorf("%w: name a folder with -data", err)
	}
	return filepath.Join(dir, "loupe", "profiles"), nil
}

// userData is where programs keep data of a user, as the system has it.
func userData() (string, error) {
	switch runtime.GOOS {
	case "windows":
		return os.UserCacheDir() // %LocalAppData%, which does not roam
	case "darwin":
		return os.UserConfigDir() // ~/Library/Application Support
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "share"), err
}

// part reads -shard: which part of how many is ours, 0 of 0 for all.
func (f *flags) part() (i, n int, err error) {
	if f.shard == "" {
		return 0, 0, nil
	}
	first, second, _ := strings.Cut(f.shard, "/")
	i, errI := strconv.Atoi(first)
	n, errN := strconv.Atoi(second)
	switch {
	case errI != nil || errN != nil || i < 1 || i > n:
		return 0, 0, command.Usagef("-shard: want i/n with i from 1 to n, such as 2/3, not %q", f.shard)
	case f.local:
		return 0, 0, command.Usagef("-shard divides targets that every loupe serve sees; those of -local are seen by this one alone")
	case f.targets == "":
		return 0, 0, command.Usagef("-shard: there are no targets to divide (-targets names them)")
	}
	return i, n, nil
}

// jobs are what is taken profiles of; file is the one of -targets, if it is one. It is read
// before anybody is told that the server is ready.
func (f *flags) jobs() (jobs []*scrape.Job, file *scrape.File, err error) {
	if f.local && runtime.GOOS != "linux" {
		return nil, nil, command.Usagef("-local needs Linux, where one process may see which ports another listens on: name the targets with -targets")
	}
	if f.local {
		jobs = append(jobs, scrape.Local())
	}
	switch ext := filepath.Ext(f.targets); {
	case f.targets == "":
	case ext == ".yml" || ext == ".yaml":
		if file, err = scrape.ReadFile(f.targets); err != nil {
			return nil, nil, err
		}
	default:
		list := strings.Split(f.targets, ",")
		for i, t := range list {
			list[i] = strings.TrimSpace(t)
			if _, _, err := net.SplitHostPort(list[i]); err != nil {
				return nil, nil, command.Usagef("-targets: %q is not host:port, and no file that ends in .yml", t)
			}
		}
		jobs = append(jobs, scrape.Static(list...))
	}
	return jobs, file, nil
}

// copy is what -copy does, which no flag that is about serving goes with.
func (f *flags) copy(e *command.Env, fs *command.FlagSet, args []string) error {
	for _, name := range []string{"listen", "data", "targets", "local", "keep", "budget", "store", "shard", "alerts", "incidents", "tokens", "new-token", "tls-cert", "tls-key", "insecure", "archive", "forward", "forward-headers"} {
		if fs.Given(name) {
			return command.Usagef("-%s has no effect with -copy", name)
		}
	}
	if len(args) != 2 {
		return command.Usagef("-copy needs two stores, FROM and TO, not %d (a store is the folder that -data names, or what -store names)", len(args))
	}
	return stores.Copy(e, args[0], args[1])
}

func (f *flags) run(e *command.Env, args []string) error {
	if len(args) > 0 {
		return command.Usagef("too many arguments: %q (targets are named by -targets)", args)
	}
	if f.access.newToken != "" {
		return f.access.add(e)
	}
	bytes, err := unit.ParseBytes(f.keep)
	if err != nil || bytes <= 0 {
		return command.Usagef("-keep: want an amount such as 10GB, not %q", f.keep)
	}
	if f.budget <= 0 || f.budget > 100 {
		return command.Usagef("-budget: want a percentage above 0, up to 100")
	}
	jobs, file, err := f.jobs()
	if err == nil {
		err = errors.Join(f.access.check(f.listen), f.checkAlerts(len(jobs) > 0 || file != nil))
	}
	var archive *stores.Archiving
	if err == nil && f.archive != "" {
		archive, err = stores.OpenArchiving(f.archive)
	}
	if err != nil {
		return err
	}
	name, err := f.place()
	if err != nil {
		return err
	}
	part, parts, err := f.part()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("%w (Pyroscope or another loupe serve? -listen takes another port)", err)
	}
	defer listener.Close()
	if err := f.access.open(); err != nil {
		return err
	}
	engine, shown, err := stores.Open(e.Ctx, name)
	if err != nil {
		return err
	}
	s := &serving{e: e, engine: engine, policy: store.Policy{Bytes: int64(bytes)}, access: &f.access, archive: archive, forward: &f.forward}
	written, err := f.forward.Around(engine, s.tell)
	if err != nil {
		return errors.Join(err, engine.Close())
	}
	s.in = intake.New(written)
	s.scraper = scrape.New(s.take, scrape.Options{Budget: f.budget / 100, Tell: s.tell, Part: part, Parts: parts})
	if err := s.guard(f); err != nil {
		return errors.Join(err, engine.Close())
	}
	fmt.Fprintf(e.Stdout, "loupe serve listens on %s://%s, and keeps profiles in %s\n", f.access.scheme(), listener.Addr(), shown)
	defer e.Keeps()()
	if err := errors.Join(s.run(listener, jobs, file), engine.Close()); err != nil {
		return err
	}
	return command.Exit(command.ExitOK) // to be stopped is how it ends
}

// serving is a server that runs.
type serving struct {
	e       *command.Env
	engine  store.Engine
	in      *intake.Intake
	policy  store.Policy
	scraper *scrape.Scraper
	access  *access
	archive *stores.Archiving // nil without one
	forward *forwarding.Flags
	monitor *incident.Monitor // nil without rules
	alerts  string            // the file of them

	mu sync.Mutex // of what is written to the terminal
}

// tell prints a line about what happens.
func (s *serving) tell(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.e.Stderr, time.Now().Format("15:04:05"), command.Line(format, args...))
}

// drain is how long requests that are under way may take at the end.
const drain = 5 * time.Second

// run serves until the command is interrupted or cannot go on.
func (s *serving) run(listener net.Listener, jobs []*scrape.Job, file *scrape.File) error {
	ctx, stop := context.WithCancel(s.e.Ctx)
	defer stop()
	shown, err := web.New(ctx, listener.Addr().String(), web.Options{
		Fleet: fleet.NewPages(s.engine, fleet.PageOptions{Targets: s.targets(jobs, file), Incidents: s.incidents(), Recording: s.recording}),
		Token: strings.Trim(fleet.Path, "/"), Version: command.Version(), Pages: pages.FS(), Inside: true,
	})
	if err != nil {
		return err
	}
	defer shown.Close()
	server := &http.Server{
		Handler:           fleet.New(s.engine, s.in, fleet.Options{Tokens: s.access.needed(), About: s.about, Pages: shown, Recording: s.download}),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, Protocols: fleet.Protocols(),
	}
	var running sync.WaitGroup
	running.Go(func() {
		if file == nil {
			s.scraper.Run(ctx, jobs)
			return
		}
		s.scraper.RunFile(ctx, file, jobs)
	})
	sealed := make(chan struct{}, 1)
	running.Go(func() { s.maintain(ctx, sealed) })
	if s.archive != nil {
		running.Go(func() { s.archive.Run(ctx, s.engine, sealed, s.tell) })
	}
	var watching error
	if s.monitor != nil {
		running.Go(func() {
			if watching = s.monitor.RunFile(ctx, s.alerts); watching != nil {
				stop()
			}
		})
	}
	running.Go(func() { s.access.watch(ctx, s.tell) })
	running.Go(func() { rest(ctx) })
	var last sync.WaitGroup // what goes on until nothing comes in any more
	in, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	last.Go(func() { s.forward.Run(in) })
	running.Go(func() {
		<-ctx.Done()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		server.Shutdown(late)
	})
	err = server.Serve(s.access.around(listener))
	stop()
	running.Wait()
	end()
	last.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, watching)
}

// maintain does the housekeeping of the store, and tells when there may be new blocks.
func (s *serving) maintain(ctx context.Context, sealed chan<- struct{}) {
	every := time.NewTicker(time.Minute)
	defer every.Stop()
	told := 0
	for {
		if err := s.engine.Maintain(ctx, s.policy, time.Now()); err != nil && ctx.Err() == nil {
			s.tell("housekeeping: %v", err)
		}
		damage := stores.DamageOf(s.engine)
		for _, d := range damage[min(told, len(damage)):] {
			s.tell("damaged: %s", d)
		}
		told = len(damage)
		select {
		case sealed <- struct{}{}:
		default: // the archive is behind
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// states are the targets, by their addresses.
func (s *serving) states() []scrape.State {
	states := s.scraper.States()
	slices.SortFunc(states, func(a, b scrape.State) int {
		return strings.Compare(a.Target.URL.String(), b.Target.URL.String())
	})
	return states
}

// targets returns what the pages say of the targets; nil where none are asked.
func (s *serving) targets(jobs []*scrape.Job, file *scrape.File) func() []web.FleetTarget {
	if len(jobs) == 0 && file == nil {
		return nil
	}
	return func() (list []web.FleetTarget) {
		for _, t := range s.states() {
			one := web.FleetTarget{URL: secret.URL(t.Target.URL.String()), Service: t.Target.Labels[scrape.ServiceLabel], Taken: t.Taken}
			if !t.Last.IsZero() {
				one.Last = t.Last.UnixMilli()
			}
			if t.Every > 0 {
				one.Every, one.Cost = unit.Duration(t.Every.Round(time.Second)), unit.Duration(t.Cost)
			}
			if t.Err != nil {
				one.Error = t.Err.Error()
			}
			list = append(list, one)
		}
		return list
	}
}

// about is what a person sees who opens the address.
func (s *serving) about(w io.Writer) {
	fmt.Fprint(w, "loupe serve\n\nProfiles go in at /ingest, /push.v1.PusherService/Push, /v1development/profiles and /api/profiles/writeraw.\n"+
		"Questions are those of Pyroscope's querier.v1: a data source of that type in Grafana, or profilecli.\n\n")
	states := s.states()
	if len(states) == 0 {
		fmt.Fprintln(w, "No targets are asked for profiles.")
		return
	}
	fmt.Fprintf(w, "%s:\n", unit.Plural(len(states), "target"))
	for _, t := range states {
		fmt.Fprintf(w, "  %s  %s  %s", secret.URL(t.Target.URL.String()), command.Line("%s", t.Target.Labels[scrape.ServiceLabel]), unit.Plural(t.Taken, "profile"))
		if t.Every > 0 {
			fmt.Fprintf(w, ", a round every %v at a cost of %v at most", t.Every.Round(time.Second), t.Cost.Round(time.Millisecond))
		}
		if t.Err != nil {
			fmt.Fprint(w, command.Line(", %v", t.Err))
		}
		fmt.Fprintln(w)
	}
	s.aboutIncidents(w)
}
