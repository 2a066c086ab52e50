package target

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
)

// sources has a feed of two rows, and files of lines.
func sources(t testing.TB) *Sources {
	t.Helper()
	feed, err := ParseFeed([]byte("name,city\nAnna & Bo,\"New \"\"York\"\"\"\nCé,Bonn\n"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"words": "one two\r\n\nthree\n", "paths": "/a/b?c=d\n/e f\n", "empty": "\n"}
	return &Sources{Feed: feed, Read: func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("open " + name + ": no such file")
	}}
}

func TestTemplate(t *testing.T) {
	s := sources(t)
	f := func(in Place, seq int64, text, want string) {
		t.Helper()
		tm, err := Parse(text, in, s)
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
			return
		}
		v := NewValues(1)
		v.Clock = func() time.Time { return time.Unix(1_700_000_000, 123_000_000) }
		v.Begin(seq)
		if got := string(tm.Append(nil, v)); !regexp.MustCompile("^(?:" + want + ")$").MatchString(got) {
			t.Errorf("%q of request %d is %q, want %s", text, seq, got, want)
		}
	}
	f(InURL, 7, "/item/{{seq}}?n={{ seq }}", `/item/7\?n=7`)
	f(InBody, 0, `{"n":{{rand 5 5}}}`, `{"n":5}`)
	f(InBody, 0, `{{rand -3 -3}}`, `-3`)
	f(InBody, 0, `{{rand 1 100}}`, `[1-9]\d?|100`)
	f(InBody, 0, `{{rand}}`, `\d{1,16}`)
	f(InBody, 0, `{{rand -9223372036854775808 9223372036854775807}}`, `-?\d+`)
	f(InHeader, 0, `{{uuid}}`, `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	f(InBody, 0, `{{now}} {{now "unix"}} {{now "nano"}} {{now "rfc3339"}}`, `1700000000123 1700000000 1700000000123000000 2023-11-14T22:13:20.123Z`)
	f(InURL, 0, `/{{line "words"}}`, `/one%20two`)
	f(InURL, 1, `/{{line "words"}}`, `/three`)
	f(InURL, 2, `/{{line "words"}}`, `/one%20two`)
	f(InURL, 0, `{{raw line "paths"}}`, `/a/b\?c=d`)
	f(InURL, 1, `{{raw line "paths"}}`, `/e%20f`)
	f(InURL, 0, `/?q={{csv "name"}}`, `/\?q=Anna%20%26%20Bo`)
	f(InURL, 1, `/?q={{csv "name"}}`, `/\?q=C%C3%A9`)
	f(InBody, 0, `{{csv "city"}} {{json csv "city"}}`, `New "York" New \\"York\\"`)
	f(InBody, 0, `q={{url csv "name"}}`, `q=Anna%20%26%20Bo`)
	f(InBody, 0, "{{\"{{\"}}seq}}", `\{\{seq}}`)
	f(InHeader, 0, `{{"a\r\nb"}}`, `a  b`)
	f(InURL, 0, `/{{"a b"}}`, `/a%20b`)
	f(InBody, 0, `}} { {}`, `}} { {}`)
	f(InBody, 0, ``, ``)
}

func TestTemplateErrors(t *testing.T) {
	s := sources(t)
	f := func(text, want string) {
		t.Helper()
		if _, err := Parse(text, InBody, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want an error with %q", text, err, want)
		}
	}
	f("{{sequence}}", `unknown name "sequence"; there are {{seq}}, {{uuid}}`)
	f("{{}}", "there is no name in it")
	f("{{seq", "{{ has no }}")
	f(`{{line "words}}`, "{{ has no }}")
	f("{{seq 1}}", `seq takes no "1"`)
	f("{{rand 1}}", "lowest and the highest")
	f("{{rand 2 1}}", "2 is more than 1")
	f("{{rand a b}}", "whole numbers")
	f(`{{now "utc"}}`, "unknown form")
	f(`{{line "nowhere"}}`, "no such file")
	f(`{{line "empty"}}`, "has no lines")
	f(`{{csv "street"}}`, "it has name, city")
	f(`{{csv}}`, "one name in quotes")
	s = nil
	f(`{{csv "x"}}`, "there is no feed")
	f(`{{line "x"}}`, "no files")
}

func TestConstant(t *testing.T) {
	for text, want := range map[string]bool{"": true, "a": true, `a{{"{{"}}b`: true, "a{{seq}}": false} {
		tm, err := Parse(text, InBody, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := tm.Constant(); got != want {
			t.Errorf("%q is constant: %v", text, got)
		}
	}
	tm, err := Parse(Quote("{{seq}} {{{"), InBody, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := tm.Constant(); !ok || got != "{{seq}} {{{" {
		t.Errorf("Quote gives %q", got)
	}
}

// TestRequestIsConsistent checks that all templates of one request take the
// same row, in order and at random, and that two seeds draw different ones.
func TestRequestIsConsistent(t *testing.T) {
	var table strings.Builder
	table.WriteString("a,b\n")
	for i := range 100 {
		for range 2 {
			table.WriteString(string(rune('A'+i/10)) + string(rune('0'+i%10)) + ",")
		}
		table.WriteString("\n")
	}
	feed, err := ParseFeed([]byte(strings.ReplaceAll(strings.ReplaceAll(table.String(), ",\n", "\n"), "b\n", "b\n")))
	if err != nil {
		t.Fatal(err)
	}
	tm, err := Parse(`{{csv "a"}}={{csv "b"}}`, InBody, &Sources{Feed: feed, Random: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	one, two := NewValues(1), NewValues(2)
	same := 0
	for i := range int64(1000) {
		one.Begin(i)
		two.Begin(i)
		got, other := string(tm.Append(nil, one)), string(tm.Append(nil, two))
		if a, b, _ := strings.Cut(got, "="); a != b {
			t.Fatalf("one request took rows %s and %s", a, b)
		}
		if got == other {
			same++
		}
		seen[got] = true
	}
	if len(seen) < 95 || same > 50 {
		t.Errorf("1,000 requests took %d of 100 rows; %d were the same for two seeds", len(seen), same)
	}
}

func TestFeedErrors(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if _, err := ParseFeed([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseFeed(%q): %v, want an error with %q", text, err, want)
		}
	}
	f("", "it is empty")
	f("a,b\n", "no row")
	f("a,a\n1,2\n", `two columns are named "a"`)
	f("a,\n1,2\n", "column 2 has no name")
	f("a,b\n1\n", "wrong number of fields")
	tabs, err := ParseFeed([]byte("\ufeffa\tb\n1,5\t2\n"))
	if err != nil || tabs.Len() != 1 || tabs.Columns[0] != "a" {
		t.Errorf("tabs: %v, %v", tabs, err)
	}
}

func TestTemplateAllocs(t *testing.T) {
	s := sources(t)
	tm, err := Parse(`/{{seq}}/{{uuid}}/{{rand}}/{{rand 1 9}}/{{line "words"}}/{{csv "name"}}/{{now}}/{{now "rfc3339"}}`, InURL, s)
	if err != nil {
		t.Fatal(err)
	}
	v := NewValues(3)
	dst := make([]byte, 0, 512)
	seq := int64(0)
	if n := testing.AllocsPerRun(100, func() {
		v.Begin(seq)
		seq++
		dst = tm.Append(dst[:0], v)
	}); n != 0 {
		t.Errorf("Append allocates %v times per request, want 0", n)
	}
}

func BenchmarkTemplateAppend(b *testing.B) {
	tm, err := Parse(`/item/{{seq}}?id={{uuid}}&n={{rand 1 100}}`, InURL, nil)
	if err != nil {
		b.Fatal(err)
	}
	v := NewValues(3)
	dst := make([]byte, 0, 512)
	seq := int64(0)
	for b.Loop() {
		v.Begin(seq)
		seq++
		dst = tm.Append(dst[:0], v)
	}
}

func FuzzTemplate(f *testing.F) {
	for _, n := range placeholders {
		f.Add("/" + n.Form + "?x")
	}
	f.Add(`{{json csv "city"}}{{raw line "paths"}}{{url line "words"}}{{"\n"}}`)
	s := sources(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, in := range []Place{InBody, InURL, InHeader} {
			tm, err := Parse(text, in, s)
			if err != nil {
				continue
			}
			v := NewValues(1)
			v.Begin(5)
			out := string(tm.Append(nil, v))
			if c, ok := tm.Constant(); ok && c != out {
				t.Errorf("Constant is %q, Append gives %q", c, out)
			}
			if in != InBody && strings.ContainsAny(out, "\r\n") && !strings.ContainsAny(text, "\r\n") {
				t.Errorf("%q made a line break in a place that has none: %q", text, out)
			}
			back, err := Parse(Quote(out), in, nil)
			if err != nil {
				t.Fatalf("Quote: %v", err)
			}
			if c, ok := back.Constant(); !ok || c != out && in == InBody {
				t.Errorf("Quote(%q) gives %q", out, c)
			}
		}
	})
}
