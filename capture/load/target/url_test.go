package target

import (
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	f := func(text, want, port string) {
		t.Helper()
		a, err := Split(text)
		if err != nil || a.String() != want || a.Port() != port {
			t.Errorf("Split(%q) is %s, port %s, %v; want %s, port %s", text, a, a.Port(), err, want, port)
		}
	}
	f("http://h", "http://h/", "80")
	f("h:8080/a?b=c#d", "http://h:8080/a?b=c", "8080")
	f("HTTPS://h?x", "https://h/?x", "443")
	f("http://[::1]:80/", "http://[::1]:80/", "80")
	f("http://h/a b\u00e9", "http://h/a%20b%C3%A9", "80")
	f(`http://h/{{line "a b#"}}/{{seq}}?u=http://x#f`, `http://h/{{line "a b#"}}/{{seq}}?u=http://x`, "80")
	f("http://h/?to=http://other/", "http://h/?to=http://other/", "80")
	f("h/?to=http://other/", "http://h/?to=http://other/", "80")
	f("localhost:5000/search?term=topic&cnn=on", "http://localhost:5000/search?term=topic&cnn=on", "5000")
	f("http://h/{{seq", "http://h/{{seq", "80")
	if a, err := Split("http://me:pa%40ss@h/"); err != nil || !a.HasUser || a.User != "me" || a.Password != "pa@ss" || a.Host != "h" {
		t.Errorf("with a user: %+v, %v", a, err)
	}
	for text, want := range map[string]string{
		"": "it has no host", "http://": "it has no host", "ftp://h/": `scheme "ftp"`, "http://{{seq}}/": "its host is a template",
		"http://h:x/": "invalid port", "http://:80/": "it has no host",
		"http://h%80/": "xn--", "http://bücher.example/": "xn--",
	} {
		if _, err := Split(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Split(%q): %v, want an error with %q", text, err, want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("http://me:pass@h:80/{{seq}}?a#b")
	f.Add("https://[::1]/ \n")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Split(text)
		if err != nil {
			return
		}
		b, err := Split(a.String())
		if err != nil || b.Path != a.Path || b.Host != a.Host || b.Scheme != a.Scheme {
			t.Errorf("Split(%q) is %q; again it is %q, %v", text, a, b, err)
		}
		if !HasTemplate(a.Path) && strings.ContainsAny(a.Path, " \r\n") {
			t.Errorf("Split(%q) has path %q", text, a.Path)
		}
	})
}
