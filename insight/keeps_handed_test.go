package insight

import "testing"

// TestHolderHanded: what is sent on a channel, or handed to a function that the caller has passed,
// is followed to what keeps it there.
func TestHolderHanded(t *testing.T) {
	const keep = `
func (d *detector) add(f fragment) {
	d.found = append(d.found, finding{Match: f.Raw[4:9]})
}`
	for _, c := range []heldCase{
		{"a channel of the function", `func scan(d *detector, name string) {
	text, err := os.ReadFile(name)
	work := make(chan fragment, 8)
	go func() {
		for f := range work {
			d.add(f)
		}
	}()
	work <- fragment{Raw: text}
}` + keep, "a part of it (a slice or a substring) goes into d.found", 14, nil},
		{"a channel that a worker is given", `func scan(d *detector, name string) {
	text, err := os.ReadFile(name)
	work := make(chan fragment, 8)
	go d.worker(work)
	work <- fragment{Raw: text}
}
func (d *detector) worker(in <-chan fragment) {
	for f := range in {
		d.add(f)
	}
}` + keep, "a part of it (a slice or a substring) goes into d.found", 15, nil},
		{"a channel that the sender is given", `func read(name string, out chan<- fragment) {
	text, err := os.ReadFile(name)
	out <- fragment{Raw: text}
}
func scan(d *detector) {
	work := make(chan fragment, 8)
	go read("a", work)
	for f := range work {
		d.add(f)
	}
}` + keep, "a part of it (a slice or a substring) goes into d.found", 15, nil},
		{"a channel of an object", `func (d *detector) read(name string) {
	text, err := os.ReadFile(name)
	d.jobs <- fragment{Raw: text}
}
func (d *detector) loop() {
	for {
		f := <-d.jobs
		d.add(f)
	}
}` + keep, "a part of it (a slice or a substring) goes into d.found", 14, nil},
		{"a function that is passed", `func (r repo) each(fn func(fragment) error) {
	text, err := os.ReadFile(r.name)
	fn(fragment{Raw: text})
}
func scan(r repo, d *detector) {
	r.each(func(f fragment) error { d.add(f); return nil })
}` + keep, "a part of it (a slice or a substring) goes into d.found", 11, []int{8}},
		{"a method that is passed", `func (r repo) each(fn func(fragment)) {
	text, err := os.ReadFile(r.name)
	fn(fragment{Raw: text})
}
func scan(r repo, d *detector) {
	r.each(d.add)
}` + keep, "a part of it (a slice or a substring) goes into d.found", 11, []int{8}},
		{"a builder", `func scan(d *detector, n int) {
	b.Grow(n)
}
func read(d *detector, n int) {
	var b strings.Builder
	b.Grow(n)
	d.add(fragment{Raw: b.String()})
}` + keep, "", 0, nil}, // the builder of the line is another function's
		{"what was received is copied", `func (d *detector) read(name string) {
	text, err := os.ReadFile(name)
	d.jobs <- fragment{Raw: text}
}
func (d *detector) loop() {
	for f := range d.jobs {
		d.found = append(d.found, finding{Match: bytes.Clone(f.Raw[4:9])})
	}
}`, "It goes into the channel d.jobs", 0, nil},
		{"a cache that may keep anything", `func block(v *volume, n int) {
	data := make([]byte, 128<<10)
	b := data[n : n+4096]
	v.cache.Add(n, b)
}
func (c *cache) Add(k int, v []byte) {
	if e, ok := c.items[k]; ok {
		e.val = v
		return
	}
	c.items[k] = v
}`, "copy the part at a.go:6, before it is stored", 6, nil},
		{"a channel of another object", `func (d *detector) read(name string) {
	text, err := os.ReadFile(name)
	d.jobs <- fragment{Raw: text}
}
func (d *detector) loop() {
	for f := range d.others {
		d.add(f)
	}
}` + keep, "It goes into the channel d.jobs", 0, nil},
	} {
		c.check(t)
	}
}

// TestHolderBuilder: the memory of a builder is what its String returns; a buffer's is a copy.
func TestHolderBuilder(t *testing.T) {
	for _, c := range []heldCase{
		{"a builder", `func read(s *store, n int) { var b strings.Builder
	b.Grow(n)
	s.titles[n] = b.String()[:8]
}`, "copy the part at a.go:5", 5, nil},
		{"a buffer's bytes", `func read(s *store, n int) { var b bytes.Buffer
	b.Write(page)
	s.titles[n] = b.Bytes()[:8]
}`, "copy the part at a.go:5", 5, nil},
		{"a buffer's text, which is a copy", `func read(s *store, n int) { var b bytes.Buffer
	b.Write(page)
	s.titles[n] = b.String()[:8]
}`, "", 0, nil},
	} {
		c.check(t)
	}
}
