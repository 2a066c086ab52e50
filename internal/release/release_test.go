package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestSameBytes releases one commit out of two folders, the second time with nothing in the
// build cache, and looks at what it got.
func TestSameBytes(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "elsewhere", "second")
	chosen := []platform{{"linux", runtime.GOARCH}}
	for _, dir := range []string{first, second} {
		checkout(t, dir)
	}
	if err := release(first, filepath.Join(first, "dist"), chosen); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	t.Setenv("GOCACHE", cache)
	if err := release(second, filepath.Join(second, "dist"), chosen); err != nil {
		t.Fatal(err)
	}
	a, b := contents(t, filepath.Join(first, "dist")), contents(t, filepath.Join(second, "dist"))
	if len(a) != 3 {
		t.Errorf("made %v, want an archive, an image and the checksums", slices.Sorted(maps.Keys(a)))
	}
	for name, data := range a {
		if !bytes.Equal(data, b[name]) {
			t.Errorf("%s: %d bytes, and %d bytes when made again elsewhere", name, len(data), len(b[name]))
		}
	}
	verifySums(t, a)
	for name, data := range a {
		switch {
		case strings.HasSuffix(name, ".tar.gz"):
			verifyArchive(t, name, data)
		case strings.HasSuffix(name, "-image.tar"):
			verifyImage(t, data)
		}
	}

	err := release(first, filepath.Join(first, "dist"), chosen)
	if err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a second time into the same folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(first, "new.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := release(first, t.TempDir(), chosen); err == nil || !strings.Contains(err.Error(), "new.go") {
		t.Errorf("a tree with changes: %v", err)
	}
}

// checkout makes a clone of the commit that is checked out here.
func checkout(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "clone", "-q", root, dir).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
}

func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, e := range entries {
		if all[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// verifySums checks that SHA256SUMS has each file with its sum.
func verifySums(t *testing.T, all map[string][]byte) {
	t.Helper()
	var want strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name != "SHA256SUMS" {
			fmt.Fprintf(&want, "%x  %s\n", sha256.Sum256(all[name]), name)
		}
	}
	if got := string(all["SHA256SUMS"]); got != want.String() {
		t.Errorf("SHA256SUMS:\n%swant\n%s", got, &want)
	}
}

// verifyArchive checks the files of an archive: the program runs and says what its bill of
// materials says, the pages of the manual are well-formed.
func verifyArchive(t *testing.T, name string, data []byte) {
	t.Helper()
	dir := t.TempDir()
	names := unpack(t, data, dir)
	folder := filepath.Join(dir, strings.TrimSuffix(name, ".tar.gz"))
	for _, want := range []string{
		"LICENSE", "README.md", "THIRD_PARTY_LICENSES", "sbom.cdx.json", "loupe", "man/man1/loupe.1", "man/man1/loupe-run.1",
		"completions/loupe.bash", "completions/_loupe", "completions/loupe.fish", "completions/loupe.ps1",
	} {
		if !slices.Contains(names, filepath.Base(folder)+"/"+want) {
			t.Errorf("%s has no %s", name, want)
		}
	}
	program := filepath.Join(folder, "loupe")
	out, err := exec.Command(program, "version", "-json").Output()
	var said struct{ Version string }
	if err := errors.Join(err, json.Unmarshal(out, &said)); err != nil {
		t.Fatal(err)
	}
	if want := "loupe-" + strings.TrimPrefix(said.Version, "v") + "-"; said.Version == "devel" || !strings.HasPrefix(name, want) {
		t.Errorf("%s has a program that says it is %s", name, said.Version)
	}
	verifyBill(t, program, filepath.Join(folder, "sbom.cdx.json"))
	pages, err := filepath.Glob(filepath.Join(folder, "man", "man1", "*.1"))
	if err != nil || len(pages) < 25 {
		t.Fatalf("%d pages of the manual, %v", len(pages), err)
	}
	out, err = exec.Command("mandoc", append([]string{"-T", "lint", "-W", "warning"}, pages...)...).CombinedOutput()
	if err != nil {
		t.Errorf("mandoc -T lint: %v\n%s", err, out)
	}
	out, err = exec.Command("mandoc", "-T", "utf8", filepath.Join(folder, "man", "man1", "loupe-gc.1")).Output()
	if text := strings.ReplaceAll(plainText(out), "\n", " "); err != nil || !strings.Contains(text, "loupe-gc - what the garbage collector did") || !strings.Contains(text, "-what-if all REC") {
		t.Errorf("loupe-gc(1): %v\n%s", err, text)
	}
}

// plainText removes the overstrikes that mandoc makes bold and underlined text with.
func plainText(out []byte) string {
	var b []rune
	for _, r := range string(out) {
		if r == '\b' {
			b = b[:max(0, len(b)-1)]
			continue
		}
		b = append(b, r)
	}
	return string(b)
}

// verifyBill checks that the bill has all modules of the program, each with its licence.
func verifyBill(t *testing.T, program, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(data), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]bool{}
	for _, c := range *bom.Components {
		parts[c.PackageURL] = c.Licenses != nil && len(*c.Licenses) > 0
	}
	for _, m := range info.Deps {
		if licensed, ok := parts["pkg:golang/"+m.Path+"@"+m.Version]; !ok || !licensed {
			t.Errorf("the bill has %s: %v, with a licence: %v", m.Path, ok, licensed)
		}
	}
	if want := len(info.Deps) + 1 + 3; len(parts) != want { // Go, and three packages of the pages
		t.Errorf("the bill has %d parts, want %d", len(parts), want)
	}
}

// unpack writes the files of a tar.gz and returns their names.
func unpack(t *testing.T, data []byte, dir string) (names []string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return untar(t, z, dir)
}

func untar(t *testing.T, r io.Reader, dir string) (names []string) {
	t.Helper()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(tr)
		if err := errors.Join(err, os.WriteFile(name, data, os.FileMode(h.Mode))); err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
}

// verifyImage checks the image as a registry would: every digest, and what it starts.
func verifyImage(t *testing.T, data []byte) {
	t.Helper()
	dir := t.TempDir()
	untar(t, bytes.NewReader(data), dir)
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	inner, err := index.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	images, err := inner.IndexManifest()
	if err != nil || len(images.Manifests) != 1 {
		t.Fatalf("%v, %v", images, err)
	}
	img, err := inner.Image(images.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	verifyConfig(t, img)
}

// verifyConfig holds an image against the Dockerfile in docs/deploy.
func verifyConfig(t *testing.T, img v1.Image) {
	t.Helper()
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.OS != "linux" || config.Architecture != runtime.GOARCH || config.Config.User != "65532:65532" {
		t.Errorf("the image is for %s/%s and runs as %s", config.OS, config.Architecture, config.Config.User)
	}
	docker, err := os.ReadFile("../../docs/deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for word, list := range map[string][]string{"ENTRYPOINT": config.Config.Entrypoint, "CMD": config.Config.Cmd} {
		quoted, err := json.Marshal(list)
		if want := word + " " + strings.ReplaceAll(string(quoted), `","`, `", "`); err != nil || !strings.Contains(string(docker), want+"\n") {
			t.Errorf("the Dockerfile has no line %s", want)
		}
	}
}

// TestChoose reads -only.
func TestChoose(t *testing.T) {
	all, err := choose("")
	if err != nil || len(all) != 8 {
		t.Errorf("without -only: %v, %v", all, err)
	}
	two, err := choose("linux/arm64,windows/amd64")
	if err != nil || !slices.Equal(two, []platform{{"linux", "arm64"}, {"windows", "amd64"}}) {
		t.Errorf("%v, %v", two, err)
	}
	if _, err := choose("plan9/386"); err == nil || !strings.Contains(err.Error(), "plan9/386") {
		t.Error(err)
	}
}

// TestEscape keeps text from being read as a request of roff.
func TestEscape(t *testing.T) {
	for line, want := range map[string]string{
		`.so /etc/passwd`: `\&.so /etc/passwd`,
		`'GOGC=200'`:      `\(aqGOGC=200\(aq`,
		`a\b -n`:          `a\eb \-n`,
	} {
		if got := escape(line); got != want {
			t.Errorf("escape(%q) = %q, want %q", line, got, want)
		}
	}
}
