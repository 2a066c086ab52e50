package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// recorder records the forms of bugs with loupe.
type recorder struct {
	dir, temp   string // where the bugs are, and where recordings go
	scratch     string // for the files of the programs
	loupe       string
	full        bool
	busy        int // processes that compute beside
	places      map[int][]Place
	measurement map[string]bool // rules that judge the recording, and not the program
	rules       []string        // of loupe, in the order of the catalogue
}

// newRecorder builds loupe, asks it for its rules, and finds the lines of the bugs.
func newRecorder(dir, temp string, bugs []Truth, o options) (*recorder, error) {
	r := &recorder{dir: dir, temp: temp, scratch: temp, loupe: o.loupe, full: o.full, busy: o.busy, places: map[int][]Place{}, measurement: map[string]bool{}}
	if o.keep != "" {
		keep, err := filepath.Abs(o.keep)
		if err != nil {
			return nil, err
		}
		if r.temp = keep; os.MkdirAll(keep, 0o755) != nil {
			return nil, fmt.Errorf("cannot make the folder %q", keep)
		}
	}
	if r.loupe == "" {
		r.loupe = filepath.Join(temp, "loupe")
		build := exec.Command("go", "build", "-o", r.loupe, "loupe/cmd/loupe")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("cannot build loupe: %w\n%s", err, out)
		}
	}
	out, err := exec.Command(r.loupe, "rules", "-json").Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list the rules of loupe: %w", err)
	}
	var catalogue struct {
		Rules []struct {
			ID          string
			Measurement bool
		}
	}
	if err := json.Unmarshal(out, &catalogue); err != nil {
		return nil, err
	}
	for _, rule := range catalogue.Rules {
		r.measurement[rule.ID] = rule.Measurement
		r.rules = append(r.rules, rule.ID)
	}
	for _, t := range bugs {
		if r.places[t.Number], err = Places(filepath.Join(dir, t.Folder()), t.At); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// said records a form, unless a recording of it is there, and returns what the report
// says.
func (r *recorder) said(t Truth, form string) (s Said, err error) {
	rec, err := r.place(t, form)
	if err != nil {
		return s, err
	}
	if _, err := os.Stat(rec); err != nil {
		if err := r.record(t, form, rec); err != nil {
			return s, errors.Join(err, os.RemoveAll(rec))
		}
	}
	out, err := exec.Command(r.loupe, "report", "-format", "json", "-fail", "never", rec).Output()
	if err != nil {
		return s, fmt.Errorf("cannot report on the %s form: %w", form, err)
	}
	return s, json.Unmarshal(out, &s)
}

// place is where the recording of a form goes. Its name says which sources and which
// load it is of, so that one that is kept is never scored for others.
func (r *recorder) place(t Truth, form string) (string, error) {
	files, err := filepath.Glob(filepath.Join(r.dir, t.Folder(), "*.go"))
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	fmt.Fprintf(sum, "%q %q %q %q %v", t.Load, t.Run, t.Args, t.Bare, r.full)
	if r.busy > 0 {
		fmt.Fprintf(sum, " busy %d", r.busy)
	}
	return filepath.Join(r.temp, fmt.Sprintf("%s-%s-%x", t.Folder(), form, sum.Sum(nil)[:4])), nil
}

// record records a form as the guide tells a user to.
func (r *recorder) record(t Truth, form, rec string) error {
	args := slices.Concat([]string{"run", "-quiet", "-o", rec}, t.Run)
	program := []string{"./" + t.Folder(), "-form", form}
	if t.Load != nil {
		addr, err := freeAddress()
		if err != nil {
			return err
		}
		flags, path := t.Load[:len(t.Load)-1], t.Load[len(t.Load)-1]
		if !r.full {
			args = append(args, "-phases", "bare:"+t.Bare+",allocs,heap,goroutine,cpu:3s,trace,repeats:3s")
		}
		args = slices.Concat(args, flags, []string{"-load", "http://" + addr + path})
		program = append(program, "-addr", addr)
	}
	cmd := exec.Command(r.loupe, slices.Concat(args, program, t.Args)...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "TMPDIR="+r.scratch) // servers that are ended leave their files
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 3 { // 3: something was found
		return fmt.Errorf("the %s form: %w\n%s", form, err, out)
	}
	return nil
}

// freeAddress is one that nobody listens at.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
