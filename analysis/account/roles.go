package account

import (
	"slices"
	"strings"

	"loupe/format/exectrace"
	"loupe/value/stack"
)

// position is where the goroutine of a connection of net/http is in its loop, by its
// stack (net/http.(*conn).serve).
type position uint8

const (
	elsewhere position = iota // no connection
	// waits is the wait for a request, and reading its head.
	waits
	// begins is behind the head, in the handler or before it.
	begins
	// ends is writing what the handler has left, and over is behind that.
	ends
	over
)

// place is what a stack tells of the unit that its goroutine is in.
type place struct {
	known bool
	at    position
	// handler is the function of the user that handles the request, depth how many
	// frames are above it: a middleware is less deep than what it calls.
	handler string
	depth   int
}

// connServe is the loop of a connection.
const connServe = "net/http.(*conn).serve"

// streams are the functions that goroutines begin with which serve one request each:
// HTTP/2 and gRPC. The compiler wraps the call of a go statement.
var streams = []string{
	"net/http.(*http2serverConn).runHandler", "net/http.(*http2serverConn).scheduleHandler.", "net/http.(*http2serverConn).processHeaders.gowrap",
	"net/http.(*http2serverConn).handlerDone.gowrap", "net/http.(*http2serverConn).upgradeRequest.",
	"net/http/internal/http2.(*serverConn).runHandler", "net/http/internal/http2.(*serverConn).scheduleHandler.", "net/http/internal/http2.(*serverConn).handlerDone.gowrap",
	"golang.org/x/net/http2.(*serverConn).runHandler", "golang.org/x/net/http2.(*serverConn).scheduleHandler.", "golang.org/x/net/http2.(*serverConn).handlerDone.gowrap",
	"golang.org/x/net/http2.(*serverConn).processHeaders.gowrap",
	"google.golang.org/grpc.(*Server).serveStreams.func",
}

// unitOf is the unit that a goroutine is which begins with a function.
func unitOf(root string) Unit {
	switch {
	case slices.ContainsFunc(streams, func(p string) bool { return strings.HasPrefix(root, p) }):
		return Request
	case strings.HasPrefix(root, "testing.(*B).run1") || strings.HasPrefix(root, "testing.(*B).launch") || strings.HasPrefix(root, "testing.(*B).doBench"):
		return Benchmark
	case strings.HasPrefix(root, "testing.tRunner"):
		return Test
	}
	return units
}

// places are what stacks tell, by stack.
type places struct {
	w    *words
	list []place
}

func (p *places) of(id stack.ID) *place {
	if int(id) >= len(p.list) {
		p.list = grown(p.list, int(id))
	}
	pl := &p.list[id]
	if !pl.known {
		*pl = p.find(id)
		pl.known = true
	}
	return pl
}

func (p *places) find(id stack.ID) (out place) {
	table := p.w.r.Stacks()
	ids := table.Frames(id)
	frames := make([]stack.Frame, len(ids))
	for i, f := range ids {
		frames[i] = table.Frame(f)
	}
	root := len(frames)
	for i, f := range frames {
		if f.Func == connServe {
			root = i
			out.at = positionOf(frames[:i])
		}
	}
	if out.at == waits || out.at == over {
		return out
	}
	out.handler, out.depth = p.handler(frames[:root])
	return out
}

// positionOf tells it by what the loop has called: elsewhere where that may be before the head of a request as well as behind it, as the log of a handshake
// that failed.
func positionOf(called []stack.Frame) position {
	if len(called) == 0 {
		return elsewhere
	}
	switch name := called[len(called)-1].Func; {
	case name == "bufio.(*Reader).Peek", name == "net/http.(*conn).readRequest", strings.HasPrefix(name, "crypto/tls."), name == "net/http.(*conn).setState":
		return waits
	case strings.HasPrefix(name, "net/http.http2"), strings.Contains(name, "/http2."):
		return waits // HTTP/2 from here on: its requests have goroutines of their own
	case name == "net/http.(*response).finishRequest":
		if slices.ContainsFunc(called, func(f stack.Frame) bool { return f.Func == "net/http.(*connReader).abortPendingRead" }) {
			return over
		}
		return ends
	case name == "net/http.(*conn).close", strings.HasPrefix(name, "net/http.(*conn).serve."), name == "net/http.(*conn).closeWriteAndWait":
		return over
	case name == "net/http.serverHandler.ServeHTTP", name == "net/http.registerOnHitEOF", strings.HasPrefix(name, "net/http.(*connReader)."), strings.HasPrefix(name, "net/http.(*response)."):
		return begins
	}
	return elsewhere
}

// handlerCalls are the functions whose callee is a handler.
func handlerCalls(name string) bool {
	return name == "net/http.HandlerFunc.ServeHTTP" || strings.HasSuffix(name, ".(*Context).Next")
}

// isServer tells whether a function is of what calls handlers of gRPC.
func isServer(name string) bool {
	pkg := stack.Package(name)
	return pkg == "google.golang.org/grpc" || strings.HasPrefix(pkg, "google.golang.org/grpc/internal")
}

// handler finds what handles the request, in the frames that a server has called: the
// innermost that is called as a handler, else the outermost of the user's code.
func (p *places) handler(frames []stack.Frame) (name string, depth int) {
	for i, f := range frames {
		origin := p.w.scope.Of(f)
		switch {
		case i > 0 && handlerCalls(f.Func) && p.w.scope.Of(frames[i-1]) >= stack.Standard:
			return frames[i-1].Func, len(frames) - i + 1
		case origin >= stack.Dependency && strings.HasSuffix(f.Func, ".ServeHTTP"):
			return f.Func, len(frames) - i
		}
	}
	for i := len(frames) - 1; i >= 0; i-- {
		if p.w.scope.IsUser(frames[i]) && !isServer(frames[i].Func) {
			return frames[i].Func, len(frames) - i
		}
	}
	for i := len(frames) - 1; i >= 0; i-- {
		if p.w.scope.IsOutsideStandard(frames[i]) {
			return frames[i].Func, len(frames) - i
		}
	}
	if i := dispatched(frames); i >= 0 && i < len(frames)-1 { // a handler of the standard library
		return frames[i].Func, len(frames) - i
	}
	return "", 0
}

// dispatched finds the frame that a server's dispatch has called, in the frames above the
// loop of its connection; -1 where nothing else was called.
func dispatched(frames []stack.Frame) int {
	i := len(frames) - 1
	for i >= 0 && (strings.HasSuffix(frames[i].Func, "Handler.ServeHTTP") || frames[i].Func == "net/http.(*ServeMux).ServeHTTP" || frames[i].Func == "net/http.HandlerFunc.ServeHTTP") && stack.Package(frames[i].Func) == "net/http" {
		i--
	}
	if i >= 0 && stack.IsRuntime(stack.Package(frames[i].Func)) {
		return -1
	}
	return i
}

// roots are the units of goroutines by the functions that they begin with.
type roots struct {
	r    *exectrace.Reader
	list []Unit // by name, plus one
}

func (s *roots) of(name exectrace.NameID) Unit {
	if name == exectrace.NameNone {
		return units
	}
	if int(name) >= len(s.list) {
		s.list = grown(s.list, int(name))
	}
	if s.list[name] == 0 {
		s.list[name] = unitOf(s.r.Name(name)) + 1
	}
	return s.list[name] - 1
}
