package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"

	"loupe/pprof"
	"loupe/report"
)

// serve shows the profile on web pages until the user interrupts: -http.
//
// Only this machine is served, and only who knows the token that the printed
// address has; a page of another site can neither read nor guess it. Nothing
// is changed by a request.
func (s *pprofSession) serve() error {
	s.interact = true
	address := s.flags.http
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return usagef("-http: %w (as in localhost:8080, or :0 for any port)", err)
	}
	if host == "" {
		host = "localhost"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("cannot serve on %s: %w (-http :0 takes a port that is free)", address, err)
	}
	h := &pprofPages{s: s, token: rand.Text(), host: l.Addr().String()}
	if h.open = !l.Addr().(*net.TCPAddr).IP.IsLoopback(); h.open {
		s.warn(fmt.Sprintf("warning: %s can be reached from other machines; the address below is all that protects it", host))
	}
	home := fmt.Sprintf("http://%s/%s/", net.JoinHostPort(host, portOf(l)), h.token)
	fmt.Fprintln(s.e.stdout, "Serving web UI on", home)
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return s.e.ctx }}
	go func() {
		<-s.e.ctx.Done()
		server.Close()
	}()
	if !s.flags.noBrowser {
		for _, b := range browsers() {
			if exec.Command(b[0], append(b[1:], home)...).Start() == nil {
				break
			}
		}
	}
	if err := server.Serve(l); err != nil && s.e.ctx.Err() == nil {
		return err
	}
	return nil
}

func portOf(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// pprofPages are the pages behind -http.
type pprofPages struct {
	s           *pprofSession
	token, host string
	open        bool // to other machines

	mu sync.Mutex // of the binaries and places of sources, which a session keeps
}

// page is one of them.
type page struct {
	Name, Title string
	Param       string // what the expression in the address is for; "" takes none
	kind        string // of the content
	write       func(h *pprofPages, w io.Writer, q url.Values) error
}

func text(command string) func(*pprofPages, io.Writer, url.Values) error {
	return func(h *pprofPages, w io.Writer, q url.Values) error {
		r, err := h.report(command, q)
		if err != nil {
			return err
		}
		return r.Write(w)
	}
}

const (
	plain = "text/plain; charset=utf-8"
	html  = "text/html; charset=utf-8"
)

var pages = []page{
	{"flame", "Flame graph", "", html, (*pprofPages).flame},
	{"graph", "Call graph", "", "image/svg+xml", (*pprofPages).graph},
	{"top", "Top", "", plain, text("top")},
	{"tree", "Tree", "", plain, text("tree")},
	{"peek", "Callers and callees", "function", plain, text("peek")},
	{"source", "Source", "function", html, (*pprofPages).source},
	{"disasm", "Instructions", "function", plain, (*pprofPages).disasm},
	{"tags", "Labels", "", plain, text("tags")},
	{"traces", "Stacks", "", plain, text("traces")},
}

// ServeHTTP checks who asks before it answers.
func (h *pprofPages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cache-Control", "no-store")
	head.Set("Content-Security-Policy", "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'")
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case !h.isOurs(r.Host):
		http.Error(w, "this server answers to its own address only", http.StatusForbidden)
	case subtle.ConstantTimeCompare([]byte(token), []byte(h.token)) != 1:
		http.Error(w, "the address is not complete: open the one that loupe has printed", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "nothing here can be changed", http.StatusMethodNotAllowed)
	default:
		h.page(w, rest, r.URL.Query())
	}
}

// isOurs says whether a Host header names this machine: a name that resolves
// to it by somebody else's will does not.
func (h *pprofPages) isOurs(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	_, ours, _ := net.SplitHostPort(h.host)
	if port != "" && port != ours {
		return false
	}
	if h.open && net.ParseIP(strings.Trim(name, "[]")) != nil {
		return true // no name, so nobody else's
	}
	asked, _, _ := net.SplitHostPort(h.s.flags.http)
	return name == "localhost" || name == "127.0.0.1" || name == "::1" || asked != "" && name == asked
}

func (h *pprofPages) page(w http.ResponseWriter, name string, q url.Values) {
	var b bytes.Buffer
	for _, p := range pages {
		if p.Name != name {
			continue
		}
		if err := p.write(h, &b, q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", p.kind)
		_, _ = w.Write(b.Bytes()) // the browser may be gone
		return
	}
	if name != "" {
		http.Error(w, "there is no such page", http.StatusNotFound)
		return
	}
	if err := h.index(&b, q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", html)
	_, _ = w.Write(b.Bytes())
}

//go:embed pprof_http.html
var profilePage string

var profileTemplate = template.Must(template.New("index").Parse(profilePage))

// index lists the pages and the options.
func (h *pprofPages) index(w io.Writer, q url.Values) error {
	r, err := h.report("top", q)
	if err != nil {
		return err
	}
	var types []string
	for _, t := range h.s.p.SampleTypes {
		types = append(types, t.Type)
	}
	head := r.Header()
	settings := map[string]string{}
	for _, name := range []string{"focus", "ignore", "hide", "show", "show_from", "tagfocus", "tagignore"} {
		settings[name] = q.Get(name)
	}
	return profileTemplate.Execute(w, map[string]any{
		"Facts": head.Facts(r.Total, r.Config.Unit), "Pages": pages, "Types": types, "Type": r.Profile.SampleTypes[r.Index()].Type,
		"Settings": settings, "Query": template.URL(q.Encode()), "Function": q.Get("function"),
	})
}

// report prepares a report with the options of an address: those of the
// command line, and those that the address names.
func (h *pprofPages) report(command string, q url.Values) (*pprof.Report, error) {
	cfg := h.s.flags.config
	for key, values := range q {
		f := pprof.FindField(key)
		if f == nil || f.Name != key || key == "output" || key == "source_path" || key == "trim_path" {
			continue
		}
		if err := f.Set(&cfg, key, values[0]); err != nil {
			return nil, err
		}
	}
	words := []string{command}
	if pprof.Find(command).Param {
		if q.Get("function") == "" {
			return nil, errors.New("which function? Enter one on the first page")
		}
		words = append(words, q.Get("function"))
	}
	if command == "top" && cfg.NodeCount == -1 {
		cfg.NodeCount = 500
	}
	return pprof.New(h.s.p, words, cfg, h.s.env())
}

func (h *pprofPages) graph(w io.Writer, q url.Values) error {
	r, err := h.report("svg", q)
	if err != nil {
		return err
	}
	return h.s.image(w, r)
}

func (h *pprofPages) source(w io.Writer, q url.Values) error {
	r, err := h.report("weblist", q)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.s.webList(w, r)
}

func (h *pprofPages) disasm(w io.Writer, q url.Values) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return text("disasm")(h, w, q)
}

func (h *pprofPages) flame(w io.Writer, q url.Values) error {
	r, err := h.report("top", q)
	if err != nil {
		return err
	}
	return report.FlameHTML(w, flameOf(r))
}
