package collect

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"loupe/format/metrics"
)

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
