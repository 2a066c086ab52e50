package insight

import "testing"

// TestHolderEmptied: what is dropped or emptied as a whole needs no bound, and does not hold what
// something else holds as well.
func TestHolderEmptied(t *testing.T) {
	const never = "nothing in the source deletes from a map of this name"
	for _, c := range []heldCase{
		{"generations", `func (d *dedup) add(id string) {
	d.cur.seen[id] = make([]byte, 4096)
	if d.in++; d.in == d.most {
		d.prev, d.cur, d.in = d.cur, &day{}, 0
	}
}
type day struct { seen map[string][]byte }
type dedup struct {
	cur, prev *day
	in, most int
}`, "Check whether dedup.add (a.go:6) releases what is in it soon enough", 0, nil},
		{"generations of an object that main has made", `func (d *dedup) add(id string) {
	d.cur.seen[id] = make([]byte, 4096)
	if d.in++; d.in == d.most {
		d.prev, d.cur, d.in = d.cur, &day{}, 0
	}
}
type day struct { seen map[string][]byte }
type dedup struct {
	cur, prev *day
	in, most int
}
func main() {
	d := &dedup{cur: &day{}}
	handle(func(id string) { d.add(id) })
}
func handle(func(id string)) {}`, "Check whether dedup.add (a.go:6) releases what is in it soon enough", 0, nil},
		{"a new map", `func (d *dedup) add(id string) {
	d.seen[id] = make([]byte, 4096)
}
func (d *dedup) reset() {
	d.seen = newMap()
}
func newMap() map[string][]byte { return map[string][]byte{} }
type dedup struct { seen map[string][]byte }`, "Check whether dedup.reset (a.go:7) releases what is in it soon enough", 0, nil},
		{"a map that is made when it is needed", `func (d *dedup) add(id string) {
	d.seen[id] = make([]byte, 4096)
}
func (d *dedup) ready() {
	if d.seen == nil {
		d.seen = map[string][]byte{}
	}
}`, never, 0, nil},
		{"a map that is made once", `func (d *dedup) add(id string) {
	d.seen[id] = make([]byte, 4096)
}
func open() *dedup {
	d := &dedup{}
	d.seen = map[string][]byte{}
	return d
}`, never, 0, nil},
		{"a slice that is emptied, and an array", `func (s *shipper) add(e []byte) {
	line := make([]byte, 4096)
	s.pending = append(s.pending, line)
	s.ring[s.next] = line
}
func (s *shipper) take() (all []entry) {
	all, s.pending = s.pending, nil
	return all
}
type shipper struct {
	pending [][]byte
	ring [4000][]byte
}`, "It goes into s.ring, an array of fixed length", 6, nil},
		{"a slice of another type", `func (s *shipper) add(e []byte) {
	s.pending = append(s.pending, make([]byte, 4096))
}
func (o *other) flush() {
	o.pending = nil
}
type shipper struct { pending [][]byte }
type other struct { pending [][]byte }`, "check whether that is ever shortened", 0, nil},
		{"a slice that is cut", `func (s *shipper) add(e []byte) {
	s.pending = append(s.pending, make([]byte, 4096))
}
func (s *shipper) flush() {
	write(s.pending)
	s.pending = s.pending[:0]
}`, "the source may empty that as a whole, see a.go:8", 8, nil},
	} {
		c.check(t)
	}
}
