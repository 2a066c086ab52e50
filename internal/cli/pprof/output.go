package pprof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"loupe/analysis/pprof"
	"loupe/internal/cli/command"
	"loupe/internal/cli/pages"
	"loupe/report"
)

func (s *pprofSession) env() *pprof.Env {
	return &pprof.Env{Source: s.source, Binary: s.find.Binary, Warn: s.warn}
}

// source finds a source file of the profile.
func (s *pprofSession) source(file string, cfg *pprof.Config) ([]byte, error) {
	return s.find.Source(s.p, file, cfg)
}

// generate prints a report: to standard output, to the file that the options
// name, or into a viewer.
func (s *pprofSession) generate(words []string, cfg pprof.Config) error {
	r, err := pprof.New(s.p, words, cfg, s.env())
	if err != nil {
		return command.Usage(err)
	}
	if s.flags.why && r.Command.Name == "list" {
		return s.to(cfg.Output, func(w io.Writer) error { return noMatch(s.writeWhy(w, r)) })
	}
	if s.flags.json {
		return s.to(cfg.Output, func(w io.Writer) error { return noMatch(report.WriteProfileJSON(w, r)) })
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
	case c.File != "" && (s.interact || command.IsTerminal(s.e.Stdout)):
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
func (s *pprofSession) stdout() io.Writer { return interruptible{s.e, s.e.Plain()} }

type interruptible struct {
	e *command.Env
	w io.Writer
}

func (i interruptible) Write(b []byte) (int, error) {
	if err := i.e.Ctx.Err(); err != nil {
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
	file, err := command.CreateFile(name)
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
		return webList(w, r)
	default:
		var dot bytes.Buffer
		if err := r.Write(&dot); err != nil {
			return err
		}
		cmd := exec.CommandContext(s.e.Ctx, "dot", "-T"+format)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = &dot, w, s.e.Stderr
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
		viewers = pages.Browsers()
	case "gv":
		viewers = [][]string{{"gv", "--noantialias"}}
	}
	for _, v := range viewers {
		cmd := exec.CommandContext(context.WithoutCancel(s.e.Ctx), v[0], append(v[1:], file.Name())...)
		cmd.Stderr = s.e.Stderr
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
