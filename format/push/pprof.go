package push

import (
	"fmt"

	"loupe/format/connect"
)

// The messages of push.v1 and of Parca's profilestore.v1alpha1. They differ in their
// numbers and in how labels are wrapped.
type (
	pushRequest struct {
		Series []pushSeries `pb:"1,series"`
	}
	pushSeries struct {
		Labels  []Label     `pb:"1,labels"`
		Samples []rawSample `pb:"2,samples"`
	}
	rawSample struct {
		RawProfile []byte `pb:"1,raw_profile"`
		ID         string `pb:"2,ID"`
	}
	writeRawRequest struct {
		Tenant     string           `pb:"1,tenant"`
		Series     []writeRawSeries `pb:"2,series"`
		Normalized bool             `pb:"3,normalized"`
	}
	writeRawSeries struct {
		Labels  *labelSet   `pb:"1,labels"`
		Samples []rawSample `pb:"2,samples"`
	}
	labelSet struct {
		Labels []Label `pb:"1,labels"`
	}
)

// Item is a profile, as pprof, of a series. The ID may be empty.
type Item struct {
	Labels  []Label
	ID      string
	Profile []byte
}

// Message makes the request of push.v1 that pushes profiles, and the path of the URL that it
// goes to. It is the other way of [Decode] with [Pusher].
func Message(items ...Item) (path string, message any) {
	m := &pushRequest{}
	for _, i := range items {
		m.Series = append(m.Series, pushSeries{Labels: i.Labels, Samples: []rawSample{{i.Profile, i.ID}}})
	}
	return "/push.v1.PusherService/Push", m
}

func (d *decoder) pusher(r Request) error {
	var m pushRequest
	if err := d.message(r, &m); err != nil {
		return err
	}
	for i, s := range m.Series {
		if err := d.raw(s.Labels, s.Samples); err != nil {
			return at("series", i, err)
		}
	}
	return nil
}

func (d *decoder) parca(r Request) error {
	var m writeRawRequest
	if err := d.message(r, &m); err != nil {
		return err
	}
	for i, s := range m.Series {
		var labels []Label
		if s.Labels != nil {
			labels = s.Labels.Labels
		}
		if err := d.raw(labels, s.Samples); err != nil {
			return at("series", i, err)
		}
	}
	return nil
}

// raw takes the profiles of one series in.
func (d *decoder) raw(labels []Label, samples []rawSample) error {
	for i, s := range samples {
		p, err := d.pprof(s.RawProfile)
		if err != nil {
			return at("sample", i, err)
		}
		// The slice is shared by the profiles of the series: full, it is copied.
		if err := d.add(named(labels[:len(labels):len(labels)], p, service(labels)), p, Pushed{ID: s.ID}); err != nil {
			return at("sample", i, err)
		}
	}
	return nil
}

// service finds another name for the service of a series that has no service_name, as
// those that Prometheus's conventions make have none.
func service(labels []Label) string {
	for _, name := range []string{"service", "job", "app"} {
		for _, l := range labels {
			if l.Name == name && l.Value != "" {
				return l.Value
			}
		}
	}
	return unknown
}

// at says in which part of a request something is wrong.
func at(what string, i int, err error) error {
	e := connect.As(err)
	out := *e
	out.Message = fmt.Sprintf("%s %d: %s", what, i, e.Message)
	return &out
}
