package insight

import (
	"strings"
	"testing"
)

// TestDecoderAt: what a decoder is set to, and what it reads, is known where its function makes it.
func TestDecoderAt(t *testing.T) {
	for _, c := range []struct {
		name, body     string
		sets           string
		known          bool
		memory, stream bool
	}{
		{"numbers", "d := json.NewDecoder(r)\nd.UseNumber()\nd.Decode(&v) // here", "UseNumber", true, false, false},
		{"both", "d := json.NewDecoder(r)\nd.DisallowUnknownFields()\nd.UseNumber()\nerr := d.Decode(&v) // here", "DisallowUnknownFields UseNumber", true, false, false},
		{"the line that makes it", "d := json.NewDecoder(r) // here\nd.UseNumber()\nd.Decode(&v)", "UseNumber", true, false, false},
		{"none", "d := json.NewDecoder(r)\nd.Decode(&v) // here", "", true, false, false},
		{"another one has it", "e := json.NewDecoder(q)\ne.UseNumber()\nd := json.NewDecoder(r)\nd.Decode(&v) // here", "", true, false, false},
		{"at once", "json.NewDecoder(r.Body).Decode(&v) // here", "", true, false, false},
		{"of what is in memory", "json.NewDecoder(bytes.NewReader(data)).Decode(&v) // here", "", true, true, false},
		{"for each message of a stream", "for {\njson.NewDecoder(conn).Decode(&v) // here\n}", "", true, false, true},
		{"for each of several readers", "for _, r := range all {\njson.NewDecoder(r).Decode(&v) // here\n}", "", true, false, false},
		{"made elsewhere", "p.d.Decode(&v) // here", "", false, false, false},
	} {
		text := "package main\n\nfunc f() {\n" + c.body + "\n}\n"
		d := decoderAt(codeOf(text), lineWith(text, "// here"))
		if got := strings.Join(d.sets, " "); got != c.sets || d.known != c.known || d.memory != c.memory || d.stream != c.stream {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}
