package pprof

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"loupe/analysis/pprof"
	"loupe/internal/cli/command"
)

// shell reads commands until the user leaves: line by line from a pipe, with
// editing, history and completion on a terminal.
func (s *pprofSession) shell() error {
	s.interact = true
	if s.e.Stdin != nil && command.IsTerminal(s.e.Stdin) && command.IsTerminal(s.e.Stdout) {
		return s.terminal()
	}
	sh := pprof.NewShell(s.p, s.flags.config, s.e.Stderr, s.warn, s.command)
	sh.Settings = changeSettings
	sh.Greet()
	in := bufio.NewReader(s.e.Stdin)
	for {
		fmt.Fprint(s.e.Stdout, prompt)
		line, err := in.ReadString('\n')
		if line == "" && err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if sh.Exec(line) || s.e.Ctx.Err() != nil {
			return s.e.Ctx.Err()
		}
	}
}

// command is generate without a word about an interrupt, which ends the shell.
func (s *pprofSession) command(words []string, cfg pprof.Config) error {
	if err := s.generate(words, cfg); s.e.Ctx.Err() == nil {
		return err
	}
	return nil
}

const prompt = "(pprof) "

// terminal is the shell on a terminal.
func (s *pprofSession) terminal() error {
	fd := int(s.e.Stdin.Fd())
	screen, _ := command.FileOf(s.e.Stdout) // the line that is edited moves the cursor
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{s.e.Stdin, screen}, prompt)
	history := openHistory()
	defer history.save()
	t.History = history
	sh := pprof.NewShell(s.p, s.flags.config, s.e.Stderr, s.warn, s.command)
	sh.Settings = changeSettings
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		done := sh.Complete(line[:pos])
		return done + line[pos:], len(done), true
	}
	sh.Greet()
	raw := false
	for {
		// The window may have another size now. Some say that theirs is none.
		if w, h, err := term.GetSize(fd); err == nil && w > 0 && h > 0 {
			_ = t.SetSize(w, h) // it has a default
		}
		// Raw mode only while a line is read, so that reports and Ctrl-C
		// during one are as ever.
		state, err := term.MakeRaw(fd)
		if err != nil {
			return err
		}
		if !raw { // as it is now, so is it every time
			raw = true
			s.e.AtAbort(func() { _ = term.Restore(fd, state) })
		}
		line, err := t.ReadLine()
		if err := term.Restore(fd, state); err != nil {
			return err
		}
		if err != nil {
			fmt.Fprintln(s.e.Stdout)
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if sh.Exec(line) || s.e.Ctx.Err() != nil {
			return s.e.Ctx.Err()
		}
	}
}

// history is the lines that were typed, of this session and of those before.
type history struct {
	name  string // of the file; "" when there is no place for it
	lines []string
}

const maxHistory = 500

func openHistory() *history {
	h := &history{}
	dir, err := os.UserCacheDir()
	if err != nil {
		return h
	}
	h.name = filepath.Join(dir, "loupe", "pprof_history")
	data, err := os.ReadFile(h.name)
	if err == nil && len(data) > 0 {
		h.lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
	return h
}

// Add, Len and At are [term.History].
func (h *history) Add(line string) {
	if line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
}

func (h *history) Len() int { return len(h.lines) }

func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }

// save keeps the last lines. That it cannot is no reason to bother the user.
func (h *history) save() {
	if h.name == "" || len(h.lines) == 0 {
		return
	}
	lines := h.lines[max(0, len(h.lines)-maxHistory):]
	if os.MkdirAll(filepath.Dir(h.name), 0o700) == nil {
		_ = os.WriteFile(h.name, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
	}
}
