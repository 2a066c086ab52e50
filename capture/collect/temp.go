package collect

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"loupe/source/system"
)

// Temp is a private directory of one run of loupe. When the run is killed, a
// shell that minds it removes the directory; where that is killed too, as when
// the machine goes down, the next run does.
type Temp struct {
	Dir  string
	lock *os.File // held as long as the process lives, in whatever way it ends
	stop func()   // ends the watch
}

const (
	tempPrefix = "loupe-"
	tempLock   = ".loupe-run"
	// longestTemp is how long the directory's name may be: a Unix socket in
	// it must fit into 108 bytes.
	longestTemp = 80
)

// NewTemp makes a private directory, after it has removed those that killed
// runs of this user have left in the same place.
func NewTemp() (*Temp, error) {
	parent, named := os.TempDir(), "TMPDIR"
	if runtime.GOOS == "windows" {
		named = "TMP"
	}
	if dir := os.Getenv("GOTMPDIR"); dir != "" {
		parent, named = dir, "GOTMPDIR" // where the user wants programs to be built
	}
	if len(parent)+len("/loupe-1234567890") > longestTemp {
		parent = "/tmp"
	}
	removeAbandoned(parent)
	dir, err := os.MkdirTemp(parent, tempPrefix)
	if err != nil {
		how := "set " + named + " to a folder that can be written"
		if os.Getenv(named) == parent {
			how = fmt.Sprintf("%s=%s names it: set it to a folder that can be written, or unset it", named, parent)
		}
		return nil, fmt.Errorf("cannot make a temporary directory: %w (%s)", err, how)
	}
	t := &Temp{Dir: dir, stop: whenGone(removeCommand(dir))}
	// The lock gets its name when it is held: from its name on, a lock that
	// is free means that its owner is gone.
	nameless := filepath.Join(dir, tempLock+".new")
	if t.lock, err = os.OpenFile(nameless, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600); err == nil && lockFile(t.lock) {
		err = os.Rename(nameless, filepath.Join(dir, tempLock))
	}
	if err != nil {
		t.Remove()
		return nil, fmt.Errorf("cannot make a temporary directory: %w", err)
	}
	return t, nil
}

// Remove removes the directory with all that is in it.
func (t *Temp) Remove() {
	t.stop()
	if t.lock != nil {
		t.lock.Close()
	}
	os.RemoveAll(t.Dir)
}

// removeCommand is the shell's way to remove dir. A compiler that is being
// killed may write into it once more.
func removeCommand(dir string) string {
	remove := "rm -rf " + shellQuote(dir)
	return remove + "; sleep 1; " + remove
}

// removeAbandoned removes the directories in parent whose owners are gone. One
// that cannot be removed is left: it is in nobody's way.
func removeAbandoned(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if dir := filepath.Join(parent, e.Name()); strings.HasPrefix(e.Name(), tempPrefix) && system.OwnPrivateDir(dir) && abandoned(dir) {
			os.RemoveAll(dir)
		}
	}
}

// abandoned tells whether dir was made by NewTemp, in a process that is gone.
// Recordings and folders of others have no such lock.
func abandoned(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, tempLock), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return lockFile(f)
}
