package insight

import (
	"strings"
	"testing"
)

// decoded is a request that is decoded without copying its text, of which a label is the key of a map.
const decoded = `func (h *handler) push(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var req request
	if err := req.unmarshal(body); err != nil {
		return
	}
	cluster := labels(req.series[0].labels)
	h.tracker.check(cluster)
}
func (r *request) unmarshal(b []byte) error {
	for len(b) > 0 {
		var l label
		var err error
		if l.value, b, err = field(b); err != nil {
			return err
		}
		s := series{}
		s.labels = append(s.labels, l)
		r.series = append(r.series, s)
	}
	return nil
}
func field(b []byte) (string, []byte, error) {
	n := int(b[0])
	return text(b[1:n]), b[n:], nil
}
func text(b []byte) string { return *(*string)(unsafe.Pointer(&b)) }
func labels(all []label) (cluster string) {
	for _, l := range all {
		cluster = l.value
	}
	return cluster
}
func (t *tracker) check(cluster string) {
	if _, ok := t.elected[cluster]; !ok {
		t.elected[cluster] = time.Now()
	}
}`

// TestHolderDecoded: text that shares its memory with a message by package unsafe is followed through the structs that
// the message is decoded into, which keep nothing themselves, to the map whose key it is.
func TestHolderDecoded(t *testing.T) {
	const key = "goes into t.elected and keeps the whole alive: copy the part at a.go:38, before it is stored"
	change := func(old, to string) string {
		if !strings.Contains(decoded, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(decoded, old, to, 1)
	}
	const through = "*(*string)(unsafe.Pointer(&b))"
	for _, c := range []heldCase{
		{"the key of a map", decoded, key, 38, nil},
		{"a request by its pointer", change("var req request", "req := &request{}"), key, 38, nil},
		{"by the function of package unsafe", change(through, "unsafe.String(unsafe.SliceData(b), len(b))"), key, 38, nil},
		{"by the first byte", change(through, "unsafe.String(&b[0], len(b))"), key, 38, nil},
		{"a map of maps", change("t.elected[cluster] = time", "t.elected[user][cluster] = time"), "copy the part at a.go:38", 38, nil},
		{"a function that decodes", strings.NewReplacer("var req request\n", "req := &request{}\n", "err := req.unmarshal(body)", "err := unmarshal(body, req)", "(r *request) unmarshal(b []byte)", "unmarshal(b []byte, r *request)").Replace(decoded), key, 38, nil},

		{"a function that returns what it has decoded", strings.NewReplacer("var req request\n", "req, err := unmarshal(body)\n", "if err := req.unmarshal(body); err != nil", "if err != nil", "(r *request) unmarshal(b []byte) error {", "unmarshal(b []byte) (*request, error) { r := &request{}",
			"return err\n\t\t}\n\t\ts :=", "return nil, err\n\t\t}\n\t\ts :=", "return nil\n}\nfunc field", "return r, nil\n}\nfunc field").Replace(decoded), key, 38, nil},

		{"the key is copied", change("check(cluster)", "check(strings.Clone(cluster))"), "", 0, nil},
		{"the text is copied", change(through, "string(b)"), "", 0, nil},
		{"nothing is kept", change("t.elected[cluster] = time.Now()", "t.seen++"), "", 0, nil},
		{"a struct of the function", "func scan(w io.Writer, name string) {\n\tcontent, err := os.ReadFile(name)\n\tvar l label\n\tl.value = content[:8]\n\tw.Write(l.value)\n}", "", 0, nil},
	} {
		c.check(t)
	}
	// A request that is kept is what keeps it.
	heldCase{"the request is kept", change("h.tracker.check(cluster)", "h.last = req"), "goes into h.last", 10, nil}.check(t)
	heldCase{"a request that is handed in", change("var req request", "req := h.request"), "goes into r.series", 0, nil}.check(t)
}
