package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Who opens the connections of a program as a client: what keeps them open depends on that.

// dialler is who dials.
type dialler int

const (
	dialsUnknown dialler = iota
	dialsProgram         // with package net or crypto/tls
	dialsHTTP
	dialsSQL
	dialsGRPC
	dialsLibrary // of somebody else
)

// connDialler are the connections that are made in one way, at one line of the program where it is known.
type connDialler struct {
	by      dialler
	library string // the package, of one
	at      stack.Frame
	frames  []stack.Frame // of the heaviest stack
	weight  int64
	most    int64
}

// whoDials tells of a stack, the leaf first, who makes the connection, and the line of the program nearest to that. What
// stands behind that line, such as a server that has called it, does not dial.
func whoDials(frames []stack.Frame, isUser func(stack.Frame) bool) (d connDialler) {
	for _, f := range frames {
		pkg := stack.Package(f.Func)
		switch {
		case isUser(f):
			if d.at.Func == "" {
				d.at = f
			}
		case clientOfHTTP(f.Func):
			d.by = cmp.Or(d.by, dialsHTTP)
		case pkg == "database/sql":
			d.by = dialsSQL
		case d.at.Func != "" || stack.IsStandard(pkg) || pkg == "":
		case strings.HasPrefix(pkg, "google.golang.org/grpc"):
			d.by = cmp.Or(d.by, dialsGRPC)
		case d.library == "":
			d.library = pkg
		}
	}
	switch {
	case d.by != dialsUnknown:
	case d.library != "":
		d.by = dialsLibrary
	case d.at.Func != "":
		d.by = dialsProgram
	}
	return d
}

// clientOfHTTP tells of a function of net/http that is a client's: a handler has net/http below it as well.
func clientOfHTTP(name string) bool {
	for _, p := range []string{"net/http.(*Transport).", "net/http.(*persistConn).", "net/http.(*Client)."} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// handshakesBy are the samples of a CPU profile in handshakes of clients, by who dials, the most first, and all of them.
func handshakesBy(p *profile.Profile, index int, isUser func(stack.Frame) bool) (by []*connDialler, all int64) {
	for id, n := range p.Samples(index) {
		frames := facts.Frames(p.Stacks, id)
		i := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.Func == clientHandshake })
		if i < 0 || n <= 0 {
			continue
		}
		all += n
		one := whoDials(frames[i:], isUser)
		k := slices.IndexFunc(by, func(d *connDialler) bool {
			return d.by == one.by && d.library == one.library && d.at == one.at
		})
		if k < 0 {
			k = len(by)
			by = append(by, &one)
		}
		if by[k].weight += n; n > by[k].most {
			by[k].most, by[k].frames = n, frames
		}
	}
	slices.SortStableFunc(by, func(a, b *connDialler) int { return cmp.Compare(b.weight, a.weight) })
	return by, all
}

// clientHandshake is what a client does for a TLS connection.
const clientHandshake = "crypto/tls.(*Conn).clientHandshake"

// keepAdvice is how to keep such connections open; secure tells of TLS.
func (d *connDialler) keepAdvice(secure bool) string {
	advice := ""
	switch d.by {
	case dialsProgram:
		advice = fmt.Sprintf("The program dials itself, at %s:%d: keep the connection and use it for the next call. If calls run at once, keep the connections in a pool with room for as many, and put each back after its use; if there is a pool already, check its size, and that connections come back to it.", baseName(d.at.File), d.at.Line)
		if secure {
			advice += " A session cache (ClientSessionCache) only shortens the handshake."
		}
	case dialsSQL:
		advice = "Package database/sql opens these connections: keep one *sql.DB for all, and let it keep as many idle connections as queries run at once (SetMaxIdleConns; 2 unless the program sets it). A short SetConnMaxLifetime or SetConnMaxIdleTime closes them too."
	case dialsGRPC:
		advice = "gRPC opens these connections: make one grpc.ClientConn for each peer and keep it. It carries many calls at once, and does not have to be made for each."
	case dialsLibrary:
		advice = fmt.Sprintf("Package %s opens these connections: make one client of it, keep it for all calls, and look at its options for idle connections.", d.library)
	}
	return advice
}

// tellDialled says of handshakes which line of the program they are for, and what to do there.
func tellDialled(in *Input, h *handshaken, d *connDialler, all int64, entry recording.Entry) {
	if advice := d.keepAdvice(true); advice != "" {
		h.Advice = advice
	}
	h.by = d.by
	if d.at.Func == "" || 2*d.weight < h.clients {
		return // there are many of them
	}
	share := float64(d.weight) / float64(max(1, all))
	h.Summary += fmt.Sprintf(", %s for connections that are made%s", unit.Percent(share), atFrame(d.at))
	e := in.fileAt(entry, d.at, d.frames, "%d samples are in TLS handshakes of connections made here", d.weight)
	h.Evidence = append([]Evidence{e}, h.Evidence...)
	if d.by == dialsProgram && dialsItem(in.code, d.at) {
		h.Doubts = append(h.Doubts, "the source dials an address that the function is given: if each is another one, there is nothing to use again")
	}
	if d.by == dialsProgram {
		tellDropped(in, d.frames, &h.Finding)
	}
	tellOpening(in, &h.Finding, cost{callee: clientHandshake})
}
