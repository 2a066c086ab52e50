package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestWT02Processes: processes that need nothing of each other by the source are to be started at the same time; where that is not
// proved, it is a condition which names why. What cannot be done with several programs is not advised, and the same process is started once.
func TestWT02Processes(t *testing.T) {
	const source = `package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
)

type part struct {
	name, path string
	version    string
	err        error
}

func inspect(dir, tool string, p part) part {
	q := part{name: p.name, path: p.path}
	var buf bytes.Buffer
	cmd := exec.Command(q.path, "parts-metadata")
	out, err := cmd.Output() // run
	if err != nil {
		q.err = err
		return q
	}
	q.err = json.Unmarshal(out, &q.version)
	return q
}

func handle(dir, tool string, parts []part) (all []part) {
	for _, p := range parts {
		all = append(all, inspect(dir, tool, p)) // each
	}
	return all
}

var last []byte

func use(*bytes.Buffer, string, ...any) {}

var _, _ = os.Stdout, filepath.Join
`
	const command, run = `exec.Command(q.path, "parts-metadata")`, "out, err := cmd.Output() // run"
	const once, plain, condition, another, oneOf = "start them at the same time", "By the source, what each process is given", "If the processes do not need, or disturb, each other (", "Each is another program", "give one process all of them"
	const reach = "if it is nothing that others of them use"
	for _, c := range []struct {
		name     string
		replaced []string
		title    string
		has, not []string
	}{
		{"another program each", nil, processTitle, []string{plain, once, another}, []string{oneOf, condition, "ask once", askProcess}},
		{"another program each, by its name", []string{command, `exec.Command(filepath.Join(dir, q.name), "--version")`}, processTitle, []string{plain, another}, []string{oneOf, condition}},
		{"one program, another file each", []string{command, `exec.Command(tool, "list", q.path)`}, processTitle, []string{oneOf, plain, once}, []string{another, condition, "ask once"}},
		{"a constant program, by a buffer", []string{command, `exec.Command("probe", q.path)`, run, "cmd.Stdout = &buf; err := cmd.Run(); out := buf.Bytes() // run"}, processTitle, []string{oneOf, plain, reach}, []string{condition}},
		{"a constant program that only tells", []string{command, `exec.Command("sha256sum", q.path)`}, processTitle, []string{oneOf, plain}, []string{condition, reach}},
		{"a constant program that may change what it is given", []string{command, `exec.Command("patch", "-i", q.path)`}, processTitle, []string{oneOf, plain, reach}, []string{condition}},
		{"by a shell", []string{command, `exec.Command("sh", "-c", "cat "+q.path+" >> all.txt; show all.txt")`}, processTitle, []string{oneOf, plain, reach}, []string{condition}},
		{"programs of which nothing is known", []string{command, `exec.Command(q.path)`}, processTitle, []string{plain, reach, another}, []string{condition}},
		{"what is written to it", []string{command, `exec.Command(tool, "show")`, run, "in, _ := cmd.StdinPipe(); in.Write([]byte(q.name)); out, err := cmd.Output() // run"}, processTitle, []string{condition, "standard input is not seen"}, []string{askProcess}},
		{"one that only tells, of a shared folder", []string{command, `exec.Command("git", "-C", dir, "show", q.name)`}, processTitle, []string{oneOf, plain}, []string{condition}},
		{"in a shared folder", []string{run, "cmd.Dir = dir; out, err := cmd.Output() // run"}, processTitle, []string{condition, "Dir of all of them is dir", another}, []string{plain}},
		{"given a shared file", []string{command, `exec.Command(q.path, "-o", dir)`}, processTitle, []string{condition, "all of them are given dir"}, []string{plain}},
		{"a constant file", []string{command, `exec.Command(q.path, "-o", "out")`}, processTitle, []string{condition, `all of them are given "out"`}, []string{plain}},
		{"with the same input", []string{run, "cmd.Stdin = os.Stdin; out, err := cmd.Output() // run"}, processTitle, []string{condition, "Stdin of all of them is os.Stdin"}, []string{plain}},
		{"to one output", []string{run, "cmd.Stdout = os.Stdout; err := cmd.Run(); out := last // run"}, processTitle, []string{condition, "their output goes to os.Stdout"}, []string{plain}},
		{"for what it does", []string{run, "err := cmd.Run(); out := last // run"}, processTitle, []string{condition, "each is run for what it does"}, []string{plain}},
		{"by its word", []string{command, `exec.Command("git", "add", q.path)`}, processTitle, []string{oneOf, condition, `"add" may change what others`}, []string{plain}},
		{"with the answer of the one before", []string{run, "out, err := cmd.Output(); last = out // run", command, `exec.Command(q.path, string(last))`}, processTitle, []string{condition, "last"}, []string{plain}},
		{"a file that each turn writes", []string{"q := part{", `os.WriteFile("in.txt", nil, 0o600); q := part{`}, processTitle, []string{condition, "os.WriteFile is called"}, []string{plain}},
		{"the same each time", []string{command, `exec.Command(tool, "-C", dir, "status")`}, sameProcess, []string{askProcess}, []string{once, oneOf}},
		{"the same program, in another folder each", []string{command, `exec.Command(tool, "status")`, run, "cmd.Dir = q.path; out, err := cmd.Output() // run"}, processTitle, []string{plain, oneOf}, []string{askProcess, condition}},
	} {
		text := strings.NewReplacer(c.replaced...).Replace(source)
		r := served(t, 20, func(p *accounttest.Program) {
			for range 6 {
				p.Call(2*time.Millisecond, accounttest.In("internal/syscall/unix.Waitid@w.go:1", "os.(*Process).pidfdWait@exec.go:1", "os/exec.(*Cmd).Run@exec.go:2", markedFrame("main.inspect", text, "// run\n"), markedFrame("main.handle", text, "// each\n")))
				p.Call(time.Millisecond, accounttest.In("syscall.close@z.go:1", "os.(*Process).pidfdWait@exec.go:1", "os/exec.(*Cmd).Run@exec.go:2", markedFrame("main.inspect", text, "// run\n"), markedFrame("main.handle", text, "// each\n")))
			}
		})
		withSource(r, "main.go", text)
		f := answers(t, r, "WT02")[0]
		if f.State != Found || f.Title != c.title {
			t.Errorf("%s: %s %q: %s", c.name, f.State, f.Title, f.Summary)
		}
		for _, x := range c.has {
			if !strings.Contains(f.Advice, x) {
				t.Errorf("%s: %s\nwant %q", c.name, f.Advice, x)
			}
		}
		for _, x := range c.not {
			if strings.Contains(f.Advice, x) {
				t.Errorf("%s: %s\nwant no %q", c.name, f.Advice, x)
			}
		}
	}
}

// TestWT02ProcessAdvice: where the processes have used the CPUs, to start them at the same time is not advised.
func TestWT02ProcessAdvice(t *testing.T) {
	for _, s := range []processStart{{executable: turnsItem}, {executable: turnsSame, differs: true}} {
		if text := s.advice(true, true); strings.Contains(text, "same time") {
			t.Errorf("full: %s", text)
		}
		if text := s.advice(true, false); !strings.Contains(text, "same time") {
			t.Errorf("not full: %s", text)
		}
	}
}

// TestWT02ProcessOfTurn: the command that each turn makes is its own, with the methods that are called on it.
func TestWT02ProcessOfTurn(t *testing.T) {
	const source = `package main

import "os/exec"

func handle(tool string, files []string) (all []string) {
	for _, f := range files {
		cmd := exec.Command(tool, "list", f)
		out, err := cmd.Output() // run
		if err != nil {
			return nil
		}
		all = append(all, string(out))
	}
	return all
}
`
	r := served(t, 20, func(p *accounttest.Program) {
		for range 6 {
			p.Call(2*time.Millisecond, accounttest.In("internal/syscall/unix.Waitid@w.go:1", "os.(*Process).pidfdWait@exec.go:1", "os/exec.(*Cmd).Output@exec.go:2", markedFrame("main.handle", source, "// run\n")))
		}
	})
	withSource(r, "main.go", source)
	if f := answers(t, r, "WT02")[0]; !strings.Contains(f.Advice, ownItemAlone) || strings.Contains(f.Advice, "(cmd") {
		t.Errorf("%s\n%s", f.Summary, f.Advice)
	}
}
