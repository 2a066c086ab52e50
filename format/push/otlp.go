package push

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"loupe/format/connect"
	"loupe/format/profile"
	"loupe/format/profile/message"
	"loupe/value/protobuf"
)

const (
	serviceAttribute = "service.name"
	processAttribute = "process.executable.name"
)

func (d *decoder) otlp(r Request) error {
	var m exportRequest
	if err := d.message(r, &m); err != nil {
		return err
	}
	if m.Dictionary == nil {
		m.Dictionary = new(dictionary)
	}
	for _, rp := range m.ResourceProfiles {
		for _, sp := range rp.Scopes {
			labels, service := m.Dictionary.labels(rp.Resource, sp.Scope)
			for i := range sp.Profiles {
				if err := d.otlpProfile(m.Dictionary, &sp.Profiles[i], labels, service); err != nil {
					return at("profile", i, err)
				}
			}
		}
	}
	return nil
}

// labels makes labels of the attributes of a resource and of a scope, and finds the name
// of the service. Where both have an attribute, the resource's counts.
func (t *dictionary) labels(r *resource, s *scope) (labels []Label, service string) {
	var all []keyValue
	if r != nil {
		all = append(all, r.Attributes...)
	}
	if s != nil {
		all = append(all, s.Attributes...)
	}
	service = unknown
	seen := map[string]bool{}
	for _, kv := range all {
		key := kv.Key
		if key == "" {
			key, _ = t.str(kv.KeyString)
		}
		value := t.text(kv.Value)
		name := ""
		if key != "" {
			name = labelName(key)
		}
		if name == "" || value == "" || seen[name] {
			continue
		}
		seen[name] = true
		switch key {
		case serviceAttribute:
			service = value
			continue
		case processAttribute:
			if service == unknown {
				service = unknown + ":" + value
			}
		}
		labels = append(labels, Label{name, value})
	}
	return labels, service
}

// text is a value of an attribute as a label has it: of a list its only entry.
func (t *dictionary) text(v *anyValue) string {
	switch {
	case v == nil:
		return ""
	case v.String != nil:
		return *v.String
	case v.StrIndx != nil:
		s, _ := t.str(*v.StrIndx)
		return s
	case v.Int != nil:
		return strconv.FormatInt(*v.Int, 10)
	case v.Bool != nil:
		return strconv.FormatBool(*v.Bool)
	case v.Double != nil:
		return strconv.FormatFloat(*v.Double, 'g', -1, 64)
	case v.Array != nil && len(v.Array.Values) == 1 && v.Array.Values[0].Array == nil:
		return t.text(&v.Array.Values[0])
	}
	return ""
}

func (t *dictionary) str(i int32) (string, error) {
	if i == 0 && len(t.Strings) == 0 {
		return "", nil
	}
	return entry(t.Strings, i, "string_table")
}

// entry returns an entry of a table of the dictionary.
func entry[T any](table []T, i int32, name string) (one T, err error) {
	if i < 0 || int(i) >= len(table) {
		return one, connect.Errorf(connect.InvalidArgument, "entry %d of %s is asked for, which has %d", i, name, len(table))
	}
	return table[i], nil
}

// otlpProfile takes one profile in. Samples may be of several services, by an attribute
// of each: a profiler of a whole machine sends them together.
func (d *decoder) otlpProfile(t *dictionary, in *otlpProfile, labels []Label, service string) error {
	if len(in.Samples) == 0 {
		if in.PayloadFormat != "pprof" || len(in.Payload) == 0 {
			return nil
		}
		p, err := d.pprof(in.Payload)
		if err != nil {
			return err
		}
		return d.add(named(labels[:len(labels):len(labels)], p, service), p, Pushed{ID: hex.EncodeToString(in.ProfileID)})
	}
	if err := d.countSamples(len(in.Samples)); err != nil {
		return err
	}
	var order []string
	services := map[string][]int{}
	for i := range in.Samples {
		name, err := t.serviceOf(&in.Samples[i], service)
		if err != nil {
			return err
		}
		if services[name] == nil {
			order = append(order, name)
		}
		services[name] = append(services[name], i)
	}
	for _, name := range order {
		b := newOTLPBuilder(t, in, d.left)
		p, err := b.profile(services[name])
		if err != nil {
			return err
		}
		d.left = b.left
		if err := d.add(named(labels[:len(labels):len(labels)], p, name), p, Pushed{ID: hex.EncodeToString(in.ProfileID)}); err != nil {
			return err
		}
	}
	return nil
}

func (t *dictionary) serviceOf(s *otlpSample, service string) (string, error) {
	for _, i := range s.Attributes {
		a, err := entry(t.Attributes, i, "attribute_table")
		if err != nil {
			return "", err
		}
		if key, _ := t.str(a.Key); key == serviceAttribute {
			if v := t.text(a.Value); v != "" {
				return v, nil
			}
		}
	}
	return service, nil
}

// otlpBuilder makes a profile.proto of one profile and the tables of the dictionary. The
// dictionary is one for the whole request; of it comes along what the samples name.
type otlpBuilder struct {
	t         *dictionary
	in        *otlpProfile
	out       message.Profile
	strings   map[string]int64
	functions map[int32]uint64
	locations map[int32]uint64
	mappings  map[int32]uint64
	left      int64 // bytes that may still be made: a sample of a few may name a long stack
}

func newOTLPBuilder(t *dictionary, in *otlpProfile, left int64) *otlpBuilder {
	return &otlpBuilder{
		t: t, in: in, left: left, out: message.Profile{StringTable: []string{""}}, strings: map[string]int64{"": 0},
		functions: map[int32]uint64{}, locations: map[int32]uint64{}, mappings: map[int32]uint64{},
	}
}

// profile makes a profile of the samples.
func (b *otlpBuilder) profile(samples []int) (*profile.Profile, error) {
	cpu, err := b.header()
	if err != nil {
		return nil, err
	}
	for _, i := range samples {
		s, err := b.sample(&b.in.Samples[i], cpu)
		if err != nil {
			return nil, err
		}
		b.out.Sample = append(b.out.Sample, s)
	}
	p, err := profile.Decode(protobuf.Marshal(&b.out), profile.Options{})
	if err != nil {
		return nil, connect.Errorf(connect.InvalidArgument, "%v", err)
	}
	return p, nil
}

// header writes the types. A profile of samples that are a period of CPU each gets the
// time as a second column, as Go's own profiles have it: cpu tells.
func (b *otlpBuilder) header() (cpu bool, err error) {
	if b.in.SampleType == nil {
		return false, connect.Errorf(connect.InvalidArgument, "the profile has samples and no sample_type")
	}
	t, typ, unit, err := b.valueType(b.in.SampleType)
	if err != nil {
		return false, err
	}
	b.out.SampleType = []message.ValueType{t}
	if b.in.PeriodType != nil {
		p, ptype, punit, err := b.valueType(b.in.PeriodType)
		if err != nil {
			return false, err
		}
		b.out.PeriodType = &p
		cpu = typ == "samples" && unit == "count" && ptype == "cpu" && punit == "nanoseconds" && b.in.Period > 0
		if cpu {
			b.out.SampleType = append(b.out.SampleType, p)
		}
	}
	b.out.Period = b.in.Period
	b.out.TimeNanos, b.out.DurationNanos = int64(b.in.TimeUnixNano), int64(b.in.DurationNano)
	return cpu, nil
}

func (b *otlpBuilder) valueType(v *otlpValueType) (t message.ValueType, typ, unit string, err error) {
	if typ, err = b.t.str(v.Type); err != nil {
		return t, "", "", err
	}
	if unit, err = b.t.str(v.Unit); err != nil {
		return t, "", "", err
	}
	return message.ValueType{Type: b.str(typ), Unit: b.str(unit)}, typ, unit, nil
}

func (b *otlpBuilder) str(s string) int64 {
	id, ok := b.strings[s]
	if !ok {
		id = int64(len(b.out.StringTable))
		b.strings[s] = id
		b.out.StringTable = append(b.out.StringTable, s)
	}
	return id
}

// strOf is str of an entry of the dictionary.
func (b *otlpBuilder) strOf(i int32) (int64, error) {
	s, err := b.t.str(i)
	return b.str(s), err
}

// sample adds the observations up; where there are times and no values, each is one.
func (b *otlpBuilder) sample(in *otlpSample, cpu bool) (s message.Sample, err error) {
	stack, err := b.stack(in.Stack)
	if err != nil {
		return s, err
	}
	b.left -= 16 + 10*int64(len(stack.Locations)) + 40*int64(len(in.Attributes))
	if b.left < 0 {
		return s, connect.Errorf(connect.InvalidArgument, "the stacks of the samples have too many frames (send fewer samples at once)")
	}
	for _, l := range stack.Locations {
		id, err := b.location(l)
		if err != nil {
			return s, err
		}
		s.LocationID = append(s.LocationID, id)
	}
	total := int64(0)
	for _, v := range in.Values {
		total += v
	}
	if len(in.Values) == 0 {
		total = int64(len(in.Timestamps))
	}
	s.Value = []int64{total}
	if cpu {
		if total > math.MaxInt64/b.in.Period {
			return s, connect.Errorf(connect.InvalidArgument, "a sample of %d periods of %d ns is longer than a number can say", total, b.in.Period)
		}
		s.Value = append(s.Value, total*b.in.Period)
	}
	s.Label, err = b.labels(in)
	return s, err
}

// stack returns an entry of the table of stacks. Entry 0 is the empty stack, and may be
// missing with all others.
func (b *otlpBuilder) stack(i int32) (otlpStack, error) {
	if i == 0 && len(b.t.Stacks) == 0 {
		return otlpStack{}, nil
	}
	return entry(b.t.Stacks, i, "stack_table")
}

// labels makes labels of the attributes of a sample, and of the span that it is of.
func (b *otlpBuilder) labels(in *otlpSample) (out []message.Label, err error) {
	for _, i := range in.Attributes {
		a, err := entry(b.t.Attributes, i, "attribute_table")
		if err != nil {
			return nil, err
		}
		key, err := b.t.str(a.Key)
		if err != nil {
			return nil, err
		}
		if key == "" || key == serviceAttribute || a.Value == nil {
			continue
		}
		l := message.Label{Key: b.str(key)}
		if a.Value.Int != nil {
			l.Num = *a.Value.Int
			if l.NumUnit, err = b.strOf(a.Unit); err != nil {
				return nil, err
			}
		} else {
			l.Str = b.str(b.t.text(a.Value))
		}
		out = append(out, l)
	}
	if in.Link == 0 {
		return out, nil
	}
	link, err := entry(b.t.Links, in.Link, "link_table")
	if err != nil {
		return nil, err
	}
	for _, id := range [...]struct {
		name  string
		bytes []byte
	}{{"trace_id", link.TraceID}, {"span_id", link.SpanID}} {
		if s := hex.EncodeToString(id.bytes); strings.Trim(s, "0") != "" { // zeroes are no id
			out = append(out, message.Label{Key: b.str(id.name), Str: b.str(s)})
		}
	}
	return out, nil
}

func (b *otlpBuilder) location(i int32) (uint64, error) {
	if id, ok := b.locations[i]; ok {
		return id, nil
	}
	in, err := entry(b.t.Locations, i, "location_table")
	if err != nil {
		return 0, err
	}
	id := uint64(len(b.out.Location) + 1)
	b.locations[i] = id
	out := message.Location{ID: id, Address: in.Address}
	if out.MappingID, err = b.mapping(in.Mapping); err != nil {
		return 0, err
	}
	for _, l := range in.Lines {
		f, err := b.function(l.Function)
		if err != nil {
			return 0, err
		}
		out.Line = append(out.Line, message.Line{FunctionID: f, Line: l.Line, Column: l.Column})
	}
	b.out.Location = append(b.out.Location, out)
	return id, nil
}

func (b *otlpBuilder) function(i int32) (uint64, error) {
	if id, ok := b.functions[i]; ok {
		return id, nil
	}
	in, err := entry(b.t.Functions, i, "function_table")
	if err != nil {
		return 0, err
	}
	out := message.Function{ID: uint64(len(b.out.Function) + 1), StartLine: in.StartLine}
	if out.Name, err = b.strOf(in.Name); err != nil {
		return 0, err
	}
	if out.SystemName, err = b.strOf(in.SystemName); err != nil {
		return 0, err
	}
	if out.Filename, err = b.strOf(in.Filename); err != nil {
		return 0, err
	}
	b.functions[i] = out.ID
	b.out.Function = append(b.out.Function, out)
	return out.ID, nil
}

// mapping returns the number of a mapping; entry 0 of the table stands for none.
func (b *otlpBuilder) mapping(i int32) (uint64, error) {
	if i == 0 {
		return 0, nil
	}
	if id, ok := b.mappings[i]; ok {
		return id, nil
	}
	in, err := entry(b.t.Mappings, i, "mapping_table")
	if err != nil {
		return 0, err
	}
	out := message.Mapping{ID: uint64(len(b.out.Mapping) + 1), MemoryStart: in.Start, MemoryLimit: in.Limit, FileOffset: in.Offset, HasFunctions: true}
	if out.Filename, err = b.strOf(in.Filename); err != nil {
		return 0, err
	}
	if out.BuildID, err = b.buildID(in.Attributes); err != nil {
		return 0, err
	}
	b.mappings[i] = out.ID
	b.out.Mapping = append(b.out.Mapping, out)
	return out.ID, nil
}

// buildID finds the build id among the attributes of a mapping: Go's, before that of the
// linker.
func (b *otlpBuilder) buildID(attributes []int32) (int64, error) {
	best := map[string]string{}
	for _, i := range attributes {
		a, err := entry(b.t.Attributes, i, "attribute_table")
		if err != nil {
			return 0, err
		}
		key, err := b.t.str(a.Key)
		if err != nil {
			return 0, err
		}
		best[key] = b.t.text(a.Value)
	}
	for _, key := range []string{"process.executable.build_id.go", "process.executable.build_id.gnu", "process.executable.build_id.htlhash"} {
		if best[key] != "" {
			return b.str(best[key]), nil
		}
	}
	return 0, nil
}
