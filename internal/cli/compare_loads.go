package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/compare"
	"loupe/loadlog"
	"loupe/report"
	"loupe/source"
)

// areLoads says whether the arguments are load runs that were saved: each a
// file, or several.
func areLoads(args []string) bool {
	if len(args) < 2 {
		return false
	}
	for _, name := range args {
		files, err := loadFiles(name)
		if err != nil || len(files) == 0 || !slices.ContainsFunc(files, isLoad) {
			return false
		}
	}
	return true
}

// isLoad says whether a file is a load log.
func isLoad(name string) bool {
	f, err := source.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len("loupe.load/"))
	n, _ := io.ReadFull(f, head)
	return bytes.HasPrefix(head[:n], []byte("loupe.load/"))
}

// loadFiles returns the files of one side: a file, several with commas between,
// a pattern, or the load logs of a folder that is no recording.
func loadFiles(name string) (files []string, err error) {
	parts := []string{name}
	if _, err := os.Stat(name); err != nil {
		parts = strings.Split(name, ",")
	}
	for _, part := range parts {
		info, err := os.Stat(part)
		switch {
		case err == nil && info.IsDir():
			if _, err := os.Stat(filepath.Join(part, "manifest.json")); err == nil {
				return nil, fmt.Errorf("%s is a recording", part)
			}
			found, _ := filepath.Glob(filepath.Join(part, "*"))
			files = append(files, slices.DeleteFunc(found, func(f string) bool { return !isLoad(f) })...)
		case err == nil:
			files = append(files, part)
		default:
			found, globErr := filepath.Glob(part)
			if globErr != nil || len(found) == 0 {
				return nil, exitError{exitNothing, fmt.Errorf("cannot find %s", part)}
			}
			files = append(files, found...)
		}
	}
	return files, nil
}

// compareLoads lays saved load runs side by side.
func compareLoads(e *env, args []string, format string) error {
	var sides []compare.LoadSide
	var when [][]time.Time
	for _, name := range args {
		files, err := loadFiles(name)
		if err != nil {
			return err
		}
		side := compare.LoadSide{Title: name}
		var starts []time.Time
		for _, file := range files {
			l, err := readLoad(e, file)
			if err != nil {
				return err
			}
			side.Open = side.Open || l.Open
			side.Runs = append(side.Runs, l.Summary())
			starts = append(starts, l.Start)
		}
		sides, when = append(sides, side), append(when, starts)
	}
	return printLoads(e, compare.Loads(sides, loadlog.TookTurns(when)), format)
}

// readLoad reads a load run; of one that is damaged what comes before.
func readLoad(e *env, file string) (*loadlog.Log, error) {
	data, err := source.ReadNamed(file)
	if err != nil {
		return nil, err
	}
	l, err := loadlog.Decode(data)
	if err != nil && (l == nil || l.Len() == 0) {
		return nil, fmt.Errorf("cannot use %s: %w", file, err)
	}
	if err != nil {
		fmt.Fprintf(e.stderr, "%s: %v; it is used up to there\n", file, err)
	}
	return l, nil
}

// printLoads prints a comparison of load runs, and returns what makes the exit
// code 3 when something got worse.
func printLoads(e *env, t *compare.Table, format string) error {
	err := buffered(e.stdout, func(w io.Writer) error {
		switch format {
		case "json":
			return report.WriteJSON(w, t)
		case "md":
			return report.WriteLoadComparisonMarkdown(w, t)
		case "text", "":
			return report.WriteLoadComparison(w, t, e.style())
		}
		return errors.New("BUG: unknown form " + format)
	})
	if err == nil && t.Regressed() {
		return exitError{exitFound, nil}
	}
	return err
}
