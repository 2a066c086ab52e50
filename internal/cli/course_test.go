//go:build linux

package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"loupe/internal/long"
)

// courseChapters are the pages of the course, whose commands are run as they stand
// there. A page that begins a line with "<!-- records -->" takes more than some seconds.
func courseChapters(t *testing.T) (quick, slow []string) {
	t.Helper()
	all, err := filepath.Glob("../../docs/guide/course/[0-9]*.md")
	if err != nil || len(all) == 0 {
		t.Fatalf("no chapters: %v", err)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\n<!-- records -->\n") {
			slow = append(slow, name)
		} else {
			quick = append(quick, name)
		}
	}
	return quick, slow
}

// TestCourse types the chapters that need no recordings of some length, in an empty folder.
func TestCourse(t *testing.T) {
	quick, _ := courseChapters(t)
	for _, name := range quick {
		t.Run(filepath.Base(name), func(t *testing.T) { runChapter(t, name) })
	}
}

// TestCourseRecorded types the chapters that record labs.
func TestCourseRecorded(t *testing.T) {
	long.Only(t, "records labs for some minutes")
	_, slow := courseChapters(t)
	for _, name := range slow {
		t.Run(filepath.Base(name), func(t *testing.T) { runChapter(t, name) })
	}
}

// lesson is a command of a chapter and what the page shows of its output.
type lesson struct {
	line    int
	command string
	shown   []string
	// want are patterns that the output must match, of the comment in front of the block.
	want []string
	exit string // the codes that the comment allows; "0" without one
}

var (
	consoleMarker = regexp.MustCompile(`^<!-- (want|exit) (.*) -->$`)
	figures       = regexp.MustCompile(`[0-9]`)
	ellipsis      = regexp.MustCompile(`\s*…\s*`)
	blanks        = regexp.MustCompile(`\s+`)
)

// lessons reads the commands of a chapter: lines that begin with "$ " in blocks fenced as
// console; a command that ends in \ goes on in the next line. Comments on lines of their
// own in front of a block say what else is wanted of it:
//
//	<!-- want REGEXP -->    the output of the block's commands matches
//	<!-- exit 3 -->         its last command ends with this code; 0|3 where the machine decides
//	<!-- exit any -->
//
// Of what is shown, lines without figures must occur in the output of the command, blanks
// aside, with anything in place of "…". Lines with figures are those of one machine.
func lessons(t *testing.T, text string) (all []*lesson) {
	t.Helper()
	fenced, console := false, false
	var want []string
	exit := ""
	var now *lesson
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			if console && now == nil {
				t.Errorf("line %d: a console block without a command", i+1)
			}
			if console && now != nil {
				now.want = append(now.want, want...)
				if exit != "" {
					now.exit = exit
				}
				want, exit = nil, ""
			}
			fenced = !fenced
			console, now = fenced && line == "```console", nil
		case console && strings.HasPrefix(line, "$ "):
			now = &lesson{line: i + 1, command: line[2:], exit: "0"}
			all = append(all, now)
		case console && now != nil && len(now.shown) == 0 && strings.HasSuffix(now.command, "\\"):
			now.command += "\n" + line
		case console && now != nil:
			now.shown = append(now.shown, line)
		case !fenced:
			if m := consoleMarker.FindStringSubmatch(line); m != nil && m[1] == "want" {
				want = append(want, m[2])
			} else if m != nil {
				exit = m[2]
			}
		}
	}
	if len(want) > 0 || exit != "" {
		t.Errorf("a marker stands in front of no console block")
	}
	return all
}

// chapterPatience bounds a chapter that hangs. It is no expectation of speed.
const chapterPatience = 8 * time.Minute

// localPort is an address that a chapter uses on this machine.
var localPort = regexp.MustCompile(`localhost:[0-9]{4}\b`)

// runChapter types a chapter into one shell, as a reader does, in an empty folder. Ports
// of the page become free ones.
func runChapter(t *testing.T, name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "loupe stacks $") && !mayLook() {
		t.Skip("this user may not look into other processes")
	}
	all := lessons(t, string(text))
	if len(all) < 3 {
		t.Fatalf("only %d commands: are they found?", len(all))
	}
	dir, logs := t.TempDir(), t.TempDir()
	ports := map[string]string{}
	script := strings.Builder{}
	script.WriteString("set -m\nHISTFILE=\n")
	for i, l := range all {
		command := localPort.ReplaceAllStringFunc(l.command, func(addr string) string {
			if ports[addr] == "" {
				ports[addr] = unusedAddress(t)
			}
			return ports[addr]
		})
		fmt.Fprintf(&script, "{ %s\n} > %[2]s/%[3]d.out 2>&1\necho $? > %[2]s/%[3]d.code\n", command, logs, i)
	}
	file := filepath.Join(logs, "chapter.sh")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), chapterPatience)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", file)
	bash.WaitDelay = time.Second // what it leaves in the background may hold its output
	bash.Dir = dir
	bash.Env = append(os.Environ(), goEnvironment(t)...)
	bash.Env = append(bash.Env, "PWD="+dir, "HOME="+dir+"/home", "XDG_CACHE_HOME="+filepath.Join(logs, "cache"), "COLUMNS=100")
	bash.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	out, err := bash.CombinedOutput()
	left := sessionOf(bash.Process.Pid)
	for deadline := time.Now().Add(patience / 3); len(left) > 0 && ctx.Err() == nil && time.Now().Before(deadline); left = sessionOf(bash.Process.Pid) {
		time.Sleep(20 * time.Millisecond) // those that were told to end may still do so
	}
	for _, pid := range left {
		t.Errorf("the chapter leaves process %d running", pid)
		syscall.Kill(pid, syscall.SIGKILL)
	}
	t.Logf("%d commands; the shell says: %v %s", len(all), err, out)
	for i, l := range all {
		said, err := os.ReadFile(fmt.Sprintf("%s/%d.out", logs, i))
		if err != nil {
			t.Fatalf("line %d: %s: it was not run", l.line, l.command)
		}
		answer := string(said)
		for page, real := range ports {
			answer = strings.ReplaceAll(answer, real, page)
		}
		code, _ := os.ReadFile(fmt.Sprintf("%s/%d.code", logs, i))
		if wrong := l.check(answer, strings.TrimSpace(string(code))); len(wrong) > 0 {
			t.Errorf("line %d: %s\n%s\nit said:\n%s", l.line, l.command, strings.Join(wrong, "\n"), answer)
		}
	}
}

// check says what is wrong with an answer.
func (l *lesson) check(answer, code string) (wrong []string) {
	if l.exit != "any" && !slices.Contains(strings.Split(l.exit, "|"), code) {
		wrong = append(wrong, fmt.Sprintf("it ended with %q, want %s", code, l.exit))
	}
	flat := blanks.ReplaceAllString(answer, " ")
	for _, line := range l.shown {
		line = strings.TrimSpace(line)
		if line == "" || line == "…" || figures.MatchString(line) {
			continue
		}
		var parts []string
		for _, part := range ellipsis.Split(line, -1) {
			if part = strings.TrimSpace(part); part != "" {
				parts = append(parts, regexp.QuoteMeta(blanks.ReplaceAllString(part, " ")))
			}
		}
		if !regexp.MustCompile(strings.Join(parts, ".*")).MatchString(flat) {
			wrong = append(wrong, fmt.Sprintf("it did not say %q", line))
		}
	}
	for _, want := range l.want {
		re, err := regexp.Compile(want)
		if err != nil || !re.MatchString(flat) {
			wrong = append(wrong, fmt.Sprintf("it does not match %s (%v)", want, err))
		}
	}
	return wrong
}

// unusedAddress is one of this machine where nobody listens.
func unusedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return "localhost:" + port
}

// sessionOf lists the processes of a session, as /proc tells them.
func sessionOf(session int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended since
		}
		_, after, ok := strings.Cut(string(text), ") ")
		f := strings.Fields(after)
		if !ok || len(f) < 4 || f[0] == "Z" || f[3] != fmt.Sprint(session) {
			continue
		}
		var pid int
		if _, err := fmt.Sscan(string(text), &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestCourseChecks wants that the comparison of shown and real output can fail.
func TestCourseChecks(t *testing.T) {
	f := func(page, answer, code, want string) {
		t.Helper()
		got := ""
		for _, l := range lessons(t, page) {
			got += strings.Join(l.check(answer, code), "; ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
	const page = "```console\n$ loupe x\nthe lock … is held\n  12 waits  of\n```\n"
	f(page, "for main.go the lock\n  c.mu   is held", "0", "")
	f(page, "the lock is gone", "0", `it did not say "the lock … is held"`)
	f(page, "the lock is held", "1", `it ended with "1", want 0`)
	f("<!-- exit 0|3 -->\n"+page, "the lock is held", "3", "")
	f("<!-- want [0-9]+ waits -->\n"+page, "the lock is held: 3 waits", "0", "")
	f("<!-- want [0-9]+ waits -->\n"+page, "the lock is held", "0", "it does not match [0-9]+ waits (<nil>)")
	if n := len(lessons(t, "```console\n$ a \\\n  b\n$ c\n```\n\n\t$ d\n")); n != 2 {
		t.Errorf("%d commands, want 2", n)
	}
}

// TestGlossary wants that links to terms of the glossary lead to one, and that no entry
// is longer than 300 words.
func TestGlossary(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	terms := map[string]bool{}
	for _, entry := range strings.Split(string(text), "\n## ")[1:] {
		name, words, _ := strings.Cut(entry, "\n")
		terms[strings.ReplaceAll(strings.ToLower(name), " ", "-")] = true
		if n := len(strings.Fields(words)); n > 300 || n < 10 {
			t.Errorf("%s: %d words", name, n)
		}
	}
	for _, page := range shownPages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		link := glossaryLink
		if filepath.Base(page) == "glossary.md" {
			link = ownLink
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if !terms[m[1]] {
				t.Errorf("%s: the glossary has no %s", page, m[1])
			}
		}
	}
}

var (
	glossaryLink = regexp.MustCompile(`glossary\.md#([a-z-]+)`)
	ownLink      = regexp.MustCompile(`\]\(#([a-z-]+)`)
)
