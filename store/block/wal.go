package block

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"loupe/store"
)

// castagnoli is the polynomial of all checksums: processors have an instruction for it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	walMagic  = "loupewal\x01\x00\x00\x00"
	maxRecord = 1 << 29
)

// wal is a write-ahead log: records, one behind the other. After a write that failed it
// is cut back to what is durable.
type wal struct {
	f      file
	size   int64 // durable
	broken error
	buf    []byte
}

// createLog begins a log.
func createLog(fs filesystem, name string) (*wal, error) {
	f, err := fs.Create(name)
	if err != nil {
		return nil, err
	}
	_, err = f.Write([]byte(walMagic))
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = fs.SyncDir()
	}
	if err != nil {
		f.Close()
		fs.Remove(name)
		return nil, err
	}
	return &wal{f: f, size: int64(len(walMagic))}, nil
}

// append writes the records of tickets and returns when they are durable.
func (w *wal) append(batch []*ticket) error {
	if w.broken != nil {
		return w.broken
	}
	w.buf = w.buf[:0]
	for _, t := range batch {
		w.buf = append(w.buf, t.record...)
	}
	_, err := w.f.Write(w.buf)
	if err == nil {
		err = w.f.Sync()
	}
	if err == nil {
		w.size += int64(len(w.buf))
		return nil
	}
	// What was written in part must not stand in front of what comes next. Where it
	// cannot be cut off, this log takes nothing more.
	cut := w.f.Truncate(w.size)
	if cut == nil {
		cut = w.f.Sync()
	}
	if cut != nil {
		w.broken = errBroken
	}
	return fmt.Errorf("cannot write the log: %w", err)
}

// errBroken is a log that takes nothing more.
var errBroken = errors.New("the log could not be repaired after a failed write")

// encoder makes bytes smaller. An encoder of zstd may not be used by two at a time.
type encoder struct{ z *zstd.Encoder }

func newEncoder(level zstd.EncoderLevel) encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(windowOf(level)), zstd.WithEncoderCRC(false))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return encoder{z}
}

// windowOf is how far back a level looks: what it costs in memory is some times that.
func windowOf(level zstd.EncoderLevel) int {
	if level == zstd.SpeedFastest {
		return 128 << 10
	}
	return 1 << 20
}

// pack appends the bytes in their smaller form. They are left as they are where they do
// not get smaller, or so much smaller that a reader would not trust it.
func (e *encoder) pack(dst, raw []byte) []byte {
	at := len(dst)
	if len(raw) > 64 {
		dst = e.z.EncodeAll(raw, dst)
		if n := len(dst) - at; n < len(raw) && len(raw) <= mostRaw(n) {
			return dst
		}
	}
	return append(dst[:at], raw...)
}

// mostRaw is the most that packed bytes may become: a bound on what damaged files cost.
func mostRaw(packed int) int { return min(1<<29, 1<<16+packed<<10) }

// unpack undoes pack.
func unpack(packed []byte, raw int, buf []byte) ([]byte, error) {
	if raw == len(packed) {
		return packed, nil
	}
	if raw < len(packed) || raw > mostRaw(len(packed)) {
		return nil, errCut
	}
	out, err := unpacker.DecodeAll(packed, slices.Grow(buf[:0], raw)[:0:raw])
	if err != nil || len(out) != raw {
		return nil, errCut
	}
	return out, nil
}

// unpacker is used by all at the same time, and holds to the size that it is given.
var unpacker = func() *zstd.Decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(1<<30))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return z
}()

// frame packs a record: its sizes, packed and not, the checksum of these and of the
// bytes, and the bytes.
func frame(e *encoder, raw []byte) []byte {
	b := make([]byte, 12, 12+len(raw)/2)
	b = e.pack(b, raw)
	binary.LittleEndian.PutUint32(b, uint32(len(b)-12))
	binary.LittleEndian.PutUint32(b[4:], uint32(len(raw)))
	sum := crc32.Update(crc32.Checksum(b[:8], castagnoli), castagnoli, b[12:])
	binary.LittleEndian.PutUint32(b[8:], sum)
	return b
}

// cutRecord takes a record off the front.
func cutRecord(b []byte) (raw, rest []byte, err error) {
	if len(b) < 12 {
		return nil, nil, errCut
	}
	n, size := int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
	if n > len(b)-12 || n > maxRecord || size > maxRecord {
		return nil, nil, errCut
	}
	if crc32.Update(crc32.Checksum(b[:8], castagnoli), castagnoli, b[12:12+n]) != binary.LittleEndian.Uint32(b[8:]) {
		return nil, nil, errCut
	}
	raw, err = unpack(b[12:12+n], size, nil)
	return raw, b[12+n:], err
}

// The operations of a record.
const (
	opService = 1 // the name of the next dictionary
	opDict    = 2 // more of a dictionary
	opSeries  = 3 // the next series
	opProfile = 4
)

// recorder puts the record of one call of Write together.
type recorder struct {
	h   *head
	t   *ticket
	raw []byte
}

// profile adds a profile to the head's dictionary and to the record. The head is locked.
func (r *recorder) profile(p *store.Profile) {
	h := r.h
	at, in := r.service(p.Labels.Value(store.ServiceLabel))
	types, columns := keptTypes(p)
	s := samples{values: make([][]int64, len(types))}
	reading := newReading(in, p.Samples)
	for i := range p.Samples.Len() {
		id, set := reading.stack(i)
		s.stacks, s.sets = append(s.stacks, id), append(s.sets, set)
	}
	for k, column := range columns {
		s.values[k] = p.Samples.Values[column]
	}
	s.sum()
	number := r.series(seriesKey{p.Labels, typesKey(types)}, types, at)
	if m := marksOf(&in.dict); m != h.logged[at] {
		r.raw = append(r.raw, opDict)
		r.raw = binary.AppendUvarint(r.raw, uint64(at))
		r.raw = appendDelta(r.raw, &in.dict, h.logged[at])
		h.logged[at] = m
	}
	var w chunkWriter
	w.reset(len(types))
	w.add(&s)
	data := w.append(nil)
	r.raw = append(r.raw, opProfile)
	r.raw = binary.AppendUvarint(r.raw, uint64(number))
	r.raw = append(r.raw, p.ID[:]...)
	r.raw = binary.AppendVarint(r.raw, p.Time.UnixNano())
	r.raw = binary.AppendUvarint(r.raw, uint64(p.Duration))
	r.raw = binary.AppendUvarint(r.raw, uint64(len(data)))
	r.raw = append(r.raw, data...)
	r.t.rows = append(r.t.rows, placed{number, row{p.Time.UnixNano(), int64(p.Duration), 1, 1, len(s.stacks), s.totals()}, data})
}

// done frames the record.
func (r *recorder) done() []byte {
	if r.h.enc.z == nil {
		r.h.enc = newEncoder(zstd.SpeedFastest)
	}
	return frame(&r.h.enc, r.raw)
}

// service returns the dictionary of a service.
func (r *recorder) service(name string) (at int, in *interner) {
	h := r.h
	at, ok := h.services[name]
	if !ok {
		at = len(h.dicts)
		h.services[name] = at
		h.dicts = append(h.dicts, newInterner())
		h.logged = append(h.logged, marks{})
	}
	r.services(at)
	return at, h.dicts[at]
}

// services tells of dictionaries, in their order, up to one: those that were not told yet,
// or not durably.
func (r *recorder) services(last int) {
	for at := range last + 1 {
		if r.h.logged[at] == (marks{}) {
			r.raw = append(r.raw, opService)
			r.raw = binary.AppendUvarint(r.raw, uint64(at))
			r.h.logged[at] = marks{0, 0, 1, 0, 1}
		}
	}
}

// series returns the number of a series, and tells it where it is new.
func (r *recorder) series(key seriesKey, types []store.Type, dict int) int {
	h := r.h
	at, ok := h.index[key]
	if !ok {
		at = len(h.view.series)
		h.index[key] = at
		h.view.series = append(h.view.series, series{labels: key.labels, types: types, dict: dict})
		h.view.rows = append(h.view.rows, rows{})
	}
	for ; h.known <= at; h.known++ {
		s := &h.view.series[h.known]
		r.services(s.dict)
		r.raw = append(r.raw, opSeries)
		r.raw = binary.AppendUvarint(r.raw, uint64(h.known))
		r.raw = appendSeries(r.raw, s)
	}
	return at
}

// appendSeries writes labels, types and the dictionary.
func appendSeries(b []byte, s *series) []byte {
	b = binary.AppendUvarint(b, uint64(s.labels.Len()))
	for n, v := range s.labels.All() {
		b = appendText(appendText(b, n), v)
	}
	b = append(b, byte(len(s.types)))
	for _, t := range s.types {
		b = appendText(b, t.String())
	}
	return binary.AppendUvarint(b, uint64(s.dict))
}

func (d *decoder) series() (s series) {
	var list []store.Label
	for range d.count(2) {
		name := d.text()
		list = append(list, store.Label{Name: name, Value: d.text()})
	}
	s.labels = store.MakeLabels(list)
	for range int(d.byte()) {
		t, err := store.ParseType(d.text())
		if err != nil {
			d.fail()
		}
		s.types = append(s.types, t)
	}
	s.dict = d.count(0)
	return s
}

// keptTypes returns the types that are kept, and their columns.
func keptTypes(p *store.Profile) (types []store.Type, columns []int) {
	for i, t := range p.Types {
		if t != (store.Type{}) {
			types, columns = append(types, t), append(columns, i)
		}
	}
	return types, columns
}

func typesKey(types []store.Type) string {
	var b strings.Builder
	for _, t := range types {
		b.WriteString(t.String())
		b.WriteByte(' ')
	}
	return b.String()
}

// replay makes a head of a log. It stops where the log is cut or damaged, and says so: a
// process that was killed leaves a cut record at the end, which nobody was told is there.
//
// It returns what it has not read: nothing of a log that is whole.
//
// What is known is left out: a write that failed may stand in an old log that could not be
// repaired, and again in the next one, where it was acknowledged.
func replay(number uint64, log []byte, known func(store.ID) bool) (h *head, unread []byte) {
	h = newHead(number, nil)
	h.sealed = true
	if len(log) < len(walMagic) || string(log[:len(walMagic)]) != walMagic {
		return h, log
	}
	for unread = log[len(walMagic):]; len(unread) > 0; {
		raw, rest, err := cutRecord(unread)
		if err != nil || !h.apply(raw, known) {
			break
		}
		unread = rest
	}
	return h, unread
}

// mostSearched bounds the bytes whose checksums are tried in search of a record.
const mostSearched = 256 << 20

// recordBehind tells whether a whole record stands behind the first byte. A write that was cut
// by the end of the process is the last one of a log; where others follow, what was acknowledged
// is damaged.
func recordBehind(b []byte) bool {
	searched := 0
	for i := 1; i+12 <= len(b) && searched < mostSearched; i++ {
		if n := int(binary.LittleEndian.Uint32(b[i:])); n <= len(b)-i-12 {
			searched += n
			if _, _, err := cutRecord(b[i:]); err == nil {
				return true
			}
		}
	}
	return false
}

// apply does what a record says, all of it or nothing that anybody sees.
func (h *head) apply(raw []byte, known func(store.ID) bool) bool {
	d := decoder{b: raw}
	var list []placed
	var ids []store.ID
	for len(d.b) > 0 && !d.bad {
		switch d.byte() {
		case opService:
			if at := d.count(0); at == len(h.dicts) {
				h.dicts = append(h.dicts, newInterner())
			} else if at > len(h.dicts) {
				return false
			}
		case opDict:
			at := d.index(len(h.dicts))
			if d.bad || !d.delta(&h.dicts[at].dict) {
				return false
			}
		case opSeries:
			at := d.count(0)
			s := d.series()
			switch {
			case d.bad || at > len(h.view.series) || s.dict >= len(h.dicts):
				return false
			case at == len(h.view.series):
				h.view.series = append(h.view.series, s)
				h.view.rows = append(h.view.rows, rows{})
			}
		case opProfile:
			p, id := h.applyProfile(&d)
			if d.bad {
				return false
			}
			if id != (store.ID{}) {
				if h.ids[id] != nil || known(id) {
					continue
				}
				ids = append(ids, id)
			}
			list = append(list, p)
		default:
			return false
		}
	}
	if d.bad {
		return false
	}
	for _, id := range ids {
		h.ids[id] = &ticket{done: true}
	}
	h.kept = append(h.kept, ids...)
	for _, p := range list {
		h.place(p)
	}
	return true
}

// applyProfile reads a profile and checks that it refers to what there is.
func (h *head) applyProfile(d *decoder) (p placed, id store.ID) {
	p.series = int(d.index(len(h.view.series)))
	if len(d.b) < len(id) {
		d.fail()
		return p, id
	}
	d.b = d.b[copy(id[:], d.b):]
	p.row.time, p.row.duration, p.row.count, p.row.weight = d.int(), int64(d.uint()), 1, 1
	p.data = slices.Clone(d.bytes())
	if d.bad {
		return p, id
	}
	s := &h.view.series[p.series]
	var c chunk
	if c.decode(p.data) != nil || len(c.counts) != 1 || !c.fits(&h.dicts[s.dict].dict, len(s.types)) {
		d.fail()
		return p, id
	}
	p.row.samples, p.row.totals = len(c.all.stacks), c.all.totals()
	return p, id
}

// fits tells whether the chunk refers to what is in the dictionary only.
func (c *chunk) fits(d *dict, types int) bool {
	for _, id := range c.all.stacks {
		if int(id) >= len(d.stacks) {
			return false
		}
	}
	for _, set := range c.all.sets {
		if int(set) >= len(d.sets) {
			return false
		}
	}
	return len(c.all.values) == types
}

// appendDelta writes what a dictionary has beyond the marks.
func appendDelta(b []byte, d *dict, from marks) []byte {
	for _, n := range []int{from.functions, len(d.functions) - from.functions} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, f := range d.functions[from.functions:] {
		b = binary.AppendUvarint(appendText(appendText(b, f.Name), f.File), uint64(f.StartLine))
	}
	for _, n := range []int{from.locations, len(d.ends) - from.locations} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for at := from.locations; at < len(d.ends); at++ {
		lines := d.linesOf(uint32(at))
		b = binary.AppendUvarint(b, uint64(len(lines)))
		for _, l := range lines {
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(l.Function)), uint64(l.Line))
		}
	}
	for _, n := range []int{from.nodes, len(d.parents) - from.nodes} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for i := from.nodes; i < len(d.parents); i++ {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(i)-uint64(d.parents[i])), uint64(d.locations[i]))
	}
	for _, n := range []int{from.stacks, len(d.stacks) - from.stacks} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, node := range d.stacks[from.stacks:] {
		b = binary.AppendUvarint(b, uint64(node))
	}
	for _, n := range []int{from.sets, len(d.sets) - from.sets} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, l := range d.sets[from.sets:] {
		b = appendSet(b, l)
	}
	return b
}

func appendSet(b []byte, l store.Labels) []byte {
	b = binary.AppendUvarint(b, uint64(l.Len()))
	for n, v := range l.All() {
		b = appendText(appendText(b, n), v)
	}
	return b
}

func (d *decoder) set() store.Labels {
	var list []store.Label
	for range d.count(2) {
		name := d.text()
		list = append(list, store.Label{Name: name, Value: d.text()})
	}
	return store.MakeLabels(list)
}

// delta reads what appendDelta has written. What is known already is read again, after
// a write that failed.
func (d *decoder) delta(to *dict) bool {
	to.functions = to.functions[:d.index(len(to.functions)+1)]
	for range d.count(3) {
		f := store.Function{Name: d.text(), File: d.text()}
		f.StartLine = int(d.index(1 << 31))
		to.functions = append(to.functions, f)
	}
	from := d.index(len(to.ends) + 1)
	to.ends = to.ends[:from]
	to.lines = to.lines[:lastEnd(to.ends)]
	for range d.count(1) {
		for range d.count(2) {
			to.lines = append(to.lines, store.Line{Function: d.index(len(to.functions)), Line: int(d.index(1 << 31))})
		}
		to.ends = append(to.ends, uint32(len(to.lines)))
	}
	from = d.index(len(to.parents) + 1)
	if from == 0 {
		return false // the root stays
	}
	to.parents, to.locations = to.parents[:from], to.locations[:from]
	for range d.count(2) {
		up := d.uint()
		if up == 0 || up > uint64(len(to.parents)) {
			d.fail()
			return false
		}
		to.parents = append(to.parents, uint32(uint64(len(to.parents))-up))
		to.locations = append(to.locations, d.index(len(to.ends)))
	}
	to.stacks = to.stacks[:d.index(len(to.stacks)+1)]
	for range d.count(1) {
		to.stacks = append(to.stacks, d.index(len(to.parents)))
	}
	from = d.index(len(to.sets) + 1)
	if from == 0 {
		return false
	}
	to.sets = to.sets[:from]
	for range d.count(1) {
		to.sets = append(to.sets, d.set())
	}
	return !d.bad
}

func lastEnd(ends []uint32) uint32 {
	if len(ends) == 0 {
		return 0
	}
	return ends[len(ends)-1]
}
