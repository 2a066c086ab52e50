package loadlog

import (
	"slices"
	"time"
)

// TraceSchema names the version of the JSON form of a [ClientTrace].
const TraceSchema = "loupe.httptrace/1"

// ClientTrace is what a client saw of one or a few requests: every exchange with
// its phases. It is what loupe load -o trace prints.
type ClientTrace struct {
	Schema    string     `json:"schema"`
	Exchanges []Exchange `json:"exchanges"`
}

// Exchange is one request with its answer. A request that was redirected is
// several exchanges, one after the other.
type Exchange struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	// Hop counts the redirects that led here.
	Hop      int    `json:"hop,omitempty"`
	Protocol string `json:"protocol,omitempty"` // HTTP/1.1, HTTP/2.0
	Status   int    `json:"status,omitempty"`
	// Location is where a redirect leads.
	Location string `json:"location,omitempty"`
	// Start is when the exchange began, since the first one did.
	Start time.Duration `json:"start_ns"`
	Total time.Duration `json:"total_ns"`
	// Reused tells that the connection had been used before, and was idle
	// for so long.
	Reused bool          `json:"reused"`
	Idle   time.Duration `json:"idle_ns,omitempty"`
	Local  string        `json:"local,omitempty"`
	Remote string        `json:"remote,omitempty"`
	TLS    *TLS          `json:"tls,omitempty"`
	Phases []Phase       `json:"phases"`
	// Informational are the answers of class 1xx that came before.
	Informational []int `json:"informational,omitempty"`
	// Bytes is the length of the body, Header the number of header lines.
	Bytes  int64 `json:"bytes"`
	Header int   `json:"header_lines"`
	// Error is why there is no answer, or no whole one.
	Error string `json:"error,omitempty"`
}

// TLS describes the connection's encryption.
type TLS struct {
	Version  string    `json:"version"`
	Cipher   string    `json:"cipher"`
	Protocol string    `json:"alpn,omitempty"`
	Resumed  bool      `json:"resumed,omitempty"`
	Subject  string    `json:"subject,omitempty"`
	Issuer   string    `json:"issuer,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
	Verified bool      `json:"verified"`
}

// Phase is a stretch of an exchange. Start and End count from the exchange's
// start.
type Phase struct {
	// Name is dns, connect, tls, write, wait or read. There may be several
	// of connect, of which the fastest was used.
	Name   string        `json:"name"`
	Start  time.Duration `json:"start_ns"`
	End    time.Duration `json:"end_ns"`
	Detail string        `json:"detail,omitempty"`
	Error  string        `json:"error,omitempty"`
}

// PhaseNames lists the phases in the order in which they usually follow.
var PhaseNames = []string{"dns", "connect", "tls", "write", "wait", "read"}

// Length returns how long the phases of a name took together, and whether
// there were any.
func (x *Exchange) Length(name string) (total time.Duration, ok bool) {
	for _, p := range x.Phases {
		if p.Name == name {
			total, ok = total+p.End-p.Start, true
		}
	}
	return total, ok
}

// Sort brings the phases into the order in which they began.
func (x *Exchange) Sort() {
	slices.SortStableFunc(x.Phases, func(a, b Phase) int {
		if a.Start != b.Start {
			return int(a.Start - b.Start)
		}
		return slices.Index(PhaseNames, a.Name) - slices.Index(PhaseNames, b.Name)
	})
}

// Summary counts requests and their answers; a request whose redirect
// failed has none.
func (t *ClientTrace) Summary() *Summary {
	s := &Summary{Errors: map[string]int{}}
	for i, x := range t.Exchanges {
		if i+1 < len(t.Exchanges) && t.Exchanges[i+1].Hop > 0 {
			continue // not the last one of its request
		}
		s.Requests++
		if x.Error != "" {
			s.Errors[x.Error]++
			continue
		}
		s.Responses++
	}
	return s
}
