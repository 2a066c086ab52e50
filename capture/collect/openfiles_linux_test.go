package collect

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loupe/format/metrics"
)

// watchesItself is a watch of the process of the test that does not look by itself, and a folder for files.
func watchesItself(t *testing.T) (f *fileWatch, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f = emptyFileWatch()
	f.watch(os.Getpid())
	return f, dir
}

// writeFile makes a file with a time of modification some hours ago.
func writeFile(t *testing.T, path string, hours int) {
	t.Helper()
	at := time.Now().Add(-time.Duration(hours) * time.Hour)
	if err := os.WriteFile(path, make([]byte, 1<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// sampled is what a sample tells of each file.
func sampled(f *fileWatch) (by map[string]metrics.FileSeen, s metrics.OSSample) {
	f.add(&s)
	by = map[string]metrics.FileSeen{}
	for _, x := range s.Files {
		by[x.Path] = x
	}
	return by, s
}

// TestFileWatch: a file that is opened again is seen opened again, also behind the same descriptor; one that stays open is not.
func TestFileWatch(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	again, stays, written := filepath.Join(dir, "again"), filepath.Join(dir, "stays"), filepath.Join(dir, "written")
	for _, name := range []string{again, stays} {
		if err := os.WriteFile(name, []byte("some text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := emptyFileWatch()
	f.watch(os.Getpid())
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	held, err := os.Open(stays)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	w, err := os.Create(written)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for range 4 {
		x, err := os.Open(again)
		if err != nil {
			t.Fatal(err)
		}
		f.look()
		x.Read(make([]byte, 4))
		f.look()
		x.Close()
		f.look()
	}
	var s metrics.OSSample
	f.add(&s)
	by := map[string]metrics.FileSeen{}
	for _, x := range s.Files {
		by[x.Path] = x
	}
	if got := by[again]; got.Seen != 8 || got.Opened != 4 || got.Writes || got.Changed {
		t.Errorf("opened four times: %+v", got)
	}
	if got := by[stays]; got.Seen != 12 || got.Opened != 1 || got.Rewound != 0 {
		t.Errorf("it stays open: %+v", got)
	}
	if _, is := by[dir]; is {
		t.Error("a folder is taken for a file")
	}
	if !by[written].Writes || s.Looks != 12 {
		t.Errorf("%d looks, written %+v", s.Looks, by[written])
	}
	held.Read(make([]byte, 4))
	f.look()
	held.Seek(0, 0)
	f.look()
	s = metrics.OSSample{}
	f.add(&s)
	for _, x := range s.Files {
		if x.Path == stays && (x.Opened != 0 || x.Rewound != 1) {
			t.Errorf("its place was set: %+v", x)
		}
	}
}

// TestManyFiles: of more files than one sample has room for, those that were opened most often are kept, and the openings of the
// others are counted.
func TestManyFiles(t *testing.T) {
	f := emptyFileWatch()
	for i := range 1000 {
		path := fmt.Sprintf("/data/%04d", i)
		f.now[path] = &metrics.FileSeen{Path: path, Seen: 1, Opened: 1}
	}
	f.now["/data/again"] = &metrics.FileSeen{Path: "/data/again", Seen: 90, Opened: 80}
	var s metrics.OSSample
	f.add(&s)
	if len(s.Files) != mostOfFiles || s.Files[0].Path != "/data/again" || s.OtherFiles != 1000-(mostOfFiles-1) {
		t.Errorf("%d files, the first %+v, %d openings of others", len(s.Files), s.Files[0], s.OtherFiles)
	}
}

// TestSecretPaths: what is secret in the path of a file is in no sample, and files whose paths differ in it alone stay apart.
func TestSecretPaths(t *testing.T) {
	f := emptyFileWatch()
	const token = "/home/me/ghp_0123456789abcdefghij%d/rules.json"
	for _, row := range []struct{ path, want string }{
		{"/srv/rules.json", "/srv/rules.json"},
		{"/srv/by day/2026-11-28", "/srv/by day/2026-11-28"},
		{"/srv/key=eu/part-0", "/srv/key=eu/part-0"},
		{fmt.Sprintf(token, 1), "/home/me/xxxxx/rules.json"},
		{fmt.Sprintf(token, 2), "/home/me/xxxxx/rules.json (2)"},
		{"/run/AKIA0123456789ABCDEF", "/run/xxxxx"},
		{"/cache/session_token=abc/x", "/cache/session_token=xxxxx"},
	} {
		for range 2 { // it has the same name in each sample
			f.now[row.path] = &metrics.FileSeen{Path: row.path, Seen: 1, Opened: 1}
			var s metrics.OSSample
			if f.add(&s); len(s.Files) != 1 || s.Files[0].Path != row.want {
				t.Errorf("%s: %+v, want %s", row.path, s.Files, row.want)
			}
		}
	}
}

// TestFilesHeldOpen: a file that stays open is told when it was opened, and not in each sample.
func TestFilesHeldOpen(t *testing.T) {
	f, dir := watchesItself(t)
	path := filepath.Join(dir, "held")
	writeFile(t, path, 1)
	held, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for sample := range 3 {
		f.look()
		f.look()
		by, s := sampled(f)
		if _, is := by[path]; is != (sample == 0) || s.Looks != 2 {
			t.Errorf("sample %d: %+v", sample, s)
		}
	}
}

// TestFileServerGone: while the kernel waits for a file system that does not answer, samples are taken, and the watch may end.
func TestFileServerGone(t *testing.T) {
	f, dir := watchesItself(t)
	path := filepath.Join(dir, "far")
	writeFile(t, path, 1)
	far, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	waits, answers, done := make(chan bool), make(chan bool), make(chan bool)
	var once sync.Once
	f.stat = func(fd int) (fileStat, error) {
		once.Do(func() {
			close(waits)
			<-answers
		})
		return statFile(fd)
	}
	go func() {
		defer close(done)
		f.look()
	}()
	<-waits
	if _, s := sampled(f); s.Looks != 0 || len(s.Files) != 0 {
		t.Errorf("nothing was seen yet: %+v", s)
	}
	f.watch(os.Getpid())
	f.close()
	close(answers)
	<-done
	if _, s := sampled(f); s.Looks != 0 || len(s.Files) != 0 {
		t.Errorf("the look was of what nobody watches any more: %+v", s)
	}
}

// TestDescriptorInTurn: where a descriptor goes to another file at any moment, nothing that is told of one is of the other.
func TestDescriptorInTurn(t *testing.T) {
	f, dir := watchesItself(t)
	folder, read, other, written := filepath.Join(dir, "folder"), filepath.Join(dir, "read"), filepath.Join(dir, "other"), filepath.Join(dir, "written")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, read, 1)
	writeFile(t, other, 2)
	writeFile(t, written, 3)
	quit, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			for _, path := range []string{folder, read, written, other} {
				flags := unix.O_RDONLY
				if path == written {
					flags = unix.O_RDWR
				}
				fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
				if err != nil {
					t.Error(err)
					return
				}
				unix.Close(fd)
			}
			select {
			case <-quit:
				return
			default:
			}
		}
	}()
	for range 20000 {
		f.look()
	}
	close(quit)
	<-done
	by, _ := sampled(f)
	if _, is := by[folder]; is {
		t.Errorf("a folder is taken for a file: %+v", by[folder])
	}
	for _, path := range []string{read, other, written} {
		if x := by[path]; x.Changed || x.Opened > 0 && x.Writes != (path == written) {
			t.Errorf("nothing changed, and one is written: %+v", x)
		}
	}
	// It is not forgotten for what it was taken for once.
	again, err := os.Open(read)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	f.look()
	if by, _ := sampled(f); by[read].Opened != 1 {
		t.Errorf("opened once more: %+v", by)
	}
}

// TestFileReplaced: a file that another one has replaced under the same path was opened anew, behind the same descriptor or not.
func TestFileReplaced(t *testing.T) {
	f, dir := watchesItself(t)
	path, next := filepath.Join(dir, "conf"), filepath.Join(dir, "next")
	if info, ok := f.of.fileInfo(unix.AT_FDCWD, "/proc/self/fdinfo/0"); !ok || info.inode == 0 {
		t.Skip("the kernel does not tell inodes of descriptors")
	}
	for i := range 3 {
		writeFile(t, next, i+1)
		if err := os.Rename(next, path); err != nil {
			t.Fatal(err)
		}
		x, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		f.look()
		x.Close()
	}
	if by, _ := sampled(f); by[path].Opened != 3 || !by[path].Changed {
		t.Errorf("%+v", by[path])
	}
}

// TestManyDescriptors: a file is seen behind however many other descriptors.
func TestManyDescriptors(t *testing.T) {
	f, dir := watchesItself(t)
	for range 2000 {
		null, err := os.Open(os.DevNull)
		if err != nil {
			t.Skip(err) // of a limit of open files
		}
		defer null.Close()
	}
	path := filepath.Join(dir, "again")
	writeFile(t, path, 1)
	for range 3 {
		x, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		f.look()
		x.Close()
		f.look()
	}
	if by, _ := sampled(f); by[path].Opened != 3 {
		t.Errorf("%+v", by)
	}
}

// TestManyPaths: however many files were opened, it is seen that one changes, and each opening counts.
func TestManyPaths(t *testing.T) {
	o := &openFiles{times: map[string]time.Time{}}
	then, changed := time.Unix(1000, 0), 0
	for i := range 5 * mostPaths {
		if o.hasChanged(strconv.Itoa(i), then) {
			t.Fatalf("%d has changed", i)
		}
		if i%100 == 0 && o.hasChanged("conf", then.Add(time.Duration(i)*time.Second)) {
			changed++
		}
	}
	if want := (5*mostPaths - 1) / 100; changed != want || len(o.times)+len(o.older) > 2*mostPaths {
		t.Errorf("a file that changed %d times did %d times, among %d", want, changed, len(o.times)+len(o.older))
	}
	f := emptyFileWatch()
	f.of = o
	var held, opened []sighting
	for i := range 2 * mostPaths {
		held = append(held, sighting{path: "/held/" + strconv.Itoa(i)})
		opened = append(opened, sighting{path: "/data/" + strconv.Itoa(i), opened: true})
	}
	f.note(o, held)
	f.note(o, []sighting{{path: "/again", opened: true}})
	f.note(o, opened)
	if by, s := sampled(f); by["/again"].Opened != 1 {
		t.Errorf("%d other openings, %+v", s.OtherFiles, by)
	} else if sum := s.OtherFiles + len(by); sum != 2*mostPaths+1 {
		t.Errorf("%d openings are told of %d", sum, 2*mostPaths+1)
	}
}

// TestNumberOfAnother: a process that gets the number of the one that was watched is none of its kind.
func TestNumberOfAnother(t *testing.T) {
	const last = "/proc/sys/kernel/ns_last_pid" // the number before the next one
	start := func() *exec.Cmd {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
		return cmd
	}
	a := start()
	pid := a.Process.Pid
	f := emptyFileWatch()
	f.watch(pid)
	f.look()
	if _, s := sampled(f); s.Looks != 1 {
		t.Fatalf("the process was not looked at: %+v", s)
	}
	a.Process.Kill()
	a.Wait()
	for range 50 {
		if err := os.WriteFile(last, []byte(strconv.Itoa(pid-1)), 0o600); err != nil {
			t.Skip(err)
		}
		if b := start(); b.Process.Pid == pid {
			if f.look(); f.looks != 0 {
				t.Error("it looks at another process")
			}
			return
		}
	}
	t.Skip("the number was not given again")
}
