package report

import (
	"os/exec"
	"testing"
)

// TestShellWord: a shell reads what was meant.
func TestShellWord(t *testing.T) {
	f := func(word, want string) {
		t.Helper()
		if got := ShellWord(word); got != want {
			t.Errorf("%q is written as %s, want %s", word, got, want)
		}
		out, err := exec.Command("sh", "-c", "printf %s "+ShellWord(word)).Output()
		if err != nil {
			t.Skip("there is no shell: ", err)
		}
		if string(out) != word {
			t.Errorf("a shell reads %q as %q", word, out)
		}
	}
	f("loupe-server-20261121-101500", "loupe-server-20261121-101500")
	f("./a/b.zip", "./a/b.zip")
	f("größe.pb.gz", "größe.pb.gz")
	f("my app", "'my app'")
	f("it's", `'it'\''s'`)
	f("a\nb", "'a\nb'")
	f("$(reboot)", "'$(reboot)'")
	f("~x", "'~x'")
	f("a;b", "'a;b'")
	f("", "''")
}
