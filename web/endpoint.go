package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"loupe/session"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// endpoint is one question that the browser may ask.
type endpoint struct {
	// name is the path behind api/: "gc/cycles".
	name string
	// acts tells that it changes something, and wants a POST.
	acts bool
	// reply is the type of the answer, for the types of the pages; nil for
	// an answer that is no JSON.
	reply reflect.Type
	// serve answers.
	serve func(ctx context.Context, s *Server, w http.ResponseWriter, q *query) error
}

// query is what was asked.
type query struct {
	*http.Request
	url.Values
}

// number returns a parameter that is a whole number, or the default without it.
func (q *query) number(name string, without int64) (int64, error) {
	text := q.Get(name)
	if text == "" {
		return without, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &refusal{http.StatusBadRequest, fmt.Sprintf("%s: %q is not a whole number", name, text)}
	}
	return n, nil
}

// span returns the range that was chosen on the axis, from t0 up to t1 in ns;
// without them all.
func (q *query) span(all timeline.Span) (timeline.Span, error) {
	from, err := q.number("t0", int64(all.Start))
	if err != nil {
		return timeline.Span{}, err
	}
	to, err := q.number("t1", int64(all.End))
	if err != nil {
		return timeline.Span{}, err
	}
	if to < from {
		return timeline.Span{}, &refusal{http.StatusBadRequest, "the range ends before it begins"}
	}
	return timeline.Span{Start: timeline.Time(from), End: timeline.Time(to)}, nil
}

// refusal is an error with the status that goes with it.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// nothing is the answer that there is nothing of the kind: the view says so in
// plain words.
func nothing(format string, args ...any) error {
	return &refusal{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// on makes an endpoint that answers a question about one source with a value.
func on[T any](name string, answer func(ctx context.Context, s *subject, q *query) (T, error)) endpoint {
	return endpoint{name: name, reply: reflect.TypeFor[T](), serve: func(ctx context.Context, s *Server, w http.ResponseWriter, q *query) error {
		sub, err := s.sources.find(q.Get("s"))
		if err != nil {
			return err
		}
		v, err := answer(ctx, sub, q)
		if err != nil {
			return err
		}
		return writeJSON(w, q, v)
	}}
}

// all makes an endpoint that answers a question about the server.
func all[T any](name string, answer func(ctx context.Context, s *Server, q *query) (T, error)) endpoint {
	return endpoint{name: name, reply: reflect.TypeFor[T](), serve: func(ctx context.Context, s *Server, w http.ResponseWriter, q *query) error {
		v, err := answer(ctx, s, q)
		if err != nil {
			return err
		}
		return writeJSON(w, q, v)
	}}
}

// raw makes an endpoint that answers with bytes of its own kind.
func raw(name string, answer func(ctx context.Context, s *subject, w http.ResponseWriter, q *query) error) endpoint {
	return endpoint{name: name, serve: func(ctx context.Context, s *Server, w http.ResponseWriter, q *query) error {
		sub, err := s.sources.find(q.Get("s"))
		if err != nil {
			return err
		}
		return answer(ctx, sub, w, q)
	}}
}

// post makes an endpoint act.
func post(e endpoint) endpoint {
	e.acts = true
	return e
}

// endpoints are all questions, view by view.
var endpoints = index(
	sourceEndpoints, laneEndpoints, overviewEndpoints, timelineEndpoints, profileEndpoints, collectorEndpoints, schedulerEndpoints, requestEndpoints,
	loadEndpoints, goroutineEndpoints, benchmarkEndpoints, compareEndpoints, ruleEndpoints, editorEndpoints, coreEndpoints, heapEndpoints, fleetEndpoints,
)

func index(lists ...[]endpoint) map[string]endpoint {
	m := map[string]endpoint{}
	for _, list := range lists {
		for _, e := range list {
			if _, double := m[e.name]; double {
				panic("BUG: two endpoints " + e.name)
			}
			m[e.name] = e
		}
	}
	return m
}

// api answers a question.
func (s *Server) api(w http.ResponseWriter, r *http.Request, name string) {
	e, ok := endpoints[name]
	switch {
	case !ok:
		fail(w, &refusal{http.StatusNotFound, "there is no such question: " + name})
		return
	case e.acts && r.Method != http.MethodPost:
		fail(w, &refusal{http.StatusMethodNotAllowed, "this changes something and must be asked with POST"})
		return
	}
	// A file that is cut while it is mapped must not end the server either.
	debug.SetPanicOnFault(true)
	defer func() {
		// A reader that stumbles over a damaged file must not take the other
		// views with it.
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			fail(w, fmt.Errorf("loupe has a mistake here: %v", p))
		}
	}()
	if err := readBody(w, r); err != nil {
		fail(w, err)
		return
	}
	ctx, release := holding(r.Context(), r.Context())
	defer release()
	if err := e.serve(ctx, s, w, &query{r, r.URL.Query()}); err != nil {
		fail(w, err)
	}
}

// largestBody is the most that a page may send: a list of tiles is a few KB.
const largestBody = 1 << 20

// readBody reads what the page sends within the time that the server gives for
// that. What is computed then takes as long as it takes.
func readBody(w http.ResponseWriter, r *http.Request) error {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return &refusal{http.StatusRequestEntityTooLarge, "the question is too long"}
	}
	if err != nil {
		return &refusal{http.StatusBadRequest, "the request is incomplete: " + err.Error()}
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	return nil
}

// problem is the body of an answer that is none.
type problem struct {
	Error string `json:"error"`
	// Missing tells that the source has nothing of the kind, which is no
	// failure.
	Missing bool `json:"missing"`
}

// fail says why there is no answer.
func fail(w http.ResponseWriter, err error) {
	status, text := http.StatusInternalServerError, err.Error()
	var r *refusal
	switch {
	case errors.Is(err, context.Canceled):
		// Most often nobody listens any more; else the program is about to end.
		status, text = http.StatusServiceUnavailable, "the request was cancelled: try again"
	case errors.As(err, &r):
		status = r.status
	case errors.Is(err, session.ErrNone), errors.Is(err, fs.ErrNotExist):
		status = http.StatusNotFound
	}
	if begun(w) {
		// The first part of an answer is out: only its sudden end tells that
		// the rest does not come.
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(problem{sentence(text), status == http.StatusNotFound}) // the browser may be gone
}

// longestProblem is how much of an error's text people read.
const longestProblem = 2000

// sentence makes a text of a program's error begin like one of people.
func sentence(text string) string {
	if len(text) > longestProblem {
		text = strings.ToValidUTF8(text[:longestProblem], "") + " …"
	}
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 || strings.HasPrefix(text, "loupe ") {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// largestAnswer is the most that is sent as JSON: from about 100 MB on a tab of
// the browser stands still for seconds.
const largestAnswer = 128 << 20

// writeJSON sends a value, packed where that is worth it: on one machine the
// browser reads faster than it inflates.
func writeJSON(w http.ResponseWriter, q *query, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("cannot send the answer: %w", err)
	}
	if len(data) > largestAnswer {
		return fmt.Errorf("the answer has %s, more than a page can show: choose a shorter time, or ask on the command line", unit.Bytes(len(data)))
	}
	return writeBytes(w, q, "application/json", data)
}
