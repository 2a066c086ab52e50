package cli

import (
	"bufio"
	"errors"
	"os"

	"loupe/load"
	"loupe/loadlog"
)

var loadCommand = &command{
	name:  "load",
	short: "put load on a URL and print what it took; hey's flags",
	args:  "[flags] URL",
	example: []string{
		"loupe load http://localhost:8080/",
		"loupe load -m POST -c 100 -n 10000 'http://localhost:5000/search?term=topic&cnn=on&bbc=on&nyt=on'",
		"loupe load -z 30s -q 10 -c 20 http://localhost:8080/     200 requests a second, on schedule",
		"loupe load -o csv http://localhost:8080/ > requests.csv",
		"loupe load -repeat 5 -against http://localhost:8081/ http://localhost:8080/     which is faster?",
	},
	about: `
Every flag of hey means what it means in hey, and the text has hey's layout.
Exactly -n requests are sent; every one is kept; -a is really sent; percentiles
that too few requests lie beyond are left out. Ctrl-C prints what there is.
Exits with 1 when every request failed, with 4 when nothing answers at all.`,
	setup: func(fs *flagSet) func(*env, []string) error {
		var f loadFlags
		f.declare(fs, heyRequests)
		out := fs.String("o", "", "`form` of the output: "+loadForms)
		template := fs.String("template", "", "print through the template in `file` (text/template, hey's names)")
		asJSON := fs.Bool("json", false, "same as -o json")
		save := fs.String("save", "", "also write every request to `file` (docs/formats/load.md); with -repeat\nthose of each run into a folder")
		var against againstFlags
		against.declare(fs)
		return func(e *env, args []string) error {
			if *asJSON {
				*out = "json"
			}
			address, err := oneArg(args, "the URL")
			if err != nil {
				return err
			}
			if against.used() {
				if (*out != "" && *out != "json" && *out != "md") || *template != "" {
					return usagef("-o: runs that are compared are printed as text, json or md")
				}
				arms, err := against.arms(address, f.config)
				if err != nil {
					return err
				}
				return against.run(e, arms, *save, *out)
			}
			write, err := loadOutput(*out, *template)
			if err != nil {
				return err
			}
			return f.run(e, address, write, *save)
		}
	},
}

// heyRequests is how many requests hey sends when it is not told.
const heyRequests = 200

func (f *loadFlags) run(e *env, address string, write writeLoad, save string) error {
	c, err := f.config(address)
	if err != nil {
		return usageError{err}
	}
	if f.c > f.n && f.z == "" {
		e.progress(false)("-c %d is more than -n %d: %d workers are used", f.c, f.n, f.n)
	}
	log, err := load.Run(e.ctx, c)
	if err != nil {
		return usageError{err}
	}
	if save != "" {
		if err := saveLoad(save, log); err != nil {
			return err
		}
	}
	w := bufio.NewWriter(e.stdout)
	if err := errors.Join(write(w, log), w.Flush()); err != nil {
		return err
	}
	s := log.Summary()
	if s.Requests > 0 && s.Responses == 0 {
		return allFailed(c.URL, s)
	}
	return nil
}

func saveLoad(name string, l *loadlog.Log) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(l.Encode(file), file.Close())
}
