// Package web shows what loupe knows of files in the browser: a server for this
// machine alone, whose pages (web/ui, built into web/dist) ask it for values of
// the analysis.
//
// The server computes, the browser draws. What is asked for is a list of
// [endpoint] values, one file for each view; their replies are the types of
// web/ui/api/types, which the tests generate. Everything is computed when it is
// first asked for and kept with its [subject]; who no longer waits for an
// answer does not have it computed.
//
// The package opens no file: whoever starts the server says how, see [Source].
package web

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"loupe/analysis/postmortem"
	"loupe/analysis/tiles"
	"loupe/format/dump"
	"loupe/format/profile"
	"loupe/format/symbol"
	"loupe/report"
	"loupe/session"
)

//go:embed dist
var dist embed.FS

// Source is something that can be opened.
type Source struct {
	// Name is what people call it: the path that was given.
	Name string
	// Files are the files of it: of one recording its folder or zip file.
	Files []string
	// Kind is "recording", "files" or "stacks".
	Kind string
	// Live tells that it is still being written.
	Live bool
	// Open opens it. It is called again after the source has changed.
	Open func(ctx context.Context) (*Opened, error)
	// Changed returns something that is another one after the source has
	// changed, and whether it is still being written; nil for sources that do
	// not change. It is asked ten times a second while it is written, and else
	// every second.
	Changed func() (state string, live bool)

	folds bool // only a picture of its timeline is wanted, see [tiles.Fold]
}

// Opened is an opened source.
type Opened struct {
	Session *session.Session
	// Files says what the files are, where they are no recording.
	Files []session.File
	// Rename maps names of files in texts of findings to those that people
	// know; nil for none.
	Rename func(string) string
	// Source returns the text of a source file that a profile names, from this
	// machine; nil for none.
	Source func(p *profile.Profile, file string) ([]byte, error)
	// Binary opens the program that a mapping of a profile is of; nil for none.
	Binary func(m profile.Mapping) (*symbol.Binary, error)
	// Cores are the core files among the files, by the paths of their entries.
	Cores map[string]*postmortem.Core
	// Parts returns the profiles that an entry is the sum of, stretches of its time of equal
	// length, none where it cannot be divided; nil for profiles that are no sums.
	Parts func(ctx context.Context, entry string) ([]*profile.Profile, error)
	// Explain says what the words of the goroutines in an entry are; nil for none.
	// What it returns is used by one at a time.
	Explain func(entry string, f *dump.File) *report.Explained
	// Index keeps the timelines of large traces; nil for none.
	Index Index
	// Close releases the files.
	Close func() error

	edition *edition // that it is
}

// Index keeps timelines of traces, so that they need not be made again.
type Index interface {
	// Find returns the timeline with a key of the trace that an entry is,
	// nil when there is none.
	Find(entry string, key tiles.Key) *tiles.Set
	// Keep keeps one and returns it as it was kept, best mapped; nil when that
	// could not be done.
	Keep(entry string, set *tiles.Set) *tiles.Set
}

// Options say what is served and how.
type Options struct {
	Sources []Source
	// List finds the sources again, such as the recordings in a folder: new ones
	// are added, and those that are there no more left out. It returns nil when
	// it cannot say. It is nil itself where nothing comes or goes.
	List func() []Source
	// Fleet is a store whose services the pages show first; nil for none.
	Fleet Fleet
	// Version is that of the program.
	Version string
	// Edit opens a source file in the user's editor; nil when that is not
	// possible.
	Edit func(file string, line int) error
	// Token is the secret part of the address; "" makes one.
	Token string
	// Anywhere serves on an address that other machines can reach, which whoever has
	// named it wants.
	Anywhere bool
	// Inside tells that the server is part of another one, which has checked to whom a
	// request was sent and who sends it.
	Inside bool
	// Other answers what is none of the pages, and tells whether it has; nil for none.
	// The name is the path behind the token. Who asks was checked.
	Other func(w http.ResponseWriter, r *http.Request, name string) bool
	// Pages replaces the embedded pages, for those who work on them.
	Pages fs.FS
}

// Server answers requests of the browser. It is an [http.Handler].
type Server struct {
	opts    Options
	pages   fs.FS
	gate    gate
	started time.Time
	sources *shelf
	pack    sync.Map // by the name of a page's file func() []byte
}

// newServer makes a server of sources that nobody knows yet.
func newServer(ctx context.Context, host string, opts Options) (*Server, error) {
	pages, err := opts.pagesOrOwn()
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, pages: pages, gate: gate{host, opts.Token, opts.Anywhere, opts.Inside}, started: time.Now(), sources: newShelf()}
	if opts.Fleet != nil {
		s.sources.named = func(id string) (Source, error) { return opts.Fleet.Source(id) }
	}
	s.sources.ctx = ctx
	for _, src := range opts.Sources {
		s.sources.add(ctx, src)
	}
	return s, nil
}

// New makes a server for a listener at an address, "127.0.0.1:41234". It ends
// what it computes when ctx is done.
func New(ctx context.Context, address string, opts Options) (*Server, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); !opts.Anywhere && !opts.Inside && (ip == nil || !ip.IsLoopback()) {
		return nil, errors.New("the pages are served on loopback only; to see them from elsewhere, forward the port: ssh -L")
	}
	if opts.Token == "" {
		opts.Token = rand.Text()
	}
	s, err := newServer(ctx, address, opts)
	if err != nil {
		return nil, err
	}
	go s.watch(ctx)
	return s, nil
}

// pagesOrOwn are the pages that are served.
func (o *Options) pagesOrOwn() (fs.FS, error) {
	if o.Pages != nil {
		return o.Pages, nil
	}
	return fs.Sub(dist, "dist")
}

// Address is what the user opens.
func (s *Server) Address() string { return "http://" + s.gate.host + "/" + s.gate.token + "/" }

// Close releases what is open.
func (s *Server) Close() error { return s.sources.close() }

// Serve answers what comes over a listener until ctx is done. Who sends a request
// byte by byte has seconds for it; who reads an answer so has a minute for each
// part.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: readHeader, ReadTimeout: readAll, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}

// What a browser on the same machine needs for a request, many times over.
// The tests have less time.
var readHeader, readAll = 10 * time.Second, 30 * time.Second

// ServeHTTP checks who asks before it answers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, ok := s.gate.pass(w, r)
	if !ok {
		return
	}
	out, done := withPatience(w)
	defer done()
	w = out
	switch {
	case rest == "api/events":
		s.sources.hub.serve(w, r, s.sources.states())
	case rest == "api/export":
		s.serveExport(w, r)
	case strings.HasPrefix(rest, "api/"):
		s.api(w, r, strings.TrimPrefix(rest, "api/"))
	case s.opts.Other != nil && rest != "" && s.opts.Other(w, r, rest):
	default:
		s.page(w, r, rest)
	}
}
