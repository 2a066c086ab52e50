package labs_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/insight"
	"loupe/internal/long"
	"loupe/labs"
	"loupe/recording"
	"loupe/session"
)

var update = flag.Bool("update", false, "write what shows each rule into its page")

// captured are the recordings that are kept: of rules that ask for another machine, another
// build or a quiet hour, and the twins of those that judge the machine as well. README.md
// beside them tells how each was made.
const captured = "rules/testdata"

// TestRuleLabs records the programs of rules that have one of their own, in both forms: the
// rule must find something in the one, and nothing in the other. It takes a fifth of them, another
// one each day, and all of them where LOUPE_LABS is "all".
func TestRuleLabs(t *testing.T) {
	long.Only(t, "it records two programs for each rule")
	loupe := buildLoupe(t, t.TempDir())
	all, fifth := os.Getenv("LOUPE_LABS") == allLabs, int(time.Now().Unix()/(24*60*60)%5)
	for i, l := range labs.RuleLabs {
		if !all && i%5 != fifth {
			continue
		}
		t.Run(l.Rule, func(t *testing.T) {
			for n := 1; ; n++ {
				wrong := wrongForms(t, loupe, l)
				if len(wrong) == 0 {
					return
				}
				if n == attempts {
					t.Fatal(strings.Join(wrong, "\n"))
				}
				t.Logf("once more: %s", strings.Join(wrong, "\n"))
			}
		})
	}
}

// wrongForms records the forms of a rule's program and says in which the rule is wrong.
func wrongForms(t *testing.T, loupe string, l labs.RuleLab) (wrong []string) {
	t.Helper()
	for _, form := range []string{"slow", "fixed"} {
		if form == "fixed" && l.Quiet {
			continue // a recording of it is kept
		}
		all, err := recordRule(t.TempDir(), loupe, l, form)
		if err != nil {
			t.Fatal(err)
		}
		found, answers := answered(all, l.Rule)
		if found != (form == "slow") {
			wrong = append(wrong, fmt.Sprintf("%s %s: found %v: %s", l.Rule, form, found, answers))
		}
	}
	return wrong
}

// answered tells whether a rule found something, and all that it said.
func answered(all said, rule string) (found bool, answers string) {
	for _, f := range all.Findings {
		if f.Rule == rule {
			found = found || f.State == "finding"
			answers += f.State + ": " + f.Summary + "; "
		}
	}
	return found, answers
}

// recordRule records a form of a rule's program and returns its report.
func recordRule(dir, loupe string, l labs.RuleLab, form string) (got said, err error) {
	rec := filepath.Join(dir, "rec")
	args := []string{"run", "-quiet", "-env", procs, "-o", rec}
	program := []string{"loupe/labs/rules", "-rule", l.Rule, "-form", form}
	args = append(args, l.Record...)
	if form == "slow" {
		args = append(args, l.Slow...)
	}
	if l.Load != nil {
		addr, err := freeAddress()
		if err != nil {
			return got, err
		}
		flags, path := l.Load[:len(l.Load)-1], l.Load[len(l.Load)-1]
		args = append(append(args, flags...), "-load", "http://"+addr+path)
		program = append(program, "-addr", addr)
	}
	cmd := exec.Command(loupe, append(args, program...)...)
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 3 {
		return got, fmt.Errorf("%v: %w\n%s", args, err, out)
	}
	if out, err = exec.Command(loupe, "report", "-json", "-fail", "never", rec).Output(); err != nil {
		return got, fmt.Errorf("report: %w", err)
	}
	return got, json.Unmarshal(out, &got)
}

// TestCaptured holds the rules against the recordings that are kept.
func TestCaptured(t *testing.T) {
	files, err := filepath.Glob(captured + "/*.zip")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	readme, err := os.ReadFile(captured + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		rule, form, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".zip"), ".")
		if !strings.Contains(string(readme), rule) {
			t.Errorf("README.md does not tell how %s was made", file)
		}
		rec, err := recording.OpenFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var answers []string
		found := false
		for _, f := range insight.Run(insight.NewInput(session.New(rec))) {
			if f.Rule == rule {
				found = found || f.State == insight.Found
				answers = append(answers, string(f.State)+": "+f.Summary)
			}
		}
		if found != (form == "slow") {
			t.Errorf("%s: found %v: %s", file, found, strings.Join(answers, "; "))
		}
		rec.Close()
	}
}

// shows is what shows a rule, in words for its page; empty where nothing does.
func shows(t *testing.T, rule string) string {
	t.Helper()
	if i := slices.IndexFunc(labs.RuleLabs, func(l labs.RuleLab) bool { return l.Rule == rule }); i >= 0 {
		l := labs.RuleLabs[i]
		text := fmt.Sprintf("The rule must find something in this program, and nothing in its `-form fixed`:\n\n\t%s\n", strings.Join(l.Command("slow"), " "))
		switch {
		case !l.Quiet:
		case noTwin[rule]:
			text += "\nOn a busy machine the rule may rightly report any program, including the fixed form. Synthetic recordings show that\nit reports nothing on a quiet machine.\n"
		default:
			need(t, rule, "fixed")
			text += "\nOn a busy machine the rule may rightly report any program. For the fixed form, a recording from a quiet hour is\nkept (labs/rules/testdata).\n"
		}
		return text
	}
	if name, form, ok := inLabs(t, rule); ok {
		return fmt.Sprintf("The lab %s shows it in its form %s; `loupe labs %s` has the commands.\n", name, form, name)
	}
	if _, err := os.Stat(captured + "/" + rule + ".slow.zip"); err == nil {
		need(t, rule, "fixed")
		return "Recordings of a real program with and without it are kept in labs/rules/testdata. The README.md there\nsays how they were made.\n"
	}
	if where, ok := elsewhere[rule]; ok {
		return where + "\n"
	}
	if bugs := inCorpus(t, rule); len(bugs) > 0 {
		return fmt.Sprintf("Bugs of the [corpus](../diagnosis.md) that show it in their slow form but not in the fixed one: %s.\n", strings.Join(bugs, ", "))
	}
	return ""
}

// need wants a recording to be kept.
func need(t *testing.T, rule, form string) {
	t.Helper()
	if _, err := os.Stat(captured + "/" + rule + "." + form + ".zip"); err != nil {
		t.Errorf("of %s no recording of the %s form is kept: %v", rule, form, err)
	}
}

// inLabs finds a lab that has a form in which a rule must find something, whatever the
// machine, and one in which it must not.
func inLabs(t *testing.T, rule string) (name, form string, ok bool) {
	t.Helper()
	for _, l := range labs.All {
		all, err := l.Expect()
		if err != nil {
			t.Fatal(err)
		}
		clean := slices.ContainsFunc(all, func(e labs.Expectation) bool { return e.Rule == rule && !e.Must && !e.Usually })
		i := slices.IndexFunc(all, func(e labs.Expectation) bool { return e.Rule == rule && e.Must && !e.Usually })
		if clean && i >= 0 {
			return l.Name, all[i].Form, true
		}
	}
	return "", "", false
}

// inCorpus are the bugs whose cause a rule names, and that it was seen to find in the slow
// form and not in the repaired one.
func inCorpus(t *testing.T, rule string) (bugs []string) {
	t.Helper()
	for _, number := range fires(t, rule).shows {
		truths, err := filepath.Glob("corpus/bugs/" + number + "-*/truth.txt")
		if err != nil || len(truths) != 1 {
			t.Fatalf("there is no bug %s: %v", number, err)
		}
		text, err := os.ReadFile(truths[0])
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if rules, ok := strings.CutPrefix(line, "rules:"); ok && slices.Contains(strings.Fields(rules), rule) {
				bugs = append(bugs, filepath.Base(filepath.Dir(truths[0])))
			}
		}
	}
	return bugs
}

// fired is a line of corpus/fires.txt.
type fired struct {
	fixedWarned, fixedNoted, fixed       int
	healthyWarned, healthyNoted, healthy int
	shows                                []string
}

// fires reads where a rule found something in the recordings of the corpus.
func fires(t *testing.T, rule string) (f fired) {
	t.Helper()
	text, err := os.ReadFile("corpus/fires.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, rule+" "); ok {
			if _, err := fmt.Sscanf(rest, "fixed %d %d of %d healthy %d %d of %d shows", &f.fixedWarned, &f.fixedNoted, &f.fixed, &f.healthyWarned, &f.healthyNoted, &f.healthy); err != nil {
				t.Fatalf("corpus/fires.txt: %s: %v", line, err)
			}
			_, shown, _ := strings.Cut(rest, "shows")
			f.shows = strings.Fields(shown)
			return f
		}
	}
	t.Errorf("corpus/fires.txt does not know %s: go run ./labs/corpus -fires -keep DIR", rule)
	return f
}

// elsewhere are rules that are shown by what other tests have.
var elsewhere = map[string]string{
	"LD02": "Recordings of a program with and without it are kept in insight/testdata/loads.",
}

// unshown are the rules that no recording of a real program shows yet, and why. The list
// may only become shorter.
var unshown = map[string]string{
	"BE09": "it asks for a build of the whole standard library by an older Go, or without the new collector",
	"CP09": "it asks for a program that has run for ten seconds on CPUs of its own",
	"CP10": "it asks for a build of the whole standard library with a profile",
	"LK03": "it asks for a program that uses two CPUs and more on four Ps; the machines where it was tried have two CPUs, and a program never gets quite two",
	"LK05": "it asks for two CPUs that nobody else uses: where they are shared, the runs with one P and with two do not lie apart",
}

// noTwin are the rules of those that judge the machine as well of which no recording of a
// quiet hour is kept yet. The list may only become shorter.
var noTwin = map[string]bool{"BE06": true, "GC01": true, "SC06": true}

// TestEveryRule wants of each rule a program that shows it and a clean twin; its page says
// which, and how often the rule speaks of programs in which nothing is known to be wrong.
// With -update the pages are written.
func TestEveryRule(t *testing.T) {
	for _, r := range insight.Rules() {
		text := shows(t, r.ID)
		why, listed := unshown[r.ID]
		switch {
		case text == "" && !listed:
			t.Errorf("no program shows %s: give it a lab (labs/rules), or say in unshown why there is none", r.ID)
		case text != "" && listed:
			t.Errorf("%s is shown: take it off the list unshown", r.ID)
		case text == "":
			text = "No recording of a real program shows it yet: " + why + ". Tests check it with synthetic ones.\n"
		}
		page := "../docs/rules/" + r.ID + ".md"
		old, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		const head = "\n## Its lab\n"
		rest, _, _ := strings.Cut(string(old), head)
		want := rest + head + "\n" + text + "\n" + rates(fires(t, r.ID))
		switch {
		case want == string(old):
		case *update:
			if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s does not end with what shows the rule; go test ./labs -run TestEveryRule -update writes it:\n%s", page, strings.TrimPrefix(want, rest))
		}
	}
	for id := range unshown {
		if !slices.ContainsFunc(insight.Rules(), func(r *insight.Rule) bool { return r.ID == id }) {
			t.Errorf("%s in unshown is no rule", id)
		}
	}
}

// rates says how often a rule spoke of programs in which nothing is known to be wrong.
func rates(f fired) string {
	said := func(warned, noted int) string {
		switch {
		case warned+noted == 0:
			return "nothing"
		case noted == 0:
			return fmt.Sprintf("warnings in %d", warned)
		case warned == 0:
			return fmt.Sprintf("notes in %d", noted)
		}
		return fmt.Sprintf("warnings in %d and notes in %d", warned, noted)
	}
	if f.fixed+f.healthy == 0 {
		return "How often it reports something in the [corpus](../diagnosis.md) has not been measured yet.\n"
	}
	if f.healthy == 0 {
		return fmt.Sprintf("In the fixed forms of %d bugs of the [corpus](../diagnosis.md), it reported %s. With healthy programs it has not been measured yet.\n", f.fixed, said(f.fixedWarned, f.fixedNoted))
	}
	return fmt.Sprintf("In the fixed forms of the %d bugs of the [corpus](../diagnosis.md), it reported %s; in %d healthy public\nprograms, %s.\n", f.fixed, said(f.fixedWarned, f.fixedNoted), f.healthy, said(f.healthyWarned, f.healthyNoted))
}

// TestRuleLabsWhole: each has a program and is listed once, and its rule exists.
func TestRuleLabsWhole(t *testing.T) {
	programs, err := os.ReadFile("rules/programs.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, l := range labs.RuleLabs {
		if seen[l.Rule] {
			t.Errorf("%s is there twice", l.Rule)
		}
		seen[l.Rule] = true
		if !strings.Contains(string(programs), `"`+l.Rule+`":`) {
			t.Errorf("%s has no program in labs/rules", l.Rule)
		}
		if !slices.ContainsFunc(insight.Rules(), func(r *insight.Rule) bool { return r.ID == l.Rule }) {
			t.Errorf("%s is not a rule", l.Rule)
		}
		if name, _, ok := inLabs(t, l.Rule); ok {
			t.Errorf("%s is shown by the lab %s: one is enough", l.Rule, name)
		}
	}
}
