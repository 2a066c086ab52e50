package main

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// loads is a program for Node that loads the packed extension with a stand-in for VS Code, which
// takes every use of it, activates it, and says what it has registered: the server is not there.
const loads = `
const Module = require("module");
const any = () => new Proxy(function () {}, {
  get: (t, k) => k === "prototype" ? t.prototype : k === Symbol.toPrimitive ? () => "" : k === "then" ? undefined : any(),
  apply: () => any(), construct: () => any(),
});
const commands = [], errors = [];
const vscode = new Proxy({
  version: "1.100.0",
  workspace: new Proxy({ getConfiguration: () => ({ get: (k) => ({ path: "/nowhere/loupe", recording: "rec" })[k] }) }, { get: (t, k) => t[k] ?? any() }),
  commands: { registerCommand: (name) => commands.push(name), executeCommand: () => {} },
  window: new Proxy({ showErrorMessage: (m) => errors.push(m) }, { get: (t, k) => t[k] ?? any() }),
}, { get: (t, k) => t[k] ?? any() });
const load = Module._load;
Module._load = (name, ...rest) => name === "vscode" ? vscode : load(name, ...rest);
const extension = require(process.argv[2]);
if (typeof extension.activate !== "function" || typeof extension.deactivate !== "function") throw new Error("it exports no activate");
console.log("loaded", Object.keys(extension).sort().join(" "));
extension.activate({ subscriptions: [] }).then(() => {
  console.log("commands", commands.join(" "));
  console.log("errors", errors.join(" ").replaceAll("\n", " "));
  process.exit(0);
});
`

// TestPack packs the extension twice, into the same bytes, and loads it.
func TestPack(t *testing.T) {
	modules := fetched(t)
	data, err := Pack(".", modules)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Pack(".", modules); err != nil || !bytes.Equal(data, again) {
		t.Errorf("packed again it is another file (%v)", err)
	}
	if len(data) > 500<<10 {
		t.Errorf("it has %d bytes", len(data))
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Name, ".xml") || strings.HasSuffix(f.Name, ".vsixmanifest") {
			if err := xml.Unmarshal(text, new(struct{})); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	licences, err := os.ReadFile(filepath.Join(dir, "extension", "THIRD_PARTY_LICENSES.txt"))
	if err != nil || !bytes.Contains(licences, []byte("vscode-languageclient")) || !bytes.Contains(licences, []byte("Microsoft")) {
		t.Errorf("the licences of what is in it are missing (%v)", err)
	}
	script := filepath.Join(dir, "loads.js")
	if err := os.WriteFile(script, []byte(loads), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("node", script, filepath.Join(dir, "extension", "extension.js")).CombinedOutput()
	if len(out) > 3000 {
		out = out[len(out)-3000:]
	}
	if err != nil || !strings.Contains(string(out), "loaded activate deactivate") || !strings.Contains(string(out), "commands loupe.restart") ||
		!strings.Contains(string(out), "command /nowhere/loupe failed") || !strings.Contains(string(out), "loupe lsp does not start (setting loupe.path)") {
		t.Errorf("%v: %s", err, out)
	}
}

// fetched is a folder with the modules that package-lock.json names.
func fetched(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v: %s", err, out)
	}
	return filepath.Join(dir, "node_modules")
}
