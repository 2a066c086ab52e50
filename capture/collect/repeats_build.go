package collect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// mostBuilds is how often a program is built until the copies of its source compile: each time without what the compiler has refused so far.
const mostBuilds = 5

// buildCounted builds a program once more, so that it counts its calls: those of other modules' functions too, where that compiles.
func buildCounted(ctx context.Context, r *Recorder, temp string) (*Program, Counted, error) {
	p := r.prog
	packages, lines, err := ownPackages(ctx, p, temp)
	if err != nil {
		return nil, nil, err
	}
	c := &countable{packages: packages, lines: lines, dir: p.compile.Dir, program: p.Target.Package}
	minor := toolchainIn(ctx, temp, p.compile.Dir).minor
	first := ""
	for try := range mostBuilds {
		prog, counted, err := buildCopies(ctx, r, c, minor, temp)
		var words refused
		switch {
		case err == nil:
			for _, note := range c.left() {
				r.w.Note(note + ": " + first)
			}
			return prog, counted, nil
		case !errors.As(err, &words) && first != "":
			return nil, nil, fmt.Errorf("%w (at first: %s)", err, first)
		case !errors.As(err, &words):
			return nil, nil, err
		case first == "":
			first = firstLine(words)
		}
		if ctx.Err() != nil || !c.less(string(words), try == mostBuilds-2) {
			break
		}
	}
	return nil, nil, errors.New("the program could not be built so that it counts: " + first)
}

// refused is what the compiler says of copies that it does not compile.
type refused string

func (e refused) Error() string { return string(e) }

// countable is what is counted of a program, as far as it compiles.
type countable struct {
	packages map[string][]string // the paths of files, by those of packages
	lines    map[string]bool     // packages in which calls of libraries are counted at their lines
	dir      string              // where it is built
	program  string              // the import path of the package "main"

	inexact []string // packages without the latter, as they did not compile
	dropped []string // files that are not counted
}

// left says what is not counted, as it did not compile.
func (c *countable) left() (notes []string) {
	if len(c.inexact) > 0 {
		notes = append(notes, "calls of libraries were not counted at their lines in "+someOf(c.inexact))
	}
	if len(c.dropped) > 0 {
		notes = append(notes, "nothing was counted in "+someOf(c.dropped))
	}
	return notes
}

// someOf names the first of many, in order.
func someOf(all []string) string {
	const most = 5
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	if more := len(all) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), more)
	}
	return strings.Join(all, ", ")
}

// less leaves out what the compiler names by whole paths: in a package the calls of libraries first, and where these are left out the file, or all files where it names
// none of them. all has the former left out everywhere. It tells whether anything was left out.
func (c *countable) less(text string, all bool) bool {
	of := map[string]string{}
	for pkg, files := range c.packages {
		for _, file := range files {
			of[filepath.Clean(file)] = pkg
		}
	}
	before := len(c.inexact) + len(c.dropped)
	files, inexact := map[string]bool{}, map[string]bool{}
	for _, m := range messagesIn(text) {
		file := filepath.Clean(m.file)
		pkg, known := of[file]
		if !known {
			if pkg = m.pkg; pkg == c.program {
				pkg = "main"
			}
		}
		switch {
		case c.lines[pkg]:
			inexact[pkg] = true
		case known:
			files[file] = true
		default: // it names what the file was made of
			for _, file := range c.packages[pkg] {
				files[filepath.Clean(file)] = true
			}
		}
	}
	if all || len(inexact)+len(files) == 0 {
		maps.Copy(inexact, c.lines)
	}
	for pkg := range inexact {
		if c.lines[pkg] {
			c.inexact = append(c.inexact, pkg)
			delete(c.lines, pkg)
		}
	}
	for pkg, all := range c.packages {
		c.packages[pkg] = slices.DeleteFunc(all, func(file string) bool {
			if !files[filepath.Clean(file)] {
				return false
			}
			if short, err := filepath.Rel(c.dir, file); err == nil {
				file = short
			}
			c.dropped = append(c.dropped, filepath.ToSlash(file))
			return true
		})
		if len(c.packages[pkg]) == 0 {
			delete(c.packages, pkg)
		}
	}
	return len(c.inexact)+len(c.dropped) > before
}

// message is one of the compiler: the file that it names, and the package that it compiled.
type message struct{ file, pkg string }

// messageLine is the line of one, which begins with a place.
var messageLine = regexp.MustCompile(`^(\S.*?\.[A-Za-z0-9]+)(:\d+)(:\d+)?: `)

// messagesIn are those of a failed build.
func messagesIn(text string) (all []message) {
	pkg := ""
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			pkg, _, _ = strings.Cut(strings.TrimSpace(name), " ")
		} else if m := messageLine.FindStringSubmatch(line); m != nil {
			all = append(all, message{m[1], pkg})
		}
	}
	return all
}

// ofOriginals writes the messages of a build in dir with whole paths, and for copies the paths of the files that they were laid over. Columns are
// left out: they are those of the copies.
func ofOriginals(text, dir string, originals map[string]string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if m := messageLine.FindStringSubmatch(line); m != nil {
			file := filepath.FromSlash(m[1])
			if !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
			file = filepath.Clean(file)
			line = cmp.Or(originals[file], file) + m[2] + ": " + line[len(m[0]):]
		}
		out.WriteString(line)
	}
	return out.String()
}

// buildCopies builds a program of copies that count.
func buildCopies(ctx context.Context, r *Recorder, what *countable, minor int, temp string) (*Program, Counted, error) {
	p, c := r.prog, r.prog.compile
	counted, err := r.opt.Count(what.packages, minor, runtime.GOARCH, what.lines)
	if err != nil {
		return nil, nil, err
	}
	limited, cancel := context.WithTimeout(ctx, longestBuild)
	defer cancel()
	built, err := Build(limited, BuildOptions{
		Target: c.Target, Test: c.Test, Flags: c.Flags, Dir: c.Dir, Temp: temp,
		Std: func(root string) (map[string]string, error) { return counted.Files(root), nil },
	})
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		return nil, nil, fmt.Errorf("the program could not be built so that it counts within %v", longestBuild)
	case err != nil:
		return nil, nil, err
	case built.refused != nil:
		return nil, nil, refused(ofOriginals(built.refused.Error(), c.Dir, originals(temp)))
	case !built.Std:
		return nil, nil, errors.New("the program could not be built so that it counts: " + strings.Join(built.Notes, "; "))
	}
	built.Dir, built.Target.Name = p.Dir, p.Target.Name
	return built, counted, nil
}

// beforeGenerics are the versions of the language in a go.mod that have no generics; without one it is that of Go 1.16.
var beforeGenerics = regexp.MustCompile(`^$|^1\.([0-9]|1[0-7])($|[^0-9])`)

// ownPackages are those of the user's modules that the program is built of, with their files; generic are those whose language has generics.
func ownPackages(ctx context.Context, p *Program, temp string) (out map[string][]string, generic map[string]bool, err error) {
	c := p.compile
	words := slices.Concat([]string{"list", "-e", "-deps", "-json=ImportPath,Name,Dir,GoFiles,CgoFiles,Standard,Module"}, tagFlags(c.Flags),
		[]string{"--"}, strings.Split(c.Target, ","))
	text, err := run(goCommand(ctx, temp, c.Dir, words...))
	if err != nil {
		return nil, nil, fmt.Errorf("cannot list the packages of %s: %w", p.Target.Name, err)
	}
	modules, order := p.Modules(), []string(nil)
	out, generic = map[string][]string{}, map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(text))
	for dec.More() {
		var g goPackage
		if err := dec.Decode(&g); err != nil {
			return nil, nil, fmt.Errorf("cannot read the answer of go list: %w", err)
		}
		own := g.Module == nil || slices.Contains(modules, g.Module.Path)
		if g.Standard || !own || len(g.CgoFiles) > 0 {
			continue
		}
		of := g.ImportPath
		if g.Name == "main" {
			of = "main"
		}
		for _, name := range g.GoFiles {
			if !filepath.IsAbs(name) {
				name = filepath.Join(g.Dir, name)
			}
			out[of] = append(out[of], name)
		}
		generic[of] = g.Module == nil || !beforeGenerics.MatchString(g.Module.GoVersion)
		order = append(order, of)
	}
	if len(out) == 0 {
		return nil, nil, errors.New("the program has no package of its own module")
	}
	// What a package imports stands before it: what is left out lies deepest.
	for _, of := range order[:max(0, len(order)-mostPackages)] {
		delete(out, of)
	}
	return out, generic, nil
}
