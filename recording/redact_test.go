package recording

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestRedacted writes a word into everything that a recording is told of, where it
// is a secret: it stands in no file, and nobody but the owner may read any.
func TestRedacted(t *testing.T) {
	const word = "m4rk3r"
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, Manifest{Title: "attach http://u:" + word + "@host/"})
	if err != nil {
		t.Fatal(err)
	}
	target := Target{
		Kind: "url", Name: "u:" + word + "@host:6060", Args: []string{"-password", word, "--url=http://h/?token=" + word, "in.txt"},
		Env: []string{"GODEBUG=x=1"}, BuildSettings: map[string]string{"-ldflags": "-X main.apiKey=" + word, "GOOS": "linux"},
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.UpdateTarget(func(to *Target) { *to = target }))
	must(w.UpdateTarget(func(to *Target) { to.Args = append(to.Args, "-token="+word) }))
	must(w.SetPhase(Phase{Name: "bare", Error: "cannot fetch http://h/?sig=" + word + ": 401"}))
	must(w.Note("Authorization: Bearer " + word))
	must(w.Miss("cpu", "Authorization: Bearer "+word))
	must(w.Mark("alert: password=" + word))
	must(w.Put(Entry{Path: "sub/cpu.pb.gz", Kind: CPU, Source: "https://u:" + word + "@h/debug/pprof/"}, []byte("x")))
	log, err := w.Append(Entry{Path: "stderr.log", Kind: Stderr, Source: "http://" + word + "@h/"})
	must(err)
	must(log.Close())
	if target.Args[1] != word || target.BuildSettings["-ldflags"] == "" {
		t.Error("what the caller has was changed too")
	}
	must(w.Close())
	must(Zip(dir, dir+".zip"))
	m := w.Manifest()
	if m.Target.Args[3] != "in.txt" || m.Target.BuildSettings["GOOS"] != "linux" || m.Target.Env[0] != "GODEBUG=x=1" || m.Target.Name != "xxxxx@host:6060" {
		t.Errorf("what is no secret was changed: %+v", m.Target)
	}
	must(filepath.WalkDir(filepath.Dir(dir), func(name string, d fs.DirEntry, err error) error {
		must(err)
		info, err := d.Info()
		must(err)
		if runtime.GOOS != "windows" && name != filepath.Dir(dir) && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), word) {
			t.Errorf("%s has the word: %s", name, text)
		}
		return nil
	}))
}
