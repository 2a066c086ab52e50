package collect

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"loupe/format/metrics"
)

// How often open files are looked at, and which part of the time that may take; how many paths are kept track of, and put
// into one sample. Chosen: a look takes some 50 µs where few files are open.
const (
	filesEvery  = 5 * time.Millisecond
	filesPart   = 150
	mostPaths   = 4096
	mostOfFiles = 64
	mostNames   = 4096
)

// fileWatch looks again and again at which files a process has open, so that a recording tells which are opened again and
// again: a profile and a trace know how often a line opens a file, but not which.
type fileWatch struct {
	mu    sync.Mutex
	pid   int
	looks int // since the last sample, and in all
	all   int
	now   map[string]*metrics.FileSeen // since the last sample
	state map[int]fileState            // by descriptor
	times map[string]time.Time         // of modification, when a path was seen first
	quit  chan struct{}
	done  chan struct{}
	// entries and link are room for what the kernel tells: of more descriptors than have room, the first are looked at.
	entries [1 << 14]byte
	link    [unix.PathMax]byte
}

// fileState is what the look before tells of a descriptor.
type fileState struct {
	path string
	look int
	pos  int64
}

func newFileWatch() *fileWatch {
	f := &fileWatch{now: map[string]*metrics.FileSeen{}, state: map[int]fileState{}, times: map[string]time.Time{}, quit: make(chan struct{}), done: make(chan struct{})}
	go f.run()
	return f
}

func (f *fileWatch) run() {
	defer close(f.done)
	runtime.LockOSThread() // whose CPU time is measured: on a busy machine a look takes longer than it costs
	next := time.NewTimer(filesEvery)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			from := threadClock()
			f.look()
			next.Reset(max(filesEvery, filesPart*(threadClock()-from)))
		case <-f.quit:
			return
		}
	}
}

// threadClock is the CPU time of the calling thread.
func threadClock() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

// watch says which process to look at from now on, 0 for none.
func (f *fileWatch) watch(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pid, f.state, f.times = pid, map[int]fileState{}, map[string]time.Time{}
}

func (f *fileWatch) close() {
	close(f.quit)
	<-f.done
}

// look notes which files are open.
func (f *fileWatch) look() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pid <= 0 {
		return
	}
	dir := filepath.Join("/proc", strconv.Itoa(f.pid))
	list, err := unix.Open(filepath.Join(dir, "fd"), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(list)
	n, err := unix.Getdents(list, f.entries[:])
	if err != nil {
		return
	}
	_, _, names := unix.ParseDirent(f.entries[:n], mostNames, nil)
	f.looks++
	f.all++
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd < 3 {
			continue
		}
		n, err := unix.Readlinkat(list, name, f.link[:])
		if err == nil && n > 0 && f.link[0] == '/' && isFilePath(string(f.link[:n])) {
			f.see(fd, string(f.link[:n]), filepath.Join(dir, "fdinfo", name))
		}
	}
}

// isFilePath tells of what a descriptor stands for that it is a file or a folder of a file system.
func isFilePath(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.HasSuffix(path, " (deleted)") {
		return false
	}
	for _, other := range []string{"/dev/", "/proc/", "/sys/", "/memfd:"} {
		if strings.HasPrefix(path, other) {
			return false
		}
	}
	return true
}

// see notes that a file is open. It was opened anew where the look before did not see it behind the same descriptor; one that is
// read from an earlier place than before may have been opened anew, or its place was set.
func (f *fileWatch) see(fd int, path, info string) {
	before := f.state[fd]
	pos, writes := fileInfo(info)
	f.state[fd] = fileState{path, f.all, pos}
	seen := f.now[path]
	if seen == nil {
		if len(f.now) >= mostPaths {
			return
		}
		seen = &metrics.FileSeen{Path: path}
		f.now[path] = seen
	}
	seen.Seen++
	seen.Writes = seen.Writes || writes
	switch {
	case before.path != path || before.look < f.all-1:
		seen.Opened++
	case pos < before.pos:
		seen.Rewound++
	default:
		return
	}
	at, err := os.Stat(path)
	if err != nil {
		return
	}
	first, known := f.times[path]
	seen.Changed = seen.Changed || known && !at.ModTime().Equal(first)
	if !known && len(f.times) < mostPaths {
		f.times[path] = at.ModTime()
	}
}

// fileInfo reads /proc/PID/fdinfo/N, see proc(5): where the next read is, and whether the file is open for writing.
func fileInfo(path string) (pos int64, writes bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch key {
		case "pos":
			pos, _ = strconv.ParseInt(value, 10, 64)
		case "flags":
			n, _ := strconv.ParseInt(value, 8, 64)
			writes = n&3 != 0
		}
	}
	return pos, writes
}

// add puts what was seen since the last sample into one.
func (f *fileWatch) add(s *metrics.OSSample) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Looks, f.looks = f.looks, 0
	for path, seen := range f.now {
		if len(s.Files) < mostOfFiles {
			s.Files = append(s.Files, *seen)
		}
		delete(f.now, path)
	}
}
