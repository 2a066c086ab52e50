package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// licenceFile is a name under which modules keep a licence or a notice.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// furtherLicences are those that have other names, by their modules.
var furtherLicences = map[string][]string{
	"golang.org/x/image": {"font/gofont/ttfs/README"}, // of the font that pictures are labelled in
}

// TestThirdParty holds third_party.txt against what is linked into the program on any
// system, and what is in the pages; -update writes it.
func TestThirdParty(t *testing.T) {
	want := thirdParty(t)
	if *update {
		if err := os.WriteFile("third_party.txt", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("third_party.txt")
	if err != nil || !bytes.Equal(have, want) {
		t.Errorf("third_party.txt is stale (%v): go test ./internal/cli -run TestThirdParty -update writes it", err)
	}
	for _, part := range []string{"klauspost/compress", "Jason Miller", "Preact Team", "The Go Authors", "Bigelow & Holmes"} {
		if !bytes.Contains(want, []byte(part)) {
			t.Errorf("nothing is said of %s", part)
		}
	}
	if !bytes.Contains([]byte(licences), want) {
		t.Error("BUG: loupe version -licenses prints something else")
	}
	own, err := os.ReadFile("../../LICENSE")
	if err != nil || !strings.HasPrefix(licences, string(own)) {
		t.Errorf("licence.txt is not ../../LICENSE (%v): copy it", err)
	}
}

// thirdParty gathers the texts of the module cache.
func thirdParty(t *testing.T) []byte {
	t.Helper()
	type module struct{ path, version, dir string }
	files := map[module][]string{}
	for _, system := range []string{"linux", "darwin", "windows", "freebsd"} {
		c := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "loupe/cmd/loupe")
		c.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSpace(line), "\t")
			if len(f) != 4 {
				continue
			}
			m := module{f[0], f[1], f[2]}
			// A package may have come from elsewhere, with a licence of its own.
			for dir := f[3]; len(dir) >= len(m.dir); dir = filepath.Dir(dir) {
				entries, err := os.ReadDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					if name := filepath.Join(dir, e.Name()); licenceFile.MatchString(e.Name()) && !e.IsDir() && !strings.HasSuffix(name, ".go") && !slices.Contains(files[m], name) {
						files[m] = append(files[m], name)
					}
				}
			}
		}
	}
	var b bytes.Buffer
	b.WriteString("What loupe is made of beside its own source, and under which terms.\n")
	add := func(title string, names []string, root string) {
		if len(names) == 0 {
			t.Errorf("%s has no licence that was found", title)
		}
		fmt.Fprintf(&b, "\n%s\n%s\n", strings.Repeat("=", 78), title)
		slices.Sort(names)
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(root, name)
			if err != nil {
				t.Fatal(err)
			}
			text = bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
			fmt.Fprintf(&b, "\n-- %s --\n\n%s\n", filepath.ToSlash(rel), text)
		}
	}
	modules := make([]module, 0, len(files))
	for m := range files {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(x, y module) int { return strings.Compare(x.path, y.path) })
	for _, m := range modules {
		if m.path == "golang.org/x/sys" {
			// Theirs is the text of the standard library too, which not every
			// distribution of Go has a copy of.
			add("Go, its standard library and runtime", slices.Clone(files[m]), m.dir)
		}
	}
	for _, m := range modules {
		names := files[m]
		for _, name := range furtherLicences[m.path] {
			names = append(names, filepath.Join(m.dir, filepath.FromSlash(name)))
		}
		add(m.path+" "+m.version, names, m.dir)
	}
	vendor := filepath.Join("..", "..", "web", "ui", "vendor")
	folders, err := filepath.Glob(filepath.Join(vendor, "*", "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range folders {
		add(filepath.Base(filepath.Dir(name))+", in the pages", []string{name}, vendor)
	}
	return b.Bytes()
}
