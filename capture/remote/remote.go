// Package remote asks a server that keeps profiles, loupe serve or a Pyroscope, and sends
// it some: it is the client of querier.v1 and of push.v1, over HTTP as Connect has it.
//
//	server, err := remote.New("http://127.0.0.1:4040", collect.Access{})
//	types, err := server.Types(ctx, r)
//	body, err := server.Profile(ctx, remote.Selection{Type: typ, Labels: `{service_name="shop"}`, Range: …})
//
// Every error names the server. docs/formats/querier.md has the messages.
package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"loupe/capture/collect"
	"loupe/format/connect"
	"loupe/format/push"
	"loupe/format/querier"
	"loupe/value/secret"
)

// MaxAnswer is the most bytes that are taken of an answer.
const MaxAnswer = 1 << 30

// Server is one that keeps profiles. Its methods may be called at the same time. It has more
// methods than most because each is one call of the protocol.
type Server struct {
	base   *url.URL
	access collect.Access
	client *http.Client
}

// DefaultPort is Pyroscope's.
const DefaultPort = "4040"

// New makes a client of the server at an address: http://host:4040, host:4040, :4040 or a
// host alone. Access is how it is asked. The error is of an address that is none.
func New(address string, access collect.Access) (*Server, error) {
	text := address
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not an address of a server of profiles: want http://host:%s", address, DefaultPort)
	}
	host, port := u.Hostname(), u.Port()
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = DefaultPort
		if u.Scheme == "https" {
			port = "443"
		}
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	u.Host, u.RawQuery, u.Fragment, u.Path = host+":"+port, "", "", strings.TrimSuffix(u.Path, "/")
	return &Server{u, access, access.Client()}, nil
}

// String is the address, without what is secret in it.
func (s *Server) String() string { return secret.URL(s.base.String()) }

// ErrNothing is wrapped by errors of a server that does not answer, or has nothing of
// what was asked for.
var ErrNothing = errors.New("there is nothing")

// Refused is the error of a server that answers with another status than 200.
type Refused struct {
	Status int
	text   string
}

// Error names the server and says what it says.
func (r *Refused) Error() string { return r.text }

// Final tells that the same is refused again, whenever it is sent: it is about what was sent,
// not about who sent it or how the server is.
func (r *Refused) Final() bool {
	switch r.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return r.Status >= 400 && r.Status < 500
}

// nothing is an error that wraps [ErrNothing] and reads as its text.
type nothing struct{ error }

// Is tells that it is [ErrNothing].
func (n nothing) Is(target error) bool { return target == ErrNothing }

// Unwrap returns what it says.
func (n nothing) Unwrap() error { return n.error }

// nothingf makes an error that wraps [ErrNothing].
func nothingf(format string, args ...any) error { return nothing{fmt.Errorf(format, args...)} }

// post sends a message to a path and returns the body of the answer.
func (s *Server) post(ctx context.Context, path string, message any) ([]byte, error) {
	u := *s.base
	u.Path += path
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(connect.Marshal(connect.Proto, message)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", connect.Proto.ContentType())
	req.Header.Set("Connect-Protocol-Version", "1")
	s.access.Show(req)
	resp, err := s.client.Do(req)
	if err != nil {
		var way *url.Error
		if errors.As(err, &way) {
			err = way.Err // the address is named once
		}
		return nil, nothingf("%s does not answer: %w (is it loupe serve or a Pyroscope, and is this its address?)", s, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer of %s does not come to its end: %w", s, err)
	case len(body) > MaxAnswer:
		return nil, fmt.Errorf("the answer of %s has more than %d MiB: ask for less", s, MaxAnswer>>20)
	case resp.StatusCode != http.StatusOK:
		return nil, &Refused{Status: resp.StatusCode, text: fmt.Sprintf("%s refuses: %s", s, said(resp.Status, body))}
	}
	return body, nil
}

// said is what an answer that is an error says: the message that Connect puts into it,
// or its first line.
func said(status string, body []byte) string {
	if e, ok := connect.ParseError(body); ok {
		return e.Message
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	if len(line) > 300 {
		line = line[:300] + "…"
	}
	if line == "" {
		return status
	}
	return status + ": " + strconv.QuoteToGraphic(line)
}

// ask asks a question of querier.v1, one of the …Request types, and reads the answer into
// the struct that answer points to.
func (s *Server) ask(ctx context.Context, question, answer any) error {
	body, err := s.post(ctx, querier.Path(question), question)
	if err != nil {
		return err
	}
	if err := connect.Unmarshal(body, connect.Proto, answer, 16*int64(len(body))+1<<20); err != nil {
		return fmt.Errorf("cannot read the answer of %s: %w (is it loupe serve or a Pyroscope?)", s, err)
	}
	return nil
}

// Types returns the types of profiles that there are in a range, sorted by id.
func (s *Server) Types(ctx context.Context, r Range) ([]querier.ProfileType, error) {
	var a querier.ProfileTypesResponse
	start, end := r.millis()
	return a.Types, s.ask(ctx, &querier.ProfileTypesRequest{Start: start, End: end}, &a)
}

// LabelNames returns the names of labels of series with the labels.
func (s *Server) LabelNames(ctx context.Context, labels string, r Range) ([]string, error) {
	var a querier.Names
	start, end := r.millis()
	return a.Names, s.ask(ctx, &querier.LabelNamesRequest{Matchers: matchers(labels), Start: start, End: end}, &a)
}

// LabelValues returns the values of a label of series with the labels.
func (s *Server) LabelValues(ctx context.Context, name, labels string, r Range) ([]string, error) {
	var a querier.Names
	start, end := r.millis()
	return a.Names, s.ask(ctx, &querier.LabelValuesRequest{Name: name, Matchers: matchers(labels), Start: start, End: end}, &a)
}

func matchers(labels string) []string {
	if labels == "" || labels == "{}" {
		return nil
	}
	return []string{labels}
}

// Series returns totals over time: a point for each step, a series for each set of values
// of the labels in by.
func (s *Server) Series(ctx context.Context, sel Selection, by []string, step time.Duration) ([]querier.Series, error) {
	var a querier.SelectSeriesResponse
	start, end := sel.Range.millis()
	return a.Series, s.ask(ctx, &querier.SelectSeriesRequest{
		ProfileTypeID: sel.Type.ID, LabelSelector: sel.selector(), Start: start, End: end, GroupBy: by, Step: step.Seconds(),
	}, &a)
}

// Heatmap counts profiles by time and by how large they are.
func (s *Server) Heatmap(ctx context.Context, sel Selection, step time.Duration) ([]querier.HeatmapSeries, error) {
	var a querier.SelectHeatmapResponse
	start, end := sel.Range.millis()
	return a.Series, s.ask(ctx, &querier.SelectHeatmapRequest{
		ProfileTypeID: sel.Type.ID, LabelSelector: sel.selector(), Start: start, End: end, Step: step.Seconds(), Query: querier.HeatmapIndividual,
	}, &a)
}

// Profile returns the sum of the selected profiles as pprof, not packed. The error of a
// selection without any wraps [ErrNothing].
func (s *Server) Profile(ctx context.Context, sel Selection) ([]byte, error) {
	start, end := sel.Range.millis()
	q := &querier.SelectMergeProfileRequest{ProfileTypeID: sel.Type.ID, LabelSelector: sel.selector(), Start: start, End: end}
	body, err := s.post(ctx, querier.Path(q), q)
	if err == nil && len(body) == 0 {
		err = nothingf("%s has no profiles of %s", s, sel)
	}
	return body, err
}

// Top returns the functions of what is selected that take most themselves, n of them or, where
// that is not positive, all. The error of a server
// that has no such call, which loupe serve alone has, wraps [errors.ErrUnsupported].
func (s *Server) Top(ctx context.Context, sel Selection, n int) (*querier.TopResponse, error) {
	a := &querier.TopResponse{}
	if n <= 0 || n > querier.MostFunctions {
		n = querier.MostFunctions
	}
	start, end := sel.Range.millis()
	err := s.ask(ctx, &querier.TopRequest{ProfileTypeID: sel.Type.ID, LabelSelector: sel.selector(), Start: start, End: end, Limit: int64(n)}, a)
	if refused := (*Refused)(nil); errors.As(err, &refused) && (refused.Status == http.StatusNotFound || refused.Status == http.StatusNotImplemented) {
		err = fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	if err == nil && len(a.Functions) == 0 && a.Total == 0 {
		err = nothingf("%s has no profiles of %s", s, sel)
	}
	return a, err
}

// Pins returns the pins, by name. Only loupe serve has them.
func (s *Server) Pins(ctx context.Context) ([]querier.Pin, error) {
	var a querier.PinsResponse
	err := s.ask(ctx, &querier.PinsRequest{}, &a)
	return a.Pins, err
}

// Pin keeps a selection as it came, and returns how many series it has by now.
func (s *Server) Pin(ctx context.Context, p querier.Pin) (series int64, err error) {
	var a querier.PinResponse
	err = s.ask(ctx, &querier.PinRequest{Pin: &p}, &a)
	return a.Series, err
}

// Unpin takes a pin away.
func (s *Server) Unpin(ctx context.Context, name string) error {
	return s.ask(ctx, &querier.UnpinRequest{Name: name}, &querier.UnpinResponse{})
}

// Push sends profiles: when it returns nil the server has accepted all of them. An ID names
// a profile, so that one that is sent again is kept once by loupe serve.
func (s *Server) Push(ctx context.Context, items ...push.Item) error {
	path, message := push.Message(items...)
	_, err := s.post(ctx, path, message)
	return err
}
