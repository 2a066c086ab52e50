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
// into one sample; how many descriptors are looked at, and how often one that is opened anew meanwhile. Chosen: a look takes
// some 0.1 ms where few files are open, and 2 ms with 600 connections.
const (
	filesEvery      = 5 * time.Millisecond
	filesPart       = 150
	mostPaths       = 4096
	mostOfFiles     = 128
	mostDescriptors = 1 << 16
	mostTries       = 3
)

// fileWatch looks again and again at which files a process has open, so that a recording tells which are opened again and
// again: a profile and a trace know how often a line opens a file, but not which.
type fileWatch struct {
	mu     sync.Mutex // is not held while the kernel is asked: a file system may not answer
	of     *openFiles // nil for none
	looks  int        // since the last sample
	now    map[string]*metrics.FileSeen
	full   bool              // all of them were opened or read again, and there is no room for more
	beyond int               // openings of the others
	names  map[string]string // by which files are told, by path
	told   map[string]int    // how many files one masked name stands for
	quit   chan struct{}
	stat   func(fd int) (fileStat, error) // statFile, but in tests
}

// openFiles are those of one process, and what was seen of them. Only the goroutine that looks uses what is below proc.
type openFiles struct {
	proc *os.File // its folder in /proc: of this process, whoever has its number later
	all  int      // looks
	// state is by descriptor; times are those of modification when a path was seen first. The paths of times that are
	// not seen for as long as it takes until there are many others are forgotten: older has those of the time before.
	state        map[int]fileState
	times, older map[string]time.Time
	entries      [1 << 14]byte // room for what the kernel tells
	link, text   [unix.PathMax]byte
}

// fileState is what the look before tells of a descriptor.
type fileState struct {
	path    string
	look    int
	regular bool
	fileInfo
}

// fileInfo is what /proc/PID/fdinfo/N tells, see proc(5): where the next read is, whether the file is open for writing, and
// its inode, 0 before Linux 5.14.
type fileInfo struct {
	pos    int64
	inode  uint64
	writes bool
}

// fileStat is what a file system tells of a file.
type fileStat struct {
	regular  bool
	modified time.Time
}

// sighting is what one look tells of a descriptor of a regular file.
type sighting struct {
	path                             string
	opened, rewound, writes, changed bool
}

func newFileWatch() *fileWatch {
	f := emptyFileWatch()
	go f.run()
	return f
}

// emptyFileWatch is one that does not look by itself.
func emptyFileWatch() *fileWatch {
	return &fileWatch{now: map[string]*metrics.FileSeen{}, names: map[string]string{}, told: map[string]int{}, quit: make(chan struct{}), stat: statFile}
}

func (f *fileWatch) run() {
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

// watch says which process to look at from now on, 0 for none. Its folder stays with it: where its number goes to another
// process, nothing is seen any more. What the last one held open is closed when nobody looks at it any more.
func (f *fileWatch) watch(pid int) {
	var of *openFiles
	if pid > 0 {
		if proc, err := os.OpenFile(filepath.Join("/proc", strconv.Itoa(pid)), unix.O_PATH|unix.O_DIRECTORY, 0); err == nil {
			of = &openFiles{proc: proc, state: map[int]fileState{}, times: map[string]time.Time{}}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of = of
}

// close ends the looks. One that goes on comes to its end by itself: a file system that does not answer keeps nobody waiting.
func (f *fileWatch) close() {
	close(f.quit)
	f.watch(0)
}

// is tells whether a process is still the one to look at.
func (f *fileWatch) is(of *openFiles) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.of == of
}

// look notes which files are open.
func (f *fileWatch) look() {
	f.mu.Lock()
	of := f.of
	f.mu.Unlock()
	if of == nil {
		return
	}
	defer runtime.KeepAlive(of)
	list, err := unix.Openat(int(of.proc.Fd()), "fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(list)
	var seen []sighting
	for left := mostDescriptors; left > 0 && f.is(of); {
		n, err := unix.Getdents(list, of.entries[:])
		if err != nil {
			return
		}
		if n == 0 {
			break
		}
		_, count, names := unix.ParseDirent(of.entries[:n], -1, nil)
		left -= count
		for _, name := range names {
			if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
				if s, ok := of.see(list, fd, f.stat); ok {
					seen = append(seen, s)
				}
			}
		}
	}
	of.all++
	f.note(of, seen)
}

// note counts what a look has seen.
func (f *fileWatch) note(of *openFiles, all []sighting) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of != of {
		return
	}
	f.looks++
	for _, s := range all {
		seen := f.now[s.path]
		if seen == nil {
			if len(f.now) >= mostPaths && !f.hasRoom(s) {
				continue
			}
			seen = &metrics.FileSeen{Path: s.path}
			f.now[s.path] = seen
		}
		seen.Seen++
		seen.Writes = seen.Writes || s.writes
		seen.Changed = seen.Changed || s.changed
		if s.opened {
			seen.Opened++
		}
		if s.rewound {
			seen.Rewound++
		}
	}
}

// hasRoom makes room for a file that was opened or read again, where there are many: those that are only open give way.
func (f *fileWatch) hasRoom(s sighting) bool {
	if !s.opened && !s.rewound {
		return false
	}
	if !f.full {
		for path, seen := range f.now {
			if seen.Opened+seen.Rewound == 0 {
				delete(f.now, path)
			}
		}
		f.full = len(f.now) >= mostPaths
	}
	if f.full && s.opened {
		f.beyond++
	}
	return !f.full
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

// see looks at a descriptor in a list of them. It was opened anew where the look before did not see the file behind the same
// descriptor; one that is read from an earlier place than before may have been opened anew, or its place was set. What is no
// regular file, and what was closed before it could be looked at, is left out. A descriptor may go to another file at any
// moment: what is told of it must be of one file.
func (o *openFiles) see(list, fd int, stat func(int) (fileStat, error)) (s sighting, ok bool) {
	name, round := strconv.Itoa(fd), o.all+1
	for range mostTries {
		path := o.readlink(list, name)
		if !isFilePath(path) {
			return s, false
		}
		info, ok := o.fileInfo(int(o.proc.Fd()), "fdinfo/"+name)
		if !ok {
			return s, false
		}
		before := o.state[fd]
		same := before.regular && before.path == path && before.inode == info.inode && before.look >= o.all
		s = sighting{path: path, writes: info.writes, opened: !same, rewound: same && info.pos < before.pos}
		if !s.opened && !s.rewound {
			if info.inode == 0 && o.readlink(list, name) != path {
				continue
			}
			o.state[fd] = fileState{path, round, true, info}
			return s, true
		}
		at, ok := o.examine(list, name, path, info.inode, stat)
		if !ok {
			continue
		}
		o.state[fd] = fileState{path, round, at.regular, info}
		s.changed = at.regular && o.hasChanged(path, at.modified)
		return s, at.regular
	}
	return s, false
}

// examine asks for the file behind a descriptor itself, whatever its path means elsewhere; ok is false where it is another one by
// now. Nothing is opened for that: O_PATH stands for the file alone.
func (o *openFiles) examine(list int, name, path string, inode uint64, stat func(int) (fileStat, error)) (at fileStat, ok bool) {
	file, err := unix.Openat(list, name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return at, false
	}
	defer unix.Close(file)
	own := strconv.Itoa(file)
	if o.readlink(unix.AT_FDCWD, "/proc/self/fd/"+own) != path {
		return at, false
	}
	if info, ok := o.fileInfo(unix.AT_FDCWD, "/proc/self/fdinfo/"+own); !ok || info.inode != inode {
		return at, false
	}
	at, err = stat(file)
	return at, err == nil
}

// statFile asks for what is known of a file on this machine: a server that does not answer would keep loupe waiting.
func statFile(file int) (fileStat, error) {
	var st unix.Statx_t
	err := unix.Statx(file, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_TYPE|unix.STATX_MTIME, &st)
	return fileStat{st.Mode&unix.S_IFMT == unix.S_IFREG, time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec))}, err
}

// hasChanged tells whether a file had another time of modification when its path was seen first.
func (o *openFiles) hasChanged(path string, modified time.Time) bool {
	first, known := o.times[path]
	if !known {
		if first, known = o.older[path]; !known {
			first = modified
		}
		if len(o.times) >= mostPaths {
			o.times, o.older = map[string]time.Time{}, o.times
		}
		o.times[path] = first
	}
	return !modified.Equal(first)
}

// readlink reads a link in a folder; it is empty where there is none any more.
func (o *openFiles) readlink(dir int, name string) string {
	n, err := unix.Readlinkat(dir, name, o.link[:])
	if err != nil {
		return ""
	}
	return string(o.link[:n])
}

// fileInfo reads a file of /proc/PID/fdinfo below a folder.
func (o *openFiles) fileInfo(dir int, name string) (info fileInfo, ok bool) {
	file, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return info, false
	}
	defer unix.Close(file)
	n, err := unix.Read(file, o.text[:])
	if err != nil || n <= 0 {
		return info, false
	}
	for line := range strings.Lines(string(o.text[:n])) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch key {
		case "pos":
			info.pos, _ = strconv.ParseInt(value, 10, 64)
		case "ino":
			info.inode, _ = strconv.ParseUint(value, 10, 64)
		case "flags":
			n, _ := strconv.ParseInt(value, 8, 64)
			info.writes = n&unix.O_ACCMODE != unix.O_RDONLY
		}
	}
	return info, true
}

// add puts what was seen since the last sample into one: the files that were opened, or read from an earlier place, and of many
// those that were opened most often.
func (f *fileWatch) add(s *metrics.OSSample) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Looks, f.looks = f.looks, 0
	s.OtherFiles, f.beyond, f.full = f.beyond, 0, false
	for _, seen := range f.now {
		if seen.Opened+seen.Rewound > 0 {
			s.Files = append(s.Files, *seen)
		}
	}
	clear(f.now)
	slices.SortFunc(s.Files, func(a, b metrics.FileSeen) int {
		return cmp.Or(cmp.Compare(b.Opened, a.Opened), cmp.Compare(b.Rewound, a.Rewound), cmp.Compare(a.Path, b.Path))
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
