package secret

import (
	"strings"
	"testing"
)

func TestURL(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := URL(in); got != want {
			t.Errorf("URL(%q) = %q, want %q", in, got, want)
		}
	}
	f("http://user:pa55@host:6060/debug/pprof/", "http://xxxxx@host:6060/debug/pprof/")
	f("https://ghp@host/", "https://xxxxx@host/")
	f("user:pa55@host:6060", "xxxxx@host:6060")
	f("http://u:p@ss@host/", "http://xxxxx@host/")
	f("http://u:pa/ss@host/", "http://xxxxx@host/")
	f("http://host/@user/x", "http://host/@user/x")
	f("http://host:80/@user/x", "http://host:80/@user/x")
	f("http://[::1]:6060/a@b", "http://[::1]:6060/a@b")
	f("http://h/?a=1&token=abc&b=2#frag", "http://h/?a=1&token=xxxxx&b=2#frag")
	f("http://h/?access_token=abc;API-Key=def&key=x", "http://h/?access_token=xxxxx;API-Key=xxxxx&key=xxxxx")
	f("http://h/?X-Amz-Signature=abc&sig=d&tok%65n=e", "http://h/?X-Amz-Signature=xxxxx&sig=xxxxx&tok%65n=xxxxx")
	f("http://h/?token=&monkey=1&author=Eco", "http://h/?token=&monkey=1&author=Eco")
	f("http://h/#access_token=abc", "http://h/#access_token=xxxxx")
	f("http://h/a;jsessionid=77/b;v=1", "http://h/a;jsessionid=xxxxx/b;v=1")
	f("http://h/?next=https%3A%2F%2Fu%3Ap%40x%2F&q=a%2Fb", "http://h/?next=xxxxx&q=a%2Fb")
	f("http://h/?t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "http://h/?t=xxxxx")
	f(":6060", ":6060")
	f("localhost:6060/search?q=a+b&x={{rand 1 5}}", "localhost:6060/search?q=a+b&x={{rand 1 5}}")
	f("", "")
}

func TestText(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	f("cannot fetch http://u:p@h/x?token=t: 401", "cannot fetch http://xxxxx@h/x?token=xxxxx: 401")
	f(`Get "http://h/?a=b": refused`, `Get "http://h/?a=b": refused`)
	f("Authorization: Bearer abc.def", "Authorization: xxxxx")
	f("sent Bearer abc1", "sent Bearer xxxxx")
	f("-bearer does nothing; -cookie: cannot open x", "-bearer does nothing; -cookie: cannot open x")
	f("Basic dXNlcjpwYTU1", "Basic xxxxx")
	f("basic authentication, user:password", "basic authentication, user:password")
	f("Cookie: a=b; c=d", "Cookie: xxxxx")
	f("postgres://u:p@db/x and root:pw@tcp(db:3306)/x", "postgres://xxxxx@db/x and xxxxx@tcp(db:3306)/x")
	f("host=db password='a b' user=x", "host=db password=xxxxx user=x")
	f(`{"name":"x","password":"a\"b","n":1}`, `{"name":"x","password":"xxxxx","n":1}`)
	f("module golang.org/x/term@v0.47.0: key=value", "module golang.org/x/term@v0.47.0: key=value")
	f("main.go:12: unexpected token, want )", "main.go:12: unexpected token, want )")
	f(`build -ldflags="-s -X=main.apiKey=a -X 'main.tokenB=c'" -o=x`, `build -ldflags="-s -X=main.apiKey=xxxxx -X 'main.tokenB=xxxxx'" -o=x`)
	f("AKIAABCDEFGHIJKLMNOP ghp_0123456789abcdef", "xxxxx xxxxx")
	f("goroutines>10000: 10,020 of them at 12:30", "goroutines>10000: 10,020 of them at 12:30")
}

func TestArgs(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := strings.Join(Args(strings.Split(in, "|")), "|"); got != want {
			t.Errorf("Args(%q) = %q, want %q", in, got, want)
		}
	}
	f("-v|in.txt|-n|5", "-v|in.txt|-n|5")
	f("-password=a|--token|b|-api-key|c", "-password=xxxxx|--token|xxxxx|-api-key|xxxxx")
	f("DB_PASSWORD=a=b|x=1", "DB_PASSWORD=xxxxx|x=1")
	f("-H|Authorization: Bearer x|-H|Accept: y", "-H|Authorization: xxxxx|-H|Accept: y")
	f("-dsn=postgres://u:p@h/d|--url|http://u:p@h/", "-dsn=postgres://xxxxx@h/d|--url|http://xxxxx@h/")
	f("-u|me:pa55|-a|localhost:80|-a|:http", "-u|xxxxx|-a|localhost:80|-a|:http")
	f("-auth|-v|x", "-auth|-v|x")
	if Args(nil) != nil {
		t.Error("no arguments become some")
	}
}

// FuzzText wants that no text makes it panic, or shows the password before it.
func FuzzText(f *testing.F) {
	f.Add("http://u:p@h/?token=x Bearer y")
	f.Add("a:b@c -p=d {\"password\":\"e\"}")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4096 {
			return
		}
		Text(s)
		URL(s)
		Args(strings.Fields(s))
		if marked := URL("http://user:marker@host/" + other(s)); strings.Contains(marked, "user:marker@") {
			t.Errorf("a password stays in %q", marked)
		}
	})
}

func other(s string) string { return strings.ReplaceAll(s, "user:marker@", "") }
