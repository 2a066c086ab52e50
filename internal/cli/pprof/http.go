package pprof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"loupe/analysis/pprof"
	"loupe/format/kind"
	"loupe/format/profile"
	"loupe/internal/cli/command"
	"loupe/internal/cli/pages"
	"loupe/source"
	"loupe/web"
)

// serve shows the profile on the pages of loupe open until the user interrupts: -http.
// The addresses of go tool pprof's own pages mean what they mean there.
func (s *pprofSession) serve() error {
	s.interact = true
	address := s.flags.http
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return command.Usagef("-http: %w (as in localhost:8080, or :0 for any port)", err)
	}
	if host == "" {
		host = "localhost"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("cannot serve on %s: %w (-http :0 takes a port that is free)", address, err)
	}
	open := !l.Addr().(*net.TCPAddr).IP.IsLoopback()
	if open {
		s.warn(fmt.Sprintf("warning: %s can be reached from other machines; only the secret address below protects it", host))
	}
	return s.e.WithTemp(func(temp string) error {
		at, err := servedFile(s.p, temp)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		p := &pprofPages{s: s}
		src := web.Source{Name: filepath.Base(at), Files: []string{filepath.Base(at)}, Kind: "files", Open: func(context.Context) (*web.Opened, error) { return p.open(at) }}
		w, err := web.New(s.e.Ctx, l.Addr().String(), web.Options{
			Sources: []web.Source{src}, Version: command.Version(), Edit: pages.Editor(), Pages: pages.FS(), Anywhere: open, Other: p.serve,
		})
		if err != nil {
			return errors.Join(err, l.Close())
		}
		defer w.Close()
		home := w.Address() + p.place("flame", s.flags.config)
		fmt.Fprintln(s.e.Stdout, "Serving web UI on", home)
		if !s.flags.noBrowser {
			for _, b := range pages.Browsers() {
				if exec.Command(b[0], append(b[1:], home)...).Start() == nil {
					break
				}
			}
		}
		return w.Serve(s.e.Ctx, l)
	})
}

// servedFile writes what was read, added up and subtracted as the profile that the
// pages show.
func servedFile(p *profile.Profile, dir string) (string, error) {
	name := "profile.pb.gz"
	if len(p.Mappings) > 0 && p.Mappings[0].File != "" {
		name = strings.Map(fileNameRune, filepath.Base(p.Mappings[0].File)) + ".pb.gz"
	}
	at := filepath.Join(dir, name)
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	return at, errors.Join(p.Encode(f), f.Close())
}

// pprofPages answer the addresses of go tool pprof's pages.
type pprofPages struct {
	s  *pprofSession
	mu sync.Mutex // one report at a time
}

// open opens the profile for the pages.
func (h *pprofPages) open(at string) (*web.Opened, error) {
	o, err := pages.OpenFiles(h.s.e, []*source.Input{{Name: filepath.Base(at), Path: at, Kind: kind.Profile}}, nil)
	if err != nil {
		return nil, err
	}
	o.Source = func(_ *profile.Profile, file string) ([]byte, error) { return h.s.source(file, &h.s.flags.config) }
	o.Binary = h.s.find.Binary
	return o, nil
}

// shownByPages are the options that the pages know, by their names there.
var shownByPages = map[string]string{
	"focus": "focus", "ignore": "ignore", "hide": "hide", "show": "show", "show_from": "show_from", "tagfocus": "tagfocus", "tagignore": "tagignore",
	"sample_index": "type", "relative_percentages": "relative_percentages", "noinlines": "noinlines",
}

// place is where in the pages a profile is seen with the options of a configuration,
// as far as they know them.
func (h *pprofPages) place(tab string, cfg pprof.Config) string {
	at := url.Values{}
	for name, values := range pprof.ToAddress(cfg, pprof.Defaults()) {
		if as := shownByPages[name]; as != "" {
			at[as] = values
		}
	}
	if cfg.NoInlines {
		at.Set("inlines", "0")
	}
	if tab != "flame" {
		at.Set("tab", tab)
	}
	if len(at) == 0 {
		return "#/1/profile"
	}
	return "#/1/profile?" + at.Encode()
}

// knownToPages tells whether the pages know all options of a configuration.
func knownToPages(cfg, from pprof.Config) bool {
	for name := range pprof.ToAddress(cfg, from) {
		if shownByPages[name] == "" {
			return false
		}
	}
	return true
}

// pprofPage is one of go tool pprof's pages.
type pprofPage struct {
	names []string
	// tab is where a browser sees the same in the pages; "" for what has no such place.
	tab string
	// command is the report, with the expression of the address behind it where param
	// tells so.
	command string
	param   bool
	kind    string // of the content
}

const (
	plainText = "text/plain; charset=utf-8"
	htmlText  = "text/html; charset=utf-8"
)

var pprofAddresses = []pprofPage{
	{[]string{"flamegraph", "flamegraph2", "flamegraphold"}, "flame", "", false, htmlText},
	{[]string{"top"}, "top", "top", false, plainText},
	{[]string{"graph"}, "graph", "svg", false, "image/svg+xml"},
	{[]string{"tree"}, "", "tree", false, plainText},
	{[]string{"peek"}, "", "peek", true, plainText},
	{[]string{"source"}, "", "weblist", true, htmlText},
	{[]string{"disasm"}, "", "disasm", true, plainText},
	{[]string{"tags"}, "", "tags", false, plainText},
	{[]string{"traces"}, "", "traces", false, plainText},
	{[]string{"download"}, "", "proto", false, "application/vnd.google.protobuf+gzip"},
}

// pprofPolicy is for what is no page of loupe's own: reports as pictures and listings.
const pprofPolicy = "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"

// serve answers an address of go tool pprof's pages, with or without the /ui in front,
// and tells whether it is one. A browser is sent to the pages where they show the same;
// everybody else gets the report.
func (h *pprofPages) serve(w http.ResponseWriter, r *http.Request, name string) bool {
	if name = strings.TrimPrefix(name, "ui/"); name == "" || name == "ui" {
		name = "graph" // what pprof shows first
	}
	if name == "saveconfig" || name == "deleteconfig" {
		h.settings(w, r, name)
		return true
	}
	i := slices.IndexFunc(pprofAddresses, func(p pprofPage) bool { return slices.Contains(p.names, name) })
	if i < 0 {
		return false
	}
	p, q := pprofAddresses[i], r.URL.Query()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "nothing here can be changed", http.StatusMethodNotAllowed)
		return true
	}
	cfg, err := pprof.FromAddress(h.s.flags.config, q)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return true
	}
	looks := strings.Contains(r.Header.Get("Accept"), "text/html")
	if p.tab != "" && (p.command == "" || looks && knownToPages(cfg, pprof.Defaults())) {
		home := r.URL.Path[:strings.Index(r.URL.Path[1:], "/")+2] // the token
		w.Header().Set("Location", home+h.place(p.tab, cfg))
		w.WriteHeader(http.StatusSeeOther)
		return true
	}
	var b bytes.Buffer
	if err := h.report(&b, p, cfg, q.Get("f")); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return true
	}
	head := w.Header()
	head.Set("Content-Security-Policy", pprofPolicy)
	head.Set("Content-Type", p.kind)
	if p.command == "proto" {
		head.Set("Content-Disposition", "attachment;filename=profile.pb.gz")
	}
	_, _ = w.Write(b.Bytes()) // the browser may be gone
	return true
}

// mostInPages is how many files or functions a page of go tool pprof lists, those with
// the most weight.
const mostInPages = 50

// report writes the report of a page, as go tool pprof would: an address without a
// function is about all of them, and peek tells lines apart.
func (h *pprofPages) report(w io.Writer, p pprofPage, cfg pprof.Config, expression string) error {
	if p.command == "proto" {
		return h.s.p.Encode(w) // all of it, as there
	}
	words := []string{p.command}
	if p.param {
		words = append(words, expression)
	}
	switch {
	case p.command == "top" && cfg.NodeCount == -1:
		cfg.NodeCount = 500
	case p.command == "peek":
		cfg.Granularity = "lines"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r, err := pprof.New(h.s.p, words, cfg, h.s.env())
	if err != nil {
		return err
	}
	switch p.command {
	case "svg":
		return h.s.image(w, r)
	case "weblist":
		return webListOf(w, r, mostInPages)
	case "disasm":
		return pprof.WriteHeaviest(r, w, mostInPages)
	}
	return r.Write(w)
}

// settings keeps the options of an address under a name, or forgets them, in the file
// that go tool pprof keeps them in. It wants a POST: a link that is followed changes
// nothing.
func (h *pprofPages) settings(w http.ResponseWriter, r *http.Request, what string) {
	name := r.URL.Query().Get("config")
	switch {
	case name == "":
		http.Error(w, "say the name: "+what+"?config=NAME", http.StatusBadRequest)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		w.Header().Set("Content-Type", htmlText)
		verb := map[string]string{"saveconfig": "Keep these options under the name", "deleteconfig": "Forget the options under the name"}[what]
		fmt.Fprintf(w, "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>loupe pprof</title><form method=\"post\"><p>%s %s? <button>Yes</button></p></form></html>\n", verb, html.EscapeString(name))
		return
	}
	cfg, err := pprof.FromAddress(h.s.flags.config, r.URL.Query())
	if err == nil {
		err = changeSettings(func(all *pprof.Settings) error {
			if what == "saveconfig" {
				all.Save(name, cfg)
			} else if !all.Delete(name) {
				return fmt.Errorf("nothing is saved under %q", name)
			}
			return nil
		})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "done\n")
}
