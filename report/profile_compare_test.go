package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"loupe/analysis/compare"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/report"
)

func profileOf(t *testing.T, picture string, opt profiletest.Options) []*profile.Profile {
	t.Helper()
	p, err := profile.Decode(profiletest.Encode(picture, opt), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return []*profile.Profile{p}
}

const (
	pictureA = "main.main main.main\nmain.find main.sort\n= 100 300\n= 1000000000 3000000000"
	pictureB = "main.main main.main\nmain.find main.sort\n= 250 310\n= 2500000000 3100000000"
)

func comparison(t *testing.T, opt compare.ProfileOptions, types ...string) *compare.ProfileDiff {
	t.Helper()
	o := profiletest.Options{Types: types}
	d, err := compare.Profiles(profileOf(t, pictureA, o), profileOf(t, pictureB, o), opt)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// linesOf returns the lines of a text that hold one of the words.
func linesOf(text string, words ...string) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		for _, w := range words {
			if strings.Contains(line, w) {
				out = append(out, strings.TrimSpace(line))
			}
		}
	}
	return strings.Join(out, "\n")
}

func TestProfileComparisonText(t *testing.T) {
	f := func(d *compare.ProfileDiff, width int, words []string, want string) {
		t.Helper()
		var b bytes.Buffer
		v := report.ProfileView{A: "a", B: "b", Width: width}
		if err := report.WriteTrace(&b, report.ProfileComparison(d, v), report.Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		if got := linesOf(b.String(), words...); got != strings.TrimSpace(want) {
			t.Errorf("width %d:\n%s\nwant\n%s", width, got, want)
		}
	}
	cpu := comparison(t, compare.ProfileOptions{}, "samples/count", "cpu/nanoseconds")
	f(cpu, 80, []string{"function", "main.find"}, `
values      cpu/nanoseconds by function
flat A  flat B  change            B−A, 95%  verdict              function
1.00 s  2.50 s   +150%  [+1.14 s, +1.87 s]  grew                 main.find
1.00 s  2.50 s   +150%  [+1.14 s, +1.87 s]  main.main → main.find`)
	f(cpu, 150, []string{"main.sort"}, `
3.00 s  3.10 s     +100 ms   +3.3%  [-385 ms, +586 ms]  no difference shown        300  310  3.00 s  3.10 s  main.sort`)
	share := comparison(t, compare.ProfileOptions{Share: true}, "samples/count", "cpu/nanoseconds")
	f(share, 100, []string{"main.find", "normalised"}, `
normalised  shares of the total of each profile
25.0%   44.6%    +79%  [+13.6%, +25.4%]  grew     main.find
25.0%  44.6%    +79%  [+13.6%, +25.4%]  main.main → main.find`)
	delay := comparison(t, compare.ProfileOptions{}, "contentions/count", "delay/nanoseconds")
	f(delay, 100, []string{"verdict", "interval", "main.find", "chance"}, `
1.00 s  2.50 s     +1.50 s   +150%  main.find
1.00 s  2.50 s     +1.50 s   +150%  main.main → main.find
said about chance: several profiles on each side show it.`)
}

func TestProfileComparisonData(t *testing.T) {
	d := comparison(t, compare.ProfileOptions{}, "contentions/count", "delay/nanoseconds")
	text, err := json.Marshal(report.ProfileComparison(d, report.ProfileView{A: "a", B: "b", Full: true}))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema string
		Doubt  string
		Total  map[string]any
		Rows   []map[string]any
		Paths  []map[string]any
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != report.ProfileCompareSchema || got.Doubt != "nothing" || got.Total["change"] != 1.6e9 || len(got.Rows) != 3 || len(got.Paths) != 1 {
		t.Errorf("%s", text)
	}
	for key, want := range map[string]any{"name": "main.find", "flat_b": 2.5e9, "flat_low": nil, "flat_p": nil, "flat_samples_a": nil, "flat_verdict": "unknown", "state": "both"} {
		if have, ok := got.Rows[0][key]; !ok || have != want {
			t.Errorf("%s is %v, want %v", key, have, want)
		}
	}
	var b bytes.Buffer
	if err := report.WriteTraceCSV(&b, report.ProfileComparison(d, report.ProfileView{Full: true, Top: 1})); err != nil {
		t.Fatal(err)
	}
	if want := "\nmain.find,both,1e+09,2.5e+09,1.5e+09,,,,,unknown,,,"; !strings.Contains(b.String(), want) {
		t.Errorf("CSV\n%s\nwant %q", b.String(), want)
	}
}

func TestProfileComparisonPath(t *testing.T) {
	o := profiletest.Options{}
	const deep = "runtime.main\nmain.main\nexample.com/app/shop.(*Cart).Total\nencoding/json.Unmarshal\nencoding/json.(*decodeState).object\nencoding/json.(*decodeState).value\n= "
	d, err := compare.Profiles(profileOf(t, deep+"10", o), profileOf(t, deep+"500", o), compare.ProfileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for width, want := range map[int]string{
		104: "shop.(*Cart).Total → … → json.(*decodeState).value",
		142: "shop.(*Cart).Total → … → json.(*decodeState).object → json.(*decodeState).value",
		0:   "runtime.main → main.main → shop.(*Cart).Total → json.Unmarshal → json.(*decodeState).object → json.(*decodeState).value",
	} {
		var b bytes.Buffer
		if err := report.WriteTraceMarkdown(&b, report.ProfileComparison(d, report.ProfileView{Width: width})); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "`"+want+"`") {
			t.Errorf("width %d: want %s in\n%s", width, want, b.String())
		}
	}
}
