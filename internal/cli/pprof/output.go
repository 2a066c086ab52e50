package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"loupe/pprof"
	"loupe/report"
)

func (s *pprofSession) env() *pprof.Env {
	return &pprof.Env{Source: s.source, Binary: s.binary, Warn: s.warn}
}

// generate prints a report: to standard output, to the file that the options
// name, or into a viewer.
func (s *pprofSession) generate(command []string, cfg pprof.Config) error {
	r, err := pprof.New(s.p, command, cfg, s.env())
	if err != nil {
		return usageError{err}
	}
	if s.flags.why && r.Command.Name == "list" {
		return s.to(cfg.Output, func(w io.Writer) error { return noMatch(s.writeWhy(w, r)) })
	}
	if s.flags.json {
		return s.to(cfg.Output, func(w io.Writer) error { return noMatch(writePprofJSON(w, r)) })
	}
	write := r.Write
	if r.Command.Image != "" {
		write = func(w io.Writer) error { return s.image(w, r) }
	}
	c := r.Command
	switch {
	case cfg.Output != "":
		s.warn("Generating report in " + cfg.Output)
		return s.to(cfg.Output, func(w io.Writer) error { return noMatch(write(w)) })
	case c.Viewer != "":
		return s.view(c, write)
	case c.File != "" && (s.interact || isTerminal(s.e.stdout)):
		// Nobody wants to see that on a terminal.
		file, err := numberedFile(".", "profile", "."+c.File)
		if err != nil {
			return err
		}
		s.warn("Generating report in " + file.Name())
		err = errors.Join(noMatch(write(file)), file.Close())
		if err != nil {
			os.Remove(file.Name())
		}
		return err
	}
	return noMatch(write(s.stdout()))
}

// stdout is standard output until the user interrupts: a report of half a
// gigabyte ends there.
// On a terminal it shows text alone.
func (s *pprofSession) stdout() io.Writer { return interruptible{s.e, s.e.plain()} }

type interruptible struct {
	e *env
	w io.Writer
}

func (i interruptible) Write(b []byte) (int, error) {
	if err := i.e.ctx.Err(); err != nil {
		return 0, err
	}
	return i.w.Write(b)
}

// to writes a report to a file, or to standard output. The file is made when
// the report is complete: an error leaves what was there before.
func (s *pprofSession) to(name string, write func(io.Writer) error) error {
	if name == "" {
		return write(s.stdout())
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	file, err := createFile(name)
	if err != nil {
		return err
	}
	_, err = file.Write(b.Bytes())
	return errors.Join(err, file.Close())
}

// image draws the call graph. SVG and PNG are our own work, the other formats
// are Graphviz'.
func (s *pprofSession) image(w io.Writer, r *pprof.Report) error {
	picture := func() *report.CallGraph {
		h := r.Header()
		return &report.CallGraph{Graph: r.CallGraph(), Header: h, Title: filepath.Base(h.File)}
	}
	switch format := r.Command.Image; format {
	case "svg":
		return report.CallGraphSVG(w, picture())
	case "png":
		return report.CallGraphPNG(w, picture())
	case "html":
		return s.webList(w, r)
	default:
		var dot bytes.Buffer
		if err := r.Write(&dot); err != nil {
			return err
		}
		cmd := exec.CommandContext(s.e.ctx, "dot", "-T"+format)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = &dot, w, s.e.stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("cannot make a picture in %s without Graphviz (dot: %w): use -svg or -png", strings.ToUpper(format), err)
		}
		return nil
	}
}

// view writes a report to a temporary file and shows it with the first program
// that starts. Where there is none, the file stays and is named.
func (s *pprofSession) view(c *pprof.Command, write func(io.Writer) error) error {
	ending := c.Image
	switch {
	case c.Viewer == "kcachegrind":
		ending = "grind"
	case ending == "":
		ending = "html"
	}
	file, err := numberedFile(os.TempDir(), "pprof", "."+ending)
	if err != nil {
		return err
	}
	if err := errors.Join(noMatch(write(file)), file.Close()); err != nil {
		os.Remove(file.Name())
		return err
	}
	viewers := [][]string{{c.Viewer}}
	switch c.Viewer {
	case "browser":
		viewers = browsers()
	case "gv":
		viewers = [][]string{{"gv", "--noantialias"}}
	}
	for _, v := range viewers {
		cmd := exec.CommandContext(context.WithoutCancel(s.e.ctx), v[0], append(v[1:], file.Name())...)
		cmd.Stderr = s.e.stderr
		if err := cmd.Start(); err != nil {
			continue
		}
		if s.interact { // the next command may be typed meanwhile
			s.temp = append(s.temp, file.Name())
			go func() { _ = cmd.Wait() }() // the viewer's business
			return nil
		}
		return cmd.Wait()
	}
	what := "a web browser"
	if c.Viewer != "browser" {
		what = c.Viewer
	}
	s.warn(fmt.Sprintf("cannot start %s; the report is in %s", what, file.Name()))
	return nil
}

// browsers lists the commands that may show a web page, the likeliest first.
func browsers() (list [][]string) {
	if b := strings.Fields(os.Getenv("BROWSER")); len(b) > 0 {
		list = append(list, b)
	}
	switch runtime.GOOS {
	case "darwin":
		return append(list, []string{"/usr/bin/open"})
	case "windows":
		return append(list, []string{"cmd", "/c", "start"})
	}
	for _, name := range []string{"chrome", "google-chrome", "chromium", "firefox", "sensible-browser"} {
		list = append(list, []string{name})
	}
	if os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "" {
		list = append(list, []string{"xdg-open"})
	}
	return list
}

// settingsFile is where go tool pprof keeps saved options, too.
func settingsFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "pprof", "settings.json"), nil
}

func readSettings() (*pprof.Settings, error) {
	name, err := settingsFile()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	settings, err := pprof.ParseSettings(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return settings, nil
}

// changeSettings reads the saved options, changes them and writes them again.
func changeSettings(change func(*pprof.Settings) error) error {
	settings, err := readSettings()
	if err != nil {
		return err
	}
	if err := change(settings); err != nil {
		return err
	}
	data, err := settings.Encode()
	if err != nil {
		return err
	}
	name, err := settingsFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}
