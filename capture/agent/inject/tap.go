package inject

import (
	loupe_io "io"
	loupe_os "os"
	loupe_filepath "path/filepath"
	loupe_strconv "strconv"
	loupe_sync "sync"
	loupe_time "time"
)

// loupeTap is a file that keeps what the program captures of itself. Its name
// is KIND-BEGIN, wall clock in ns, and KIND-BEGIN-END when it is whole.
type loupeTap struct {
	mu   loupe_sync.Mutex
	f    *loupe_os.File // nil when it is closed or cannot be written
	left int64          // bytes that may still come
}

// loupeTapBytes bounds what is kept of one capture.
const loupeTapBytes = 1 << 30

// loupeNewTap makes a tap, or returns nil when nobody asks for one.
func loupeNewTap(kind string) loupe_io.WriteCloser {
	dir := loupeSettings["LOUPE_AGENT_OWN"]
	if dir == "" {
		return nil
	}
	name := loupe_filepath.Join(dir, kind+"-"+loupe_strconv.FormatInt(loupe_time.Now().UnixNano(), 10))
	f, err := loupe_os.OpenFile(name, loupe_os.O_CREATE|loupe_os.O_EXCL|loupe_os.O_WRONLY, 0600)
	if err != nil {
		return nil
	}
	return &loupeTap{f: f, left: loupeTapBytes}
}

// Write keeps p. The program is never told of a failure: the tap ends there.
func (t *loupeTap) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.f == nil {
		return len(p), nil
	}
	if t.left -= int64(len(p)); t.left < 0 {
		t.f.Close()
		t.f = nil
	} else if _, err := t.f.Write(p); err != nil {
		t.f.Close()
		t.f = nil
	}
	return len(p), nil
}

// Close says that the capture is whole.
func (t *loupeTap) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.f == nil {
		return nil
	}
	name := t.f.Name()
	t.f.Close()
	t.f = nil
	return loupe_os.Rename(name, name+"-"+loupe_strconv.FormatInt(loupe_time.Now().UnixNano(), 10))
}
