package target

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Curl is what a curl command line asks for.
type Curl struct {
	// Targets has one target for each URL, with all of the headers but
	// those of cookies in files.
	Targets []Target
	// CookieFiles are those of -b, for [ParseCookies].
	CookieFiles []string

	Insecure      bool // -k; curl verifies otherwise
	Follow        bool // -L
	Compressed    bool // --compressed
	HTTP2         bool // --http2 and --http2-prior-knowledge
	CA, Cert, Key string
	Proxy         string
	UnixSocket    string
	ConnectTo     []string // host:port:host2:port2
	Timeout       time.Duration
}

// curlWords are the words of a command line as they are read.
type curlWords struct {
	reader Reader
	out    *Curl

	method, user   string
	head, get      bool
	isJSON         bool
	urls, data     []string
	headers        []Field
	removed        []string // -H 'Name:'
	agent, referer string
	cookies        []string
	end            bool // behind --
}

// Curl reads a curl command line, as a shell would get it or as a browser
// copies it. Flags that only say what curl prints are ignored; flags that it
// cannot follow are errors, as a load that leaves something out would measure
// something else.
func (r Reader) Curl(line string) (Curl, error) {
	list, err := splitWords(line)
	if err == nil && (len(list) == 0 || list[0] != "curl" && !strings.HasSuffix(list[0], "/curl") && list[0] != "curl.exe") {
		err = errors.New("it does not begin with curl")
	}
	if err != nil {
		return Curl{}, fmt.Errorf("cannot read curl command: %w", err)
	}
	var c Curl
	w := curlWords{reader: r, out: &c}
	if err = w.read(list[1:]); err == nil {
		err = w.targets()
	}
	if err != nil {
		return Curl{}, fmt.Errorf("cannot read curl command: %w", err)
	}
	return c, nil
}

// curlShort are the long names of the short flags.
var curlShort = map[byte]string{
	'X': "request", 'H': "header", 'd': "data", 'u': "user", 'b': "cookie", 'A': "user-agent", 'e': "referer",
	'G': "get", 'I': "head", 'k': "insecure", 'L': "location", 'x': "proxy", 'E': "cert", 'm': "max-time",
	's': "silent", 'S': "show-error", 'v': "verbose", 'i': "include", 'f': "fail", 'o': "output", 'w': "write-out",
	'O': "remote-name", 'J': "remote-header-name", '#': "progress-bar", 'g': "globoff", 'N': "no-buffer", 'c': "cookie-jar",
	'0': "http1.0", 'F': "form", 'T': "upload-file", 'K': "config", 'Z': "parallel", 'r': "range", 'D': "dump-header",
	'4': "ipv4", '6': "ipv6", 'n': "netrc", 'q': "disable", 'a': "append", 'l': "list-only", 'R': "remote-time",
}

// curlPrints are flags that only say what curl prints or keeps; true for
// those with a value.
var curlPrints = map[string]bool{
	"silent": false, "show-error": false, "verbose": false, "include": false, "fail": false, "output": true, "write-out": true,
	"remote-name": false, "remote-header-name": false, "progress-bar": false, "globoff": false, "no-buffer": false, "cookie-jar": true,
	"dump-header": true, "fail-with-body": false, "no-progress-meter": false, "disable": false, "remote-time": false, "stderr": true,
	"trace": true, "trace-ascii": true, "trace-time": false, "show-headers": false, "styled-output": false, "no-keepalive-time": false,
	"keepalive-time": true, "tcp-nodelay": false, "parallel": false, "show-error-body": false, "no-styled-output": false,
}

// curlRefused are flags that would change what is sent in ways that are not
// done, with what to do instead.
var curlRefused = map[string]string{
	"form":        "multipart forms are not made; send one that curl has written: --data-binary @file with its Content-Type",
	"form-string": "multipart forms are not made; send one that curl has written: --data-binary @file with its Content-Type",
	"upload-file": "uploads are not made; use -X PUT --data-binary @file",
	"config":      "files of options are not read; put the options on the line",
	"http1.0":     "HTTP/1.0 is not spoken",
	"http3":       "HTTP/3 is not spoken",
	"netrc":       ".netrc is not read; use -u user:password",
}

// read goes through the words.
func (w *curlWords) read(list []string) error {
	for len(list) > 0 {
		word := list[0]
		list = list[1:]
		switch {
		case w.end || len(word) < 2 || word[0] != '-':
			w.urls = append(w.urls, word)
		case word == "--":
			w.end = true
		case strings.HasPrefix(word, "--"):
			used, err := w.flag(word[2:], word, list)
			if err != nil {
				return err
			}
			list = list[used:]
		default:
			var err error
			if list, err = w.cluster(word, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// cluster reads short flags in one word, the last of which may have its value
// in the same word: -sXPOST.
func (w *curlWords) cluster(word string, list []string) ([]string, error) {
	for i := 1; i < len(word); i++ {
		name := curlShort[word[i]]
		if name == "" {
			return nil, fmt.Errorf("unknown flag -%c (leave it out if it only changes what curl prints)", word[i])
		}
		values := list
		if rest := word[i+1:]; rest != "" {
			values = append([]string{rest}, list...)
		}
		used, err := w.flag(name, "-"+word[i:i+1], values)
		if err != nil {
			return nil, err
		}
		if used > 0 { // the rest of the word was the value
			if i+1 < len(word) {
				return list, nil
			}
			return list[1:], nil
		}
	}
	return list, nil
}

// flag takes one flag and returns how many of the values it used.
func (w *curlWords) flag(name, asWritten string, values []string) (used int, err error) {
	if why := curlRefused[name]; why != "" {
		return 0, fmt.Errorf("%s: %s", asWritten, why)
	}
	if hasValue, ok := curlPrints[name]; ok && !hasValue {
		return 0, nil
	}
	if w.toggle(name) {
		return 0, nil
	}
	if _, prints := curlPrints[name]; !prints && !curlValued[name] {
		return 0, fmt.Errorf("unknown flag %s (leave it out if it only changes what curl prints)", asWritten)
	}
	if len(values) == 0 {
		return 0, fmt.Errorf("%s has no value", asWritten)
	}
	if err := w.value(name, values[0]); err != nil {
		return 0, fmt.Errorf("%s: %w", asWritten, err)
	}
	return 1, nil
}

// toggle takes a flag without a value.
func (w *curlWords) toggle(name string) bool {
	switch name {
	case "get":
		w.get = true
	case "head":
		w.head = true
	case "insecure", "proxy-insecure":
		w.out.Insecure = true
	case "location", "location-trusted":
		w.out.Follow = true
	case "compressed":
		w.out.Compressed = true
	case "http1.1":
		w.out.HTTP2 = false
	case "http2", "http2-prior-knowledge":
		w.out.HTTP2 = true
	case "basic", "ipv4", "ipv6", "anyauth", "path-as-is", "no-alpn":
	default:
		return false
	}
	return true
}

// curlValued are the flags with a value that [curlWords.value] takes.
var curlValued = map[string]bool{
	"request": true, "header": true, "data": true, "data-ascii": true, "data-raw": true, "data-binary": true, "data-urlencode": true,
	"json": true, "user": true, "cookie": true, "user-agent": true, "referer": true, "proxy": true, "cert": true, "key": true,
	"cacert": true, "max-time": true, "connect-timeout": true, "unix-socket": true, "connect-to": true, "resolve": true, "url": true,
	"range": true, "oauth2-bearer": true, "noproxy": true, "retry": true, "request-target": true, "max-redirs": true,
}

// value takes a flag with a value.
func (w *curlWords) value(name, v string) (err error) {
	c := w.out
	switch name {
	case "request":
		if !isToken(v) {
			return fmt.Errorf("%s is not a method", quoted(v))
		}
		w.method = v
	case "header":
		return w.header(v)
	case "data", "data-ascii", "data-raw", "data-binary", "data-urlencode", "json":
		return w.body(name, v)
	case "user":
		w.user = v
		if !strings.Contains(v, ":") {
			return fmt.Errorf("%s has no password (want user:password)", quoted(v))
		}
	case "oauth2-bearer":
		w.headers = append(w.headers, Field{"Authorization", "Bearer " + w.reader.Text(v)})
	case "cookie":
		if strings.Contains(v, "=") {
			w.cookies = append(w.cookies, w.reader.Text(v))
		} else if v != "" {
			c.CookieFiles = append(c.CookieFiles, v)
		}
	case "user-agent":
		w.agent = w.reader.Text(v)
	case "referer":
		w.referer = w.reader.Text(strings.TrimSuffix(v, ";auto"))
	case "range":
		w.headers = append(w.headers, Field{"Range", "bytes=" + v})
	case "proxy":
		c.Proxy = v
	case "cert":
		c.Cert = v
	case "key":
		c.Key = v
	case "cacert":
		c.CA = v
	case "unix-socket":
		c.UnixSocket = v
	case "connect-to":
		c.ConnectTo = append(c.ConnectTo, v)
	case "resolve":
		return w.resolve(v)
	case "max-time":
		seconds, err := strconv.ParseFloat(v, 64)
		if err != nil || !(seconds >= 0) || seconds > 1e8 {
			return fmt.Errorf("%s is not a number of seconds", quoted(v))
		}
		c.Timeout = time.Duration(seconds * 1e9)
	case "url":
		w.urls = append(w.urls, v)
	case "request-target":
		return errors.New("another request target is not sent")
	}
	return nil // connect-timeout, retry and the like bound what a load bounds by itself
}

// header takes -H, with curl's 'Name:' that removes and 'Name;' that sends an
// empty one.
func (w *curlWords) header(v string) error {
	if strings.HasPrefix(v, "@") {
		text, err := w.reader.file(v[1:])
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" {
				if err := w.header(line); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if name, ok := strings.CutSuffix(strings.TrimSpace(v), ";"); ok && isToken(name) {
		w.headers = append(w.headers, Field{Name: name})
		return nil
	}
	f, err := parseField(v)
	if err != nil {
		return err
	}
	if f.Value == "" {
		w.removed = append(w.removed, f.Name)
		return nil
	}
	f.Value = w.reader.Text(f.Value)
	w.headers = append(w.headers, f)
	return nil
}

// body takes one of the flags with data.
func (w *curlWords) body(name, v string) error {
	text := w.reader.Text(v)
	switch {
	case name == "data-urlencode":
		encoded, err := w.urlencoded(v)
		if err != nil {
			return err
		}
		text = encoded
	case name != "data-raw" && strings.HasPrefix(v, "@"):
		content, err := w.reader.file(v[1:])
		if err != nil {
			return err
		}
		if name == "data" || name == "data-ascii" { // curl takes line breaks and zeros out
			content = slices.DeleteFunc(bytes.Clone(content), func(c byte) bool { return c == '\r' || c == '\n' || c == 0 })
		}
		text = w.reader.Body(content)
	}
	if name == "json" {
		w.isJSON = true
		if len(w.data) > 0 { // pieces of JSON are put together as they are
			w.data[len(w.data)-1] += text
			return nil
		}
	}
	w.data = append(w.data, text)
	return nil
}

// urlencoded is the content of --data-urlencode: content, =content,
// name=content, @file or name@file.
func (w *curlWords) urlencoded(v string) (string, error) {
	at := strings.IndexAny(v, "=@")
	name, content := "", v
	if at >= 0 {
		name, content = v[:at], v[at+1:]
		if v[at] == '@' {
			text, err := w.reader.file(content)
			if err != nil {
				return "", err
			}
			content = string(text)
		}
	}
	encoded := url.QueryEscape(content)
	if name != "" {
		encoded = w.reader.Text(name) + "=" + encoded
	}
	return encoded, nil
}

// resolve makes --connect-to of --resolve host:port:address.
func (w *curlWords) resolve(v string) error {
	parts := strings.SplitN(strings.TrimPrefix(v, "+"), ":", 3)
	if len(parts) != 3 || parts[2] == "" {
		return fmt.Errorf("want host:port:address, not %s", quoted(v))
	}
	address, _, _ := strings.Cut(parts[2], ",")
	if strings.Contains(address, ":") && !strings.HasPrefix(address, "[") {
		address = "[" + address + "]"
	}
	host := parts[0]
	if host == "*" {
		host = ""
	}
	w.out.ConnectTo = append(w.out.ConnectTo, host+":"+parts[1]+":"+address+":"+parts[1])
	return nil
}

// targets makes the targets of what was read.
func (w *curlWords) targets() error {
	if len(w.urls) == 0 {
		return errors.New("there is no URL in it")
	}
	t := Target{Method: "GET"}
	body := strings.Join(w.data, "&")
	switch {
	case w.get || w.head && len(w.data) == 0:
	case len(w.data) > 0:
		t.Method, t.Body = "POST", body
	}
	if w.head {
		t.Method = "HEAD"
	}
	if w.method != "" {
		t.Method = w.method
	}
	t.Header = w.header0(t.Body != "" || len(w.data) > 0 && !w.get)
	for _, f := range t.Header {
		if strings.ContainsAny(f.Value, "\r\n\x00") {
			return fmt.Errorf("the value of header %s has a line break or a zero byte: %s", f.Name, quoted(f.Value))
		}
	}
	for _, u := range w.urls {
		to := t
		var err error
		if to.URL, err = w.reader.resolve(u); err != nil {
			return err
		}
		if w.get && body != "" {
			separator := "?"
			if to.URL = withoutFragment(to.URL); strings.Contains(to.URL, "?") {
				separator = "&"
			}
			to.URL += separator + body
		}
		w.out.Targets = append(w.out.Targets, to)
	}
	return nil
}

// header0 returns the header: what was given, and what curl adds to it.
func (w *curlWords) header0(withBody bool) []Field {
	out := w.headers
	add := func(name, value string) {
		for _, f := range out {
			if strings.EqualFold(f.Name, name) {
				return
			}
		}
		for _, gone := range w.removed {
			if strings.EqualFold(gone, name) {
				return
			}
		}
		out = append(out, Field{name, value})
	}
	if w.user != "" {
		add("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(w.user)))
	}
	if w.agent != "" {
		add("User-Agent", w.agent)
	}
	if w.referer != "" {
		add("Referer", w.referer)
	}
	if len(w.cookies) > 0 {
		add("Cookie", strings.Join(w.cookies, "; "))
	}
	if w.isJSON {
		add("Content-Type", "application/json")
		add("Accept", "application/json")
	}
	add("Accept", "*/*")
	if withBody {
		add("Content-Type", "application/x-www-form-urlencoded")
	}
	return out
}
