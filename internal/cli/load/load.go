// Package load is loupe load: load on a service, and what becomes of it.
package load

import (
	"bufio"
	"errors"
	"fmt"

	"loupe/capture/load"
	"loupe/format/loadlog"
	"loupe/internal/cli/command"
	"loupe/internal/cli/loadflags"
)

// Command is loupe load.
var Command = &command.Command{
	Name:  "load",
	Short: "load test a URL: latency and throughput; takes hey's flags",
	Args:  "[flags] URL…",
	Example: []string{
		"loupe load http://localhost:8080/",
		"loupe load -m POST -c 100 -n 10000 'http://localhost:5000/search?term=topic&cnn=on&bbc=on&nyt=on'",
		"loupe load -rate 5k/s -z 30s http://localhost:8080/      at a fixed rate (open loop)",
		"loupe load -stages 30s:1k,1m:5k,30s:0 http://localhost:8080/",
		"loupe load -find-max 'p99<50ms' http://localhost:8080/   the highest rate it can sustain",
		"loupe load -fail 'p99<50ms,errors<0.1%' -n 10000 http://localhost:8080/ && echo good enough",
		"loupe load 'http://localhost:8080/item/{{rand 1 1000}}?id={{uuid}}'",
		"loupe load -curl \"curl -X POST -H 'Content-Type: application/json' -d '{}' http://localhost:8080/\"",
		"loupe load -o csv http://localhost:8080/ > requests.csv",
		"loupe load -o trace https://localhost:8443/              where a single request spends its time",
		"loupe load -repeat 5 -against http://localhost:8081/ http://localhost:8080/     which is faster?",
	},
	About: `
Every flag of hey means what it means in hey, and the text has hey's layout. Exactly -n
requests are sent; every one is recorded; -a is really sent; percentiles with too few requests
beyond them are left out. Ctrl-C prints the results so far.

Without a rate (closed loop) each worker waits for its answer before it sends again; a service
that stalls then stops the load, and its times look better than they are (coordinated
omission). With -rate, -stages, -replay or -q each request has a due time, and its wait to be
sent counts.

Several URLs are requested in turn; "3:http://host/path" gets three times as many requests as
one without a number. URLs, headers and bodies may contain {{seq}} {{uuid}} {{rand}} {{rand 1
100}} {{line "file"}} {{csv "column"}} {{now}}, which are something else in every request;
{{"{{"}} is two braces. docs/guide/load.md has the details.

Exits with 1 if every request failed, with 3 if -fail is not met or -find-max finds nothing,
with 4 if nothing answers at all.`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		var f loadflags.Flags
		f.Declare(fs, loadflags.HeyRequests)
		var r loadRun
		var rec loadRecord
		fs.StringVar(&r.out, "o", "", "output `format`:\n"+loadForms)
		fs.StringVar(&r.template, "template", "", "print through the template in `file` (text/template, hey's names)")
		asJSON := fs.Bool("json", false, "same as -o json; with -o trace its phases as JSON")
		live := fs.Bool("live", true, "show progress on a terminal")
		quiet := fs.Bool("quiet", false, "print only results and errors")
		fs.StringVar(&r.save, "save", "", "also write every request to `file` (docs/formats/load.md); with -repeat one\nfile per run into a folder")
		fs.Group("What it is for", func() {
			r.fail.declare(fs)
			fs.StringVar(&r.find, "find-max", "", "find the highest rate that meets these `conditions` (see -fail), starting at\n-rate or 100/s, with -z or 5s at each; shows where the service saturates")
			r.against.declare(fs)
			rec.declare(fs)
		})
		return func(e *command.Env, args []string) error {
			f.Stdin, e.NoLive, e.Quiet = e.Stdin, !*live, *quiet
			if r.out == traceForm {
				return r.trace(e, &f, args, *asJSON)
			}
			if *asJSON {
				r.out = "json"
			}
			if r.against.used() {
				return r.runAgainst(e, &f, args)
			}
			c, err := f.Config(args...)
			if err != nil {
				return command.Usage(err)
			}
			if f.IsGiven("c") && c.Requests > 0 && c.Concurrency > c.Requests {
				e.Progress(false)("-c %d is more than -n %d: %d workers are used", f.C, c.Requests, c.Requests)
			}
			if rec.used() {
				return rec.run(e, &r, &f, c.URL, func() (load.Config, error) { return f.Config(args...) })
			}
			if r.find != "" {
				return r.findMax(e, &f, c)
			}
			return r.run(e, c)
		}
	},
}

// loadRun is what becomes of the requests of a load.
type loadRun struct {
	out, template, save string
	find                string
	fail                failing
	against             againstFlags
}

func (r *loadRun) run(e *command.Env, c load.Config) error {
	write, err := loadOutput(r.out, r.template)
	if err != nil {
		return err
	}
	log, err := runLoad(e, c)
	if err != nil {
		return refusal(err)
	}
	if e.Ctx.Err() == nil { // a part of a run is not judged
		log.Wanted = r.fail.wanted
	}
	if r.save != "" {
		if err := saveLoad(r.save, log); err != nil {
			return err
		}
	}
	w := bufio.NewWriter(e.Stdout)
	if err := errors.Join(write(w, log), w.Flush()); err != nil {
		return err
	}
	return verdict(e, &c, log.Summary())
}

// runAgainst puts load on one service or two, several times.
func (r *loadRun) runAgainst(e *command.Env, f *loadflags.Flags, args []string) error {
	switch {
	case r.out != "" && r.out != "json" && r.out != "md" || r.template != "":
		return command.Usagef("-o: compared runs are printed as text, json or md")
	case r.find != "" || r.fail.wanted != "":
		return command.Usagef("-repeat, -against and -start exclude -fail and -find-max")
	}
	address, err := command.OneArg(args, "the URL")
	if err != nil {
		return err
	}
	arms, err := r.against.arms(address, func(address string) (load.Config, error) { return f.Config(address) })
	if err != nil {
		return err
	}
	return r.against.run(e, arms, r.save, r.out)
}

// refusal is the error of a run that could not begin: what was asked for
// cannot be.
func refusal(err error) error {
	if _, ok := errors.AsType[*load.RemoteError](err); ok {
		err = fmt.Errorf("%w (-yes-remote allows it)", err)
	}
	return command.Usage(err)
}

func saveLoad(name string, l *loadlog.Log) error {
	file, err := command.CreateFile(name)
	if err != nil {
		return err
	}
	return errors.Join(l.Encode(file), file.Close())
}
