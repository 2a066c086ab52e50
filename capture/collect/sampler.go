package collect

import (
	"encoding/json"
	"sync"
	"time"

	"loupe/format/metrics"
	"loupe/recording"
)

// sampler writes what the operating system tells at an interval, and at the
// moments it is asked.
type sampler struct {
	w      *recording.Writer
	mu     sync.Mutex
	entry  *recording.EntryWriter
	pid    int
	family *family       // of the process that is recorded now
	peaks  map[int]int64 // largest resident set by process, in bytes
	files  *fileWatch
	quit   chan struct{}
	done   chan struct{}
}

func (r *running) startSampler() error {
	entry, err := r.w.Append(recording.Entry{Path: "os.ndjson", Kind: recording.OS, Source: "the operating system"})
	if err != nil {
		return err
	}
	s := &sampler{w: r.w, entry: entry, peaks: map[int]int64{}, files: newFileWatch(), quit: make(chan struct{}), done: make(chan struct{})}
	r.sampler = s
	go func() {
		defer close(s.done)
		tick := time.NewTicker(r.opt.Interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.take()
			case <-s.quit:
				return
			}
		}
	}()
	return nil
}

// watch says which process to look at from now on, 0 for none.
func (s *sampler) watch(pid int) {
	s.mu.Lock()
	s.pid = pid
	s.mu.Unlock()
	s.files.watch(pid)
}

// follow says whose family is looked at from now on.
func (s *sampler) follow(f *family) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.family = f
}

// peakOf is the largest resident set of a process that a sample has shown, in bytes.
func (s *sampler) peakOf(pid int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peaks[pid]
}

// take writes a sample and returns it.
func (s *sampler) take() metrics.OSSample {
	s.mu.Lock()
	defer s.mu.Unlock()
	sample := sampleOS(s.pid)
	sample.Family, sample.FamilyRSS = s.family.look(s.pid)
	s.peaks[s.pid] = max(s.peaks[s.pid], sample.MaxRSS)
	sample.At = s.w.Now()
	s.files.add(&sample)
	if line, err := json.Marshal(sample); err == nil {
		s.entry.Write(append(line, '\n')) // a failure is remembered for close
	}
	return sample
}

// write writes a sample that was taken before.
func (s *sampler) write(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entry.Write(append(line, '\n'))
}

func (s *sampler) close() error {
	close(s.quit)
	<-s.done
	s.files.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entry.Close()
}
