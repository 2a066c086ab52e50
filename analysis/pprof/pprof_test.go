package pprof_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

func decode(t testing.TB, picture string, types ...string) *profile.Profile {
	t.Helper()
	p, err := profile.Decode(profiletest.Profile(picture, types...), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const search = `
	main.main    main.main    main.main     main.main
	main.parse   main.parse   main.write    main.idle
	main.alloc   main.copy~   main.flush
	= 3          1            2             0
	= 384000     32000        64000         0`

func sample(t testing.TB) *profile.Profile {
	return decode(t, search, "alloc_objects/count", "alloc_space/bytes")
}

// print runs a report and returns its text with the warnings behind it.
func print(t testing.TB, p *profile.Profile, set map[string]string, command ...string) string {
	t.Helper()
	cfg := pprof.Defaults()
	for name, value := range set {
		if err := pprof.FindField(name).Set(&cfg, name, value); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	var warnings []string
	r, err := pprof.New(p, command, cfg, &pprof.Env{Warn: func(s string) { warnings = append(warnings, s) }})
	if err == nil {
		err = r.Write(&b)
	}
	if err != nil {
		warnings = append(warnings, "error: "+err.Error())
	}
	return b.String() + strings.Join(warnings, "\n")
}

func TestReports(t *testing.T) {
	p := sample(t)
	f := func(want string, set map[string]string, command ...string) {
		t.Helper()
		if got := print(t, p, set, command...); !strings.Contains(got, want) {
			t.Errorf("%v %v:\n%s\nwant: %s", command, set, got, want)
		}
	}
	type m = map[string]string
	f("   375kB 80.00% 80.00%      375kB 80.00%  main.alloc\n", nil, "top")
	f("Showing nodes accounting for 406.25kB, 86.67% of 468.75kB total", m{"focus": "parse"}, "top")
	f("Showing nodes accounting for 406.25kB, 100% of 406.25kB total", m{"focus": "parse", "relative_percentages": "true"}, "top")
	f("Active filters:\n   focus=parse\n   ignore=copy\n", m{"focus": "parse", "ignore": "copy"}, "top")
	f("Focus expression matched no samples", m{"focus": "nobody"}, "top")
	f("main.copy (inline)", nil, "traces")
	f("mean_alloc_space", m{"mean": "true"}, "top")
	f("125kB", m{"mean": "true"}, "top")
	f("error: no matches found for regexp: nobody", nil, "peek", "nobody")
	f("error: parsing argument regexp (: error parsing regexp", nil, "list", "(")
	f("error: parsing hide regexp: error parsing regexp", m{"hide": "("}, "top")
	f(`error: unrecognized command: "nonsense"`, nil, "nonsense")
	f("error: zero divisor specified", m{"divide_by": "0"}, "top")
	f(`error: cannot find sample type "x"`, m{"sample_index": "x"}, "top")
	f("digraph", nil, "dot")
	f("events: alloc_space(kB)", nil, "callgrind")
	f("alloc_objects/count alloc_space/bytes\n", nil, "raw")
	f("100%   468.75kB   100%  main\n", m{"group": "package"}, "top")
	f("user code\n", m{"group": "work"}, "top")
	generic := decode(t, "main.F[int]  main.F[string]\n= 1 2", "n/count")
	if got := print(t, generic, m{"fold_generics": "true"}, "top"); !strings.Contains(got, "3   100%   100%          3   100%  main.F[...]\n") {
		t.Errorf("generics folded:\n%s", got)
	}
	if err := pprof.FindField("group").Set(new(pprof.Config), "group", "nonsense"); err == nil {
		t.Error("group=nonsense, but no error")
	}
	if got := print(t, p, m{"focus": "nobody"}, "peek", "nobody"); strings.Contains(got, "flat%") {
		t.Errorf("peek prints a table before it fails:\n%s", got)
	}
}

func TestProto(t *testing.T) {
	p := sample(t)
	cfg := pprof.Defaults()
	cfg.Focus = "parse"
	cfg.DivideBy = 2
	for command, want := range map[string]string{"proto": "[[1 0] [192000 16000]]", "topproto": ""} {
		r, err := pprof.New(p, []string{command}, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
		q, err := profile.Decode(b.Bytes(), profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(q.Values); want != "" && got != want {
			t.Errorf("%s: values %s, want %s", command, got, want)
		}
		if command == "topproto" && (q.SampleTypes[0].Type != "cum" || q.Len() != 4) {
			t.Errorf("topproto: %v, %d samples", q.SampleTypes, q.Len())
		}
	}
}

// TestTagFilters holds ranges and expressions against the labels of four
// samples with the weights 1, 2, 4 and 8.
func TestTagFilters(t *testing.T) {
	p := decode(t, `
		a a a a
		= 1 2 4 8
		@ bytes=16 bytes=1024 bytes=4096 user=bob
		@ user=ann - user=ann -`, "n/count")
	f := func(filter, want string) {
		t.Helper()
		got := "0"
		if out := print(t, p, map[string]string{"tagfocus": filter, "relative_percentages": "true"}, "top"); strings.Contains(out, " of ") {
			_, out, _ = strings.Cut(out, "Showing nodes accounting for ")
			got, _, _ = strings.Cut(out, ",")
		}
		if got != want {
			t.Errorf("tagfocus=%s keeps %s, want %s", filter, got, want)
		}
	}
	f("16b", "1")
	f("1kb", "2")
	f("1kb:", "6")
	f(":1kb", "3")
	f("1kb:4kb", "6")
	f("bytes=17b:2kb", "2")
	f("size=1kb", "0")
	f("user:ann", "5")
	f("user=ann", "5")
	f("user=x,bob", "8")
	f("user,bob", "8")
	f("user", "13")
	f("12ms", "0")
}

func TestShell(t *testing.T) {
	p := sample(t)
	var ran, warned []string
	var out bytes.Buffer
	var saved []byte
	sh := pprof.NewShell(p, pprof.Defaults(), &out, func(s string) { warned = append(warned, s) },
		func(command []string, c pprof.Config) error {
			ran = append(ran, fmt.Sprintf("%s n=%d sort=%s focus=%q ignore=%q tagfocus=%q index=%q mean=%v out=%q", strings.Join(command, " "),
				c.NodeCount, c.Sort, c.Focus, c.Ignore, c.TagFocus, c.SampleIndex, c.Mean, c.Output))
			if command[0] == "raw" {
				return errors.New("no raw today")
			}
			return nil
		})
	sh.Settings = func(change func(*pprof.Settings) error) error {
		s, err := pprof.ParseSettings(saved)
		if err != nil {
			return err
		}
		if err := change(s); err != nil {
			return err
		}
		saved, err = s.Encode()
		return err
	}
	sh.Greet()
	if !strings.Contains(out.String(), "Type: alloc_space\n") || !strings.HasSuffix(out.String(), "(type \"help\" for commands, \"o\" for options)\n") {
		t.Errorf("greeting:\n%s", out.String())
	}
	f := func(line, wantRun, wantWarning, wantOut string) {
		t.Helper()
		ran, warned = nil, nil
		out.Reset()
		if sh.Exec(line) {
			t.Errorf("%q leaves", line)
		}
		if got := strings.Join(ran, "; "); got != wantRun {
			t.Errorf("%q runs %s\nwant %s", line, got, wantRun)
		}
		if got := strings.Join(warned, "; "); got != wantWarning {
			t.Errorf("%q warns %s, want %s", line, got, wantWarning)
		}
		if !strings.Contains(out.String(), wantOut) {
			t.Errorf("%q prints:\n%s\nwant %s", line, out.String(), wantOut)
		}
	}
	const rest = ` tagfocus="" index="" mean=false out=""`
	f("top", `top n=10 sort=flat focus="" ignore=""`+rest, "", "")
	f("top 40 -cum", `top n=40 sort=cum focus="" ignore=""`+rest, "", "")
	f("top10 -cum", `top n=10 sort=cum focus="" ignore=""`+rest, "", "")
	f("tree 10 compress", `tree n=10 sort=flat focus="compress" ignore=""`+rest, "", "")
	f("tree a b -c -d", `tree n=-1 sort=flat focus="a|b" ignore="c|d"`+rest, "", "")
	f("list rssSearch", `list rssSearch n=-1 sort=flat focus="" ignore=""`+rest, "", "")
	f("list", "", "command list requires an argument", "")
	f("tags a", `tags n=-1 sort=flat focus="" ignore="" tagfocus="a" index="" mean=false out=""`, "", "")
	f("svg >a.svg", `svg n=-1 sort=flat focus="" ignore="" tagfocus="" index="" mean=false out="a.svg"`, "", "")
	f("svg > a.svg", `svg n=-1 sort=flat focus="" ignore="" tagfocus="" index="" mean=false out="a.svg"`, "", "")
	f("svg >", "", "unexpected end of line after >", "")
	f("raw", `raw n=-1 sort=flat focus="" ignore=""`+rest, "no raw today", "")
	f("nonsense", "", `unrecognized command: "nonsense"`, "")
	f("focus", "", "please specify a value, e.g. focus=<val>", "")
	f("nodecount 5", "", `did you mean: nodecount=5`, "")
	f("cum", "", "", "")
	f("focus = main //: mine", "", "", "")
	f("sample_index=alloc_objects", "", "", "")
	f("sample_index=nonsense", "", `cannot find sample type "nonsense": choose one of alloc_objects, alloc_space`, "")
	f("top5", `top n=5 sort=cum focus="main" ignore="" tagfocus="" index="alloc_objects" mean=false out=""`, "", "")
	f("save mine", "", "", "")
	f(":", "", "", "")
	f("mean_alloc_space", "", "", "")
	f("top5", `top n=5 sort=cum focus="" ignore="" tagfocus="" index="alloc_space" mean=true out=""`, "", "")
	f("total_alloc_space", "", "", "")
	f("o", "", "", "  sort                      = cum                  //: [cum | flat]")
	f("options", "", "", "  nodecount                 = -1                   //: default")
	f("load", "", "", "  mine\n")
	f("load mine", "", "", "")
	f("top5", `top n=5 sort=cum focus="main" ignore="" tagfocus="" index="alloc_space" mean=false out=""`, "", "")
	f("forget mine", "", "", "")
	f("load mine", "", `nothing is saved under "mine"; load alone lists the names`, "")
	f("help", "", "", "    disasm ")
	f("help top", "", "", "-cum ranks by cumulative weight")
	f("help focus", "", "", "Functions, source files and binaries are matched.")
	f("help lines", "", "", "one entry for each line")
	f("help nonsense", "", "Unknown command: nonsense", "")
	f("", "", "", "")
	for _, line := range []string{"q", "quit", "exit"} {
		if !sh.Exec(line) {
			t.Errorf("%q does not leave", line)
		}
	}
	complete := func(line, want string) {
		t.Helper()
		if got := sh.Complete(line); got != want {
			t.Errorf("%q is completed to %q, want %q", line, got, want)
		}
	}
	complete("web", "web") // or weblist
	complete("webl", "weblist")
	complete("noinl", "noinlines")
	complete("help disa", "help disasm")
	complete("list pars", "list main.parse")
	complete("top -cop", "top -main.copy")
	complete("top main", "top main")
	complete("", "")
}

// TestSettings reads and writes the settings file of go tool pprof.
func TestSettings(t *testing.T) {
	s, err := pprof.ParseSettings([]byte(`{"configs": [{"name": "hot", "unit": "minimum", "sort": "cum", "nodecount": 20, "nodefraction": 0.01, "trim": true, "focus": "main", "of_the_future": 1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	now := pprof.Defaults()
	now.SampleIndex, now.SourcePath = "cpu", "/src"
	c, ok := s.Find("hot", now)
	if !ok || c.Sort != "cum" || c.NodeCount != 20 || c.NodeFraction != 0.01 || !c.Trim || c.Focus != "main" || c.SampleIndex != "cpu" || c.SourcePath != "/src" || c.DivideBy != 1 {
		t.Errorf("settings = %+v", c)
	}
	s.Save("cold", now)
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s, err = pprof.ParseSettings(data)
	if err != nil || !slices.Equal(s.Names(), []string{"hot", "cold"}) {
		t.Errorf("names = %v, %v", s.Names(), err)
	}
	if again, ok := s.Find("cold", now); !ok || again != now {
		t.Errorf("saved and read: %+v, want %+v", again, now)
	}
	if _, ok := s.Find("warm", now); ok || s.Delete("warm") || !s.Delete("hot") {
		t.Error("found what was not there")
	}
	if _, err := pprof.ParseSettings([]byte("{")); err == nil {
		t.Error("half a file, but no error")
	}
	if _, err := pprof.ParseSettings([]byte(`{"configs": [{"name": "x", "nodecount": "many"}]}`)); err == nil {
		t.Error("not a number, but no error")
	}
}

func TestTrimPath(t *testing.T) {
	f := func(file, trim, search, want string) {
		t.Helper()
		if got := pprof.TrimPath(file, trim, search); got != want {
			t.Errorf("TrimPath(%q, %q, %q) = %q, want %q", file, trim, search, got, want)
		}
	}
	f("/some/remote/path/my-project/foo/bar.c", "", "/my/local/path/my-project", "foo/bar.c")
	f("/some/remote/path/my-project/foo/bar.c", "", "/my/local/path", "my-project/foo/bar.c")
	f("/some/remote/path/my-project/foo/bar.c", "", "/elsewhere", "/some/remote/path/my-project/foo/bar.c")
	f("/a/b/c.go", "/x:/a", "/b", "b/c.go")
	f("/proc/self/cwd/b/c.cc", "", "", "b/c.cc")
	f("c.go", "", "", "c.go")
}

func TestDemangle(t *testing.T) {
	p := decode(t, "_ZN3foo3barEi\n= 1", "n/count")
	f := func(mode string, want string) {
		t.Helper()
		q := pprof.Demangle(p, mode, false)
		if got := q.Stacks.Frame(0).Func; got != want {
			t.Errorf("mode %q: %q, want %q", mode, got, want)
		}
	}
	f("", "foo::bar")
	f("templates", "foo::bar")
	f("full", "foo::bar(int)")
	f("none", "_ZN3foo3barEi")
	if p.Stacks.Frame(0).Func != "_ZN3foo3barEi" {
		t.Error("the profile has changed")
	}
}

func TestSum(t *testing.T) {
	a := decode(t, "f\n= 3\n= 1000", "n/count", "time/milliseconds")
	b := decode(t, "f\n= 1\n= 2", "time/seconds", "n/count")
	var s pprof.Sum
	for _, p := range []*profile.Profile{a, b} {
		if err := s.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.Profile()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.SampleTypes, p.Values); got != "[n/count time/milliseconds] [[5] [2000]]" {
		t.Errorf("sum = %s", got)
	}
	if err := s.Add(decode(t, "f\n= 1", "other/count")); err == nil {
		t.Error("nothing in common, but no error")
	}
	d, err := pprof.Subtract(a, b, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d.Values); got != "[[] []]" {
		t.Errorf("normalized difference = %s", got)
	}
}
