// Package lsp is loupe lsp: a server of the Language Server Protocol over standard input and
// output, which shows in an editor what the newest recording says of its lines.
//
// A recording is of the source as it was. What it says of a line is shown at the line to
// which it has moved since, and marked as stale where the line is no more what was recorded.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/exp/jsonrpc2"

	"loupe/internal/cli/command"
)

// Command is loupe lsp.
var Command = &command.Command{
	Name:  "lsp",
	Short: "show findings, costs and escape reasons in an editor (language server)",
	Args:  "[flags]",
	Example: []string{
		"loupe lsp                                         the newest recording in the module's folder",
		"loupe lsp -recording loupe-server-20261120-101500",
	},
	About: `
Serves the Language Server Protocol on standard input and output; an editor starts it, beside
gopls. docs/editors.md has the set-up for VS Code, Neovim, Helix and GoLand.

For each open file it shows the newest complete recording of the file's module, if there is one.
It looks in the workspace folders, in the folders of the modules of open files, and in those of
their go.work, where loupe run puts recordings:

  diagnostics   findings at their lines
  code lenses   above each function: CPU time and allocated bytes, in itself (flat) and with
                all that it calls (cum)
  hover         what the line costs, and the compiler's reason for each allocation

Lines that have moved since the recording are followed by their text. A finding whose line, or the
function around it, has changed is dimmed and begins with "stale"; a function that has changed says
so in its lens; hover says nothing about a changed line. A new recording is noticed within two seconds.`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		name := fs.String("recording", "", "show this recording, `DIR` or a .zip file, instead of the newest")
		return func(e *command.Env, args []string) error {
			if err := command.NoArgs(args); err != nil {
				return err
			}
			if *name != "" {
				abs, err := filepath.Abs(*name)
				if err != nil {
					return err
				}
				*name = abs
			}
			return serve(e, *name)
		}
	},
}

// pipe is how the editor speaks with the server.
type pipe struct {
	io.ReadCloser
	io.Writer
}

// Dial is what jsonrpc2 asks for: the connection is there.
func (p pipe) Dial(context.Context) (io.ReadWriteCloser, error) { return p, nil }

// document is a file that is open in the editor.
type document struct {
	path  string
	text  string
	facts *facts // what is shown of it; nil is nothing
}

// server is what one editor speaks with.
type server struct {
	conn *jsonrpc2.Connection
	log  func(format string, args ...any)
	name string // the recording that was named, or ""
	// bound holds the memory that a recording may need until it is loaded.
	bound func(name string) (done func())

	mu       sync.Mutex
	roots    []string
	open     map[string]*document // by URI
	loaded   map[string]*facts    // of the recordings that are shown, by state; nil is one that cannot be
	refresh  bool                 // the editor can be told to ask for lenses again
	shut     bool
	exited   chan struct{}
	awake    chan struct{} // a reason to look for recordings at once
	stopping sync.Once
}

// every is how often a new recording is looked for.
const every = 2 * time.Second

// serve speaks with one editor until it says exit or leaves.
func serve(e *command.Env, name string) error {
	ctx, cancel := context.WithCancel(e.Ctx)
	defer cancel()
	p := pipe{e.Stdin, e.Stdout}
	log := func(format string, args ...any) { fmt.Fprintf(e.Stderr, "loupe lsp: "+format+"\n", args...) }
	s := &server{
		log: log, name: name, bound: func(name string) func() { return command.BoundMemory(e, []string{name}) },
		open: map[string]*document{}, loaded: map[string]*facts{}, exited: make(chan struct{}), awake: make(chan struct{}, 1),
	}
	var watching sync.WaitGroup
	conn, err := jsonrpc2.Dial(ctx, p, binder(func(c *jsonrpc2.Connection) jsonrpc2.ConnectionOptions {
		s.conn = c
		return jsonrpc2.ConnectionOptions{Framer: framer{log}, Handler: jsonrpc2.HandlerFunc(s.handle)}
	}))
	if err != nil {
		return err
	}
	watching.Go(func() { s.watch(ctx) })
	gone := make(chan error, 1)
	go func() { gone <- conn.Wait() }()
	select {
	case <-s.exited:
	case err = <-gone:
	case <-ctx.Done():
	}
	cancel()
	watching.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.loaded {
		if f != nil {
			f.close()
		}
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("the connection to the editor broke: %w", err)
	case !s.shut && e.Ctx.Err() == nil:
		return errors.New("the editor has left without a shutdown")
	}
	return nil
}

// binder makes the options of a connection.
type binder func(c *jsonrpc2.Connection) jsonrpc2.ConnectionOptions

// Bind is what jsonrpc2 asks for.
func (b binder) Bind(_ context.Context, c *jsonrpc2.Connection) (jsonrpc2.ConnectionOptions, error) {
	return b(c), nil
}

// notInitialized is the error of the protocol for a request that comes too early.
var notInitialized = jsonrpc2.NewError(-32002, "the server is not initialized")

// handle answers a request, or takes a notification.
func (s *server) handle(ctx context.Context, r *jsonrpc2.Request) (answer any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log("BUG: %s: %v", r.Method, p)
			answer, err = nil, jsonrpc2.ErrInternal
		}
	}()
	s.mu.Lock()
	early, shut := s.roots == nil, s.shut
	s.mu.Unlock()
	switch {
	case r.Method == "exit":
		s.stopping.Do(func() { close(s.exited) })
		return nil, nil
	case r.Method == "initialize":
		var in initializeParams
		if err := decode(r, &in); err != nil {
			return nil, err
		}
		return s.initialize(&in), nil
	case early:
		return nil, notInitialized
	case shut:
		return nil, jsonrpc2.ErrInvalidRequest
	}
	switch r.Method {
	case "shutdown":
		s.mu.Lock()
		s.shut = true
		s.mu.Unlock()
		return nullResult, nil
	case "textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave":
		return nil, s.edited(ctx, r)
	case "textDocument/codeLens":
		return ask(s, r, lenses)
	case "textDocument/hover":
		return ask(s, r, hover)
	case "initialized", "$/setTrace", "$/cancelRequest", "workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles":
		return nil, nil
	}
	return nil, jsonrpc2.ErrMethodNotFound
}

// nullResult is the answer to a request that has none: without it there would be no answer.
var nullResult = json.RawMessage("null")

// decode reads the parameters of a request.
func decode(r *jsonrpc2.Request, to any) error {
	if err := json.Unmarshal(r.Params, to); err != nil {
		return fmt.Errorf("%w: %v", jsonrpc2.ErrInvalidParams, err)
	}
	return nil
}

// initialize says what the server can do.
func (s *server) initialize(in *initializeParams) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.roots = []string{}
	for _, f := range in.Folders {
		s.addRoot(pathOf(f.URI))
	}
	if len(in.Folders) == 0 {
		s.addRoot(pathOf(in.RootURI))
	}
	s.refresh = in.Capabilities.Workspace.CodeLens.Refresh
	s.wake()
	return initializeResult{
		Capabilities: map[string]any{
			"textDocumentSync": map[string]any{"openClose": true, "change": 1, "save": true},
			"codeLensProvider": map[string]any{}, "hoverProvider": true, "positionEncoding": "utf-16",
		},
		Server: map[string]string{"name": "loupe", "version": command.Version()},
	}
}

// addRoot adds a folder in which recordings are looked for.
func (s *server) addRoot(dir string) {
	if dir == "" {
		return
	}
	for _, r := range s.roots {
		if r == dir {
			return
		}
	}
	s.roots = append(s.roots, dir)
}

// wake has recordings looked for at once.
func (s *server) wake() {
	select {
	case s.awake <- struct{}{}:
	default:
	}
}

// maxOpen bounds how many files are kept.
const maxOpen = 1000

// edited takes what happens to a file in the editor.
func (s *server) edited(ctx context.Context, r *jsonrpc2.Request) error {
	var in editParams
	if err := decode(r, &in); err != nil {
		return err
	}
	uri := in.Document.URI
	s.mu.Lock()
	switch r.Method {
	case "textDocument/didOpen":
		path := pathOf(uri)
		if path == "" || len(s.open) >= maxOpen {
			s.mu.Unlock()
			return nil
		}
		s.open[uri] = &document{path: path, text: in.Document.Text}
		s.addRoot(moduleOf(path))
		for _, dir := range workspaceOf(path) {
			s.addRoot(dir)
		}
	case "textDocument/didChange":
		if d := s.open[uri]; d != nil && len(in.Changes) > 0 {
			d.text = in.Changes[len(in.Changes)-1].Text
		}
	case "textDocument/didClose":
		delete(s.open, uri)
		s.mu.Unlock()
		return s.conn.Notify(ctx, "textDocument/publishDiagnostics", publishParams{uri, []diagnostic{}})
	}
	s.mu.Unlock()
	s.wake()
	return s.publish(ctx, uri)
}

// publish sends the diagnostics of an open file.
func (s *server) publish(ctx context.Context, uri string) error {
	s.mu.Lock()
	d := s.open[uri]
	var all []diagnostic
	if d != nil && d.facts != nil {
		all = d.facts.diagnostics(d)
	}
	s.mu.Unlock()
	if d == nil {
		return nil
	}
	if all == nil {
		all = []diagnostic{}
	}
	return s.conn.Notify(ctx, "textDocument/publishDiagnostics", publishParams{uri, all})
}

// ask answers a question about an open file; of any other there is nothing to say.
func ask[T any](s *server, r *jsonrpc2.Request, answer func(f *facts, d *document, in *placeParams) T) (any, error) {
	var in placeParams
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.open[in.Document.URI]
	if d == nil || d.facts == nil {
		return nullResult, nil
	}
	return answer(d.facts, d, &in), nil
}

// watch looks for recordings until it is told to stop.
func (s *server) watch(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var known shelf
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.awake:
		}
		s.mu.Lock()
		ready, roots := s.roots != nil, append([]string(nil), s.roots...)
		paths := map[string]bool{}
		for _, d := range s.open {
			paths[d.path] = true
		}
		s.mu.Unlock()
		if !ready {
			continue
		}
		all := known.look(s.name, roots)
		chosen := map[string]string{} // states by path
		for path := range paths {
			for _, r := range about(all, path) {
				if s.load(ctx, r) {
					chosen[path] = r.state
					break
				}
			}
		}
		s.show(ctx, chosen)
	}
}

// load sums a recording up, unless that has been done, and tells whether it can be shown.
// Only watch calls it.
func (s *server) load(ctx context.Context, r *shelved) bool {
	s.mu.Lock()
	f, done := s.loaded[r.state]
	s.mu.Unlock()
	if done {
		return f != nil
	}
	free := s.bound(r.name)
	f, err := load(ctx, r.name)
	free()
	if err != nil {
		s.log("cannot show %s: %v", r.name, err)
		f = nil
	}
	s.mu.Lock()
	s.loaded[r.state] = f
	s.mu.Unlock()
	return f != nil
}

// show has each open file speak of the recording that was chosen for it, and tells the editor
// where that is another one than before. Recordings of which nothing is shown are closed, unless
// no file is open that has one: the next file is likely to be of the same module.
func (s *server) show(ctx context.Context, chosen map[string]string) {
	s.mu.Lock()
	var uris []string
	used := map[string]bool{}
	for uri, d := range s.open {
		state := chosen[d.path]
		if state != "" {
			used[state] = true
		}
		if f := s.loaded[state]; f != d.facts {
			d.facts = f
			uris = append(uris, uri)
		}
	}
	for state, f := range s.loaded {
		if f != nil && len(used) > 0 && !used[state] {
			f.close()
			delete(s.loaded, state)
		}
	}
	refresh := s.refresh && len(uris) > 0
	s.mu.Unlock()
	for _, uri := range uris {
		if err := s.publish(ctx, uri); err != nil {
			return
		}
	}
	if refresh {
		s.conn.Call(ctx, "workspace/codeLens/refresh", nil)
	}
}

// pathOf is the path that a URI names, "" for what is no file.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" || strings.ContainsRune(u.Path, 0) {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.Clean(filepath.FromSlash(path))
}
