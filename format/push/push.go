// Package push reads what profilers send to a server: Pyroscope's clients (/ingest and
// push.v1), OpenTelemetry's exporters (OTLP), and what speaks Parca's WriteRaw. Whatever
// the protocol, it comes out as labels and a profile. It also makes the answers, since
// each kind of client wants its own, and tries again for ever when it gets another.
//
// It does no HTTP and stores nothing: a [Request] in, values out. What the numbers mean
// over time is said by [Pushed.States]. docs/formats/push.md describes the protocols.
package push

import (
	"bytes"
	"cmp"
	"net/url"
	"slices"
	"time"

	"loupe/format/connect"
	"loupe/format/profile"
)

// Protocol is a way to push.
type Protocol uint8

// The protocols.
const (
	Ingest Protocol = iota // POST /ingest, of pyroscope-go and curl
	Pusher                 // push.v1.PusherService/Push, of Alloy
	OTLP                   // OpenTelemetry, v1development
	Parca                  // parca.profilestore.v1alpha1 WriteRaw
)

// Paths are the paths of URLs at which clients expect the protocols, all with POST.
var Paths = map[string]Protocol{
	"/ingest":                     Ingest,
	"/push.v1.PusherService/Push": Pusher,
	"/v1development/profiles":     OTLP,
	"/api/profiles/writeraw":      Parca,
	"/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw":                    Parca,
	"/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export": OTLP,
}

// Request is what a client has sent.
type Request struct {
	ContentType     string
	ContentEncoding string // for gRPC the header Grpc-Encoding
	Query           url.Values
	Body            []byte // as it arrived; what is decoded may keep parts of it
}

// Limits bound a request. A zero is the default.
type Limits struct {
	Bytes      int64 // of the request and of all its profiles, unpacked: 64 MiB, as OTLP recommends
	Samples    int   // of a profile: 1,000,000
	Profiles   int   // in a request: 10,000
	Labels     int   // of a profile: 64
	LabelBytes int   // of a name or a value: 4096
}

func (l Limits) orDefault() Limits {
	return Limits{
		Bytes: cmp.Or(l.Bytes, 64<<20), Samples: cmp.Or(l.Samples, 1_000_000), Profiles: cmp.Or(l.Profiles, 10_000),
		Labels: cmp.Or(l.Labels, 64), LabelBytes: cmp.Or(l.LabelBytes, 4096),
	}
}

// Pushed is one profile with where it comes from.
type Pushed struct {
	// Labels are sorted by name, and no name comes twice. There always are __name__, which
	// is the kind of profile (process_cpu, memory, mutex, block, goroutine), and
	// service_name.
	Labels  []Label
	Profile *profile.Profile
	// States tells of each sample type whether its values are a state, see
	// [profile.ValueType.IsState], by its name or because the client says so.
	States []bool
	// From and Until are when the profile began and ended by what the client says beside
	// it; zero where it says nothing. Profile.Time is what the profile says itself.
	From, Until time.Time
	ID          string // of the profile, as the client gave it
	// Session is one run of the program, where the client says so: it is no label, since
	// every start would make another series.
	Session string
	// Difference tells that nothing in it counts from the start of the program: by the protocol
	// (/ingest, OTLP), because the client says so (__delta__="false", as Alloy does, which means
	// that the server need not make one), or because it covers a time.
	Difference bool
}

// Time returns when the profile was taken: by itself, else by the client, else the time
// that is given. Some clients write microseconds or nothing for nanoseconds, which is
// in 1970: that does not count.
func (p *Pushed) Time(now time.Time) time.Time {
	for _, t := range []time.Time{p.Profile.Time, p.From, p.Until} {
		if t.Year() > 1970 {
			return t
		}
	}
	return now
}

// Decode reads a request. Every error is a [connect.Error]; its code says whether to
// send the same again is of use. Nothing of a request with an error is returned: the
// client is told that all of it was refused.
func Decode(p Protocol, r Request, l Limits) ([]Pushed, error) {
	l = l.orDefault()
	d := &decoder{Limits: l, left: l.Bytes, differences: p == Ingest || p == OTLP}
	var err error
	switch p {
	case Ingest:
		err = d.ingest(r)
	case Pusher:
		err = d.pusher(r)
	case Parca:
		err = d.parca(r)
	default:
		err = d.otlp(r)
	}
	if err != nil {
		return nil, connect.As(err)
	}
	return d.out, nil
}

// decoder is one call of Decode.
type decoder struct {
	Limits
	left int64 // how many bytes the profiles may still inflate to
	out  []Pushed
	// differences tells that the protocol has nothing else.
	differences bool
}

// message reads the message of a request.
func (d *decoder) message(r Request, into any) error {
	e, err := connect.EncodingOf(r.ContentType)
	if err != nil {
		return err
	}
	var body []byte
	if e == connect.GRPC {
		body, err = connect.Unframe(r.Body, r.ContentEncoding, d.Bytes)
	} else {
		body, err = connect.Unpack(r.Body, r.ContentEncoding, d.Bytes)
	}
	if err != nil {
		return err
	}
	return connect.Unmarshal(body, e, into, 4*d.Bytes)
}

// pprof decodes a profile that lies in a request, within what is left for all of them.
func (d *decoder) pprof(data []byte) (p *profile.Profile, err error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return d.unpacked(data)
	}
	err = inflate(data, d.left, func(raw []byte) error {
		p, err = d.unpacked(raw)
		return err
	})
	return p, err
}

// unpacked decodes a profile, of which nothing is kept.
func (d *decoder) unpacked(data []byte) (*profile.Profile, error) {
	if d.left -= int64(len(data)); d.left < 0 {
		return nil, connect.TooLarge(d.Bytes)
	}
	p, err := profile.Decode(data, profile.Options{MaxBytes: d.Bytes})
	if err != nil {
		return nil, connect.Errorf(connect.InvalidArgument, "%v", err)
	}
	return p, d.countSamples(p.Len())
}

func (d *decoder) countSamples(n int) error {
	if n > d.Samples {
		return connect.Errorf(connect.InvalidArgument, "the profile has %d samples, more than %d", n, d.Samples)
	}
	return nil
}

// add takes a profile in.
func (d *decoder) add(labels []Label, p *profile.Profile, one Pushed) error {
	if p.Len() == 0 || len(p.SampleTypes) == 0 {
		return nil // a mutex profile of a program without contention
	}
	if len(d.out) >= d.Profiles {
		return connect.Errorf(connect.InvalidArgument, "the request has more than %d profiles (send fewer at once)", d.Profiles)
	}
	var err error
	if one.Labels, err = d.normal(labels); err != nil {
		return err
	}
	one.Profile, one.Session = p, noteOf(labels, sessionLabel)
	one.Difference = d.differences || p.Duration > 0 || noteOf(labels, deltaLabel) == "false"
	if one.States == nil {
		one.States = make([]bool, len(p.SampleTypes))
	}
	for i, t := range p.SampleTypes {
		one.States[i] = one.States[i] || t.IsState()
	}
	d.out = append(d.out, one)
	return nil
}

// named returns the labels with a __name__ and a service_name, where they are missing.
func named(labels []Label, p *profile.Profile, service string) []Label {
	has := func(name string) bool {
		return slices.ContainsFunc(labels, func(l Label) bool { return l.Name == name && l.Value != "" })
	}
	if !has(nameLabel) {
		labels = append(labels, Label{nameLabel, kindOf(p, nil)})
	}
	if !has(serviceLabel) {
		labels = append(labels, Label{serviceLabel, service})
	}
	return labels
}
