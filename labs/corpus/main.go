// Corpus records a collection of performance bugs from public history and scores
// what loupe says of them.
//
//	go run ./labs/corpus                 all of them: most of an hour
//	go run ./labs/corpus -even           those to build on; -odd has those to judge by
//	go run ./labs/corpus -only 4,17      some of them
//	go run ./labs/corpus -tenth 3 -least 50   a tenth, and an error unless half of their causes are found
//	go run ./labs/corpus -healthy        fifteen public programs, of which nothing wrong is known
//	go run ./labs/corpus -busy 3         beside three busy loops
//	go run ./labs/corpus -list           what there is
//	go run ./labs/corpus -fires -keep DIR     where each rule finds something in the recordings that are there
//	go run ./labs/corpus -keep DIR       keep the recordings, and score again those that are there
//
// Every bug is a folder of bugs, which is a module of its own: a small program that
// was written anew after an issue or a commit of a public project, with the flag
// -form slow|fixed, and a truth.txt (see [Truth]) that says what is wrong with it,
// at which line, and how to record it. docs/diagnosis.md tells how to read the table.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if os.Getenv(busyMark) != "" {
		busyLoop()
	}
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

// options are what the command line asks for.
type options struct {
	even, odd, list, full, markdown bool
	healthy, fires                  bool
	tenth, least, busy              int
	only, names                     string
	out, keep, loupe                string
}

func run(args []string, w io.Writer) (err error) {
	var o options
	set := flag.NewFlagSet("corpus", flag.ContinueOnError)
	set.BoolVar(&o.even, "even", false, "record those with even numbers, which are there to build on")
	set.BoolVar(&o.odd, "odd", false, "record those with odd numbers, which are there to judge by")
	set.IntVar(&o.tenth, "tenth", -1, "record a tenth of them, those whose number ends in this `digit`")
	set.IntVar(&o.least, "least", 0, "fail unless of so many `percent` of the bugs that show here the cause is found")
	set.IntVar(&o.busy, "busy", 0, "record beside so many `processes` that compute without end")
	set.StringVar(&o.only, "only", "", "record the bugs of these `numbers`, such as 3,7")
	set.BoolVar(&o.list, "list", false, "list the bugs and record nothing")
	set.BoolVar(&o.full, "full", false, "record the default phases at their default length, twice as long")
	set.BoolVar(&o.markdown, "md", false, "print the tables of docs/diagnosis.md at the end")
	set.BoolVar(&o.healthy, "healthy", false, "record public programs with nothing wrong instead, and print what warns")
	set.BoolVar(&o.fires, "fires", false, "with -keep: record nothing, and print where each rule finds something, for fires.txt")
	set.StringVar(&o.names, "names", "", "with -healthy: the `programs`, such as caddy,scc")
	set.StringVar(&o.out, "o", "", "write the scores to this `file` as JSON")
	set.StringVar(&o.keep, "keep", "", "keep the recordings in this `folder`; those that are there are scored again")
	set.StringVar(&o.loupe, "loupe", "", "use this `program` instead of building loupe")
	if err := set.Parse(args); err != nil {
		return err
	}
	if o.fires {
		if o.keep == "" {
			return errors.New("-fires wants the recordings: -keep DIR")
		}
		return printFires(w, o)
	}
	stop, err := keepBusy(o.busy)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if o.healthy {
		return lookAtHealthy(w, o)
	}
	dir, err := bugsDir()
	if err != nil {
		return err
	}
	all, err := Truths(dir)
	if err != nil {
		return err
	}
	chosen, err := o.choose(all)
	if err != nil {
		return err
	}
	if o.list {
		return printList(w, chosen)
	}
	return scoreAll(w, dir, chosen, o)
}

// choose picks the bugs that the command line names.
func (o options) choose(all []Truth) ([]Truth, error) {
	switch {
	case o.even && o.odd:
		return nil, errors.New("want one of -even and -odd, or neither for both")
	case o.tenth > 9:
		return nil, fmt.Errorf("-tenth: want a digit, not %d", o.tenth)
	}
	var numbers []int
	for _, field := range strings.FieldsFunc(o.only, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(field)
		if err != nil || !slices.ContainsFunc(all, func(t Truth) bool { return t.Number == n }) {
			return nil, fmt.Errorf("-only: there is no bug %q: see -list", field)
		}
		numbers = append(numbers, n)
	}
	return slices.DeleteFunc(slices.Clone(all), func(t Truth) bool {
		even := t.Number%2 == 0
		return o.even && !even || o.odd && even || o.tenth >= 0 && t.Number%10 != o.tenth || numbers != nil && !slices.Contains(numbers, t.Number)
	}), nil
}

// bugsDir is the folder of the bugs in the checkout that the working folder is of.
func bugsDir() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "loupe").Output()
	if err != nil {
		return "", errors.New("want a folder of loupe's checkout as the working folder")
	}
	return filepath.Join(strings.TrimSpace(string(out)), "labs", "corpus", "bugs"), nil
}

// scoreAll records and scores the bugs, and prints a line for each as it comes.
func scoreAll(w io.Writer, dir string, bugs []Truth, o options) (err error) {
	temp, err := os.MkdirTemp("", "corpus")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	rec, err := newRecorder(dir, temp, bugs, o)
	if err != nil {
		return err
	}
	var scores Scores
	scores.describe()
	printHead(w)
	for _, t := range bugs {
		slow, err := rec.said(t, "slow")
		if err == nil {
			var fixed Said
			if fixed, err = rec.said(t, "fixed"); err == nil {
				s := Judge(t, rec.places[t.Number], slow, fixed, rec.measurement)
				scores.Bugs = append(scores.Bugs, s)
				printScore(w, s)
			}
		}
		if err != nil {
			scores.Failed = append(scores.Failed, fmt.Sprintf("%03d: %v", t.Number, err))
			fmt.Fprintf(w, "%03d not recorded: %v\n", t.Number, err)
		}
		scores.describe()
		if o.out != "" {
			if err := scores.write(o.out); err != nil {
				return err
			}
		}
	}
	printSums(w, &scores)
	if o.markdown {
		printMarkdown(w, &scores)
	}
	if len(scores.Failed) > 0 {
		return fmt.Errorf("%d bugs were not recorded", len(scores.Failed))
	}
	return scores.reach(o.least)
}

// reach returns an error unless the causes of so many percent of the bugs are found.
func (c *Scores) reach(least int) error {
	found, shown := 0, 0
	for _, s := range c.Bugs {
		if s.Valid {
			shown++
		}
		if s.Valid && s.Cause {
			found++
		}
	}
	if 100*found < least*shown {
		return fmt.Errorf("of %d bugs the cause was found of %d, want %d%%", shown, found, least)
	}
	return nil
}
