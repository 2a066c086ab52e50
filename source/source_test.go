package source_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"

	"loupe/format/kind"
	"loupe/source"
	"loupe/source/bounded"
	"loupe/value/secret"
)

const gcLine = "gc 1 @0.001s 2%: 0.018+1.3+0.076 ms clock, 0.054+0.35/1.2/3.0+0.23 ms cpu, 4->4->0 MB, 5 MB goal, 4 P\n"

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	z.Close()
	return b.Bytes()
}

// TestBombs: what is packed is unpacked as far as any real file would be, and no
// further, in every format and however deep.
func TestBombs(t *testing.T) {
	text := bytes.Repeat([]byte(gcLine[:60]+"\n"), 40<<20/61)
	var zst, archive bytes.Buffer
	s, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	s.Write(text)
	s.Close()
	z := zip.NewWriter(&archive)
	w, err := z.Create("a.log")
	if err != nil {
		t.Fatal(err)
	}
	w.Write(text)
	z.Close()
	for name, data := range map[string][]byte{"bomb.gz": zipped(t, text), "bomb.zst": zst.Bytes(), "bomb.zip": archive.Bytes(), "twice.gz": zipped(t, zipped(t, text))} {
		var d source.Door
		_, err := d.Open(t.Context(), write(t, name, data))
		if !errors.Is(err, bounded.ErrTooLong) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		d.Close()
	}
	deep := []byte(gcLine)
	for range 5 {
		deep = zipped(t, deep)
	}
	var d source.Door
	defer d.Close()
	if _, err := d.Open(t.Context(), write(t, "deep.gz", deep)); err == nil || !strings.Contains(err.Error(), "packed more than 3 times") {
		t.Errorf("five layers: %v", err)
	}
}

// TestCutPacked: what was cut is looked at as far as it goes, and that is told.
func TestCutPacked(t *testing.T) {
	var lines strings.Builder
	for i := range 20000 {
		lines.WriteString(strings.Replace(gcLine, "0.001s", strconv.Itoa(i)+".5s", 1))
	}
	whole := zipped(t, []byte(lines.String()))
	var d source.Door
	defer d.Close()
	all, err := d.Open(t.Context(), write(t, "log.gz", whole[:len(whole)/2]))
	if err != nil || len(all) != 1 || all[0].Kind != kind.GCTrace || all[0].Cut == nil {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := d.Open(t.Context(), write(t, "log.gz", whole[:5])); err == nil || !strings.Contains(err.Error(), "was it truncated?") {
		t.Errorf("of five bytes: %v", err)
	}
}

// TestUTF16: what PowerShell writes is read as what it says.
func TestUTF16(t *testing.T) {
	f := func(text []byte, said string) {
		t.Helper()
		var d source.Door
		defer d.Close()
		all, err := d.Open(t.Context(), write(t, "log", text))
		if err != nil || len(all) != 1 || all[0].Kind != kind.GCTrace {
			t.Fatalf("%v, %v", all, err)
		}
		if text, err := os.ReadFile(all[0].Path); err != nil || string(text) != said {
			t.Errorf("%q, %v", text, err)
		}
	}
	// Without a mark the begin tells.
	const unmarked = gcLine + "größer 𝄞"
	var little, big []byte
	for _, w := range utf16.Encode([]rune(unmarked)) {
		little, big = binary.LittleEndian.AppendUint16(little, w), binary.BigEndian.AppendUint16(big, w)
	}
	f(little, unmarked)
	f(big, unmarked)
	const said = "größer 𝄞 " + gcLine
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		var b bytes.Buffer
		for _, w := range append([]uint16{0xfeff}, utf16.Encode([]rune(said))...) {
			if err := binary.Write(&b, order, w); err != nil {
				t.Fatal(err)
			}
		}
		var d source.Door
		all, err := d.Open(t.Context(), write(t, "log", b.Bytes()))
		if err != nil || len(all) != 1 || all[0].Kind != kind.GCTrace {
			t.Fatalf("%v: %v, %v", order, all, err)
		}
		if text, err := os.ReadFile(all[0].Path); err != nil || string(text) != said {
			t.Errorf("%v: %q, %v", order, text, err)
		}
		d.Close()
	}
}

// tarred makes a tar file of names and contents.
func tarred(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(files[i+1]))}); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(files[i+1]))
	}
	for _, link := range []string{"link.log", "../out"} {
		if err := w.WriteHeader(&tar.Header{Name: link, Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTar: the files of a tar file are found, also of a packed one and by their names in
// it, and their names lead nowhere; what was appended takes the place of what has its name.
func TestTar(t *testing.T) {
	hostile := tarred(t, "../../../../escaped.log", gcLine, "/absolute.log", gcLine, "a/b/c.log", "old", "a/.hidden", "x", "./a/b/c.log", gcLine)
	for name, data := range map[string][]byte{"in.tar": hostile, "in.tar.gz": zipped(t, hostile), "backup": hostile} {
		var d source.Door
		all, err := d.Open(t.Context(), write(t, name, data))
		if err != nil || len(all) != 3 {
			t.Fatalf("%s: %v, %v", name, all, err)
		}
		for _, in := range all {
			if !strings.Contains(in.Path, string(filepath.Separator)+"loupe-in-") || strings.Contains(in.Path, "..") || in.Kind != kind.GCTrace {
				t.Errorf("%s: %s lies at %s, %s", name, in.Name, in.Path, in.Kind)
			}
		}
		if in := all[0]; !strings.HasSuffix(in.Name, name+"/a/b/c.log") {
			t.Errorf("the first is %s", in.Name)
		}
		top := all[0].Path[:strings.Index(all[0].Path, "loupe-in-")+len("loupe-in-")]
		d.Close()
		if left, _ := filepath.Glob(top + strconv.Itoa(os.Getpid()) + "-*"); len(left) > 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
	at := write(t, "in.tar", hostile)
	var d source.Door
	defer d.Close()
	if all, err := d.Open(t.Context(), filepath.Join(at, "a/b/c.log")); err != nil || len(all) != 1 || all[0].Kind != kind.GCTrace {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := d.Open(t.Context(), filepath.Join(at, "none.log")); !errors.Is(err, source.ErrNothing) || !strings.Contains(err.Error(), "holds no file none.log") {
		t.Error(err)
	}
	// The oldest format has a sum and no name of its own.
	old := bytes.Clone(hostile)
	for at := 0; at+512 <= len(old) && old[at] != 0; at += 1024 {
		clear(old[at+257 : at+265])
		copy(old[at+148:at+156], "        ")
		sum := 0
		for _, c := range old[at : at+512] {
			sum += int(c)
		}
		copy(old[at+148:at+156], fmt.Sprintf("%06o\x00 ", sum))
		if old[at+156] == '2' {
			break // links have no content
		}
	}
	if all, err := d.Open(t.Context(), write(t, "old.tar", old)); err != nil || len(all) != 3 {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := d.Open(t.Context(), write(t, "empty.tar", tarred(t))); err == nil || !strings.Contains(err.Error(), "there is no file in") {
		t.Error(err)
	}
	if _, err := d.Open(t.Context(), write(t, "cut.tar", tarred(t, "a.log", strings.Repeat(gcLine, 100))[:2000])); err == nil || !strings.Contains(err.Error(), "was it truncated?") {
		t.Error(err)
	}
}

// TestTarBounds: a tar file of many files is refused, and so is one whose files are
// longer than what can come out of it.
func TestTarBounds(t *testing.T) {
	var names []string
	for i := range 1001 {
		names = append(names, "log"+strconv.Itoa(i), gcLine)
	}
	var d source.Door
	defer d.Close()
	if _, err := d.Open(t.Context(), write(t, "many.tar", tarred(t, names...))); err == nil || !strings.Contains(err.Error(), "more than 1000 files") {
		t.Error(err)
	}
	// A file of 64 GB that is one hole: PAX, GNU.sparse 1.0.
	var b bytes.Buffer
	hole := "1\n68719476736\n0\n"
	record := func(key, value string) string {
		n := len(key) + len(value) + 3
		for n != len(strconv.Itoa(n))+len(key)+len(value)+3 {
			n = len(strconv.Itoa(n)) + len(key) + len(value) + 3
		}
		return strconv.Itoa(n) + " " + key + "=" + value + "\n"
	}
	pax := record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0") + record("GNU.sparse.name", "hole.log") + record("GNU.sparse.realsize", "68719476736")
	w := tar.NewWriter(&b)
	for _, h := range []struct {
		flag byte
		text string
	}{{'x', pax}, {'0', hole + strings.Repeat("\x00", 512-len(hole))}} {
		// The writer knows no such files: the header is that of a file, with the flag changed.
		var one bytes.Buffer
		o := tar.NewWriter(&one)
		if err := o.WriteHeader(&tar.Header{Name: "h", Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(h.text)), Format: tar.FormatUSTAR}); err != nil {
			t.Fatal(err)
		}
		o.Write([]byte(h.text))
		if err := o.Flush(); err != nil {
			t.Fatal(err)
		}
		raw := one.Bytes()
		raw[156] = h.flag
		copy(raw[148:156], "        ")
		sum := 0
		for _, c := range raw[:512] {
			sum += int(c)
		}
		copy(raw[148:156], fmt.Sprintf("%06o\x00 ", sum))
		b.Write(raw)
	}
	w.Close()
	b.Write(make([]byte, 1024))
	if _, err := d.Open(t.Context(), write(t, "sparse.tar", b.Bytes())); !errors.Is(err, bounded.ErrTooLong) {
		t.Error(err)
	}
}

// TestHostileZip: the names in a zip file lead nowhere.
func TestHostileZip(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"../../../../escaped.log", "/absolute.log", `C:\win.log`, "a/b/c.log"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(gcLine))
	}
	z.Close()
	var d source.Door
	all, err := d.Open(t.Context(), write(t, "in.zip", b.Bytes()))
	if err != nil || len(all) != 4 {
		t.Fatalf("%v, %v", all, err)
	}
	dir := ""
	for _, in := range all {
		top := filepath.Dir(filepath.Dir(in.Path))
		if dir == "" {
			dir = top
		}
		if top != dir || !strings.HasPrefix(filepath.Base(top), "loupe-in-") || in.Kind != kind.GCTrace {
			t.Errorf("%s lies at %s", in.Name, in.Path)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copies stay in %s: %v", dir, err)
	}
}

// TestNames: what a name is, in the order in which it is tried.
func TestNames(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"4711", "log[1].txt", "a:80"} {
		if err := os.WriteFile(name, []byte(gcLine), 0o600); err != nil {
			t.Log(err) // a system whose names have no colons
		}
	}
	asked := ""
	d := source.Door{
		Stdin: strings.NewReader(gcLine),
		Fetch: func(_ context.Context, a string) (io.ReadCloser, error) {
			asked = a
			return io.NopCloser(strings.NewReader(gcLine)), nil
		},
		Capture: func(_ context.Context, target, dir string) error {
			asked = "record " + target
			return os.MkdirAll(dir, 0o700)
		},
	}
	defer d.Close()
	f := func(name, wantName, wantAsked string, held bool) {
		t.Helper()
		asked = ""
		all, err := d.Open(t.Context(), name)
		if err != nil || len(all) != 1 || all[0].Name != wantName || asked != wantAsked || all[0].Held() != held {
			t.Errorf("%s: %+v, asked %q, %v", name, all, asked, err)
		}
	}
	f("4711", "4711", "", true) // a file, before a process
	f("log[1].txt", "log[1].txt", "", true)
	f("log?1?.txt", "log[1].txt", "", true)
	f("-", "standard input", "", false)
	f("4712", "process 4712", "record 4712", false)
	f(":6060", ":6060", "record :6060", false)
	f("http://h:6060/debug/pprof/", "http://h:6060/debug/pprof/", "record http://h:6060/debug/pprof/", false)
	f(":6060/logs/a.log", ":6060/logs/a.log", "http://localhost:6060/logs/a.log", false)
	f("https://h/a.log?x=1", "https://h/a.log?x=1", "https://h/a.log?x=1", false)
	f("http://u:secret@h/a.log", secret.URL("http://u:secret@h/a.log"), "http://u:secret@h/a.log", false)
	if _, err := os.Stat("a:80"); err == nil {
		f("a:80", "a:80", "", true)
	}
	for _, name := range []string{"none", "none/at/all", "4711/inside", "no*ne"} {
		if _, err := d.Open(t.Context(), name); !errors.Is(err, source.ErrNothing) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Open(t.Context(), "-"); err == nil || !strings.Contains(err.Error(), "standard input is one file") {
		t.Errorf("twice: %v", err)
	}
}

// TestStale: copies of a process that was killed are removed by the next one, those of
// a living one stay.
func TestStale(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ended := exec.Command("go", "version")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(os.TempDir(), "loupe-in-"+strconv.Itoa(ended.Process.Pid)+"-1")
	mine := filepath.Join(os.TempDir(), "loupe-in-"+strconv.Itoa(os.Getpid())+"-1")
	for _, dir := range []string{dead, mine} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d := source.Door{Stdin: strings.NewReader(gcLine)}
	defer d.Close()
	if _, err := d.Open(t.Context(), "-"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copies of a dead process stay: %v", err)
	}
}
