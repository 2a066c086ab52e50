package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"loupe/insight"
	"loupe/recording"
	"loupe/session"
	"loupe/value/unit"
)

// WriteLoose prints what is said of files that stand alone: findings first,
// then what each file is and which command shows more of it.
func WriteLoose(out io.Writer, r *Recording, s Style) error {
	w := &lines{w: out}
	w.printf("%s\n", s.paint(bold, clean(r.Manifest.Title)))
	writeIncomplete(w, r.Incomplete, s)
	w.printf("\n%s\n\n", s.paint(bold, "Findings"))
	said, silent := applicable(r.Findings)
	writeFindings(w, said, r.headline(), lacks(r.Manifest), s)
	if silent > 0 {
		head := fmt.Sprintf("  %-15s  ", "Not applicable")
		w.printf("%s\n", s.paint(dim, head+wrap(otherRules(silent), s.width()-len(head), strings.Repeat(" ", len(head)))))
	}
	if hasRounds(r) {
		w.printf("\n%s\n\n", s.paint(bold, "What happened"))
		writeTable(w, r.Figures, s)
	}
	for _, l := range r.RuntimeLines {
		w.printf("\n")
		l.write(w, false, s)
	}
	r.Compiler.write(w, s)
	w.printf("\n%s\n\n", s.paint(bold, "What the files are"))
	for _, f := range r.Files {
		w.printf("  %s: %s\n", s.paint(bold, clean(f.Name)), wrap(clean(describeFile(f)), s.width()-len(f.Name)-4, "    "))
		if more := moreOf(f, f.Name); more != "" {
			w.printf("    %s\n", s.paint(dim, clean(more)))
		}
	}
	for _, n := range r.Manifest.Notes {
		w.printf("\n  %s\n", s.paint(yellow, wrap("Note: "+clean(n), s.width()-2, "  ")))
	}
	return w.err
}

// WriteLooseMarkdown prints the same for an issue or a pull request.
func WriteLooseMarkdown(out io.Writer, r *Recording) error {
	w := &lines{w: out}
	w.printf("# %s\n\n", escape(r.Manifest.Title))
	markdownIncomplete(w, r.Incomplete)
	w.printf("## Findings\n\n")
	said, silent := applicable(r.Findings)
	markdownFindings(w, said, r.headline(), lacks(r.Manifest))
	if silent > 0 {
		w.printf("\n%s\n", otherRules(silent))
	}
	if hasRounds(r) {
		w.printf("\n## What happened\n\n")
		markdownTable(w, r.Figures)
	}
	markdownRuntimeLines(w, r.RuntimeLines)
	r.Compiler.markdown(w)
	w.printf("\n## What the files are\n\n")
	for _, f := range r.Files {
		w.printf("- %s: %s\n", escape(f.Name), escape(describeFile(f)))
	}
	for _, n := range r.Manifest.Notes {
		w.printf("\n> %s\n", escape(n))
	}
	return w.err
}

// WriteFound prints the findings of a file in front of its first page.
func WriteFound(out io.Writer, r *Recording, s Style) error {
	w := &lines{w: out}
	w.printf("%s\n\n", s.paint(bold, "Findings"))
	found := r.Found()
	writeFindings(w, found, r.headline(), lacks(r.Manifest), s)
	if len(found) == 0 {
		w.printf("\n")
	}
	return w.err
}

// WriteFoundMarkdown is WriteFound for an issue or a pull request.
func WriteFoundMarkdown(out io.Writer, r *Recording) error {
	w := &lines{w: out}
	w.printf("## Findings\n\n")
	markdownFindings(w, r.Found(), r.headline(), lacks(r.Manifest))
	w.printf("\n")
	return w.err
}

// Found are the findings that say that something is wrong.
func (r *Recording) Found() (found []insight.Finding) {
	for _, f := range r.Findings {
		if f.State == insight.Found {
			found = append(found, f)
		}
	}
	return found
}

// applicable leaves out the rules that want other files, and counts them.
func applicable(all []insight.Finding) (said []insight.Finding, silent int) {
	for _, f := range all {
		if f.State == insight.NotApplicable {
			silent++
		} else {
			said = append(said, f)
		}
	}
	return said, silent
}

func otherRules(n int) string {
	if n == 1 {
		return "1 rule needs other files: loupe run records them all"
	}
	return fmt.Sprintf("%d rules need other files: loupe run records them all", n)
}

// NotJudged says of which files the rules looked at another one of the same kind.
func NotJudged(files []session.File) (notes []string) {
	others := map[string][]string{}
	var order []session.File
	for _, f := range files {
		if f.Instead == "" {
			continue
		}
		if others[f.Instead] == nil {
			order = append(order, f)
		}
		others[f.Instead] = append(others[f.Instead], f.Name)
	}
	for _, f := range order {
		names := others[f.Instead]
		notes = append(notes, fmt.Sprintf("of %d files of the same kind (%s), the rules judged only the last one, %s: findings and the exit code say nothing about %s; give loupe report one of them at a time",
			len(names)+1, kindNames[f.Kind], f.Instead, strings.Join(names, ", ")))
	}
	return notes
}

// hasRounds tells that there are figures of a process: a log of its runtime.
func hasRounds(r *Recording) bool {
	return len(r.Manifest.Of(recording.Stderr)) > 0 && r.Figures != nil && len(r.Figures.Rows) > 0
}

// kindNames says in words what a file is.
var kindNames = map[recording.Kind]string{
	recording.CPU:           "CPU profile",
	recording.Allocs:        "allocation profile",
	recording.Heap:          "heap profile",
	recording.Block:         "block profile",
	recording.Mutex:         "mutex profile",
	recording.Goroutine:     "goroutine profile",
	recording.GoroutineLeak: "goroutine leak profile",
	recording.ThreadCreate:  "thread profile",
	recording.ExecTrace:     "execution trace",
	recording.Stderr:        "runtime log",
	recording.Stacks:        "goroutine dump",
	recording.Load:          "load run",
	recording.Compiler:      "compiler output",
	recording.Repeats:       "counts of calls",
	session.LoadSummary:     "summary of a load run",
	session.BenchmarkOutput: "output of go test -bench",
	session.CoreFile:        "core file",
	session.OtherProfile:    "other profile",
}

// describeFile says in words what a file is.
func describeFile(f session.File) string {
	words := []string{kindNames[f.Kind]}
	if f.Kind == session.BenchmarkOutput && f.Results == 0 {
		words[0] = "output of go test"
	}
	if f.Format != "" {
		words[0] += " of Go " + f.Format
	}
	if f.Kind == session.OtherProfile {
		words[0] += " (" + strings.Join(f.Types, ", ") + ")"
	}
	if f.Program != "" {
		words = append(words, "of "+f.Program)
	}
	if f.Length > 0 {
		long := f.Length
		if long > time.Second {
			long = long.Round(time.Millisecond)
		}
		words = append(words, unit.Duration(long)+" long")
	}
	if len(f.Types) > 0 {
		words = append(words, unit.Plural(f.Stacks, "stack"))
	}
	if f.Kind == recording.Stderr {
		words = append(words, describeLog(f)...)
	}
	if f.Kind == recording.Stacks || f.Kind == recording.Stderr && f.Dumps > 0 {
		words = append(words, unit.Plural(f.Dumps, "dump"), unit.Plural(int(f.Goroutines), "goroutine"))
	}
	if f.Kind == recording.Load || f.Kind == session.LoadSummary {
		words = append(words, unit.Plural(f.Requests, "request"))
	}
	if f.Kind == session.BenchmarkOutput {
		words = append(words, unit.Plural(f.Results, "result"))
	}
	if f.Kind == recording.Compiler {
		words = append(words, unit.Plural(f.Diagnostics, "diagnostic"))
	}
	words = append(words, unit.BytesOf(float64(f.Bytes)))
	if !f.Time.IsZero() {
		words = append(words, "taken "+f.Time.Local().Format("2006-01-02 15:04:05"))
	}
	return strings.Join(words, ", ")
}

// describeLog counts the lines of a log.
func describeLog(f session.File) (words []string) {
	others := f.Inits + f.Scavenges + f.Pacers
	if f.Cycles > 0 || others == 0 {
		words = append(words, unit.Plural(f.Cycles, "collection"))
	}
	if f.Samples > 0 || others == 0 {
		words = append(words, unit.Plural(f.Samples, "sample")+" of the scheduler")
	}
	if f.Inits > 0 {
		words = append(words, unit.Plural(f.Inits, "package")+" initialised")
	}
	if f.Scavenges > 0 {
		words = append(words, unit.Plural(f.Scavenges, "line")+" of the scavenger")
	}
	if f.Pacers > 0 {
		words = append(words, unit.Plural(f.Pacers, "line")+" of the pacer")
	}
	return words
}

// moreOf names the commands that show more of a file.
func moreOf(f session.File, name string) string {
	name = ShellWord(name)
	switch f.Kind {
	case recording.ExecTrace:
		return "loupe trace summary " + name + ", loupe trace goroutines|blocked|sched|tasks|stw|mmu|profile " + name
	case recording.Stderr:
		var more []string
		if f.Cycles+f.Inits+f.Scavenges+f.Pacers > 0 || f.Samples == 0 {
			more = append(more, "loupe gc "+name)
		}
		if f.Samples > 0 {
			more = append(more, "loupe sched "+name)
		}
		if f.Dumps > 0 {
			more = append(more, "loupe stacks "+name)
		}
		return strings.Join(more, ", ")
	case recording.Load, session.BenchmarkOutput:
		if f.Kind == session.BenchmarkOutput && f.Results == 0 {
			return ""
		}
		return "loupe open " + name + ", loupe compare " + name + " OTHER"
	case recording.Compiler:
		return "loupe report -json " + name + ", loupe report HEAPPROFILE " + name + " (why it allocates)"
	case session.LoadSummary:
		return "loupe open -text " + name + ", loupe compare " + name + " OTHER"
	case session.CoreFile:
		return "loupe core " + name + ", loupe core goroutines|threads|heap " + name
	case recording.Stacks:
		return "loupe stacks " + name + ", loupe stacks -full " + name
	}
	return "loupe pprof -top " + name + ", loupe pprof -list REGEXP " + name + ", loupe pprof -http localhost: " + name
}
