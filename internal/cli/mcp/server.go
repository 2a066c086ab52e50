package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"loupe/format/kind"
	"loupe/internal/cli/command"
	"loupe/source"
	"loupe/value/secret"
)

// server answers one client. Its tools take turns: an analysis may need much memory.
type server struct {
	e     *command.Env
	run   bool
	to    string
	pages string

	turn  chan struct{}
	kept  []keptAnswer // the latest, of which further pages may be asked for
	names []string     // of the tools, in the order of the documentation
}

// keptAnswer is an answer with the question.
type keptAnswer struct {
	question string
	answer   *answer
}

// maxKept is of how many questions answers are kept.
const maxKept = 8

// Paged is the part of a question that says which page is wanted.
type Paged struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the previous page; all other arguments as before"`
}

func (p *Paged) page() *string { return &p.Cursor }

// asks is a question.
type asks[In any] interface {
	*In
	page() *string
	// files are the paths in it, which are made absolute.
	files() []*string
}

// tool is what a client is told of one.
type tool struct {
	name, about string
	acts        bool // it runs programs
}

// add offers a tool.
func add[In any, P asks[In]](s *server, m *sdk.Server, t tool, do func(ctx context.Context, in *In) (*answer, error)) {
	s.names = append(s.names, t.name)
	no := false
	hints := &sdk.ToolAnnotations{ReadOnlyHint: !t.acts, OpenWorldHint: &no, DestructiveHint: &no, IdempotentHint: !t.acts}
	sdk.AddTool(m, &sdk.Tool{Name: t.name, Description: t.about, Annotations: hints}, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		select {
		case s.turn <- struct{}{}:
			defer func() { <-s.turn }()
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		r := reply{Tool: t.name}
		text, err := answerTo[In, P](ctx, s, t, &r, &in, do)
		if err != nil {
			r.Says, r.Of, r.Open, r.Page = "This question has no answer: the reason is below.", nil, "", ""
			failed := &answer{says: r.Says}
			failed.facts("failure", "reason", secret.Text(s.e.Doors.Rename(err.Error())))
			if text, err = failed.page(r, "", 0); err != nil {
				return nil, nil, err
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, IsError: true}, nil, nil
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil, nil
	})
}

// answerTo makes the page that is asked for.
func answerTo[In any, P asks[In]](ctx context.Context, s *server, t tool, r *reply, in *In, do func(ctx context.Context, in *In) (*answer, error)) (text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("BUG: the tool %s has failed: %v\n%s", t.name, p, debug.Stack())
		}
	}()
	q := P(in)
	from := *q.page()
	*q.page() = ""
	var states []string
	for _, name := range q.files() {
		if *name == "" {
			continue
		}
		state, err := existing(ctx, name)
		if err != nil {
			return nil, err
		}
		states, r.Of = append(states, state), append(r.Of, harmless(*name))
	}
	asked, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	question := strings.Join(append([]string{t.name, string(asked)}, states...), "\x00")
	at, err := place(question, from)
	if err != nil {
		return nil, err
	}
	var a *answer
	if i := slices.IndexFunc(s.kept, func(k keptAnswer) bool { return k.question == question }); i >= 0 && !t.acts {
		a = s.kept[i].answer
	} else {
		if a, err = s.bounded(t, r.Of, func() (*answer, error) { return do(ctx, in) }); err != nil {
			return nil, err
		}
		s.kept = append(s.kept, keptAnswer{question, a})
		s.kept = s.kept[max(0, len(s.kept)-maxKept):]
	}
	r.Open = harmless(a.open)
	if a.view != "" && len(r.Of) > 0 {
		r.Page = s.link(ctx, r.Of, a.view)
	}
	return a.page(*r, question, at)
}

// bounded answers with no more memory than the files can be worth.
func (s *server) bounded(t tool, files []string, do func() (*answer, error)) (*answer, error) {
	if !t.acts {
		defer command.BoundMemory(s.e, files)()
	}
	return do()
}

// existing makes the name of a file absolute, which no command takes for an address, a process
// or a flag, and returns what changes when the file does. What lies in a zip file or an
// archive is named behind it.
//
// A file of no kind that loupe knows is refused here: the message of a decoder may quote
// what it could not decode.
func existing(ctx context.Context, name *string) (state string, err error) {
	if strings.ContainsRune(*name, 0) {
		return "", errors.New("the path has a NUL in it")
	}
	abs, err := filepath.Abs(*name)
	if err != nil {
		return "", err
	}
	for at := abs; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && at != abs && info.IsDir():
			return "", fmt.Errorf("there is no file %q (recordings lists what is in a folder)", *name)
		case err == nil && !info.IsDir() && !info.Mode().IsRegular():
			return "", fmt.Errorf("%q is not a regular file", *name)
		case err == nil:
			*name = abs
			return fmt.Sprint(info.Size(), info.ModTime().UnixNano()), known(ctx, abs)
		case at == filepath.Dir(at):
			return "", fmt.Errorf("there is no file %q", *name)
		}
	}
}

// known fails for a file of no kind that loupe knows.
func known(ctx context.Context, name string) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil
	}
	var d source.Door
	defer d.Close()
	inputs, err := d.Open(ctx, name)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		if !in.Recording && (in.Kind == kind.Unknown || in.Kind == kind.Empty) {
			return fmt.Errorf("%q is of no kind that loupe knows", name)
		}
	}
	return nil
}

// maxPrinted bounds what a command may print.
const maxPrinted = 256 << 20

// limited keeps what is written to it, up to a limit.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxPrinted {
		return 0, errors.New("more than can be shown: narrow the question")
	}
	return l.Buffer.Write(p)
}

// asked runs a command and returns its JSON. What it has said beside it is returned as notes.
func (s *server) asked(ctx context.Context, args ...string) (o *object, notes []string, err error) {
	var out, said limited
	code := s.e.Inside(ctx, &out, &said, args)
	for line := range strings.Lines(said.String()) {
		if line = strings.TrimSpace(line); line != "" {
			notes = append(notes, line)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if out.Len() == 0 || code == command.ExitNothing && args[0] != "prove" {
		if len(notes) == 0 {
			notes = []string{fmt.Sprintf("loupe %s ended with code %d and no answer", args[0], code)}
		}
		return nil, nil, errors.New(strings.Join(notes, "\n"))
	}
	if o, err = decode(out.Bytes()); err != nil {
		return nil, nil, fmt.Errorf("BUG: loupe %s printed no JSON: %w", args[0], err)
	}
	return o, notes, nil
}

// words are those of a command line as one types it.
func words(args ...string) string {
	var quoted []string
	for _, a := range append([]string{"loupe"}, args...) {
		quoted = append(quoted, command.ShellWord(a))
	}
	return strings.Join(quoted, " ")
}

// link is the address of a view of a file, where loupe open has it open; otherwise "".
func (s *server) link(ctx context.Context, of []string, view string) string {
	if s.pages == "" {
		return ""
	}
	base := strings.TrimSuffix(s.pages, "/") + "/"
	if at := strings.IndexByte(base, '#'); at >= 0 {
		base = base[:at]
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"api/sources", nil)
	if err != nil {
		return ""
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var list struct {
		Sources []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"sources"`
	}
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&list) != nil {
		return ""
	}
	for _, src := range list.Sources {
		if abs, err := filepath.Abs(src.Name); err == nil && abs == of[0] {
			return harmless(base + "#/" + src.ID + "/" + view)
		}
	}
	return ""
}
