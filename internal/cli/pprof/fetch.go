package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"loupe/pprof"
	"loupe/profile"
	"loupe/secret"
	"loupe/source"
	"loupe/stack"
)

// fetch loads the sources and the bases, adds each up, subtracts, finds names
// and binaries: what pprof does before the first report.
func (s *pprofSession) fetch(args []string) (*profile.Profile, error) {
	f := s.flags
	if os.Getenv("GOGC") == "" {
		// Almost all that decoding allocates stays: collecting it is in vain. A
		// large heap profile takes a quarter less CPU time and 5% more memory so.
		// Of several only the sum stays: 200 is as fast as 400 for a thousand heap
		// profiles, with a quarter less memory.
		percent := 400
		if len(args) > 1 {
			percent = 200
		}
		defer debug.SetGCPercent(debug.SetGCPercent(percent))
	}
	if len(args) > 1 {
		if b, err := s.openBinary(args[0]); err == nil && b != nil {
			s.program, args = args[0], args[1:]
		}
	}
	p, remote, err := s.grab(args, "source")
	if err != nil {
		return nil, err
	}
	if bases := append(f.bases, f.diffBases...); len(bases) > 0 {
		base, remoteBase, err := s.grab(bases, "base")
		if err != nil {
			return nil, err
		}
		remote = remote || remoteBase
		if len(f.diffBases) > 0 {
			base = base.WithLabel(pprof.BaseLabel, "true")
		}
		if p, err = pprof.Subtract(p, base, f.config.Normalize); err != nil {
			return nil, err
		}
	}
	if p, err = s.symbolize(p); err != nil {
		return nil, err
	}
	if !f.allFrames {
		q, err := p.RemoveUninteresting()
		if err != nil {
			s.warn(err.Error())
		} else {
			p = q
		}
	}
	if f.comment != "" {
		q := *p
		q.Comments = append(q.Comments[:len(q.Comments):len(q.Comments)], f.comment)
		p = &q
	}
	if remote {
		s.save(p)
	}
	return p, nil
}

// fetched is a source that was read, or why it was not.
type fetched struct {
	p      *profile.Profile
	remote bool
	err    error
}

// grab reads sources side by side and adds them up in their order. What cannot
// be read is reported; the rest counts. No more of them than there are
// processors are in memory at a time.
func (s *pprofSession) grab(sources []string, what string) (*profile.Profile, bool, error) {
	ctx, cancel := context.WithCancel(s.e.ctx)
	defer cancel()
	workers := runtime.GOMAXPROCS(0)
	results := make([]chan fetched, len(sources))
	for i := range results {
		results[i] = make(chan fetched, 1)
	}
	tokens := make(chan struct{}, workers)
	go func() {
		for i, name := range sources {
			select {
			case tokens <- struct{}{}:
			case <-ctx.Done():
				return
			}
			go func() {
				p, remote, err := s.load(ctx, name)
				results[i] <- fetched{p, remote, err}
			}()
		}
	}()
	var sum pprof.Sum
	count, remote := 0, false
	var failed error
	for i, name := range sources {
		var r fetched
		select {
		case r = <-results[i]:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
		<-tokens
		if r.err != nil {
			failed = r.err
			if len(sources) > 1 {
				s.warn(name + ": " + r.err.Error())
			}
			continue
		}
		if err := sum.Add(r.p); err != nil {
			return nil, false, fmt.Errorf("cannot add %s: %w", name, err)
		}
		count++
		remote = remote || r.remote
	}
	switch {
	case count == 0 && len(sources) == 1:
		return nil, false, failed
	case count == 0:
		return nil, false, exitError{exitNothing, fmt.Errorf("failed to fetch any %s profiles", what)}
	case count < len(sources):
		s.warn(fmt.Sprintf("Fetched %d %s profiles out of %d", count, what, len(sources)))
	}
	p, err := sum.Profile()
	return p, remote, err
}

// load reads one source: a file, - for standard input, or else a URL.
func (s *pprofSession) load(ctx context.Context, name string) (*profile.Profile, bool, error) {
	var data []byte
	var err error
	remote := false
	info, statErr := os.Stat(name)
	switch {
	case name == "-":
		data, err = readStream(s.e.stdin, "standard input")
	case statErr == nil && info.IsDir():
		return nil, false, fmt.Errorf("cannot read profile %s: it is a directory (of a recording, name a profile in it: %s)", name, filepath.Join(name, "cpu.pb.gz"))
	case statErr == nil:
		data, err = source.ReadNamed(name)
	default:
		address, timeout := profileURL(name, s.flags.seconds, s.flags.timeout)
		if address == "" || errors.Is(statErr, fs.ErrPermission) {
			if errors.Is(statErr, fs.ErrNotExist) {
				return nil, false, exitError{exitNothing, fmt.Errorf("cannot find %s", name)}
			}
			return nil, false, statErr
		}
		remote = true
		s.warn("Fetching profile over HTTP from " + secret.URL(address))
		if s.flags.seconds > 0 {
			s.warn(fmt.Sprintf("Please wait... (%v)", time.Duration(s.flags.seconds)*time.Second))
		}
		data, err = download(ctx, address, timeout)
	}
	if err != nil {
		return nil, remote, err
	}
	p, err := profile.Decode(data, profile.Options{})
	if err != nil {
		return nil, remote, fmt.Errorf("cannot read profile %s: %w", name, err)
	}
	if p = s.locate(p); remote && s.asksServer() && nameless(p) {
		p = s.remoteNames(ctx, p, name)
	}
	return p, remote, nil
}

// asksServer says whether -symbolize lets the server name addresses.
func (s *pprofSession) asksServer() bool {
	for mode := range strings.SplitSeq(strings.ToLower(s.flags.symbolize), ":") {
		if mode == "none" || mode == "no" || mode == "local" || mode == "fastlocal" {
			return false
		}
	}
	return true
}

// nameless says whether a profile has locations without names that the server
// it comes from may know. Go's own profiles have none.
func nameless(p *profile.Profile) bool {
	for i := range p.Locations {
		if l := &p.Locations[i]; l.Lines == 0 && l.Address != 0 && (l.Mapping < 0 || !p.Mappings[l.Mapping].HasFunctions) {
			return true
		}
	}
	return false
}

// remoteNames asks the server of a profile for the names of its addresses: the
// handler symbol beside that of the profile, as in net/http/pprof and in
// gperftools' servers.
func (s *pprofSession) remoteNames(ctx context.Context, p *profile.Profile, source string) *profile.Profile {
	address, timeout := profileURL(source, s.flags.seconds, s.flags.timeout)
	u, err := url.Parse(address)
	if err != nil {
		return p
	}
	u.Path, u.RawQuery = path.Join(u.Path, "../symbol"), ""
	var query strings.Builder
	for i := range p.Locations {
		if l := &p.Locations[i]; l.Lines == 0 && l.Address != 0 {
			if query.Len() > 0 {
				query.WriteByte('+')
			}
			fmt.Fprintf(&query, "%#x", l.Address)
		}
	}
	text, err := request(ctx, http.MethodPost, u.String(), strings.NewReader(query.String()), timeout)
	if err != nil {
		s.warn("cannot ask the server for names: " + err.Error())
		return p
	}
	names := map[uint64]string{}
	for line := range strings.Lines(string(text)) {
		hex, name, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(line), "\t", " "), " ")
		if a, err := strconv.ParseUint(hex, 0, 64); err == nil && name != "" {
			names[a] = strings.TrimSpace(name)
		}
	}
	if len(names) == 0 {
		return p
	}
	p = p.WithLines(func(l *profile.Location, lines []stack.Frame) []stack.Frame {
		if name := names[l.Address]; name != "" && len(lines) == 0 {
			return []stack.Frame{{Func: name}}
		}
		return lines
	})
	return p.WithMappings(false, func(mappings []profile.Mapping) {
		for i := range mappings {
			mappings[i].HasFunctions = true
		}
	})
}

// profileURL completes what may be short for a URL: host:port is the CPU
// profile there. It returns "" for what can be none.
func profileURL(source string, seconds, timeout int) (string, time.Duration) {
	u, err := url.Parse(source)
	if err != nil && strings.Contains(source, "://") {
		return "", 0 // a URL, and not a good one
	}
	if err != nil || u.Host == "" && u.Scheme != "" && u.Scheme != "file" {
		u, err = url.Parse("http://" + source) // host:port looks like a scheme
	}
	if strings.HasPrefix(source, ":") {
		u, err = url.Parse("http://localhost" + source)
	}
	if err != nil || u.Host == "" {
		return "", 0
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/debug/pprof/profile"
	}
	q := u.Query()
	wait := time.Duration(seconds) * time.Second
	if seconds > 0 {
		q.Set("seconds", strconv.Itoa(seconds))
	} else if n, err := strconv.ParseInt(q.Get("seconds"), 10, 32); err == nil {
		wait = time.Duration(n) * time.Second
	}
	limit := time.Duration(timeout) * time.Second
	switch {
	case timeout > 0:
	case wait > 0:
		limit = wait + wait/2
	default:
		limit = time.Minute
	}
	u.RawQuery = q.Encode()
	return u.String(), limit
}

// download gets the body behind a URL. With https+insecure the certificate is
// not checked.
func download(ctx context.Context, address string, timeout time.Duration) ([]byte, error) {
	return request(ctx, http.MethodGet, address, nil, timeout)
}

func request(ctx context.Context, method, address string, body io.Reader, timeout time.Duration) ([]byte, error) {
	transport := &http.Transport{ResponseHeaderTimeout: timeout + 5*time.Second, Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	if rest, ok := strings.CutPrefix(address, "https+insecure:"); ok {
		address = "https:" + rest
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // the user asks for it by the scheme
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return nil, exitError{exitNothing, fmt.Errorf("http fetch: %w", err)}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		why := ""
		if resp.Header.Get("X-Go-Pprof") != "" && strings.Contains(resp.Header.Get("Content-Type"), "text/plain") {
			body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
			why = " - " + strings.TrimSpace(string(body))
		}
		return nil, exitError{exitNothing, fmt.Errorf("server response: %s%s", resp.Status, why)}
	}
	data, err := source.ReadAll(resp.Body, address, source.MaxAnswer)
	if errors.Is(err, source.ErrTooLong) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s to its end: %w (ask again)", secret.URL(address), err)
	}
	return data, nil
}

// save keeps what was fetched, for it cannot be fetched again.
func (s *pprofSession) save(p *profile.Profile) {
	name := "pprof."
	if len(p.Mappings) > 0 && p.Mappings[0].File != "" {
		name += filepath.Base(p.Mappings[0].File) + "."
	}
	for _, t := range p.SampleTypes {
		name += t.Type + "."
	}
	dirs := []string{os.Getenv("PPROF_TMPDIR")}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, "pprof"))
	}
	for _, dir := range append(dirs, os.TempDir()) {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			s.warn("Could not use temp dir " + dir + ": " + err.Error())
			continue
		}
		file, err := numberedFile(dir, strings.Map(fileNameRune, name), ".pb.gz")
		if err == nil {
			err = errors.Join(p.Encode(file), file.Close())
		}
		if err != nil {
			s.warn("Could not save profile: " + err.Error())
			return
		}
		s.warn("Saved profile in " + file.Name())
		return
	}
}

// fileNameRune keeps names from a profile inside of the folder.
func fileNameRune(r rune) rune {
	if r == '/' || r == '\\' || r < ' ' {
		return '_'
	}
	return r
}

// numberedFile makes the first file prefix001suffix, prefix002suffix, … that is
// not there yet.
func numberedFile(dir, prefix, suffix string) (*os.File, error) {
	for i := 1; i < 10000; i++ {
		name := filepath.Join(dir, fmt.Sprintf("%s%03d%s", prefix, i, suffix))
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
	return nil, fmt.Errorf("cannot make a file in %s: there are ten thousand %s* already", dir, prefix)
}
