package target

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestList(t *testing.T) {
	f := func(text, form, want string) {
		t.Helper()
		l, err := reader.List([]byte(text))
		if err != nil || l.Form != form {
			t.Errorf("%q: form %q, %v", text, l.Form, err)
			return
		}
		var got []string
		for _, target := range l.Targets {
			got = append(got, fmt.Sprintf("%s %d", strings.TrimSpace(printed(target)), target.Weight))
		}
		for _, turn := range l.Turns {
			got = append(got, fmt.Sprintf("%v: %d", turn.Due, turn.Target))
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%q gives\n%s\nwant\n%s", text, strings.Join(got, "\n"), want)
		}
	}
	f("# three\n\nGET http://h/1\n\nPOST http://h/2\nX-A: b: c\n# not a header\nX-A: d\n@body.txt\nDELETE http://h/3?a b\n", VegetaText,
		"GET http://h/1 0\nPOST http://h/2 | X-A: b: c | X-A: d | \"line one\\nline {{seq}}\\n\" 0\nDELETE http://h/3?a b 0")
	f("GET /{{seq}}", VegetaText, "GET http://base:8080/{{seq}} 0")
	f(`{"method":"POST","url":"http://h/","body":"aGVsbG8=","header":{"X-B":["1","2"],"A":["3"]}}`+"\n"+`{"method":"GET","url":"/x","header":null}`, VegetaJSON,
		"POST http://h/ | A: 3 | X-B: 1 | X-B: 2 | \"hello\" 0\nGET http://base:8080/x 0")
	f("0.0\thttp://h/1\n12.5\thttp://h/2\n\n13 POST /3\n20\thttp://h/1\n", TimedList,
		"http://h/1 0\nhttp://h/2 0\nPOST http://base:8080/3 0\n0s: 0\n12.5ms: 1\n13ms: 2\n20ms: 0")
}

func TestListForms(t *testing.T) {
	l, err := reader.List([]byte("\ufeffhttp://h/1\r\n3:http://h/2\r\nh:80/3\n/4\n"))
	if err != nil || l.Form != URLList || len(l.Targets) != 4 || l.Targets[1].Weight != 3 || l.Targets[2].URL != "h:80/3" || l.Targets[3].URL != "http://base:8080/4" {
		t.Errorf("URLs: %+v, %v", l, err)
	}
	f := func(text, want string) {
		t.Helper()
		if l, err := reader.List([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want an error with %q", text, l, err, want)
		}
	}
	f("", "there are none")
	f("# nothing\n\n", "there are none")
	f("\xff\xfe", "this is not text")
	f("GET ftp://h/", "line 1: cannot use URL")
	f("GET http://h/\n\nnonsense", "line 3: want a method and a URL")
	f("GET http://h/\n@nowhere", "line 2: open nowhere")
	f("GET http://h/\nnonsense", "want 'Name: value'")
	f("{]", "cannot read vegeta's targets in JSON: target 1")
	f(`{"method":"","url":"http://h/"}`, "is not a method")
	f(`{"method":"GET","url":""}`, "it has no host")
	f(`{"method":"GET","url":"http://h/","body":"?"}`, "not base64")
	f(`{"method":"GET","url":"http://h/","header":{"A":["b\nc"]}}`, "line break")
	f("1 http://h/\nnext http://h/", `line 2: "next" is not a time`)
	f("1 http://h/ x y", "want milliseconds and a URL")
	f("-1 http://h/", "cannot read a list of URLs")
	f("0:http://h/", "weight 0 is not between")
	f("http://h/\nhttps://", "line 2: cannot use URL")
	var many strings.Builder
	for i := range MaxTargets + 1 {
		fmt.Fprintf(&many, "/%d\n", i)
	}
	f(many.String(), `more than 65535 (a template {{line "file"}}`)
}

func TestCookies(t *testing.T) {
	cookies, err := ParseCookies([]byte("# Netscape HTTP Cookie File\n\n" +
		".example.com\tTRUE\t/\tFALSE\t0\ta\t1\n" +
		"#HttpOnly_example.com\tFALSE\t/\tFALSE\t2000000000\tb\t2\n" +
		"example.com\tFALSE\t/\tTRUE\t0\tc\t3\n" +
		"example.com\tFALSE\t/admin\tFALSE\t0\td\t4\n" +
		"example.com\tFALSE\t/\tFALSE\t1000\told\t5\n" +
		"example.com\tFALSE\t/\tFALSE\t0\tempty\n" +
		"x=y; z=w\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := func(url, want string) {
		t.Helper()
		a, err := Split(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := CookieLine(cookies, a, time.Unix(1_700_000_000, 0)); got != want {
			t.Errorf("%s gets %q, want %q", url, got, want)
		}
	}
	f("http://example.com:80/", "a=1; b=2; empty=; x=y; z=w")
	f("https://EXAMPLE.com/", "a=1; b=2; c=3; empty=; x=y; z=w")
	f("http://www.example.com/", "a=1; x=y; z=w")
	f("http://badexample.com/", "x=y; z=w")
	f("http://example.com/admin/x?y", "a=1; b=2; d=4; empty=; x=y; z=w")
	f("http://example.com/administrator", "a=1; b=2; empty=; x=y; z=w")
	f("http://[::1]:80/", "x=y; z=w")
	for text, want := range map[string]string{
		"nonsense": "want name=value", "a\tb": "2 fields", "h\tTRUE\t/\tTRUE\tsoon\ta\tb": "is not a cookie", "h\tTRUE\t/\tTRUE\t0\t\tb": "is not a cookie",
	} {
		if _, err := ParseCookies([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}

func FuzzList(f *testing.F) {
	f.Add([]byte("GET http://h/1\nA: b\n@body.txt\n\nPOST /2\n"))
	f.Add([]byte(`{"method":"POST","url":"http://h/","body":"aGVsbG8=","header":{"X-B":["1","2"]}}`))
	f.Add([]byte("0.0\thttp://h/1\n12.5\tPOST\t/2\n"))
	f.Add([]byte("http://h/1\n3:http://h/2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := reader.List(text)
		if err != nil {
			return
		}
		checkTargets(t, l.Targets)
		for _, turn := range l.Turns {
			if turn.Due < 0 || turn.Target < 0 || turn.Target >= len(l.Targets) {
				t.Errorf("turn %+v of %d targets", turn, len(l.Targets))
			}
		}
	})
}

func FuzzFeed(f *testing.F) {
	f.Add([]byte("a,b\n1,\"2\n3\"\n"), "/{{csv \"a\"}}")
	f.Add([]byte("a\tb\n1\t2\n"), "{{json csv \"b\"}}")
	f.Fuzz(func(t *testing.T, text []byte, template string) {
		feed, err := ParseFeed(text)
		if err != nil {
			return
		}
		if feed.Len() == 0 || len(feed.Columns) == 0 {
			t.Error("an empty feed is taken")
		}
		tm, err := Parse(template, InURL, &Sources{Feed: feed, Random: true})
		if err != nil {
			return
		}
		v := NewValues(1)
		for i := range int64(5) {
			v.Begin(i)
			tm.Append(nil, v)
		}
	})
}

func FuzzCookies(f *testing.F) {
	f.Add([]byte(".example.com\tTRUE\t/\tFALSE\t0\ta\t1\nx=y; z=w\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		cookies, err := ParseCookies(text)
		if err != nil {
			return
		}
		a, err := Split("https://www.example.com/a/b")
		if err != nil {
			t.Fatal(err)
		}
		if line := CookieLine(cookies, a, time.Time{}); strings.ContainsAny(line, "\r\n") {
			t.Errorf("cookies make a line break: %q", line)
		}
	})
}
