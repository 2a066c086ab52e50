package calltree_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loupe/calltree"
	"loupe/profile"
	"loupe/profile/profiletest"
)

// The oracle is go tool pprof: for every profile and every command line below
// the output must be the same to the byte.
//
// By default it sees the profiles of this process, of small pictures and of
// one package being compiled. LOUPE_ORACLE=full compiles cmd/compile, for
// about 100 profiles more, and LOUPE_ORACLE_DIR adds all files of a folder.

// command is one command line and our way to the same text.
type command struct {
	args []string
	ours func(c *oracleCase) (string, error)
}

func top(index string, opt calltree.TopOptions, args ...string) command {
	return command{append([]string{"-top", "-sample_index=" + index}, args...), func(c *oracleCase) (string, error) {
		var b bytes.Buffer
		samples, h, err := c.samples(index)
		if err != nil {
			return "", err
		}
		err = calltree.WriteTop(&b, h, calltree.Top(c.p.Stacks, samples, opt))
		return b.String(), err
	}}
}

func list(match, index string) command {
	return command{[]string{"-list=" + match, "-sample_index=" + index}, func(c *oracleCase) (string, error) {
		var b bytes.Buffer
		samples, h, err := c.samples(index)
		if err != nil {
			return "", err
		}
		l, err := calltree.List(c.p.Stacks, samples, regexp.MustCompile(match), c.source)
		if err != nil {
			return "", err
		}
		err = calltree.WriteList(&b, h, l)
		return b.String(), err
	}}
}

func commands() []command {
	limits := calltree.PprofDefaults
	with := func(change func(*calltree.TopOptions)) calltree.TopOptions {
		opt := limits
		change(&opt)
		return opt
	}
	byCum := with(func(o *calltree.TopOptions) { o.Order = calltree.ByCum })
	return []command{
		top("", limits),
		top("", byCum, "-cum"),
		top("0", limits),
		top("", with(func(o *calltree.TopOptions) { o.NodeCount = 10 }), "-nodecount=10"),
		top("", with(func(o *calltree.TopOptions) { o.NodeCount, o.Order = 6, calltree.ByCum }), "-nodecount=6", "-cum"),
		top("", with(func(o *calltree.TopOptions) { o.NodeFraction = 0.05 }), "-nodefraction=0.05"),
		top("", with(func(o *calltree.TopOptions) { o.NodeFraction, o.EdgeFraction = 0, 0 }), "-nodefraction=0", "-edgefraction=0"),
		top("", calltree.TopOptions{}, "-trim=false"),
		list(`^runtime\.mallocgc$|^strings\.`, ""),
		list(`main|ssa\.|types2|profiletest`, ""),
		list(`sort|fmt\.`, "0"),
	}
}

type oracleCase struct {
	p   *profile.Profile
	dir string
}

func (c *oracleCase) samples(index string) (calltree.Samples, calltree.Header, error) {
	i, err := c.p.Index(index)
	if err != nil {
		return nil, calltree.Header{}, err
	}
	return c.p.Samples(i), headerOf(c.p, i), nil
}

// source looks for files as pprof does: by absolute path, or else in the
// working directory and above.
func (c *oracleCase) source(file string) ([]byte, error) {
	if filepath.IsAbs(file) {
		return os.ReadFile(file)
	}
	for dir := c.dir; ; dir = filepath.Dir(dir) {
		if data, err := os.ReadFile(filepath.Join(dir, file)); err == nil || dir == filepath.Dir(dir) {
			if err != nil {
				err = fmt.Errorf("could not find file %s on path %s", file, c.dir)
			}
			return data, err
		}
	}
}

func headerOf(p *profile.Profile, index int) calltree.Header {
	h := calltree.Header{
		Comments: p.Comments, DocURL: p.DocURL, Time: p.Time.UTC(), Duration: p.Duration,
		Type: p.SampleTypes[index].Type, Unit: p.SampleTypes[index].Unit,
	}
	if len(p.Mappings) > 0 {
		h.File, h.BuildID = p.Mappings[0].File, p.Mappings[0].BuildID
	}
	return h
}

func TestOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("the oracle runs go tool pprof hundreds of times")
	}
	out, err := exec.Command("go", "tool", "-n", "pprof").Output()
	if err != nil {
		t.Skipf("there is no go tool pprof: %v", err)
	}
	pprof := strings.TrimSpace(string(out))
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	profiles := oracleProfiles(t)
	lines := commands()
	equal := 0
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		data := profiles[name]
		file := filepath.Join(dir, "profile.pb.gz")
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := profile.Decode(data, profile.Options{})
		if err != nil {
			// The compiler writes one file for two builds of one package at
			// times; then the file is no good, and pprof must say so too.
			if exec.Command(pprof, "-top", file).Run() == nil {
				t.Errorf("%s: %v, but pprof reads it", name, err)
			}
			delete(profiles, name)
			continue
		}
		c := &oracleCase{p, dir}
		for _, line := range lines {
			args := append(slices.Clone(line.args), file)
			if slices.ContainsFunc(p.Mappings, func(m profile.Mapping) bool { return !m.HasFunctions }) {
				// With C code inside (the race detector is), pprof asks the
				// binary for names and forgets what the profile says.
				args = slices.Insert(args, 0, "-symbolize=none")
			}
			cmd := exec.Command(pprof, args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "TZ=UTC", "HOME="+dir, "PPROF_TMPDIR="+dir, "PPROF_BINARY_PATH="+dir, "PWD="+dir)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			want, wantErr := cmd.Output()
			got, err := line.ours(c)
			switch {
			case (err != nil) != (wantErr != nil):
				t.Errorf("%s %v: error %v, want %v: %s", name, line.args, err, wantErr, stderr.String())
			case err != nil && !strings.Contains(stderr.String(), err.Error()):
				t.Errorf("%s %v: error %q, want %q", name, line.args, err, stderr.String())
			case got != string(want):
				t.Errorf("%s %v:\n%s", name, line.args, difference(got, string(want)))
			default:
				equal++
			}
		}
	}
	t.Logf("%d profiles, %d of %d outputs are equal", len(profiles), equal, len(profiles)*len(lines))
}

// difference shows the first lines that differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is  %q\nline %d want %q", i+1, a[i], i+1, b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

func oracleProfiles(t *testing.T) map[string][]byte {
	all, err := profiletest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	for i, picture := range pictures {
		all[fmt.Sprint("picture ", i)] = profiletest.Profile(picture, "inuse_space/bytes")
	}
	packages := []string{"strconv"}
	if os.Getenv("LOUPE_ORACLE") == "full" {
		packages = []string{"cmd/compile/..."}
	}
	for _, flag := range []string{"cpuprofile", "memprofile"} {
		dir := t.TempDir()
		args := append([]string{"build", "-gcflags=-" + flag + "=" + dir + string(filepath.Separator)}, packages...)
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Errorf("cannot run the compiler: %v\n%s", err, out)
		}
		addFolder(t, all, dir)
	}
	if dir := os.Getenv("LOUPE_ORACLE_DIR"); dir != "" {
		addFolder(t, all, dir)
	}
	return all
}

func addFolder(t *testing.T, all map[string][]byte, dir string) {
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name()] = data
	}
}

// pictures are shapes that real profiles seldom have.
var pictures = []string{
	// Recursion, and weights that cancel out.
	`
	main.main  main.main  main.main  main.main
	main.f:10  main.f:10  main.g:20  main.h
	main.f:11  main.f:10             main.h
	main.f:10
	= 5        7          -12        0`,
	// Inlined everywhere, partly, and below a dropped function.
	`
	main.main    main.main    main.main   main.main
	main.in:3~   main.in:3    main.out    main.rare
	main.deep:4~ main.deep:4~ main.in:5~  main.in:9~
	= 1000000    1000000      500000      1`,
	// Code without symbols, an empty stack is not possible in a picture.
	`
	?          main.main
	?          ?
	= 2048     3`,
	// The same name in two files.
	`
	main.main     main.main     main.main
	main.f:a.go:3 main.f:b.go:9 main.f:a.go:8
	= 1           2             4`,
	// A negative total and nothing at all.
	`
	main.a  main.b
	= -5000 -100000000`,
	`
	main.a
	= 0`,
}
