package collect

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"loupe/format/metrics"
	"loupe/value/secret"
)

// How often open files are looked at, and which part of the time that may take; how many paths are kept track of, and put
// into one sample. Chosen: a look takes some 50 µs where few files are open.
const (
	filesEvery  = 5 * time.Millisecond
	filesPart   = 150
	mostPaths   = 4096
	mostOfFiles = 128
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
	other map[string]bool              // paths of folders, pipes and devices
	names map[string]string            // by which files are told, by path
	told  map[string]int               // how many files one masked name stands for
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
	f := emptyFileWatch()
	go f.run()
	return f
}

// emptyFileWatch is one that does not look by itself.
func emptyFileWatch() *fileWatch {
	f := &fileWatch{now: map[string]*metrics.FileSeen{}, names: map[string]string{}, told: map[string]int{}, quit: make(chan struct{}), done: make(chan struct{})}
	f.watch(0)
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
	f.pid, f.state, f.times, f.other = pid, map[int]fileState{}, map[string]time.Time{}, map[string]bool{}
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
			f.see(dir, fd, string(f.link[:n]))
		}
	}
}

// isFilePath tells of what a descriptor stands for that it may be a file of a file system.
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
// read from an earlier place than before may have been opened anew, or its place was set. What is no regular file, and what was
// closed before it could be looked at, is left out.
func (f *fileWatch) see(dir string, fd int, path string) {
	if f.other[path] {
		return
	}
	name, before := strconv.Itoa(fd), f.state[fd]
	pos, writes := fileInfo(filepath.Join(dir, "fdinfo", name))
	f.state[fd] = fileState{path, f.all, pos}
	anew := before.path != path || before.look < f.all-1
	changed := false
	if anew || pos < before.pos {
		at, err := os.Stat(filepath.Join(dir, "fd", name)) // the file itself, whatever the path means elsewhere
		if err != nil {
			return
		}
		if !at.Mode().IsRegular() {
			if len(f.other) < mostPaths {
				f.other[path] = true
			}
			return
		}
		first, known := f.times[path]
		changed = known && !at.ModTime().Equal(first)
		if !known && len(f.times) < mostPaths {
			f.times[path] = at.ModTime()
		}
	}
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
	seen.Changed = seen.Changed || changed
	switch {
	case anew:
		seen.Opened++
	case pos < before.pos:
		seen.Rewound++
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

// add puts what was seen since the last sample into one: of many files those that were opened most often.
func (f *fileWatch) add(s *metrics.OSSample) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Looks, f.looks = f.looks, 0
	for _, seen := range f.now {
		s.Files = append(s.Files, *seen)
	}
	clear(f.now)
	slices.SortFunc(s.Files, func(a, b metrics.FileSeen) int {
		return cmp.Or(cmp.Compare(b.Opened, a.Opened), cmp.Compare(a.Path, b.Path))
	})
	for _, less := range s.Files[min(mostOfFiles, len(s.Files)):] {
		s.OtherFiles += less.Opened
	}
	s.Files = s.Files[:min(mostOfFiles, len(s.Files))]
	for i := range s.Files {
		s.Files[i].Path = f.nameOf(s.Files[i].Path)
	}
}

// nameOf is a path without what is secret in it. Files whose names differ in that alone are numbered: one that is opened
// again and again is not the same as several of which each is opened once.
func (f *fileWatch) nameOf(path string) string {
	if name, known := f.names[path]; known {
		return name
	}
	if len(f.names) >= mostPaths { // the numbers go on
		clear(f.names)
	}
	name := secret.Text(path)
	if name != path {
		f.told[name]++
		if n := f.told[name]; n > 1 {
			name = fmt.Sprintf("%s (%d)", name, n)
		}
	}
	f.names[path] = name
	return name
}
