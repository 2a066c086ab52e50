package insight

import "testing"

// TestKeepsUseOrder: what is found, taken out and put at the end again is a list in the order of use; what is only taken out, or put into another list, is
// none.
func TestKeepsUseOrder(t *testing.T) {
	const cut = "for i, k := range o.keys {\n\t\tif k == key { // here\n\t\t\to.keys = append(o.keys[:i], o.keys[i+1:]...)\n\t\t\treturn\n\t\t}\n\t}"
	for _, c := range []struct {
		name, body, more string
		want             bool
	}{
		{"by who calls it", cut, "func (o *order) touch(key string) {\n\to.f(key)\n\to.keys = append(o.keys, key)\n}", true},
		{"at once", "for i, k := range o.keys {\n\t\tif k == key { // here\n\t\t\to.keys = append(o.keys[:i], o.keys[i+1:]...)\n\t\t\to.keys = append(o.keys, key)\n\t\t\treturn\n\t\t}\n\t}", "", true},
		{"by slices", "i := slices.Index(o.keys, key) // here\n\to.keys = slices.Delete(o.keys, i, i+1)\n\to.keys = append(o.keys, key)", "", true},
		{"by the position", "for i := 0; i < len(o.keys); i++ {\n\t\tif o.keys[i] == key { // here\n\t\t\to.keys = slices.Delete(o.keys, i, i+1)\n\t\t\to.keys = append(o.keys, key)\n\t\t\treturn\n\t\t}\n\t}", "", true},
		{"taken out alone", cut, "", false},
		{"put there by another", cut, "func (o *order) add(key string) {\n\to.keys = append(o.keys, key)\n}", false},
		{"put there before", cut, "func (o *order) swap(key, old string) {\n\to.keys = append(o.keys, key)\n\to.f(old)\n}", false},
		{"put into another list", cut, "func (o *order) end(key string) {\n\to.f(key)\n\to.old = append(o.old, key)\n}", false},
		{"of another type", cut, "func (x *other) touch(key string) {\n\tx.o.f(key)\n\tx.keys = append(x.keys, key)\n}", false},
		{"searched alone", "for i, k := range o.keys {\n\t\tif k == key { // here\n\t\t\treturn\n\t\t}\n\t}\n\to.keys = append(o.keys, key)", "", false},
		{"a part is cut off", "for i, k := range o.keys {\n\t\tif k == key { // here\n\t\t\to.keys = o.keys[i:]\n\t\t}\n\t}\n\to.keys = append(o.keys, key)", "", false},
	} {
		text := "package main\n\nfunc (o *order) f(key string) {\n\t" + c.body + "\n}\n\n" + c.more + "\n"
		f := Finding{Advice: "look it up", Doubts: []string{changesDoubt}}
		tellOrder(sourceOf(text), lineWith(text, "// here"), &f)
		if got := f.Advice == orderAdvice; got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
