package fleet

import (
	"time"

	"loupe/format/connect"
	"loupe/format/querier"
	"loupe/store"
)

// nameLabel is the label that has the name of the kind of profile on the wire.
const nameLabel = "__name__"

// typeLabel is the label that has the whole type of profile, in selectors and answers.
const typeLabel = "__profile_type__"

// selection reads what a question is about. Times are in milliseconds.
func (s *asked) selection(typeID, selector string, start, end int64) (sel store.Selection, err error) {
	sel.Limits = s.limits
	if start > 0 || end > 0 {
		sel.Range = store.Range{Start: time.UnixMilli(start), End: time.UnixMilli(end)}
		if end < start {
			return sel, connect.Errorf(connect.InvalidArgument, "the range ends before it begins")
		}
	}
	matchers, err := store.ParseMatchers(selector)
	if err != nil {
		return sel, connect.Errorf(connect.InvalidArgument, "%v", err)
	}
	for _, m := range matchers {
		switch {
		case m.Name == typeLabel && m.Op == store.Equal:
			typeID = m.Value
		case m.Name == nameLabel || m.Name == typeLabel:
			return sel, connect.Errorf(connect.Unimplemented, "%s is selected by %s=\"…\" alone", m.Name, typeLabel)
		default:
			sel.Matchers = append(sel.Matchers, m)
		}
	}
	if typeID != "" {
		t, err := querier.ParseProfileType(typeID)
		if err != nil {
			return sel, err
		}
		sel.Type = store.Type{Name: t.Name, Sample: t.SampleType, Unit: t.SampleUnit, Period: t.PeriodType, PeriodUnit: t.PeriodUnit}
	}
	return sel, nil
}

// typed is selection for a question that needs a type.
func (s *asked) typed(typeID, selector string, start, end int64) (store.Selection, error) {
	sel, err := s.selection(typeID, selector, start, end)
	if err == nil && sel.Type == (store.Type{}) {
		err = connect.Errorf(connect.InvalidArgument, "profile_typeID is missing, such as process_cpu:cpu:nanoseconds:cpu:nanoseconds")
	}
	return sel, err
}

// selections are those of several selectors, of which any may hold; none at all is all.
func (s *asked) selections(matchers []string, start, end int64) (all []store.Selection, err error) {
	if len(matchers) == 0 {
		matchers = []string{"{}"}
	}
	for _, m := range matchers {
		sel, err := s.selection("", m, start, end)
		if err != nil {
			return nil, err
		}
		all = append(all, sel)
	}
	return all, nil
}

// unimplemented is the error of a question that is understood and not answered.
func unimplemented(what string) error {
	return connect.Errorf(connect.Unimplemented, "%s is not answered by this server", what)
}
