package pprof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	"sync"
	"time"

	"loupe/analysis/pprof"
	"loupe/format/kind"
	"loupe/format/profile"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/programs"
	"loupe/source"
	"loupe/source/bounded"
	"loupe/value/secret"
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
		if b, err := s.find.Open(args[0]); err == nil && b != nil {
			s.find.Program, args = args[0], args[1:]
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
		save(s.e, p)
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
	ctx, cancel := context.WithCancel(s.e.Ctx)
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
		return nil, false, command.Nothingf("failed to fetch any %s profiles", what)
	case count < len(sources):
		s.warn(fmt.Sprintf("Fetched %d %s profiles out of %d", count, what, len(sources)))
	}
	p, err := sum.Profile()
	return p, remote, err
}

// load reads one source: an address, or whatever else the door opens.
func (s *pprofSession) load(ctx context.Context, name string) (*profile.Profile, bool, error) {
	if address, timeout := profileAddress(s.flags, name); address != "" {
		s.warn("Fetching profile over HTTP from " + secret.URL(address))
		if s.flags.seconds > 0 {
			s.warn(fmt.Sprintf("Please wait... (%v)", time.Duration(s.flags.seconds)*time.Second))
		}
		data, err := door.Request(ctx, http.MethodGet, address, nil, timeout)
		if err != nil {
			return nil, true, err
		}
		if k, _, err := kind.Of(bytes.NewReader(data)); err != nil || k == kind.Profile {
			return s.decoded(ctx, data, name, true)
		}
		return s.takeIn(ctx, true, func() (*source.Input, error) {
			all, err := s.in.of(s.e, s.flags).Read(secret.URL(name), path.Base(name), bytes.NewReader(data))
			if err == nil && len(all) != 1 {
				err = fmt.Errorf("%s matches %d files, but one profile is needed", secret.URL(name), len(all))
			}
			if err != nil {
				return nil, err
			}
			return all[0], nil
		})
	}
	return s.takeIn(ctx, false, func() (*source.Input, error) { return door.TakeOne(s.e, s.in.of(s.e, s.flags), name) })
}

// takeIn reads the profile of what comes through the door.
func (s *pprofSession) takeIn(ctx context.Context, remote bool, take func() (*source.Input, error)) (*profile.Profile, bool, error) {
	s.in.mu.Lock() // sources are read side by side, and come in one after the other
	in, err := take()
	s.in.mu.Unlock()
	switch {
	case err != nil:
		return nil, remote, err
	case in.Recording:
		p, note, err := examine.MainProfile(in)
		if err != nil {
			return nil, false, err
		}
		if note != "" {
			s.warn(note)
		}
		return s.find.Locate(p), false, nil
	case in.Kind != kind.Profile && in.Kind != kind.Dump && in.Kind != kind.Unknown && in.Kind != kind.Empty && in.Kind != kind.Gzip:
		return nil, remote, fmt.Errorf("cannot read profile %s: %w", in.Name, door.WrongKind(in, "a profile or a recording with one"))
	}
	data, err := bounded.ReadNamed(in.Path)
	if err != nil {
		return nil, remote, err
	}
	return s.decoded(ctx, data, in.Name, remote)
}

// profileDoor is the door for what is no address.
type profileDoor struct {
	mu   sync.Mutex
	door *source.Door
}

// of returns it. What runs is recorded, for its CPU profile.
func (d *profileDoor) of(e *command.Env, f *pprofFlags) *source.Door {
	if d.door == nil {
		length := 5
		if f.seconds > 0 {
			length = f.seconds
		}
		d.door = door.New(e, fmt.Sprintf("cpu:%ds", length), nil)
	}
	return d.door
}

// profileAddress returns the address that a name stands for, "" for that of anything else.
func profileAddress(f *pprofFlags, name string) (string, time.Duration) {
	if name == "-" || source.IsKept(name) {
		return "", 0 // the door's
	}
	if _, err := os.Stat(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return "", 0
	}
	return profileURL(name, f.seconds, f.timeout)
}

// decoded decodes a profile that was read.
func (s *pprofSession) decoded(ctx context.Context, data []byte, name string, remote bool) (*profile.Profile, bool, error) {
	p, err := profile.Decode(data, profile.Options{})
	if err != nil {
		return nil, remote, fmt.Errorf("cannot read profile %s: %w", name, err)
	}
	if p = s.find.Locate(p); remote && asksServer(s.flags) && pprof.Nameless(p) {
		p = s.remoteNames(ctx, p, name)
	}
	return p, remote, nil
}

// asksServer says whether -symbolize lets the server name addresses.
func asksServer(f *pprofFlags) bool {
	for mode := range strings.SplitSeq(strings.ToLower(f.symbolize), ":") {
		if mode == "none" || mode == "no" || mode == "local" || mode == "fastlocal" {
			return false
		}
	}
	return true
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
	text, err := door.Request(ctx, http.MethodPost, u.String(), strings.NewReader(pprof.NameQuery(p)), timeout)
	if err != nil {
		s.warn("cannot ask the server for names: " + err.Error())
		return p
	}
	return pprof.NamesOf(p, string(text))
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

// save keeps what was fetched, for it cannot be fetched again.
func save(e *command.Env, p *profile.Profile) {
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
			warn(e, "Could not use temp dir "+dir+": "+err.Error())
			continue
		}
		file, err := numberedFile(dir, strings.Map(fileNameRune, name), ".pb.gz")
		if err == nil {
			err = errors.Join(p.Encode(file), file.Close())
		}
		if err != nil {
			warn(e, "Could not save profile: "+err.Error())
			return
		}
		warn(e, "Saved profile in "+file.Name())
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

// symbolize finds names for what has none, as -symbolize says.
func (s *pprofSession) symbolize(p *profile.Profile) (*profile.Profile, error) {
	local, force, demangle := true, false, ""
	for mode := range strings.SplitSeq(strings.ToLower(s.flags.symbolize), ":") {
		switch mode {
		case "", "local", "fastlocal", "demangle=default":
		case "none", "no":
			return p, nil
		case "remote":
			local = false
		case "force":
			force = true
		case "demangle=full", "demangle=none", "demangle=templates":
			demangle, force = strings.TrimPrefix(mode, "demangle="), true
		default:
			s.warn(fmt.Sprintf("ignoring unrecognized symbolization option: %s", s.flags.symbolize))
			s.warn("expecting -symbolize=[local|fastlocal|remote|none][:force][:demangle=[none|full|templates|default]")
		}
	}
	if local {
		p = pprof.Symbolize(pprof.SymbolizeJIT(p, programs.PerfMap), force, s.find.Binary, s.warn)
	}
	return pprof.Demangle(p, demangle, force), nil
}
