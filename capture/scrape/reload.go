package scrape

import (
	"context"
	"os"
	"time"
)

// reloadEvery is how often the file of targets is looked at.
const reloadEvery = 2 * time.Second

// File is a file of targets as it was read.
type File struct {
	path   string
	config *Config
	seen   version
}

// ReadFile reads a file of targets.
func ReadFile(path string) (*File, error) {
	seen := stamp(path) // what changes while it is read is read again
	config, err := readConfig(path)
	return &File{path, config, seen}, err
}

// RunFile takes profiles of the jobs in a file, and of others, until ctx ends. When the
// file changes it is read again; while it cannot be read, the jobs that it had go on.
func (s *Scraper) RunFile(ctx context.Context, f *File, others []*Job) {
	path, config, seen := f.path, f.config, f.seen
	for ctx.Err() == nil {
		for _, key := range config.Without {
			s.opt.Tell("%s: %s has no effect on profiles", path, key)
		}
		within, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Run(within, append(config.Jobs[:len(config.Jobs):len(config.Jobs)], others...))
		}()
		config, seen = s.changed(ctx, path, config, seen)
		stop()
		<-done
	}
}

// changed waits until the file is another that can be read, or ctx ends.
func (s *Scraper) changed(ctx context.Context, path string, config *Config, seen version) (*Config, version) {
	for {
		pause(ctx, reloadEvery)
		if ctx.Err() != nil {
			return config, seen
		}
		now := stamp(path)
		if now == seen {
			continue
		}
		seen = now
		next, err := readConfig(path)
		if err == nil {
			s.opt.Tell("%s was read again", path)
			return next, seen
		}
		s.opt.Tell("%v (the targets that it had go on)", err)
	}
}

// version tells one state of a file from another.
type version struct {
	changed time.Time
	size    int64
}

// stamp is the version of a file; that of one that is not there is zero.
func stamp(path string) version {
	info, err := os.Stat(path)
	if err != nil {
		return version{}
	}
	return version{info.ModTime(), info.Size()}
}
