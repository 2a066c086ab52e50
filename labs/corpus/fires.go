package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// fires is in which recordings a rule found something.
type fires struct {
	// shown are bugs in whose slow form it did, and in whose fixed form it did not.
	shown []string
	slow  map[string]bool
	// fixed and healthy count those that are to be clean: warnings, and notes.
	fixed, healthy tally
}

// tally counts programs by the gravest of what a rule found in them.
type tally struct{ warned, noted int }

func (n *tally) add(warned bool) {
	if warned {
		n.warned++
	} else {
		n.noted++
	}
}

// keptForm is how the recordings are named that -keep keeps; those of healthy programs are
// named healthy-NAME.
var keptForm = regexp.MustCompile(`^(\d{3})-.*-(slow|fixed)-[0-9a-f]+$`)

// printFires scores all recordings of a folder and prints for each rule where it found
// something: what labs/corpus/fires.txt keeps.
func printFires(w io.Writer, o options) error {
	r, err := newRecorder("", o.keep, nil, o)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(o.keep)
	if err != nil {
		return err
	}
	by := map[string]*fires{}
	get := func(rule string) *fires {
		if by[rule] == nil {
			by[rule] = &fires{slow: map[string]bool{}}
		}
		return by[rule]
	}
	fixed, healthy := 0, 0
	// The slow forms come first, so that what a fixed form has can be taken back.
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int {
		return strings.Compare(formOf(b.Name()), formOf(a.Name()))
	})
	for _, e := range entries {
		form := formOf(e.Name())
		if form == "" {
			continue
		}
		found, err := r.foundIn(filepath.Join(o.keep, e.Name()))
		if err != nil {
			return err
		}
		number := e.Name()[:3]
		switch form {
		case "fixed":
			fixed++
		case "healthy":
			healthy++
		}
		for rule, warned := range found {
			f := get(rule)
			switch form {
			case "slow":
				f.slow[number] = true
			case "fixed":
				delete(f.slow, number)
				f.fixed.add(warned)
			case "healthy":
				f.healthy.add(warned)
			}
		}
	}
	fmt.Fprintf(w, "# Of %d bugs and %d healthy programs, printed by go run ./labs/corpus -fires -keep DIR:\n", fixed, healthy)
	fmt.Fprintf(w, "# a rule; repaired forms of which it warned, and in which it noted something; healthy programs;\n")
	fmt.Fprintf(w, "# bugs in which it found something and in whose repaired form it did not.\n")
	for _, rule := range r.rules {
		f := get(rule)
		for number := range f.slow {
			f.shown = append(f.shown, number)
		}
		slices.Sort(f.shown)
		line := fmt.Sprintf("%s fixed %d %d of %d healthy %d %d of %d shows %s", rule, f.fixed.warned, f.fixed.noted, fixed, f.healthy.warned, f.healthy.noted, healthy, strings.Join(f.shown, " "))
		fmt.Fprintln(w, strings.TrimSpace(line))
	}
	return nil
}

// formOf is the form that a recording is of by its name: slow, fixed or healthy.
func formOf(name string) string {
	if m := keptForm.FindStringSubmatch(name); m != nil {
		return m[2]
	}
	if strings.HasPrefix(name, "healthy-") {
		return "healthy"
	}
	return ""
}

// foundIn reports on a recording and returns the rules that found something, and whether
// they warned.
func (r *recorder) foundIn(rec string) (map[string]bool, error) {
	out, err := exec.Command(r.loupe, "report", "-format", "json", "-fail", "never", rec).Output()
	if err != nil {
		return nil, fmt.Errorf("cannot report on %s: %w", rec, err)
	}
	var s Said
	if err := json.Unmarshal(out, &s); err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for i := range s.Findings {
		if f := &s.Findings[i]; f.State == "finding" {
			found[f.Rule] = found[f.Rule] || f.warns()
		}
	}
	return found, nil
}
