// Package fleet is the server of a store of profiles: what clients push goes in, and what
// Grafana's data source for Pyroscope, Profiles Drilldown, profilecli and loupe query ask
// comes out.
//
// It reads and writes an engine, and knows neither disks nor targets.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"loupe/format/connect"
	"loupe/format/push"
	"loupe/format/querier"
	"loupe/store"
	"loupe/store/intake"
)

// Options say what a server allows.
type Options struct {
	// Tokens returns those of which one is needed now; nil lets in whoever reaches the
	// server, which is then asked under the names of loopback alone.
	Tokens func() *Tokens
	// Push bounds what comes in, Query what a question may cost.
	Push  push.Limits
	Query store.Limits
	// Now is the time; nil is that of this machine.
	Now func() time.Time
	// About writes what a person sees who asks for the address by curl.
	About func(w io.Writer)
	// Pages are what a browser is shown, below [Path]; nil for none.
	Pages http.Handler
	// Recording sends the recording of an incident, packed; nil where there are none.
	Recording func(w http.ResponseWriter, r *http.Request, incident string)
}

// recordings is where those of incidents are.
const recordings = "/incidents/"

// RecordingPath is where the recording of an incident can be downloaded.
func RecordingPath(incident string) string { return recordings + incident + ".zip" }

// Path is where the pages are.
const Path = "/ui/"

// Server answers all requests.
type Server struct {
	in    *intake.Intake
	opt   Options
	asked asked
	room  *room
}

// New makes a server of an engine, into which profiles go by an Intake.
func New(engine store.Engine, in *intake.Intake, opt Options) *Server {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.About == nil {
		opt.About = func(io.Writer) {}
	}
	return &Server{in, opt, asked{engine, opt.Query, opt.Now}, newRoom()}
}

// Protocols are what a server listens to: gRPC comes by HTTP/2, without TLS too, on the
// address that all else comes to.
func Protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	return p
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Cache-Control", "no-store")
	if why := s.refused(r); why != "" {
		head.Set("Connection", "close")
		http.Error(w, why, http.StatusForbidden)
		return
	}
	if !s.allowed(r) {
		head.Set("Connection", "close") // a body that nobody reads
		head.Set("WWW-Authenticate", `Basic realm="loupe serve: any name, and a token as the password", charset="UTF-8"`)
		http.Error(w, fmt.Sprintf("a token that may %s is needed here, as a bearer or as the password of basic authentication", role(r)), http.StatusUnauthorized)
		return
	}
	protocol, pushes := push.Paths[r.URL.Path]
	switch {
	case pushes:
		s.push(w, r, protocol)
	case querier.Answers(r.URL.Path):
		s.query(w, r)
	case s.opt.Recording != nil && strings.HasPrefix(r.URL.Path, recordings) && strings.HasSuffix(r.URL.Path, ".zip"):
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "recordings are only read", http.StatusMethodNotAllowed)
			return
		}
		s.opt.Recording(w, r, strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, recordings), ".zip"))
	case r.URL.Path == "/ready":
		io.WriteString(w, "ready\n")
	case s.opt.Pages != nil && strings.HasPrefix(r.URL.Path, Path):
		s.opt.Pages.ServeHTTP(w, r)
	case r.URL.Path == "/" && s.opt.Pages != nil && strings.Contains(r.Header.Get("Accept"), "text/html"):
		http.Redirect(w, r, Path, http.StatusSeeOther)
	case r.URL.Path == "/":
		head.Set("Content-Type", "text/plain; charset=utf-8")
		s.opt.About(w)
	default:
		http.Error(w, "there is nothing at "+r.URL.Path, http.StatusNotFound)
	}
}

// refused says why a request is not answered. A page of another site can make a browser on
// this machine send requests here, and have its own name resolve to this address: browsers
// say where a request comes from, and programs have no reason to.
func (s *Server) refused(r *http.Request) string {
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = strings.Trim(r.Host, "[]")
	}
	ip := net.ParseIP(name)
	// Where a token is needed, the name of another site is of no use: no browser has one for it.
	if s.opt.Tokens == nil && name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "this server answers to its own address only"
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host {
		return "pages of other sites may not ask"
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" && !isLink(r) {
		return "pages of other sites may not ask"
	}
	return ""
}

// isLink tells whether somebody follows a link to the pages, in a chat for example. What
// they show is behind the # of the address and asked for by the pages themselves.
func isLink(r *http.Request) bool {
	return (r.URL.Path == "/" || r.URL.Path == Path) && r.Method == http.MethodGet &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// maxQuestion bounds the body of a question.
const maxQuestion = 1 << 20

// push takes profiles in.
func (s *Server) push(w http.ResponseWriter, r *http.Request, p push.Protocol) {
	request := push.Request{ContentType: r.Header.Get("Content-Type"), ContentEncoding: r.Header.Get("Content-Encoding"), Query: r.URL.Query()}
	if encoding := r.Header.Get("Grpc-Encoding"); encoding != "" {
		request.ContentEncoding = encoding
	}
	if r.Method != http.MethodPost {
		http.Error(w, "profiles are sent by POST", http.StatusMethodNotAllowed)
		return
	}
	body, done, err := s.room.read(w, r)
	defer done()
	if err != nil {
		send(w, push.Refused(p, request, err))
		return
	}
	request.Body = body
	var pushed []push.Pushed
	s.room.decode(func() { pushed, err = push.Decode(p, request, s.opt.Push) })
	if err == nil {
		err = s.in.Add(r.Context(), s.arrivals(pushed)...)
	}
	if err != nil {
		send(w, push.Refused(p, request, coded(err)))
		return
	}
	send(w, push.Accepted(p, request))
}

// send writes an answer; that of gRPC says in trailers how it went.
func send(w http.ResponseWriter, a push.Answer) {
	for name := range a.Trailer {
		w.Header().Add("Trailer", name)
	}
	w.Header().Set("Content-Type", a.ContentType)
	w.WriteHeader(a.Status)
	w.Write(a.Body)
	for name, value := range a.Trailer {
		w.Header().Set(name, value)
	}
}

// arrivals are what is written of pushed profiles.
func (s *Server) arrivals(pushed []push.Pushed) (list []*intake.Arrival) {
	for i := range pushed {
		p := &pushed[i]
		var labels []store.Label
		name := ""
		for _, l := range p.Labels {
			if l.Name == nameLabel {
				name = l.Value
				continue
			}
			labels = append(labels, store.Label{Name: l.Name, Value: l.Value})
		}
		a := &intake.Arrival{Labels: store.MakeLabels(labels), Name: name, Profile: p.Profile, At: p.Time(s.opt.Now()), Difference: p.Difference}
		if p.Until.After(p.From) {
			a.Duration = p.Until.Sub(p.From)
		}
		if p.ID != "" {
			a.ID = store.IDOf([]byte(a.Labels.String()), []byte(name), []byte(p.ID))
		}
		a.Process.Build = p.Session
		list = append(list, a)
	}
	return list
}

// coded gives an error of the store its code.
func coded(err error) error {
	switch {
	case errors.Is(err, store.ErrInvalid), errors.Is(err, store.ErrAggregation):
		return connect.Errorf(connect.InvalidArgument, "%v", err)
	case errors.Is(err, store.ErrTooMuch):
		return connect.Errorf(connect.OutOfRange, "%v", err)
	case errors.Is(err, store.ErrClosed):
		return connect.Errorf(connect.Unavailable, "%v", err)
	case errors.Is(err, context.DeadlineExceeded):
		return connect.Errorf(connect.DeadlineExceeded, "%v", err)
	}
	if known := (*connect.Error)(nil); errors.As(err, &known) {
		return err
	}
	// A disk that is full may have room later: the client is to keep what it has.
	return connect.Errorf(connect.Unavailable, "%v", err)
}

// query answers a question of querier.v1.
func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	// Errors are those of Connect or of gRPC, as the clients of push.v1 get them too.
	refuse := func(err error) {
		send(w, push.Refused(push.Pusher, push.Request{ContentType: r.Header.Get("Content-Type")}, err))
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxQuestion))
	if err != nil {
		refuse(connect.TooLarge(maxQuestion))
		return
	}
	if r.Method != http.MethodPost {
		http.Error(w, "questions are asked by POST", http.StatusMethodNotAllowed)
		return
	}
	encoding := r.Header.Get("Content-Encoding")
	if grpc := r.Header.Get("Grpc-Encoding"); grpc != "" {
		encoding = grpc
	}
	question, as, err := querier.Decode(r.URL.Path, r.Header.Get("Content-Type"), encoding, body)
	if err != nil {
		refuse(err)
		return
	}
	answer, err := s.asked.answer(r.Context(), question)
	if err != nil {
		refuse(coded(err))
		return
	}
	out := push.Answer{Status: http.StatusOK, ContentType: as.ContentType(), Body: connect.Marshal(as, answer)}
	if as == connect.GRPC {
		out.Body, out.Trailer = connect.Frame(out.Body), map[string]string{"grpc-status": "0"}
	}
	send(w, out)
}
