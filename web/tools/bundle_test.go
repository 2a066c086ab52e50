package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFresh fails when the committed bundle is not what the sources give.
func TestFresh(t *testing.T) {
	files, err := Bundle("../ui")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, f := range files {
		have, err := os.ReadFile(filepath.Join("../dist", f.Name))
		if err != nil || !bytes.Equal(have, f.Data) {
			t.Errorf("web/dist/%s is stale: go -C web/tools run .", f.Name)
		}
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		_, _ = z.Write(f.Data)
		_ = z.Close()
		if f.Name == "fleet.js" { // loaded by the pages of loupe serve alone
			if b.Len() > laterPayload {
				t.Errorf("%s is %d bytes packed, want at most %d", f.Name, b.Len(), laterPayload)
			}
		} else {
			total += b.Len()
		}
		t.Logf("%s: %d bytes, %d packed", f.Name, len(f.Data), b.Len())
	}
	if have, err := os.ReadDir("../dist"); err != nil || len(have) != len(files) {
		t.Errorf("web/dist has %d files, want %d", len(have), len(files))
	}
	if total > payload {
		t.Errorf("the pages are %d bytes packed, want at most %d", total, payload)
	}
}

// TestLicences wants the licence of each vendored package, and our own, in the
// script, word by word.
func TestLicences(t *testing.T) {
	files, err := Bundle("../ui")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"../../LICENSE"}
	folders := map[string]bool{}
	for _, file := range vendored {
		folder, _, _ := strings.Cut(file, "/")
		if !folders[folder] {
			folders[folder] = true
			names = append(names, "../ui/vendor/"+folder+"/LICENSE")
		}
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(files[0].Data, bytes.TrimSpace(text)) {
			t.Errorf("%s does not have %s", files[0].Name, name)
		}
	}
}

// payload is what the pages of a recording may weigh, packed, and laterPayload what the view of a
// fleet may in addition.
const (
	payload      = 120 << 10
	laterPayload = 16 << 10
)

// TestShared wants the script of the fleet view to find in the first one all that it takes
// from there.
func TestShared(t *testing.T) {
	files, err := Bundle("../ui")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range files {
		texts[f.Name] = string(f.Data)
	}
	exported := map[string]bool{}
	last := regexp.MustCompile(`export\{([^}]*)\};?\s*$`).FindStringSubmatch(texts["app.js"])
	if last == nil {
		t.Fatal("app.js exports nothing")
	}
	for name := range strings.SplitSeq(last[1], ",") {
		if _, as, ok := strings.Cut(name, " as "); ok {
			name = as
		}
		exported[name] = true
	}
	lists := regexp.MustCompile(`import\{([^}]*)\}from"\./app\.js"`).FindAllStringSubmatch(texts["fleet.js"], -1)
	if len(lists) == 0 {
		t.Fatal("fleet.js takes nothing from app.js: it has a second copy of everything")
	}
	for _, list := range lists {
		for name := range strings.SplitSeq(list[1], ",") {
			name, _, _ = strings.Cut(name, " as ")
			if !exported[name] {
				t.Errorf("app.js does not export %s: add it to web/ui/app/shared.ts", name)
			}
		}
	}
}

// TestTypes lets the compiler of TypeScript look at the sources.
func TestTypes(t *testing.T) {
	out, err := exec.Command("go", "tool", "tsgo", "--noEmit", "-p", "../ui").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
