package fleet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"loupe/format/connect"
	"loupe/format/querier"
	"loupe/store"
	"loupe/web"
)

// The calls that change pins.
const (
	pinPath   = querier.PinService + "Pin"
	unpinPath = querier.PinService + "Unpin"
)

// The most that pins may be.
const (
	maxPins     = 1000
	maxPinName  = 100
	maxPinWords = 4 << 10 // of the selector, and of the reason
)

// pins lists the pins.
func (s *asked) pins(ctx context.Context) (any, error) {
	pins, err := s.engine.Pins(ctx)
	out := &querier.PinsResponse{}
	for _, p := range pins {
		out.Pins = append(out.Pins, querier.Pin{Name: p.Name, Selector: p.Matchers.String(), Start: millis(p.Range.Start), End: millis(p.Range.End), Reason: p.Reason})
	}
	return out, err
}

// millis is a time on the wire; an open end of a range is 0.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// pin pins a selection that has something, or may have in the time to come.
func (s *asked) pin(ctx context.Context, q *querier.PinRequest) (any, error) {
	wrong := func(format string, args ...any) (any, error) {
		return nil, connect.Errorf(connect.InvalidArgument, format, args...)
	}
	switch p := q.Pin; {
	case p == nil || p.Name == "" || len(p.Name) > maxPinName || strings.ContainsFunc(p.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return wrong("the name of a pin must have 1 to %d printable bytes", maxPinName)
	case len(p.Selector) > maxPinWords || len(p.Reason) > maxPinWords:
		return wrong("the selector or the reason is longer than %d bytes", maxPinWords)
	case p.Start <= 0 || p.End <= p.Start:
		return wrong("a pin needs a range: start and end in milliseconds since 1970")
	}
	sel, err := s.selection("", q.Pin.Selector, q.Pin.Start, q.Pin.End)
	if err != nil {
		return nil, err
	}
	if sel.Type != (store.Type{}) {
		return wrong("a pin keeps profiles with all their types: do not select by %s", typeLabel)
	}
	pins, err := s.engine.Pins(ctx)
	if err != nil {
		return nil, err
	}
	if len(pins) >= maxPins && !slices.ContainsFunc(pins, func(p store.Pin) bool { return p.Name == q.Pin.Name }) {
		return wrong("there are already %d pins: remove some", len(pins))
	}
	series, err := s.engine.Series(ctx, sel)
	if err != nil {
		return nil, err
	}
	if len(series) == 0 && !sel.Range.End.After(s.now()) {
		return nil, connect.Errorf(connect.NotFound, "there are no profiles of %s in this range to pin", sel.Matchers)
	}
	err = s.engine.Pin(ctx, store.Pin{Name: q.Pin.Name, Matchers: sel.Matchers, Range: sel.Range, Reason: q.Pin.Reason})
	return &querier.PinResponse{Series: int64(len(series))}, err
}

// unpin takes a pin away.
func (s *asked) unpin(ctx context.Context, q *querier.UnpinRequest) (any, error) {
	pins, err := s.engine.Pins(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(pins, func(p store.Pin) bool { return p.Name == q.Name }) {
		return nil, connect.Errorf(connect.NotFound, "there is no pin called %q", q.Name)
	}
	return &querier.UnpinResponse{}, s.engine.Unpin(ctx, q.Name)
}

// asked are the questions of the pages as those of programs.
func (p *Pages) asked() *asked { return &asked{p.engine, p.opt.Limits, p.opt.Now} }

// Pins is that of [web.Fleet].
func (p *Pages) Pins(ctx context.Context) (*web.FleetPins, error) {
	pins, err := p.engine.Pins(ctx)
	out := &web.FleetPins{Pins: []web.FleetPin{}}
	for _, one := range pins {
		out.Pins = append(out.Pins, web.FleetPin{Name: one.Name, Select: one.Matchers.String(), From: millis(one.Range.Start), Until: millis(one.Range.End), Reason: one.Reason})
	}
	return out, err
}

// Pin is that of [web.Fleet].
func (p *Pages) Pin(ctx context.Context, name, reason string, q web.FleetQuestion) error {
	c, err := p.choose(q)
	if err != nil {
		return err
	}
	r := c.shown()
	_, err = p.asked().pin(ctx, &querier.PinRequest{Pin: &querier.Pin{Name: name, Selector: c.text, Start: r.From, End: r.Until, Reason: reason}})
	return pinned(err)
}

// Unpin is that of [web.Fleet].
func (p *Pages) Unpin(ctx context.Context, name string) error {
	_, err := p.asked().unpin(ctx, &querier.UnpinRequest{Name: name})
	return pinned(err)
}

// pinned makes an error about a pin one for people.
func pinned(err error) error {
	if known := (*connect.Error)(nil); errors.As(err, &known) {
		return web.NotThere("%s.", known.Message)
	}
	return told(err)
}
