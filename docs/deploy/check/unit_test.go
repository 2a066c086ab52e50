package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const unitFile = "loupe-serve.service"

// readUnit reads the settings of the section [Service].
func readUnit(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../" + unitFile)
	if err != nil {
		t.Fatal(err)
	}
	settings, section := map[string]string{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch name, value, ok := strings.Cut(line, "="); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = line
		case !ok:
			t.Errorf("%s: %q is no setting", unitFile, line)
		case section == "[Service]":
			settings[name] = value
		}
	}
	return settings
}

// TestUnit has systemd read the unit, in a root of its own with systemd's own units.
func TestUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	copyTree(t, "/lib/systemd/system", filepath.Join(dir, "lib/systemd/system"), os.Getuid())
	if err := os.MkdirAll(filepath.Join(dir, "usr/local/bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	copyTree(t, "/bin/true", filepath.Join(dir, "usr/local/bin/loupe"), os.Getuid())
	installed := filepath.Join(dir, "etc/systemd/system", unitFile)
	verify := func(text []byte) (string, error) {
		if err := os.MkdirAll(filepath.Dir(installed), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(installed, text, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("systemd-analyze", "verify", "--man=no", "--root="+dir, unitFile).CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	text, err := os.ReadFile("../" + unitFile)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := verify(text); err != nil || out != "" {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	if out, _ := verify([]byte(strings.Replace(string(text), "MemoryHigh", "MemoryHuge", 1))); !strings.Contains(out, "MemoryHuge") {
		t.Errorf("systemd-analyze verify does not find a wrong word: %q", out)
	}
	// The scale is from 0 (nothing is open to it) to 10. Ours is at 2.4; without the two
	// capabilities it would be at 1.8.
	out, err := exec.Command("systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=25", "../"+unitFile).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out[max(0, len(out)-300):])
	}
}

// unit runs what the unit starts, as a user who is not root and with the capabilities that it
// gives: it must find a program of another user.
func unit(t *testing.T, binary string) {
	settings := readUnit(t)
	words := strings.Fields(settings["ExecStart"])
	if words[0] != "/usr/local/bin/loupe" || settings["DynamicUser"] != "yes" {
		t.Fatalf("%v", settings)
	}
	if settings["AmbientCapabilities"] != settings["CapabilityBoundingSet"] {
		t.Errorf("capabilities %q within %q", settings["AmbientCapabilities"], settings["CapabilityBoundingSet"])
	}
	capabilities := map[string]uintptr{"CAP_DAC_READ_SEARCH": 2, "CAP_SYS_PTRACE": 19}
	var given []uintptr
	for name := range strings.FieldsSeq(settings["AmbientCapabilities"]) {
		n, ok := capabilities[name]
		if !ok {
			t.Fatalf("the test does not know %s", name)
		}
		given = append(given, n)
	}
	args := loopback(t, words[1:])
	i := slices.Index(args, "-data")
	if args[i+1] != "/var/lib/"+settings["StateDirectory"] {
		t.Errorf("the data is in %s, and systemd makes /var/lib/%s", args[i+1], settings["StateDirectory"])
	}
	dir := filepath.Join(os.TempDir(), filepath.Base(t.TempDir())+"-data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, nonroot, nonroot); err != nil {
		t.Fatal(err)
	}
	args[i+1] = dir

	// The other program is this test, which is root's.
	service := profiled(t)
	c := exec.Command(reachable(t, binary), args...)
	c.Dir, c.Env = "/", []string{"PATH=/usr/bin:/bin", "HOME=/"}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nonroot, Gid: nonroot}, AmbientCaps: given}
	s := start(t, c)
	s.ready(t, "")
	wait(t, s, "", service)
}
