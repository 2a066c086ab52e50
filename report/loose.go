package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"loupe/insight"
	"loupe/recording"
	"loupe/session"
	"loupe/unit"
)

// WriteLoose prints what is said of files that stand alone: findings first,
// then what each file is and which command shows more of it.
func WriteLoose(out io.Writer, r *Recording, s Style) error {
	w := &lines{w: out}
	w.printf("%s\n", s.paint(bold, clean(r.Manifest.Title)))
	writeIncomplete(w, r.Incomplete, s)
	w.printf("\n%s\n\n", s.paint(bold, "Findings"))
	said, silent := applicable(r.Findings)
	writeFindings(w, said, r.headline(), s)
	if silent > 0 {
		head := fmt.Sprintf("  %-15s  ", "Not applicable")
		w.printf("%s\n", s.paint(dim, head+wrap(otherRules(silent), s.width()-len(head), strings.Repeat(" ", len(head)))))
	}
	if hasRounds(r) {
		w.printf("\n%s\n\n", s.paint(bold, "What happened"))
		writeTable(w, r.Figures, s)
	}
	w.printf("\n%s\n\n", s.paint(bold, "What the files are"))
	for _, f := range r.Files {
		w.printf("  %s: %s\n", s.paint(bold, clean(f.Name)), wrap(clean(DescribeFile(f)), s.width()-len(f.Name)-4, "    "))
		w.printf("    %s\n", s.paint(dim, clean(MoreOf(f, f.Name))))
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
	markdownFindings(w, said, r.headline())
	if silent > 0 {
		w.printf("\n%s\n", otherRules(silent))
	}
	if hasRounds(r) {
		w.printf("\n## What happened\n\n")
		markdownTable(w, r.Figures)
	}
	w.printf("\n## What the files are\n\n")
	for _, f := range r.Files {
		w.printf("- %s: %s\n", escape(f.Name), escape(DescribeFile(f)))
	}
	return w.err
}

// WriteFound prints the findings of a file in front of its first page.
func WriteFound(out io.Writer, r *Recording, s Style) error {
	w := &lines{w: out}
	w.printf("%s\n\n", s.paint(bold, "Findings"))
	found := r.Found()
	writeFindings(w, found, r.headline(), s)
	if len(found) == 0 {
		w.printf("\n")
	}
	return w.err
}

// WriteFoundMarkdown is WriteFound for an issue or a pull request.
func WriteFoundMarkdown(out io.Writer, r *Recording) error {
	w := &lines{w: out}
	w.printf("## Findings\n\n")
	markdownFindings(w, r.Found(), r.headline())
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
		return "1 rule wants other files: loupe run records them all"
	}
	return fmt.Sprintf("%d rules want other files: loupe run records them all", n)
}

// hasRounds tells that there are figures of a process: a log of its runtime.
func hasRounds(r *Recording) bool { return len(r.Manifest.Of(recording.Stderr)) > 0 }

// kindNames says in words what a file is.
var kindNames = map[recording.Kind]string{
	recording.CPU:           "CPU profile",
	recording.Allocs:        "profile of all allocations",
	recording.Heap:          "heap profile",
	recording.Block:         "block profile",
	recording.Mutex:         "mutex profile",
	recording.Goroutine:     "goroutine profile",
	recording.GoroutineLeak: "profile of leaked goroutines",
	recording.ThreadCreate:  "profile of threads",
	recording.ExecTrace:     "execution trace",
	recording.Stderr:        "log of the runtime",
	recording.Stacks:        "goroutine dump",
	recording.Load:          "load run",
	session.BenchmarkOutput: "output of go test -bench",
	session.CoreFile:        "core file",
	session.OtherProfile:    "profile of another kind",
}

// DescribeFile says in words what a file is.
func DescribeFile(f session.File) string {
	words := []string{kindNames[f.Kind]}
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
		words = append(words, unit.Duration(f.Length.Round(time.Millisecond))+" long")
	}
	if len(f.Types) > 0 {
		words = append(words, counted(f.Stacks, "stack"))
	}
	if f.Kind == recording.Stderr {
		words = append(words, counted(f.Cycles, "collection"), counted(f.Samples, "sample")+" of the scheduler")
	}
	if f.Kind == recording.Stacks {
		words = append(words, counted(f.Dumps, "dump"), counted(int(f.Goroutines), "goroutine"))
	}
	if f.Kind == recording.Load {
		words = append(words, counted(f.Requests, "request"))
	}
	if f.Kind == session.BenchmarkOutput {
		words = append(words, counted(f.Results, "result"))
	}
	words = append(words, unit.BytesOf(float64(f.Bytes)))
	if !f.Time.IsZero() {
		words = append(words, "taken "+f.Time.Local().Format("2006-01-02 15:04:05"))
	}
	return strings.Join(words, ", ")
}

// counted is a count with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return unit.Count(int64(n)) + " " + noun + "s"
}

// MoreOf names the commands that show more of a file.
func MoreOf(f session.File, name string) string {
	switch f.Kind {
	case recording.ExecTrace:
		return "loupe trace summary " + name + ", loupe trace goroutines|blocked|sched|tasks|stw|mmu|profile " + name
	case recording.Stderr:
		return "loupe gc " + name + ", loupe sched " + name
	case recording.Load, session.BenchmarkOutput:
		return "loupe open " + name + ", loupe compare " + name + " OTHER"
	case session.CoreFile:
		return "loupe core " + name + ", loupe core goroutines|threads|heap " + name
	case recording.Stacks:
		return "loupe stacks " + name + ", loupe stacks -full " + name
	}
	return "loupe pprof -top " + name + ", loupe pprof -list REGEXP " + name + ", loupe pprof -http localhost: " + name
}
