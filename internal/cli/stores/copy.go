// Package stores opens stores by what people call them, copies all profiles of one into another,
// and brings sealed blocks to an archive.
package stores

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"loupe/internal/cli/command"
	"loupe/store"
	"loupe/store/blob/s3"
	"loupe/store/block"
	"loupe/store/transfer"
	"loupe/value/unit"
)

// mover is an engine that profiles can be copied out of and into: each that there is.
type mover interface {
	store.Exporter
	store.Importer
}

// openStore opens a store by what -copy calls it: a folder, or a database of ClickHouse. shown
// is its name without secrets.
func openStore(ctx context.Context, name string) (e mover, shown string, err error) {
	if strings.HasPrefix(name, s3.Scheme) {
		return nil, "", command.Usagef("-copy: an archive cannot be copied to; loupe serve -archive %s fills it", name)
	}
	engine, shown, err := open(ctx, "-copy", name)
	if err != nil {
		return nil, "", err
	}
	e, ok := engine.(mover)
	if !ok {
		return nil, "", errors.Join(fmt.Errorf("BUG: profiles cannot be copied out of or into %T", engine), engine.Close())
	}
	return e, shown, nil
}

// openSource opens what is copied from. It must be a store already: to make an empty one of a
// name that was mistyped would look like a copy of nothing.
func openSource(env *command.Env, name, temp string) (from store.Exporter, c io.Closer, shown string, err error) {
	if strings.HasPrefix(name, s3.Scheme) {
		from, c, err = openArchive(env, name, temp)
		return from, c, name, err
	}
	if scheme := strings.Contains(name, "://"); !scheme && !block.Is(name) {
		return nil, nil, "", command.Usagef("-copy: %s is not the folder of a store: it has no manifest.json", name)
	} else if scheme {
		there, err := databaseExists(env.Ctx, name)
		if err != nil {
			return nil, nil, "", err
		}
		if !there {
			return nil, nil, "", command.Usagef("-copy: there is no store of loupe in the database that FROM names")
		}
	}
	e, shown, err := openStore(env.Ctx, name)
	if err != nil {
		return nil, nil, "", err
	}
	return e, e, shown, nil
}

// Copy is loupe serve -copy.
func Copy(e *command.Env, from, to string) error {
	defer e.Keeps()()
	return e.WithTemp(func(temp string) error { return copyAll(e, from, to, temp) })
}

// copyAll copies with a folder for what is brought here.
func copyAll(e *command.Env, from, to, temp string) (err error) {
	if same(from, to) {
		return command.Usagef("-copy: FROM and TO are both %s", from)
	}
	source, closer, from, err := openSource(e, from, temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	dest, to, err := openStore(e.Ctx, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dest.Close()) }()
	report, err := transfer.Copy(e.Ctx, source, dest, transfer.Options{Tell: func(d transfer.Day) {
		fmt.Fprintf(e.Stderr, "%s: %s, %s copied\n", d.Day.Format(time.DateOnly), unit.Plural(d.Profiles, "profile"), unit.Count(int64(d.Written)))
	}})
	switch {
	case errors.Is(err, context.Canceled) && e.Ctx.Err() != nil:
		fmt.Fprintf(e.Stderr, "Interrupted: %s copied. Repeat the command to continue.\n", unit.Plural(report.Written, "profile"))
		return command.Exit(command.ExitInterrupted)
	case err != nil && !errors.Is(err, transfer.ErrDiffer):
		return fmt.Errorf("%w (%s copied; repeat the command to continue)", err, unit.Count(report.Written))
	}
	return errors.Join(err, command.Buffered(e.Stdout, func(w io.Writer) error { return writeCopied(w, report, from, to) }))
}

// same tells whether two names are one folder.
func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || errX == nil && errY == nil && os.SameFile(x, y)
}

// writeCopied says what both sides have, by type.
func writeCopied(w io.Writer, r *transfer.Report, from, to string) error {
	type sum struct {
		typ            store.Type
		series         int
		profiles       int64
		from, to       int64
		different      int
		firstDifferent store.Labels
	}
	sums := map[store.Type]*sum{}
	for _, l := range r.Lines {
		s := sums[l.Type]
		if s == nil {
			s = &sum{typ: l.Type}
			sums[l.Type] = s
		}
		s.series++
		s.profiles += l.Profiles
		s.from += l.From
		s.to += l.To
		if l.From != l.To {
			if s.different++; s.different == 1 {
				s.firstDifferent = l.Labels
			}
		}
	}
	list := make([]*sum, 0, len(sums))
	for _, s := range sums {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *sum) int { return cmp.Compare(a.typ.String(), b.typ.String()) })
	fmt.Fprintf(w, "%s on %s, %s copied now, from %s to %s.\n", unit.Plural(r.Profiles, "profile"), unit.Plural(r.Days, "day"), unit.Count(r.Written), from, to)
	if r.Pins > 0 {
		fmt.Fprintf(w, "%s copied.\n", unit.Plural(r.Pins, "pin"))
	}
	if len(list) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\ntype\tseries\tprofiles\ttotal in FROM\ttotal in TO\t")
	for _, s := range list {
		there, here := unit.Count(s.from)+" "+s.typ.Unit, unit.Count(s.to)+" "+s.typ.Unit
		if s.typ.Over() != store.Sum {
			there, here = "(a state)", "equal in every profile"
		}
		if s.different > 0 {
			here += fmt.Sprintf(" (%s differ, the first is %s)", unit.Plural(s.different, "series"), s.firstDifferent)
		}
		fmt.Fprintf(t, "%s:%s\t%d\t%s\t%s\t%s\t\n", s.typ.Name, s.typ.Sample, s.series, unit.Count(s.profiles), there, here)
	}
	return t.Flush()
}
