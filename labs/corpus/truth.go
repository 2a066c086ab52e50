package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Truth is what is known of a bug: the file truth.txt in its folder, lines of the form
// "key: value".
type Truth struct {
	// Number and Name are those of the folder, 007-name.
	Number int
	Name   string
	// Source is the issue or commit of a public project that it is after.
	Source string
	// Wrong says in one sentence what is wrong.
	Wrong string
	// Class is one of [Classes].
	Class string
	// Load are the flags of loupe load and, last, the path to ask for. A program
	// without a load ends by itself.
	Load []string
	// Run are flags of loupe run besides those that choose what is recorded.
	Run []string
	// Args are arguments of the program besides -form and -addr.
	Args []string
	// Bare is how long the bare phase is in a short recording.
	Bare string
	// At are the lines at fault. It is empty where the fault is in no line, as with
	// a variable of the environment.
	At []Mark
	// Rules are those whose finding names the cause.
	Rules []string
	// Advice are words of which the advice must have one.
	Advice []string
	// Figure is what the bug makes worse: the id of a row of loupe compare.
	Figure string
	// Effect is how many times worse it is at least.
	Effect float64
}

// Mark is a line of a program: the one in a function that has a text in it.
type Mark struct {
	File, Function, Text string
}

// Classes are what bugs are sorted by.
var Classes = []string{"cpu", "connections", "locks", "leaks", "off-cpu", "runtime", "kept", "again"}

// Folder is the name of the bug's folder.
func (t Truth) Folder() string { return fmt.Sprintf("%03d-%s", t.Number, t.Name) }

// Truths reads those of all bugs, by their numbers.
func Truths(dir string) ([]Truth, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "truth.txt"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var all []Truth
	for _, file := range files {
		t, err := readTruth(file)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", file, err)
		}
		if n := len(all); n > 0 && all[n-1].Number == t.Number {
			return nil, fmt.Errorf("%s and %s have the same number", all[n-1].Folder(), t.Folder())
		}
		all = append(all, t)
	}
	return all, nil
}

var folderName = regexp.MustCompile(`^(\d{3})-([a-z0-9-]+)$`)

func readTruth(file string) (t Truth, err error) {
	name := folderName.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
	if name == nil {
		return t, fmt.Errorf("want a folder such as 007-name")
	}
	t.Number, _ = strconv.Atoi(name[1]) // three digits
	t.Name, t.Bare = name[2], "5s"
	f, err := os.Open(file)
	if err != nil {
		return t, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		key, value, _ := strings.Cut(line, ":")
		if err := t.set(key, strings.TrimSpace(value)); err != nil {
			return t, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return t, err
	}
	return t, t.check()
}

func (t *Truth) set(key, value string) (err error) {
	switch key {
	case "source":
		t.Source = value
	case "wrong":
		t.Wrong = value
	case "class":
		t.Class = value
	case "load":
		t.Load = strings.Fields(value)
	case "run":
		t.Run = strings.Fields(value)
	case "args":
		t.Args = strings.Fields(value)
	case "bare":
		t.Bare = value
	case "at":
		part := strings.SplitN(value, " ", 3)
		if len(part) != 3 {
			return fmt.Errorf("at: want a file, a function and a text of the line")
		}
		t.At = append(t.At, Mark{File: part[0], Function: part[1], Text: part[2]})
	case "rules":
		t.Rules = strings.Fields(value)
	case "advice":
		for word := range strings.SplitSeq(value, ",") {
			t.Advice = append(t.Advice, strings.TrimSpace(word))
		}
	case "effect":
		figure, times, _ := strings.Cut(value, " ")
		t.Figure = figure
		t.Effect, err = strconv.ParseFloat(times, 64)
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return err
}

// check tells what is missing.
func (t *Truth) check() error {
	switch {
	case !strings.HasPrefix(t.Source, "https://github.com/"):
		return fmt.Errorf("source: want the address of an issue or a commit")
	case t.Wrong == "" || len(t.Rules) == 0 || len(t.Advice) == 0:
		return fmt.Errorf("want wrong, rules and advice")
	case !slices.Contains(Classes, t.Class):
		return fmt.Errorf("class: want one of %s", strings.Join(Classes, ", "))
	case !slices.Contains(Figures, t.Figure) || t.Effect < 1.3:
		return fmt.Errorf("effect: want one of %s, and 1.3 at least", strings.Join(Figures, ", "))
	}
	return nil
}
