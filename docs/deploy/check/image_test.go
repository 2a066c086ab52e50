package check

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the project, which is what docker build is given.
const root = "../../.."

// dockerfile is what the test reads of one: the instructions of its stages in their order.
type dockerfile struct {
	stages []*stage
}

// stage is what one FROM begins.
type stage struct {
	base, name string
	steps      []step
}

// step is one instruction.
type step struct{ word, rest string }

// readDockerfile reads the file, and knows the instructions that it uses.
func readDockerfile(t *testing.T, path string) *dockerfile {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := &dockerfile{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if strings.HasSuffix(line, "\\") {
			t.Fatalf("%s: the test reads no lines that go on in the next: %s", path, line)
		}
		word, rest, _ := strings.Cut(line, " ")
		if word == "FROM" {
			base, name, _ := strings.Cut(rest, " AS ")
			d.stages = append(d.stages, &stage{base: base, name: name})
			continue
		}
		if !slices.Contains([]string{"WORKDIR", "COPY", "RUN", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"}, word) || len(d.stages) == 0 {
			t.Fatalf("%s: the test does not know %q", path, line)
		}
		last := d.stages[len(d.stages)-1]
		last.steps = append(last.steps, step{word, rest})
	}
	return d
}

// list is the last instruction of a word, in the form of a JSON list.
func (s *stage) list(t *testing.T, word string) (all []string) {
	t.Helper()
	for _, one := range s.steps {
		if one.word == word {
			if err := json.Unmarshal([]byte(one.rest), &all); err != nil {
				t.Fatalf("%s %s: %v", word, one.rest, err)
			}
		}
	}
	return all
}

// image is the content of the last stage, laid out in a folder.
type image struct {
	dir             string
	entrypoint, cmd []string
	volumes         []string
}

// nonroot is the user of the base image.
const nonroot = 65532

// build executes a Dockerfile as docker build would, but for two things: the first stage is
// this machine, with the folders of the stage below one of its own, and of the base image
// of the second there is what loupe may need of it: /tmp, and the user.
func build(t *testing.T) *image {
	t.Helper()
	d := readDockerfile(t, "../Dockerfile")
	if len(d.stages) != 2 {
		t.Fatalf("%d stages, want one that builds and one that stays", len(d.stages))
	}
	builder := t.TempDir()
	first := d.stages[0]
	if want := "golang:" + goVersion(t); first.base != want {
		t.Errorf("the first stage is from %s, and go.mod wants %s", first.base, want)
	}
	work := builder
	for _, s := range first.steps {
		switch s.word {
		case "WORKDIR":
			work = filepath.Join(builder, s.rest)
			if err := os.MkdirAll(work, 0o755); err != nil {
				t.Fatal(err)
			}
		case "COPY":
			names := strings.Fields(s.rest)
			if names[len(names)-1] != "." && names[len(names)-1] != "./" {
				t.Fatalf("COPY %s: the test copies to the folder of work alone", s.rest)
			}
			for _, name := range names[:len(names)-1] {
				copyContext(t, name, work)
			}
		case "RUN":
			// The only absolute path of a command is that of the results.
			command := strings.ReplaceAll(s.rest, "/out", filepath.Join(builder, "out"))
			c := exec.Command("sh", "-c", command)
			c.Dir = work
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("RUN %s: %v\n%s", s.rest, err, out)
			}
		default:
			t.Fatalf("the test does not know %s in the first stage", s.word)
		}
	}
	last := d.stages[1]
	if want := "gcr.io/distroless/static-debian12:nonroot"; last.base != want {
		t.Errorf("the last stage is from %s, want %s, which has no shell and is not run as root", last.base, want)
	}
	im := &image{dir: t.TempDir(), entrypoint: last.list(t, "ENTRYPOINT"), cmd: last.list(t, "CMD")}
	for _, s := range last.steps {
		switch s.word {
		case "COPY":
			owner := 0
			words := strings.Fields(s.rest)
			for len(words) > 0 && strings.HasPrefix(words[0], "--") {
				switch words[0] {
				case "--from=" + first.name:
				case "--chown=nonroot:nonroot":
					owner = nonroot
				default:
					t.Fatalf("COPY %s: the test does not know %s", s.rest, words[0])
				}
				words = words[1:]
			}
			if len(words) != 2 {
				t.Fatalf("COPY %s: want one source and one destination", s.rest)
			}
			copyTree(t, filepath.Join(builder, words[0]), filepath.Join(im.dir, words[1]), owner)
		case "VOLUME":
			im.volumes = strings.Fields(s.rest)
		}
	}
	tmp := filepath.Join(im.dir, "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{im.dir, tmp} { // 0o1777 of the second is not for Mkdir to give
		mode := fs.FileMode(0o755)
		if dir == tmp {
			mode = 0o777 | fs.ModeSticky
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	return im
}

// goVersion is the language version of the project's module, such as 1.26.
func goVersion(t *testing.T) string {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if v, ok := strings.CutPrefix(in.Text(), "go "); ok {
			parts := strings.Split(v, ".")
			return strings.Join(parts[:2], ".")
		}
	}
	t.Fatal("go.mod says no version")
	return ""
}

// copyContext copies what the project has under a name: what is committed, or would be.
func copyContext(t *testing.T, name, to string) {
	t.Helper()
	c := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", name)
	c.Dir = root
	out, err := c.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for file := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if _, err := os.Lstat(filepath.Join(root, file)); err == nil { // what was deleted is not there
			copyTree(t, filepath.Join(root, file), filepath.Join(to, file), os.Getuid())
		}
	}
}

// copyTree copies a file or a folder, to an owner where that can be said.
func copyTree(t *testing.T, from, to string, owner int) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		dest := filepath.Join(to, below)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
			return err
		}
		switch {
		case d.IsDir():
			err = os.MkdirAll(dest, info.Mode().Perm())
		case d.Type() == fs.ModeSymlink:
			var to string
			if to, err = os.Readlink(name); err == nil {
				err = os.Symlink(to, dest)
			}
		default:
			var data []byte
			if data, err = os.ReadFile(name); err == nil {
				err = os.WriteFile(dest, data, info.Mode().Perm())
			}
		}
		if err == nil && os.Getuid() == 0 {
			err = os.Lchown(dest, owner, owner)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
