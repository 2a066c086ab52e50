package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"loupe/pprof"
	"loupe/source"
	"loupe/symbol"
)

// source is [pprof.Env.Source]: it finds a source file as go tool pprof does,
// and then where pprof does not look: in the module cache, in GOROOT, in the
// module that the program was built from.
func (s *pprofSession) source(file string, cfg *pprof.Config) ([]byte, error) {
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
	places := s.places(cfg)
	allowed := source.Places{Roots: append(filepath.SplitList(search), places.GOROOT, places.GOMODCACHE, places.MainDir)}
	for _, name := range places.Candidates(file, "") {
		if text, err := allowed.Read(name); err == nil {
			return text, nil
		}
	}
	return nil, err
}

// places says where sources are that go tool pprof does not look for. It asks
// the go command, once, and only when a file is missing.
func (s *pprofSession) places(cfg *pprof.Config) symbol.Sources {
	if s.sources != nil {
		return *s.sources
	}
	out := symbol.Sources{SourcePath: cfg.SourcePath, TrimPath: cfg.TrimPath}
	cmd := exec.CommandContext(s.e.ctx, "go", "env", "GOROOT", "GOMODCACHE", "GOMOD")
	if text, err := cmd.Output(); err == nil {
		if lines := strings.Split(string(text), "\n"); len(lines) >= 3 {
			out.GOROOT, out.GOMODCACHE = lines[0], lines[1]
			if mod := lines[2]; filepath.Base(mod) == "go.mod" {
				out.MainDir = filepath.Dir(mod)
			}
		}
	}
	if len(s.p.Mappings) > 0 {
		if b, err := s.binary(s.p.Mappings[0]); err == nil {
			if info, err := b.BuildInfo(); err == nil {
				out.Build = info
			}
		}
	}
	s.sources = &out
	return out
}

// notFound is the error that pprof prints for a file that it has searched for.
type notFound struct{ file, path string }

func (n notFound) Error() string {
	return fmt.Sprintf("could not find file %s on path %s", n.file, n.path)
}

func (n notFound) Unwrap() error { return fs.ErrNotExist }

// searchSource looks for a file in each folder of a search path and in all
// folders above them. What a profile may name so is bounded: see [source.Places].
func searchSource(file, trim, search string) ([]byte, error) {
	file = filepath.FromSlash(pprof.TrimPath(file, trim, search))
	allowed := source.Places{Roots: filepath.SplitList(search)}
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
