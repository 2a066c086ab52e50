package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// resultsOf is a recording in which a line of a function, the one with the comment "here", allocates a part of the
// bytes by a function of the library.
func resultsOf(callee, source, release string) *recordingtest.Recording {
	line := 1 + strings.Count(source[:strings.Index(source, "// here")], "\n")
	frames := append([]string{fmt.Sprintf("shop.f:/src/a.go:%d", line)}, strings.Fields(callee)...)
	r := mixed("allocs", 600, 1000, frames...)
	r.Manifest.Target.Go = release
	return r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(source))
}

// body is a function of that source.
func body(imports, statements string) string {
	var b strings.Builder
	b.WriteString("package shop\n\n")
	for i := range strings.FieldsSeq(imports) {
		fmt.Fprintf(&b, "import %q\n", i)
	}
	return b.String() + "\nvar total int\nvar kept []string\n\nfunc use(...any) {}\nfunc one(s string) {}\n\nfunc f(s string, n int) (out []string, err error) {\n" + statements + "\nreturn nil, nil\n}\n"
}

// resultCase is a body of a function, with what the advice has to say, and what it must not; quiet is what is not
// told about.
type resultCase struct{ name, callee, imports, statements, advice, without string }

const quiet = "-"

func tellsOf(t *testing.T, c resultCase, release string) {
	t.Helper()
	r := resultsOf(c.callee, body(c.imports, c.statements), release)
	if c.advice == quiet {
		expect(t, c.name, r, "AL23", Fine, "does not show that less would do")
		return
	}
	f := expect(t, c.name, r, "AL23", Found)
	if !strings.Contains(f.Advice, c.advice) {
		t.Errorf("%s: advice %q, want %q", c.name, f.Advice, c.advice)
	}
	if said := f.Advice + strings.Join(f.Doubts, " "); c.without != "" && strings.Contains(said, c.without) {
		t.Errorf("%s: it says %q", c.name, said)
	}
}

// TestResultsOfSplit: by what the source does with the parts of a text, the advice says what makes no slice; where
// something else needs the slice, nothing is said.
func TestResultsOfSplit(t *testing.T) {
	for _, c := range []struct{ name, statements, advice, without string }{
		{"ranged", `for _, x := range strings.Split(s, ",") { // here
one(x)
}`, `Range over strings.SplitSeq(s, ",")`, "counts the parts"},
		{"ranged by a variable", `parts := strings.Split(s, ",") // here
for i, x := range parts {
use(i, x)
}`, "The loop counts the parts itself", ""},
		{"in a loop of its own", `for range n {
for _, x := range strings.Split(s, ",") { // here
one(x)
}
}`, "strings.SplitSeq", ""},
		{"counting loop", `parts := strings.Split(s, ",") // here
for i := 0; i < len(parts); i++ {
one(parts[i])
}`, "strings.SplitSeq", ""},
		{"ranged and counted", `parts := strings.Split(s, ",") // here
m := make([]int, 0, len(parts))
for _, x := range parts {
m = append(m, len(x))
}
use(m)`, `strings.Count(s, ",") + 1`, ""},
		{"looked for", `if slices.Contains(strings.Split(s, ","), "x") { // here
total++
}`, "strings.SplitSeq", ""},
		{"first", `one(strings.Split(s, ",")[0]) // here`, `first, _, _ := strings.Cut(s, ",")`, "missing"},
		{"two of two", `kv := strings.SplitN(s, "=", 2) // here
if len(kv) != 2 {
return nil, nil
}
one(kv[0])
one(kv[1])`, "before, after, found := strings.Cut", ""},
		{"in an if", `if kv := strings.SplitN(s, "=", 2); len(kv) == 2 { // here
one(kv[1])
}`, "found tells whether there are two", ""},
		{"three", `p := strings.Split(s, "|") // here
if len(p) < 3 {
return nil, nil
}
one(p[0])
one(p[2])`, "and again of what comes after each", ""},
		{"far", `p := strings.Split(s, "|") // here
one(p[17])`, "leave it after the part at position 17", ""},
		{"last", `p := strings.Split(s, "/") // here
one(p[len(p)-1])`, `s[strings.LastIndex(s, "/")+1:]`, ""},
		{"last of two letters", `p := strings.Split(s, "::;") // here
one(p[len(p)-1])`, `comes after strings.LastIndex(s, "::;")`, ""},
		{"number", `total += len(strings.Split(s, ",")) // here`, `strings.Count(s, ",") + 1`, ""},
		{"number compared", `if len(strings.Split(s, ",")) == 3 { // here
total++
}`, `strings.Count(s, ",") + 1`, ""},
		{"joined again", `p := strings.Split(s, ":") // here
if len(p) > 1 {
one(strings.Join(p[1:], ":"))
}`, "before, after, found := strings.Cut", ""},
		{"rest", `p := strings.Split(s, "|") // here
one(p[0])
for _, x := range p[1:] {
one(x)
}`, "range over strings.SplitSeq of the rest", ""},

		// What needs the slice, or another function does not give the same.
		{"returned", "return strings.Split(s, \",\"), nil // here", quiet, ""},
		{"kept", "kept = strings.Split(s, \",\") // here", quiet, ""},
		{"appended", "out = append(out, strings.Split(s, \",\")...) // here", quiet, ""},
		{"handed on", "p := strings.Split(s, \",\") // here\nuse(p)\none(p[0])", quiet, ""},
		{"sorted", "p := strings.Split(s, \",\") // here\nslices.Sort(p)\nfor _, x := range p {\none(x)\n}", quiet, ""},
		{"written to", "p := strings.Split(s, \",\") // here\np[0] = s\none(p[0])", quiet, ""},
		{"by its address", "p := strings.Split(s, \",\") // here\nuse(&p[0])", quiet, ""},
		{"given again", "p := strings.Split(s, \",\") // here\nif n > 1 {\np = kept\n}\none(p[0])", quiet, ""},
		{"at any position", "p := strings.Split(s, \",\") // here\none(p[n])", quiet, ""},
		{"two at a time", "p := strings.Split(s, \",\") // here\nfor i := 0; i < len(p); i += 2 {\none(p[i])\n}", quiet, ""},
		{"the next as well", "p := strings.Split(s, \",\") // here\nfor i := range p {\none(p[i+1])\n}", quiet, ""},
		{"moved on in the loop", "p := strings.Split(s, \",\") // here\nfor i := 0; i < len(p); i++ {\ni++\none(p[i])\n}", quiet, ""},
		{"ranged over twice", "p := strings.Split(s, \",\") // here\nfor _, x := range p {\none(x)\n}\nfor _, x := range p {\none(x)\n}", quiet, ""},
		{"at most some", "for _, x := range strings.SplitN(s, \",\", 3) { // here\none(x)\n}", quiet, ""},
		{"number of any separator", "total += len(strings.Split(s, s)) // here", quiet, ""},
		{"number of characters", "total += len(strings.Split(s, \"\")) // here", quiet, ""},
		{"last, by a separator that overlaps", "p := strings.Split(s, \"aa\") // here\none(p[len(p)-1])", quiet, ""},
		{"the first half", "p := strings.Split(s, \",\") // here\nfor _, x := range p[:2] {\none(x)\n}", quiet, ""},
		{"joined otherwise", "p := strings.Split(s, \":\") // here\none(strings.Join(p[1:], \",\"))", quiet, ""},
		{"ranged over in each turn", "p := strings.Split(s, \",\") // here\nfor range n {\nfor _, x := range p {\none(x)\n}\n}", quiet, ""},
		{"counted through in each turn", "p := strings.Split(s, \",\") // here\nfor range n {\nfor i := 0; i < len(p); i++ {\none(p[i])\n}\n}", quiet, ""},
		{"looked for in each turn", "p := strings.Split(s, \",\") // here\nfor range n {\nif slices.Contains(p, \"x\") {\ntotal++\n}\n}", quiet, ""},
		{"ranged over later", "p := strings.Split(s, \",\") // here\nuse(func() {\nfor _, x := range p {\none(x)\n}\n})", quiet, ""},
		{"into a variable outside", "var x string\nfor _, x = range strings.Split(s, \",\") { // here\n}\none(x)", quiet, ""},
	} {
		callee := "strings.Split strings.genSplit"
		if strings.Contains(c.statements, "SplitN") {
			callee = "strings.SplitN strings.genSplit"
		}
		tellsOf(t, resultCase{c.name, callee, "strings slices", c.statements, c.advice, c.without}, "go1.26.1")
	}
	// Fields, bytes, and older releases of Go.
	const ranged, first = "for _, x := range strings.Fields(s) { // here\none(x)\n}", "one(strings.Split(s, \",\")[0]) // here"
	tellsOf(t, resultCase{"fields", "strings.Fields", "strings", ranged, "strings.FieldsSeq(s)", ""}, "go1.26.1")
	tellsOf(t, resultCase{"fields of Go 1.23", "strings.Fields", "strings", ranged, quiet, ""}, "go1.23.4")
	tellsOf(t, resultCase{"a field", "strings.Fields", "strings", "one(strings.Fields(s)[3]) // here", "leave it after the part at position 3", ""}, "go1.26.1")
	tellsOf(t, resultCase{"Cut of Go 1.20", "strings.Split strings.genSplit", "strings", first, "strings.Cut", "SplitSeq"}, "go1.20.4")
	tellsOf(t, resultCase{"ranged in Go 1.20", "strings.Split strings.genSplit", "strings", "for _, x := range strings.Split(s, \",\") { // here\none(x)\n}", "part, rest, found = strings.Cut", "SplitSeq"}, "go1.20.4")
	tellsOf(t, resultCase{"bytes", "bytes.Split bytes.genSplit", "bytes", "for _, x := range bytes.Split([]byte(s), []byte{10}) { // here\nuse(x)\n}", "bytes.SplitSeq", ""}, "go1.26.1")
	tellsOf(t, resultCase{"bytes that are appended to", "bytes.Split bytes.genSplit", "bytes", "p := bytes.Split([]byte(s), []byte(\",\")) // here\nuse(append(p[0], 1))", quiet, ""}, "go1.26.1")
}

// TestOtherResults: what the other functions give, and twins that need it.
func TestOtherResults(t *testing.T) {
	for _, c := range []resultCase{
		{"the query twice", "net/url.(*URL).Query net/url.ParseQuery", "net/url", "var u *url.URL\none(u.Query().Get(\"a\")) // here\none(u.Query().Get(\"b\"))", "the function does it 2 times", ""},
		{"the query once", "net/url.(*URL).Query net/url.ParseQuery", "net/url", "var u *url.URL\none(u.Query().Get(\"a\")) // here", quiet, ""},
		{"one query of two", "net/url.(*URL).Query net/url.ParseQuery", "net/url", "var u *url.URL\nif n > 1 {\none(u.Query().Get(\"a\")) // here\n} else {\none(u.Query().Get(\"b\"))\n}", quiet, ""},
		{"queries of two", "net/url.(*URL).Query net/url.ParseQuery", "net/url", "var u, v *url.URL\none(u.Query().Get(\"a\")) // here\none(v.Query().Get(\"b\"))", quiet, ""},
		{"the query is set", "net/url.(*URL).Query net/url.ParseQuery", "net/url", "var u *url.URL\none(u.Query().Get(\"a\")) // here\nu.RawQuery = s\none(u.Query().Get(\"b\"))", quiet, ""},
		{"the query thrice, once for a variable", "net/url.(*URL).Query net/url.ParseQuery", "net/url", "var u *url.URL\nq := u.Query()\none(q.Get(\"x\"))\none(u.Query().Get(\"a\")) // here\none(u.Query().Get(\"b\"))", "the function does it 3 times", ""},
		{"a query of it is changed", "net/url.(*URL).Query net/url.ParseQuery", "net/url", "var u *url.URL\nq := u.Query()\nq.Del(\"a\")\none(u.Query().Get(\"a\")) // here\none(u.Query().Get(\"b\"))\none(q.Encode())", quiet, ""},
		{"a value of one is set", "net/url.(*URL).Query net/url.ParseQuery", "net/url", "var u *url.URL\nq := u.Query()\nq[\"a\"] = nil\none(u.Query().Get(\"a\")) // here\none(u.Query().Get(\"b\"))", quiet, ""},
		{"the query in a loop", "net/url.(*URL).Query net/url.ParseQuery", "net/url", "var u *url.URL\nfor range n {\none(u.Query().Get(\"a\")) // here\n}", "before the loop", ""},
		{"each turn has its own", "net/url.(*URL).Query net/url.ParseQuery", "net/url", "var us []*url.URL\nfor _, u := range us {\none(u.Query().Get(\"a\")) // here\n}", quiet, ""},

		{"a number for append", "strconv.Itoa strconv.FormatInt", "strconv", "var b []byte\nb = append(b, strconv.Itoa(n)...) // here\nuse(b)", "strconv.AppendInt(b, int64(n), 10)", ""},
		{"a number for a Builder", "strconv.Itoa strconv.FormatInt", "strconv strings", "var b strings.Builder\nb.WriteString(strconv.Itoa(n)) // here", "b.Write(strconv.AppendInt(a[:0], int64(n), 10))", ""},
		{"a number for a Buffer", "strconv.FormatInt", "strconv bytes", "b := &bytes.Buffer{}\nb.WriteString(strconv.FormatInt(7, 10)) // here", "b.Write(strconv.AppendInt(b.AvailableBuffer(), 7, 10))", ""},
		{"a time", "time.Time.Format", "time", "var b []byte\nb = append(b, time.Now().Format(time.RFC3339)...) // here\nuse(b)", "time.Now().AppendFormat(b, time.RFC3339)", ""},
		{"hex", "encoding/hex.EncodeToString", "encoding/hex", "var b []byte\nb = append(b, hex.EncodeToString([]byte(s))...) // here\nuse(b)", "hex.AppendEncode(b, []byte(s))", ""},
		{"a number for any writer", "strconv.Itoa strconv.FormatInt", "strconv io", "var b io.StringWriter\nb.WriteString(strconv.Itoa(n)) // here", quiet, ""},
		{"a number that is returned", "strconv.Itoa strconv.FormatInt", "strconv", "one(strconv.Itoa(n)) // here", quiet, ""},

		{"one hash", "crypto/sha256.New", "crypto/sha256", "h := sha256.New() // here\nh.Write([]byte(s))\nuse(h.Sum(nil))", "sha256.Sum256([]byte(s))", ""},
		{"its sum", "crypto/internal/fips140/sha256.(*Digest).Sum", "crypto/sha256", "h := sha256.New()\nh.Write([]byte(s))\nuse(h.Sum(nil)) // here", "sha256.Sum256([]byte(s))", ""},
		{"a hash of two", "crypto/sha256.New", "crypto/sha256", "h := sha256.New() // here\nh.Write([]byte(s))\nh.Write([]byte(s))\nuse(h.Sum(nil))", quiet, ""},
		{"a hash in a loop", "crypto/sha256.New", "crypto/sha256", "h := sha256.New() // here\nfor range n {\nh.Write([]byte(s))\n}\nuse(h.Sum(nil))", quiet, ""},
		{"a hash that is handed on", "crypto/sha256.New", "crypto/sha256", "h := sha256.New() // here\nh.Write([]byte(s))\nuse(h)\nuse(h.Sum(nil))", quiet, ""},

		{"keys", "slices.Sorted[go.shape.string] slices.Collect[go.shape.string]", "slices maps", "var m map[string]int\nuse(slices.Sorted(maps.Keys(m))) // here", "slices.AppendSeq(make([]T, 0, len(m)), maps.Keys(m)), and slices.Sort", ""},
		{"what else is collected", "slices.Collect[go.shape.string]", "slices strings", "use(slices.Collect(strings.Lines(s))) // here", quiet, ""},

		{"a match", "regexp.(*Regexp).FindStringSubmatch", "regexp", "var re *regexp.Regexp\nif re.FindStringSubmatch(s) != nil { // here\ntotal++\n}", "re.MatchString(s)", ""},
		{"some matches", "regexp.(*Regexp).FindAllString", "regexp", "var re *regexp.Regexp\nif len(re.FindAllString(s, -1)) > 0 { // here\ntotal++\n}", "re.MatchString(s)", ""},
		{"a number of matches", "regexp.(*Regexp).FindAllString", "regexp", "var re *regexp.Regexp\ntotal += len(re.FindAllString(s, -1)) // here", quiet, ""},
		{"a part of a match", "regexp.(*Regexp).FindStringSubmatch", "regexp", "var re *regexp.Regexp\nif m := re.FindStringSubmatch(s); m != nil { // here\none(m[1])\n}", quiet, ""},

		{"repeated", "strings.Repeat", "strings", "one(strings.Repeat(\" \", 4)) // here", "make it once, in a variable of the package", ""},
		{"repeated as often as asked", "strings.Repeat", "strings", "one(strings.Repeat(\" \", n)) // here", quiet, ""},

		{"an address", "net.ParseIP", "net", "if net.ParseIP(s) == nil { // here\ntotal++\n}", "netip.ParseAddr(s)", ""},
		{"an address that is used", "net.ParseIP", "net", "if ip := net.ParseIP(s); ip != nil { // here\nuse(ip)\n}", quiet, ""},

		{"a header", "net/http.Header.Get net/textproto.CanonicalMIMEHeaderKey net/textproto.canonicalMIMEHeaderKey", "net/http", "var h http.Header\none(h.Get(\"x-request-id\")) // here", "\"X-Request-Id\" instead of \"x-request-id\"", ""},
		{"a header as it is", "net/http.Header.Get net/textproto.CanonicalMIMEHeaderKey net/textproto.canonicalMIMEHeaderKey", "net/http", "var h http.Header\none(h.Get(\"X-Request-Id\")) // here", quiet, ""},
	} {
		tellsOf(t, c, "go1.26.1")
	}
	// By a function that is called twice for one request.
	const twice = "package shop\n\nimport \"net/http\"\n\nfunc f(r *http.Request, name string) string {\nreturn r.URL.Query().Get(name) // here\n}\n\nfunc handle(w http.ResponseWriter, r *http.Request) {\nuse(f(r, \"a\"))\nuse(f(r, \"b\"))\n}\n"
	const query = "net/url.(*URL).Query net/url.ParseQuery"
	if f := expect(t, "by a function", resultsOf(query, twice, "go1.26.1"), "AL23", Found); !strings.Contains(f.Advice, "handle calls f 2 times for the same one") {
		t.Errorf("advice %q", f.Advice)
	}
	expect(t, "for two requests", resultsOf(query, strings.Replace(twice, "f(r, \"b\")", "f(q, \"b\")", 1), "go1.26.1"), "AL23", Fine)
}

// TestResultsTogether: lines count together, those of which the source says nothing do not, and where there is no
// source nothing is known.
func TestResultsTogether(t *testing.T) {
	source := body("strings", "one(strings.Split(s, \",\")[0]) // here")
	f := expect(t, "much", resultsOf("strings.Split strings.genSplit", source, "go1.26.1"), "AL23", Found, "60.0% of the allocated bytes came from results of library functions that less would do for", "whose result is only used at position 0")
	severity(t, "much", f, Warning)
	if f.costs[0].allocating {
		t.Error("a text that is not split costs nothing")
	}
	f = expect(t, "a number", resultsOf("strconv.Itoa strconv.FormatInt", body("strconv", "var b []byte\nb = append(b, strconv.Itoa(n)...) // here\nuse(b)"), "go1.26.1"), "AL23", Found)
	if !f.costs[0].allocating {
		t.Error("the digits are made all the same")
	}
	r := resultsOf("strings.Split strings.genSplit", source, "go1.26.1")
	delete(r.Files, "source/a.go")
	r.Manifest.Entries = slices.DeleteFunc(r.Manifest.Entries, func(e recording.Entry) bool { return e.Path == "source/a.go" })
	expect(t, "no source", r, "AL23", TooLittle, "no source")
	expect(t, "nothing", mixed("allocs", 600, 1000, "shop.f:/src/a.go:9"), "AL23", Fine, nothing)
}
