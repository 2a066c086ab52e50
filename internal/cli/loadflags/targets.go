package loadflags

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"loupe/capture/load"
	"loupe/capture/load/target"
	"loupe/internal/cli/command"
)

// sending are the flags of what is sent beside hey's.
type sending struct {
	urls          []string
	file, curl    string
	cookies       []string
	bearer        string
	feed          string
	feedRandom    bool
	literal, grpc bool
}

func (s *sending) declare(fs *command.FlagSet) {
	fs.Func("url", "another `URL`, optionally with its weight before it: 3:http://host/path\n(repeatable)", func(v string) error {
		s.urls = append(s.urls, v)
		return nil
	})
	fs.StringVar(&s.file, "targets", "", "`file` of targets: vegeta's, as text or JSON, or one URL per line; they are\nsent in turn, and the URL on the command line is the base for paths without a\nhost")
	fs.StringVar(&s.curl, "curl", "", "send the request of a curl `command`: -curl \"curl -X POST -d a=b http://host/\"")
	s.declareWho(fs)
	fs.StringVar(&s.feed, "feed", "", "CSV `file` whose first row names the columns of {{csv \"column\"}};\neach request takes the next row")
	fs.BoolVar(&s.feedRandom, "feed-random", false, "take rows of the feed and lines of files at random")
	fs.BoolVar(&s.literal, "literal", false, "do not expand {{ in URLs, headers and bodies")
	fs.BoolVar(&s.grpc, "grpc", false, "a unary gRPC call; -d or -D is one message in wire format")
}

// declareWho declares those of them that say who asks.
func (s *sending) declareWho(fs *command.FlagSet) {
	fs.Func("cookie", "cookies, 'name=value; name=value', or a `file` of them (repeatable)", func(v string) error {
		s.cookies = append(s.cookies, v)
		return nil
	})
	fs.StringVar(&s.bearer, "bearer", "", "`token` for Authorization: Bearer")
}

// targets puts into c what to send, and returns the list behind it when it
// came from a file.
func (f *Flags) targets(c *load.Config, addresses []string) (*target.List, error) {
	addresses = append(addresses[:len(addresses):len(addresses)], f.what.urls...)
	files := 0
	for _, flag := range []string{f.what.file, f.what.curl, f.Pace.Replay} {
		if flag != "" {
			files++
		}
	}
	r := target.Reader{Read: f.read, Literal: f.what.literal}
	switch {
	case files > 1:
		return nil, errors.New("-targets, -curl and -replay exclude each other")
	case files == 1 && len(addresses) > 1:
		return nil, errors.New("with -targets, -curl and -replay there is at most one URL: the base for paths without a host")
	case files == 0 && len(addresses) == 0:
		return nil, errors.New("the URL is missing")
	case files == 1 && len(addresses) == 1:
		r.Base = addresses[0]
		if _, err := target.Split(r.Base); err != nil {
			return nil, err
		}
	}
	c.GRPC = f.what.grpc
	body, err := f.bodyOf()
	if err != nil {
		return nil, err
	}
	header, err := f.headerOf(c, files == 0)
	if err != nil {
		return nil, err
	}
	var list *target.List
	switch {
	case f.what.curl != "":
		list, err = f.fromCurl(c, r)
	case files == 1:
		list, err = f.fromFile(r)
	default:
		list, err = fromAddresses(r, addresses)
	}
	if err != nil {
		return nil, err
	}
	if err := f.addCookies(list.Targets); err != nil {
		return nil, err
	}
	for i := range list.Targets {
		t := &list.Targets[i]
		if files == 0 || t.Method == "" {
			t.Method = c.Method
		}
		if t.Body == "" {
			t.Body = r.Body(body)
		}
	}
	if err := f.fill(c, r, list.Targets, header); err != nil {
		return nil, err
	}
	if files == 0 {
		return nil, nil
	}
	return list, nil
}

// fill puts targets into the load: as the fields of one request when there is
// one and nothing in it is a template.
func (f *Flags) fill(c *load.Config, r target.Reader, list []target.Target, header []target.Field) error {
	a, err := target.Split(list[0].URL)
	if err != nil {
		return err
	}
	c.URL, c.Method = a.String(), list[0].Method
	templates := false
	for _, h := range header {
		templates = templates || target.HasTemplate(r.Text(h.Value))
	}
	for _, t := range list {
		templates = templates || target.HasTemplate(t.URL) || target.HasTemplate(t.Body)
	}
	if len(list) == 1 && !templates && len(list[0].Header) == 0 {
		c.URL = fullURL(list[0].URL)
		c.Body = []byte(list[0].Body)
		for _, h := range header {
			c.Header.Add(h.Name, h.Value)
		}
		return nil
	}
	if c.Sources, err = f.sources(); err != nil {
		return err
	}
	for i := range list {
		t := &list[i]
		own := len(t.Header)
		for _, h := range header {
			if hasField(t.Header[:own], h.Name) {
				continue
			}
			value := r.Text(h.Value)
			if strings.EqualFold(h.Name, "User-Agent") {
				value += " " + target.Quote(c.Tool)
			}
			t.Header = append(t.Header, target.Field{Name: h.Name, Value: value})
		}
		if err := checkTemplates(t, c.Sources); err != nil {
			return err
		}
	}
	c.Targets = list
	return nil
}

// fullURL is a URL with its scheme.
func fullURL(s string) string {
	if !strings.Contains(s, "://") {
		return "http://" + s
	}
	return s
}

func hasField(list []target.Field, name string) bool {
	for _, h := range list {
		if strings.EqualFold(h.Name, name) {
			return true
		}
	}
	return false
}

// checkTemplates finds mistakes in templates before anything is sent.
func checkTemplates(t *target.Target, s *target.Sources) error {
	if _, err := target.Parse(t.URL, target.InURL, s); err != nil {
		return err
	}
	for _, h := range t.Header {
		if _, err := target.Parse(h.Value, target.InHeader, s); err != nil {
			return err
		}
	}
	if _, err := target.Parse(t.Body, target.InBody, s); err != nil {
		return fmt.Errorf("%w (-literal sends bodies unchanged)", err)
	}
	return nil
}

// bodyOf is the body of the flags; hey's -D wins over its -d.
func (f *Flags) bodyOf() ([]byte, error) {
	if f.bodyFile == "" {
		return []byte(f.body), nil
	}
	body, err := f.read(f.bodyFile)
	if err != nil {
		return nil, fmt.Errorf("-D: %w", err)
	}
	return body, nil
}

// sources are the files of templates.
func (f *Flags) sources() (*target.Sources, error) {
	s := &target.Sources{Read: f.read, Random: f.what.feedRandom}
	if f.what.feed == "" {
		return s, nil
	}
	text, err := f.read(f.what.feed)
	if err == nil {
		s.Feed, err = target.ParseFeed(text)
	}
	if err != nil {
		return nil, fmt.Errorf("-feed: %w", err)
	}
	return s, nil
}

// fromAddresses makes a target of each URL.
func fromAddresses(r target.Reader, addresses []string) (*target.List, error) {
	l := &target.List{Targets: make([]target.Target, len(addresses))}
	for i, address := range addresses {
		weight, rest, err := target.ParseWeight(address)
		if err != nil {
			return nil, fmt.Errorf("cannot use %q: %w", address, err)
		}
		if _, err := target.Split(rest); err != nil {
			return nil, err
		}
		l.Targets[i] = target.Target{URL: r.Text(rest), Weight: weight}
	}
	return l, nil
}

// fromFile reads -targets or -replay.
func (f *Flags) fromFile(r target.Reader) (*target.List, error) {
	flag, name := "-targets", f.what.file
	if f.Pace.Replay != "" {
		flag, name = "-replay", f.Pace.Replay
	}
	text, err := f.read(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	l, err := r.List(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", flag, name, err)
	}
	return &l, nil
}

// fromCurl reads -curl: the request, and how curl would connect.
func (f *Flags) fromCurl(c *load.Config, r target.Reader) (*target.List, error) {
	curl, err := r.Curl(f.what.curl)
	if err != nil {
		return nil, fmt.Errorf("-curl: %w", err)
	}
	c.NoCompression = c.NoCompression || !curl.Compressed
	c.NoRedirects = c.NoRedirects || !curl.Follow
	c.HTTP2 = c.HTTP2 || curl.HTTP2
	if curl.Timeout > 0 && !f.IsGiven("t") {
		c.Timeout = curl.Timeout
	}
	if c.Proxy == nil {
		if c.Proxy, err = proxyOf(curl.Proxy); err != nil {
			return nil, fmt.Errorf("-curl: %w", err)
		}
	}
	f.link.curl = &curl
	f.what.cookies = append(f.what.cookies[:len(f.what.cookies):len(f.what.cookies)], curl.CookieFiles...)
	return &target.List{Targets: curl.Targets}, nil
}

// addCookies gives each target the cookies of the flags that are for it.
func (f *Flags) addCookies(list []target.Target) error {
	var texts []string
	var kept []target.Cookie
	for _, v := range f.what.cookies {
		if strings.Contains(v, "=") {
			text := v
			if f.what.literal {
				text = target.Quote(v)
			}
			texts = append(texts, text)
			continue
		}
		content, err := f.read(v)
		if err != nil {
			// What was typed may be the cookie.
			if path, ok := errors.AsType[*fs.PathError](err); ok {
				err = path.Err
			}
			return fmt.Errorf("-cookie: cannot read the named file: %w (cookies themselves are written name=value)", err)
		}
		cookies, err := target.ParseCookies(content)
		if err != nil {
			return fmt.Errorf("-cookie: %s: %w", v, err)
		}
		kept = append(kept, cookies...)
	}
	for i := range list {
		a, err := target.Split(list[i].URL)
		if err != nil {
			return err
		}
		line := texts[:len(texts):len(texts)]
		if stored := target.CookieLine(kept, a, time.Now()); stored != "" {
			line = append(line, target.Quote(stored))
		}
		if len(line) > 0 && !hasField(list[i].Header, "Cookie") {
			list[i].Header = append(list[i].Header, target.Field{Name: "Cookie", Value: strings.Join(line, "; ")})
		}
	}
	return nil
}
