package target

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// reader has a few files.
var reader = Reader{
	Base: "http://base:8080/ignored",
	Read: func(name string) ([]byte, error) {
		files := map[string]string{
			"body.txt": "line one\nline {{seq}}\n", "body.bin": "\xff{{\x00", "headers.txt": "X-One: 1\n\nX-Two: 2\n", "/abs": "a b&c",
		}
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("open " + name + ": no such file")
	},
}

// printed is a target in one line.
func printed(t Target) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", t.Method, t.URL)
	for _, f := range t.Header {
		fmt.Fprintf(&b, " | %s: %s", f.Name, f.Value)
	}
	if t.Body != "" {
		fmt.Fprintf(&b, " | %q", t.Body)
	}
	return b.String()
}

func TestCurl(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		c, err := reader.Curl(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			return
		}
		var got []string
		for _, target := range c.Targets {
			got = append(got, printed(target))
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s\n gives %s\n want  %s", line, strings.Join(got, "\n"), want)
		}
	}
	f(`curl http://h/a?b=c`, `GET http://h/a?b=c | Accept: */*`)
	f(`curl h/a`, `GET h/a | Accept: */*`)
	f(`curl -X PUT 'http://h/'`, `PUT http://h/ | Accept: */*`)
	f(`curl -sSXPUT "http://h/"`, `PUT http://h/ | Accept: */*`)
	f(`curl -I http://h/`, `HEAD http://h/ | Accept: */*`)
	f(`curl http://h/ -d a=1 -d 'b= 2'`, `POST http://h/ | Accept: */* | Content-Type: application/x-www-form-urlencoded | "a=1&b= 2"`)
	f(`curl http://h/ -da=1`, `POST http://h/ | Accept: */* | Content-Type: application/x-www-form-urlencoded | "a=1"`)
	f(`curl -G http://h/?x -d a=1 --data-urlencode 'b=c d&e'`, `GET http://h/?x&a=1&b=c+d%26e | Accept: */*`)
	f(`curl -G 'http://h/{{line "a#?"}}#top' -d a=1`, `GET http://h/{{line "a#?"}}&a=1 | Accept: */*`)
	f(`curl --data-urlencode 'a b' --data-urlencode =c= --data-urlencode n@/abs h`, `POST h | Accept: */* | Content-Type: application/x-www-form-urlencoded | "a+b&c%3D&n=a+b%26c"`)
	f(`curl -d @body.txt h`, `POST h | Accept: */* | Content-Type: application/x-www-form-urlencoded | "line oneline {{seq}}"`)
	f(`curl --data-binary @body.txt -H "Content-Type: text/plain" h`, `POST h | Content-Type: text/plain | Accept: */* | "line one\nline {{seq}}\n"`)
	f(`curl --data-binary @body.bin -H 'Content-Type:' h`, `POST h | Accept: */* | "\xff{{\"{{\"}}\x00"`)
	f(`curl --data-raw '@body.txt' h`, `POST h | Accept: */* | Content-Type: application/x-www-form-urlencoded | "@body.txt"`)
	f(`curl --json '{"a":1}' h`, `POST h | Content-Type: application/json | Accept: application/json | "{\"a\":1}"`)
	f(`curl -u me:pass h`, `GET h | Authorization: Basic bWU6cGFzcw== | Accept: */*`)
	f(`curl --oauth2-bearer abc h`, `GET h | Authorization: Bearer abc | Accept: */*`)
	f(`curl -b 'a=b; c=d' -b e=f -A me -e http://from/ h`, `GET h | User-Agent: me | Referer: http://from/ | Cookie: a=b; c=d; e=f | Accept: */*`)
	f(`curl -H 'Accept: x' -H 'X-Empty;' -H @headers.txt h`, `GET h | Accept: x | X-Empty:  | X-One: 1 | X-Two: 2`)
	f("curl 'http://h/' \\\n  -H $'X-Tab: a\\tb\\u00e9\\x41\\101' \\\r\n --compressed", "GET http://h/ | X-Tab: a\tb\u00e9AA | Accept: */*")
	f(`/usr/bin/curl http://h/1 http://h/2 --url http://h/3`, "GET http://h/1 | Accept: */*\nGET http://h/2 | Accept: */*\nGET http://h/3 | Accept: */*")
	f(`curl -o /dev/null -w '%{http_code}' -- http://h/-1`, `GET http://h/-1 | Accept: */*`)
	f(`curl /path`, `GET http://base:8080/path | Accept: */*`)

	c, err := reader.Curl(`curl -kL --compressed --http2 --cacert ca --cert c --key k -x p:1 --unix-socket s --connect-to a:1:b:2 --resolve h:80:::1 --resolve '*:443:1.2.3.4' -m 2.5 -b jar h`)
	if err != nil || !c.Insecure || !c.Follow || !c.Compressed || !c.HTTP2 || c.CA != "ca" || c.Cert != "c" || c.Key != "k" || c.Proxy != "p:1" ||
		c.UnixSocket != "s" || c.Timeout != 2500*time.Millisecond || !slices.Equal(c.CookieFiles, []string{"jar"}) ||
		!slices.Equal(c.ConnectTo, []string{"a:1:b:2", "h:80:[::1]:80", ":443:1.2.3.4:443"}) {
		t.Errorf("connection: %+v, %v", c, err)
	}
	quoted := Reader{Literal: true}
	if c, err = quoted.Curl(`curl -G -d '{{a}}' 'http://h/{{b}}'`); err != nil || c.Targets[0].URL != `http://h/{{"{{"}}b}}?{{"{{"}}a}}` {
		t.Errorf("literal: %+v, %v", c, err)
	}
}

func TestCurlErrors(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		if c, err := reader.Curl(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want an error with %q", line, c, err, want)
		}
	}
	f(``, "does not begin with curl")
	f(`wget http://h/`, "does not begin with curl")
	f(`curl`, "there is no URL")
	f(`curl -F a=@b h`, "-F: multipart forms are not made")
	f(`curl -T x h`, "uploads are not made")
	f(`curl --http3 h`, "HTTP/3")
	f(`curl --frobnicate h`, "unknown flag --frobnicate")
	f(`curl -s? h`, "unknown flag -?")
	f(`curl h -d`, "-d has no value")
	f(`curl h -d @nowhere`, "no such file")
	f(`curl -u me h`, "no password")
	f(`curl -m soon h`, "not a number of seconds")
	f(`curl -H nonsense h`, "want 'Name: value'")
	f(`curl --resolve h:80 h`, "host:port:address")
	f(`curl ftp://h/`, "neither http nor https")
	f(`curl http://h/?a=1&b=2`, `"&b=2" is for a shell`)
	f(`curl http://$HOST/`, "is for a shell")
	f(`curl "http://$HOST/"`, "is for a shell")
	f(`curl http://h/ | jq`, "is for a shell")
	f(`curl 'http://h/`, "' has no partner")
	f(`curl "http://h/`, `" has no partner`)
	f(`curl $'http://h/`, "$' has no partner")
	f(`curl $'\u' h`, "is not a character")
	f(`curl h \`, "ends with a backslash")
	if _, err := (Reader{}).Curl("curl -d @x h"); err == nil || !strings.Contains(err.Error(), "no files here") {
		t.Errorf("without files: %v", err)
	}
	if _, err := (Reader{}).Curl("curl /path"); err == nil || !strings.Contains(err.Error(), "has no host") {
		t.Errorf("without a base: %v", err)
	}
}

func TestSplitWords(t *testing.T) {
	f := func(line string, want ...string) {
		t.Helper()
		if got, err := splitWords(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s gives %q, %v; want %q", line, got, err, want)
		}
	}
	f("")
	f(" a  b\tc\n", "a", "b", "c")
	f(`'a b'"c d"e\ f`, "a bc de f")
	f(`"" ''`, "", "")
	f(`"a\"b\\c\d\$e"`, `a"b\c\d$e`)
	f("a\\\nb 'c\nd' \"e\\\nf\"", "ab", "c\nd", "ef")
	f("a # b c\nd#e", "a", "d#e")
	f(`$ a$ 5$% $'a\'b\0\q'`, "$", "a$", "5$%", "a'b\x00\\q")
}

func FuzzCurl(f *testing.F) {
	f.Add(`curl -kL --compressed -X POST -H 'A: b' -d @body.txt -u a:b "http://h/{{seq}}?x"`)
	f.Add(`curl $'http://h/\u00e9\x41\101' --resolve h:80:::1 -m 2 -b a=b -G --data-urlencode a=b`)
	f.Fuzz(func(t *testing.T, line string) {
		c, err := reader.Curl(line)
		if err != nil {
			return
		}
		checkTargets(t, c.Targets)
	})
}

// checkTargets checks what every target that a parser accepts must be.
func checkTargets(t *testing.T, targets []Target) {
	t.Helper()
	if len(targets) == 0 {
		t.Error("no error and no target")
	}
	for _, to := range targets {
		if _, err := Split(to.URL); err != nil {
			t.Error(err)
		}
		if to.Method != "" && !isToken(to.Method) {
			t.Errorf("method %q", to.Method)
		}
		for _, h := range to.Header {
			if !isToken(h.Name) || strings.ContainsAny(h.Value, "\r\n\x00") {
				t.Errorf("header %q: %q", h.Name, h.Value)
			}
		}
	}
}
