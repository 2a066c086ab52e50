package programs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/format/symbol"
	"loupe/source/bounded"
)

// Source is [pprof.Env.Source] for a profile: it finds a source file as go tool pprof does,
// and then where pprof does not look: in the module cache, in GOROOT, in the
// module that the program was built from.
func (f *Finder) Source(p *profile.Profile, file string, cfg *pprof.Config) ([]byte, error) {
	search := cfg.SourcePath
	if search == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("could not stat current dir: %w", err)
		}
		search = dir
	}
	text, err := searchSource(file, cfg.TrimPath, search)
	if err == nil {
		return text, nil
	}
	places := f.places(p, cfg)
	allowed := bounded.Places{Roots: append(filepath.SplitList(search), places.GOROOT, places.GOMODCACHE, places.MainDir)}
	for _, name := range places.Candidates(file, "") {
		if text, err := allowed.Read(name); err == nil {
			return text, nil
		}
	}
	return nil, err
}

// SourceAt is the same without any options.
func (f *Finder) SourceAt(p *profile.Profile, file string) ([]byte, error) {
	defaults := pprof.Defaults()
	return f.Source(p, file, &defaults)
}

// places says where sources are that go tool pprof does not look for. It asks
// the go command, once, and only when a file is missing.
func (f *Finder) places(p *profile.Profile, cfg *pprof.Config) symbol.Sources {
	f.mu.Lock()
	out := f.sources
	f.mu.Unlock()
	if out != nil {
		return *out
	}
	out = &symbol.Sources{SourcePath: cfg.SourcePath, TrimPath: cfg.TrimPath}
	goPlaces(f.ctx, out)
	if len(p.Mappings) > 0 {
		if b, err := f.Binary(p.Mappings[0]); err == nil {
			if info, err := b.BuildInfo(); err == nil {
				out.Build = info
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sources = out
	return *out
}

// goPlaces asks the go command where it keeps sources; without one nothing is known.
func goPlaces(ctx context.Context, s *symbol.Sources) {
	text, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOMODCACHE", "GOMOD").Output()
	if err != nil {
		return
	}
	if lines := strings.Split(string(text), "\n"); len(lines) >= 3 {
		s.GOROOT, s.GOMODCACHE = lines[0], lines[1]
		if filepath.Base(lines[2]) == "go.mod" {
			s.MainDir = filepath.Dir(lines[2])
		}
	}
}

// notFound is the error that pprof prints for a file that it has searched for.
type notFound struct{ file, path string }

func (n notFound) Error() string {
	return fmt.Sprintf("could not find file %s on path %s", n.file, n.path)
}

func (n notFound) Unwrap() error { return fs.ErrNotExist }

// searchSource looks for a file in each folder of a search path and in all
// folders above them. What a profile may name so is bounded: see [bounded.Places].
func searchSource(file, trim, search string) ([]byte, error) {
	file = filepath.FromSlash(pprof.TrimPath(file, trim, search))
	allowed := bounded.Places{Roots: filepath.SplitList(search)}
	if filepath.IsAbs(file) {
		return allowed.Read(file)
	}
	for _, dir := range filepath.SplitList(search) {
		for {
			text, err := allowed.Read(filepath.Join(dir, file))
			if err == nil {
				return text, nil
			}
			parent := filepath.Dir(dir)
			if parent == dir || errors.Is(err, fs.ErrInvalid) {
				break
			}
			dir = parent
		}
	}
	return nil, notFound{file, search}
}
