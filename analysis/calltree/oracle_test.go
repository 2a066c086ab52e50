package calltree_test

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

// The oracle is go tool pprof: for every profile and every command line below
// the output must be the same to the byte.
//
// By default it sees the profiles of this process, of small pictures, made-up
// ones with what these never have, and of one package being compiled, and a few
// dozen command lines. LOUPE_ORACLE=full takes every report with every
// granularity and option, and compiles cmd/compile (or LOUPE_ORACLE_PACKAGES),
// for about 100 profiles more; LOUPE_ORACLE_DIR adds all files of a folder.

// command is one command line and our way to the same text.
type command struct {
	args []string
	ours func(c *oracleCase) (string, error)
}

// setting is a flag of pprof and the option that it stands for.
type setting struct {
	flag string
	set  func(*asked)
}

// asked is what one command line asks for.
type asked struct {
	opt      calltree.Options
	h        calltree.Header
	index    string
	mean     bool
	noTrim   bool
	maxNodes bool // -nodecount was given
}

func flags(settings ...setting) []setting { return settings }

func value(flag string, set func(*calltree.Options)) setting {
	return setting{flag, func(a *asked) { set(&a.opt) }}
}

var (
	cum          = value("-cum", func(o *calltree.Options) { o.Order = calltree.ByCum })
	noInlines    = value("-noinlines", func(o *calltree.Options) { o.NoInlines = true })
	dropNegative = value("-drop_negative", func(o *calltree.Options) { o.DropNegative = true })
	callTree     = value("-call_tree", func(o *calltree.Options) { o.CallTree = true })
	showColumns  = value("-showcolumns", func(o *calltree.Options) { o.Columns = true })
	means        = setting{"-mean", func(a *asked) { a.mean = true }}
	noTrim       = setting{"-trim=false", func(a *asked) { a.noTrim = true }}
	divide       = setting{"-divide_by=7", func(a *asked) { a.h.DivideBy = 7 }}
	compact      = setting{"-compact_labels", func(a *asked) { a.h.Compact = true }}
	inBytes      = setting{"-unit=kb", func(a *asked) { a.h.OutputUnit = "kb" }}
	trimUsr      = value("-trim_path=/usr:/root", func(o *calltree.Options) {
		o.Path = func(file string) string {
			for _, root := range []string{"/usr/", "/root/"} {
				if rest, ok := strings.CutPrefix(file, root); ok {
					return rest
				}
			}
			return file
		}
	})
)

func granularity(g calltree.Granularity) setting {
	return value("-"+g.String(), func(o *calltree.Options) { o.Granularity = g })
}

func nodeCount(n int) setting {
	return setting{fmt.Sprint("-nodecount=", n), func(a *asked) { a.opt.NodeCount, a.maxNodes = n, true }}
}

func index(i int) setting {
	return setting{fmt.Sprint("-sample_index=", i), func(a *asked) { a.index = strconv.Itoa(i) }}
}

func fraction(nodes, edges float64) setting {
	return setting{fmt.Sprintf("-nodefraction=%g -edgefraction=%g", nodes, edges), func(a *asked) {
		a.opt.NodeFraction, a.opt.EdgeFraction = nodes, edges
	}}
}

// run makes a command of a report ("top", "tree", "dot", "callgrind", or
// "peek" and "list" with a regexp) and its flags.
func run(kind, match string, settings ...setting) command {
	name := "-" + kind
	if match != "" {
		name += "=" + match
	}
	args := []string{name}
	for _, s := range settings {
		args = append(args, strings.Fields(s.flag)...)
	}
	return command{args, func(c *oracleCase) (string, error) {
		a := asked{opt: calltree.PprofDefaults}
		for _, s := range settings {
			s.set(&a)
		}
		return c.text(kind, match, &a)
	}}
}

// text is what pprof's driver does to the options, and our report.
func (c *oracleCase) text(kind, match string, a *asked) (string, error) {
	i, err := c.p.Index(a.index)
	if err != nil {
		return "", err
	}
	h := headerOf(c.p, i)
	h.OutputUnit, h.DivideBy, h.Compact = a.h.OutputUnit, a.h.DivideBy, a.h.Compact
	if a.mean {
		h.Type = "mean_" + h.Type
	}
	opt := a.opt
	if kind == "tree" || kind == "dot" {
		if !a.maxNodes {
			opt.NodeCount = 80
		}
	}
	opt.CallTree = opt.CallTree && (kind == "dot" || kind == "callgrind")
	if a.noTrim || kind == "peek" || kind == "callgrind" {
		opt.NodeCount, opt.NodeFraction, opt.EdgeFraction = 0, 0, 0
	}
	samples := c.samples(i, a.mean)
	var b bytes.Buffer
	switch kind {
	case "top":
		opt.OnlyInlined = true
		err = calltree.WriteTop(&b, h, calltree.New(c.p.Stacks, samples, opt).Ranking())
	case "tree":
		err = calltree.WriteTree(&b, h, calltree.New(c.p.Stacks, samples, opt), nil)
	case "peek":
		err = calltree.WriteTree(&b, h, calltree.New(c.p.Stacks, samples, opt), regexp.MustCompile(match))
	case "dot":
		opt.Visual = true
		opt.Tags = c.tags
		err = calltree.WriteDot(&b, h, calltree.New(c.p.Stacks, samples, opt))
	case "callgrind":
		opt.Granularity, opt.Modules = calltree.Addresses, true
		err = calltree.WriteCallgrind(&b, h, calltree.New(c.p.Stacks, samples, opt))
	case "list":
		var l *calltree.Listing
		if l, err = calltree.List(c.p.Stacks, samples, regexp.MustCompile(match), c.source, opt); err == nil {
			err = calltree.WriteList(&b, h, l)
		}
	}
	return b.String(), err
}

// commands are a few dozen command lines, or all that make sense.
func commands(full bool) []command {
	list := []command{
		run("top", ""), run("top", "", cum), run("top", "", index(0)), run("top", "", nodeCount(10)),
		run("top", "", nodeCount(6), cum), run("top", "", fraction(0.05, 0.001)), run("top", "", fraction(0, 0)),
		run("top", "", noTrim, divide), run("top", "", means, compact), run("top", "", dropNegative, noInlines),
		run("top", "", granularity(calltree.Lines), showColumns), run("top", "", granularity(calltree.Addresses), inBytes),
		run("top", "", granularity(calltree.FileFunctions), trimUsr),
		run("tree", ""), run("tree", "", cum, means, granularity(calltree.Lines)), run("tree", "", nodeCount(12), noInlines),
		run("tree", "", granularity(calltree.Files), dropNegative), run("tree", "", granularity(calltree.Addresses), index(0)),
		run("peek", "."), run("peek", "main|malloc", granularity(calltree.Lines), noInlines), run("peek", "^no such function$"),
		run("dot", ""), run("dot", "", cum, granularity(calltree.Files)), run("dot", "", noTrim, granularity(calltree.Lines)),
		run("dot", "", nodeCount(15), granularity(calltree.Addresses), means), run("dot", "", noInlines, dropNegative, index(0), divide),
		run("callgrind", ""), run("callgrind", "", noInlines, index(0)), run("callgrind", "", callTree),
		run("list", `^runtime\.mallocgc$|^strings\.`), run("list", `main|ssa\.|types2|profiletest`, noInlines),
		run("list", `sort|fmt\.`, index(0), trimUsr), run("list", ".", means, dropNegative),
	}
	if !full {
		return list
	}
	for _, kind := range [][2]string{{"top", ""}, {"tree", ""}, {"peek", "."}, {"dot", ""}} {
		for g := calltree.Functions; g <= calltree.Addresses; g++ {
			for _, s := range [][]setting{{cum}, {noInlines}, {nodeCount(20)}, {nodeCount(9), cum}, {dropNegative}, {means}, {index(0), noTrim}, {showColumns, divide}} {
				list = append(list, run(kind[0], kind[1], append(flags(granularity(g)), s...)...))
			}
		}
	}
	for _, kind := range [][2]string{{"callgrind", ""}, {"list", "."}} {
		for _, s := range [][]setting{{}, {cum}, {noInlines}, {dropNegative}, {means}, {index(0)}, {callTree}, {callTree, noInlines}, {trimUsr}} {
			list = append(list, run(kind[0], kind[1], s...))
		}
	}
	return list
}

type oracleCase struct {
	p   *profile.Profile
	dir string
}

// samples are those of one sample type, with the values of the first one as
// divisors for a mean.
func (c *oracleCase) samples(index int, mean bool) iter.Seq[calltree.Sample] {
	return func(yield func(calltree.Sample) bool) {
		for i, id := range c.p.StackIDs {
			s := calltree.Sample{Stack: id, Weight: c.p.Values[index][i]}
			if mean {
				s.Divisor = c.p.Values[0][i]
			}
			if c.p.LabelSets != nil {
				s.Labels = uint32(c.p.LabelSets[i])
			}
			if !yield(s) {
				return
			}
		}
	}
}

// tags tells labels as pprof shows them in pictures: of numbers only bytes.
func (c *oracleCase) tags(set uint32) (s calltree.LabelSet) {
	var labels []string
	for _, l := range c.p.Labels(profile.LabelSet(set)) {
		if !l.Numeric {
			labels = append(labels, l.Key+":"+l.Str)
		} else if l.Key == "bytes" {
			s.Numbers = append(s.Numbers, calltree.Number{Name: calltree.Format(l.Num, "bytes", "minimum"), Unit: "bytes", Value: l.Num})
		}
	}
	slices.Sort(labels)
	s.Labels = strings.Join(labels, `\n`)
	return s
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
		t.Fatalf("there is no go tool pprof: %v", err)
	}
	pprof := strings.TrimSpace(string(out))
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	profiles := oracleProfiles(t)
	lines := commands(os.Getenv("LOUPE_ORACLE") == "full")
	equal, order, choice := 0, 0, 0
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
			ask := func() (string, string, error) {
				cmd := exec.Command(pprof, args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "TZ=UTC", "HOME="+dir, "PPROF_TMPDIR="+dir, "PPROF_BINARY_PATH="+dir, "PWD="+dir)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				return string(out), stderr.String(), err
			}
			want, stderr, wantErr := ask()
			got, err := line.ours(c)
			switch {
			case (err != nil) != (wantErr != nil):
				t.Errorf("%s %v: error %v, want %v: %s", name, line.args, err, wantErr, stderr)
			case err != nil && !strings.Contains(stderr, err.Error()):
				t.Errorf("%s %v: error %q, want %q", name, line.args, err, stderr)
			case got == want:
				equal++
			default:
				switch how := undecided(got, want, ask); how {
				case "order":
					order++
				case "choice":
					choice++
					t.Logf("%s %v: %s", name, line.args, how)
				default:
					t.Errorf("%s %v:\n%s", name, line.args, difference(got, want))
				}
			}
		}
	}
	t.Logf("%d profiles, %d of %d outputs are equal, %d in all but an order that varies in pprof, %d where pprof varies in more",
		len(profiles), equal, len(profiles)*len(lines), order, choice)
}

// undecided tells whether pprof has no fixed answer: "order" when ours is the
// same but for the order, or was seen once; "choice" when pprof has kept other
// nodes in another run. Two nodes that print the same, such as two functions
// of one file with granularity files, or one function in two contexts of a
// call tree, stand in the order of a map in pprof, and what NodeCount keeps of
// them is chance.
func undecided(got, want string, ask func() (string, string, error)) string {
	form, first := canonical(got), canonical(want)
	same, varies, choice := form == first, false, false
	for i := range 60 { // the order of a small map is often the same
		if same && varies {
			return "order"
		}
		if choice && i > 12 {
			break
		}
		again, _, _ := ask()
		other := canonical(again)
		same = same || other == form
		varies = varies || again != want
		choice = choice || other != first
	}
	if choice {
		return "choice"
	}
	return ""
}

var (
	dotIDs  = regexp.MustCompile(`\bN+\d+(_\d+)?\b|id="[^"]*"`)
	oneOf   = regexp.MustCompile(` \[\d+/(\d+)\]$`)
	numbers = regexp.MustCompile(`^\((\d+)\)( (.*))?$`)
)

// canonical is an output without what follows from the order of its nodes:
// numbers of nodes, relative addresses and the order of lines.
func canonical(text string) string {
	lines := strings.Split(dotIDs.ReplaceAllString(text, "N"), "\n")
	if strings.HasPrefix(text, "positions:") {
		var before, current int64
		names := map[string]string{} // by kind and number
		address := func(s string) string {
			if s == "*" {
				return fmt.Sprint(before)
			}
			n, _ := strconv.ParseInt(s, 0, 64)
			if s[0] == '+' || s[0] == '-' {
				n += before
			}
			return fmt.Sprint(n)
		}
		where := ""
		for i, line := range lines {
			key, value, named := strings.Cut(line, "=")
			words := strings.Fields(line)
			switch {
			case named && key == "calls":
				words = strings.Fields(value)
				lines[i] = where + " calls " + lines[i-1] + " at " + address(words[1]) + ":" + words[2] + " weight" + lines[i+1]
			case named:
				kind := key[max(0, len(key)-2):]
				if m := numbers.FindStringSubmatch(value); m != nil && m[2] != "" {
					names[kind+m[1]] = m[3]
				} else if m != nil {
					value = names[kind+m[1]]
				}
				if m := numbers.FindStringSubmatch(value); m != nil {
					value = m[3]
				}
				lines[i] = key + "=" + oneOf.ReplaceAllString(value, "")
			case len(words) == 3 && words[1] != "*":
				before, current = current, 0
				where = address(words[0])
				current, _ = strconv.ParseInt(where, 10, 64)
				lines[i] = where + " " + words[1] + " " + words[2]
			}
		}
		// Names stand where they change.
		lines = slices.DeleteFunc(lines, func(s string) bool {
			return s == "" || strings.HasPrefix(s, "ob=") || strings.HasPrefix(s, "fl=") || strings.HasPrefix(s, "fn=") || strings.HasPrefix(s, "* *")
		})
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
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
	maps.Copy(all, fuzzed(t))
	for i, picture := range pictures {
		all[fmt.Sprint("picture ", i)] = profiletest.Profile(picture, "inuse_space/bytes")
	}
	packages := []string{"strconv"}
	if os.Getenv("LOUPE_ORACLE") == "full" {
		packages = []string{"cmd/compile/..."}
		if some := os.Getenv("LOUPE_ORACLE_PACKAGES"); some != "" {
			packages = strings.Fields(some)
		}
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
