package collect

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fakeProc is a folder of processes as the kernel shows them.
type fakeProc struct {
	t    *testing.T
	root string
}

// fakeProcess is one of them; CPU times are in ticks.
type fakeProcess struct {
	pid, parent, group int
	start              int
	own, waited        int
	pages              int
	environ            string
}

func (f fakeProc) put(all ...fakeProcess) {
	f.t.Helper()
	for _, p := range all {
		dir := filepath.Join(f.root, strconv.Itoa(p.pid))
		os.MkdirAll(dir, 0o755)
		stat := fmt.Sprintf("%d (a) b) S %d %d 0 0 -1 0 0 0 0 0 %d 0 %d 0 20 0 1 0 %d 0 %d 0\n", p.pid, p.parent, p.group, p.own, p.waited, p.start, p.pages)
		for name, text := range map[string]string{"stat": stat, "environ": p.environ} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				f.t.Fatal(err)
			}
		}
	}
}

func (f fakeProc) gone(pid int) { os.RemoveAll(filepath.Join(f.root, strconv.Itoa(pid))) }

// TestFamilyUses: what has come from a program is followed, however it ends, and nobody else.
func TestFamilyUses(t *testing.T) {
	p := fakeProc{t, t.TempDir()}
	const mark = markEnv + "=1"
	p.put(fakeProcess{pid: 1, start: 1, own: 1000}, fakeProcess{pid: 50, parent: 1, group: 50, start: 90, own: 500, environ: "A=b\x00" + mark},
		fakeProcess{pid: 100, parent: 2, group: 100, start: 100, own: 3, environ: mark})
	f := familyIn(p.root, 100, mark)
	look := func(what string, ticks, pages int) {
		t.Helper()
		used, rss := f.look(100)
		if want, bytes := time.Duration(ticks)*tick, int64(pages*os.Getpagesize()); used != want || rss != bytes {
			t.Errorf("%s: %v and %d bytes, want %v and %d", what, used, rss, want, bytes)
		}
	}
	look("alone; what carries its mark and is older is another", 0, 0)
	// It uses CPU itself, and starts a child, which starts one in its own session without the mark.
	p.put(fakeProcess{pid: 100, parent: 2, group: 100, start: 100, own: 33},
		fakeProcess{pid: 102, parent: 103, group: 102, start: 112, own: 4, pages: 5},
		fakeProcess{pid: 103, parent: 100, group: 100, start: 110, own: 10, pages: 7})
	look("a child and a grandchild", 14, 12)
	// The grandchild lives on as a child of the system, and its parent was waited for with 2 more.
	p.gone(103)
	p.put(fakeProcess{pid: 100, parent: 2, group: 100, start: 100, own: 34, waited: 12},
		fakeProcess{pid: 102, parent: 1, group: 102, start: 112, own: 6, pages: 5})
	look("the child has ended", 18, 5)
	// A hundred of them between two looks, and another program.
	p.put(fakeProcess{pid: 100, parent: 2, group: 100, start: 100, own: 34, waited: 112},
		fakeProcess{pid: 102, parent: 1, group: 102, start: 112, own: 6, pages: 5},
		fakeProcess{pid: 104, parent: 1, group: 104, start: 120, own: 70, pages: 70},
		fakeProcess{pid: 105, parent: 104, group: 100, start: 121, pages: 1},
		fakeProcess{pid: 106, parent: 1, group: 106, start: 122, own: 1, pages: 1, environ: "B=c\x00" + mark + "\x00"})
	look("short children, one of its group and one with its mark", 119, 7)
	// Nobody waits for it; its number is another program's now.
	p.put(fakeProcess{pid: 102, parent: 1, group: 102, start: 200, own: 90, pages: 100})
	look("a number that is used again", 119, 2)
	look("and again", 119, 2)
	p.put(fakeProcess{pid: 102, parent: 1, group: 102, start: 200, own: 95, pages: 100})
	look("which is another program", 119, 2)
	// The recorded process ends: its own CPU time is none of the others', nor is what was known of its children.
	p.gone(100)
	look("without the program", 119, 2)
}

// TestFamilyHanded: where another process than the one that was started is recorded, its own CPU time
// does not come back with those that have waited for it.
func TestFamilyHanded(t *testing.T) {
	p := fakeProc{t, t.TempDir()}
	p.put(fakeProcess{pid: 100, group: 100, start: 100, own: 5}, fakeProcess{pid: 101, parent: 100, group: 101, start: 101, own: 40, waited: 7, pages: 9})
	f := familyIn(p.root, 100, markEnv+"=1")
	if used, rss := f.look(101); used != 12*tick || rss != 0 {
		t.Errorf("%v and %d bytes, want that of the started one, and of the children", used, rss)
	}
	p.gone(101)
	p.put(fakeProcess{pid: 100, group: 100, start: 100, own: 6, waited: 47})
	if used, _ := f.look(101); used != 13*tick {
		t.Errorf("%v, want one more", used)
	}
}

// TestFamilyFound: what a process that was found running has used before is history.
func TestFamilyFound(t *testing.T) {
	p := fakeProc{t, t.TempDir()}
	p.put(fakeProcess{pid: 100, group: 90, start: 100, own: 5, waited: 1000}, fakeProcess{pid: 101, parent: 100, group: 90, start: 101, own: 40},
		fakeProcess{pid: 91, parent: 1, group: 90, start: 101, own: 40})
	f := familyIn(p.root, 100, "")
	if used, _ := f.look(100); used != 0 {
		t.Errorf("%v at first", used)
	}
	p.put(fakeProcess{pid: 100, group: 90, start: 100, own: 9, waited: 1001}, fakeProcess{pid: 101, parent: 100, group: 90, start: 101, own: 42},
		fakeProcess{pid: 91, parent: 1, group: 90, start: 101, own: 80})
	if used, _ := f.look(100); used != 3*tick {
		t.Errorf("%v, want 3 ticks", used)
	}
}

// TestFamilyEnds: what a program leaves running is ended, in a session of its own and without the mark too; and
// nothing else is.
func TestFamilyEnds(t *testing.T) {
	dir := t.TempDir()
	file, before := filepath.Join(dir, "pid"), exec.Command("sleep", "1000")
	if err := before.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { before.Process.Kill(); before.Wait() }()
	mark := newMark()
	sh := exec.Command("/bin/sh", "-c", fmt.Sprintf("setsid env -u %s sh -c 'echo $$ > %s; : > %s.done; exec sleep 1000' & read line", markEnv, file, file))
	sh.Env = append(os.Environ(), mark)
	stdin, err := sh.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sh.Start(); err != nil {
		t.Fatal(err)
	}
	f := newFamily(sh.Process.Pid, mark)
	f.look(0)
	fileThere(file + ".done") // no other process of it is left
	f.look(0)
	stdin.Close()
	sh.Wait()
	text, _ := os.ReadFile(file)
	pid, _ := strconv.Atoi(string(text[:len(text)-1]))
	if !ProcessExists(pid) {
		t.Fatalf("process %d is not there: %q", pid, text)
	}
	ended, survived := f.end(time.Minute)
	if want := fmt.Sprintf("process %d (", pid); !strings.HasPrefix(ended, want) || strings.Contains(ended, " and ") || survived != "" {
		t.Errorf("ended %q, left %q, want %q", ended, survived, want)
	}
	if ProcessExists(pid) || !ProcessExists(before.Process.Pid) {
		t.Errorf("the one that was left runs: %v, the one before it: %v", ProcessExists(pid), ProcessExists(before.Process.Pid))
	}
}
