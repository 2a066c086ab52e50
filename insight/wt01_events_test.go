package insight

import "testing"

// TestUntilItSuits: a receive in a loop that is left when what has come suits is a wait for an event; not where all that comes is used, or one is waited for.
func TestUntilItSuits(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"ranged over", "for e := range events { // here\n\t\tif e.Name != name {\n\t\t\tcontinue\n\t\t}\n\t\tif e.State == active {\n\t\t\treturn nil\n\t\t}\n\t}", true},
		{"received", "for {\n\t\te := <-events // here\n\t\tif e.Done {\n\t\t\tbreak\n\t\t}\n\t}", true},
		{"in a select", "for {\n\t\tselect { // here\n\t\tcase e := <-events:\n\t\t\tif e.Done {\n\t\t\t\treturn nil\n\t\t\t}\n\t\tcase <-ctx.Done():\n\t\t\treturn ctx.Err()\n\t\t}\n\t}", true},
		{"all are used", "for e := range events { // here\n\t\tsum += e.Size\n\t}", false},
		{"all are used but for an error", "for e := range events { // here\n\t\tif e.Err != nil {\n\t\t\treturn e.Err\n\t\t}\n\t\tsum += e.Size\n\t}", false},
		{"another condition", "for e := range events { // here\n\t\tsum += e.Size\n\t\tif sum > most {\n\t\t\treturn nil\n\t\t}\n\t}", false},
		{"one alone", "e := <-events // here\n\tif e.Done {\n\t\treturn nil\n\t}", false},
		{"a list", "for _, e := range list { // here\n\t\tif e.Done {\n\t\t\treturn nil\n\t\t}\n\t}", false},
	} {
		text := "package main\n\nfunc f() error {\n\t" + c.body + "\n\treturn nil\n}\n"
		if got := untilItSuits(sourceOf(text), lineWith(text, "// here")); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestReadsStream: pieces of what is made before the loop are those of a stream; calls that a loop makes one after another are not.
func TestReadsStream(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"lines", "sc := bufio.NewScanner(resp.Body)\n\tfor sc.Scan() { // here\n\t\tout <- sc.Text()\n\t}", true},
		{"values", "for {\n\t\tif err := dec.Decode(&e); err != nil { // here\n\t\t\treturn\n\t\t}\n\t\tout <- e\n\t}", true},
		{"a call for each", "for _, id := range ids {\n\t\tresp, err := client.Get(id) // here\n\t\tout <- resp\n\t}", false},
		{"an answer for each", "for _, id := range ids {\n\t\tresp, err := client.Get(id)\n\t\tdec := json.NewDecoder(resp.Body)\n\t\tdec.Decode(&e) // here\n\t\tout <- e\n\t}", false},
		{"one answer", "dec := json.NewDecoder(resp.Body)\n\tdec.Decode(&e) // here\n\tout <- e", false},
	} {
		text := "package main\n\nfunc f() {\n\t" + c.body + "\n}\n"
		if got := readsStream(sourceOf(text), lineWith(text, "// here")); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
