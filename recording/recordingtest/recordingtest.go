// Package recordingtest makes recordings for tests out of text that a reviewer
// can read: first the facts of the manifest, one a line, then the files.
//
//	title slow
//	target package ./shop module=example.com/shop go=go1.26.1
//	host cpus=4 load=0.25
//	run 0s..10s user=8s exit="exit status 0" stopped
//	phase bare 1s..9s user=6s system=500ms
//	phase cpu 9s..10s profiler=cpu
//	clock stderr.log 5ms
//	-- stderr.log stderr --
//	1.003s | gc 1 @1.001s 0%: …
//	1.020s | listening
//	-- os.ndjson os --
//	t_ns  pid  user_ns  busy_ns  idle_ns
//	1s    7    0s       1s       3s
//	-- source/main.go source from=/src/shop/main.go --
//	package main
//
// Files that no text can show, such as profiles and load logs, are added with
// [Recording.Put]. The result is opened by the real reader.
package recordingtest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing/fstest"
	"time"

	"loupe/recording"
	"loupe/value/timeline"
)

// Start is the wall-clock date of every recording's zero unless a line says
// "start DATE".
var Start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// Recording is a recording under construction.
type Recording struct {
	Manifest recording.Manifest
	Files    fstest.MapFS
}

// New reads the text of a recording. The lines of facts are:
//
//	title TEXT      start DATE      note TEXT      mark TIME TEXT      incomplete
//	target KIND NAME [module= go= package= env= agent]
//	host [os= arch= cpu= cpus= quota= load= virtual= kernel=]
//	run SPAN [pid= user= system= rss= exit= stopped]
//	phase NAME SPAN [profiler= round= order= run= user= system= rss= error=]
//	clock PATH OFFSET [error=]
//
// A span is FROM..TO; times are durations; a value with blanks is quoted. A
// file begins with "-- PATH KIND [phase= run= span= from=] --". In one of kind
// stderr every line may begin with its time of arrival and "| ". One of kind
// os or metrics is NDJSON or a table, with the names in the first row and
// durations for times; the date of a metrics sample counts from the start. It
// panics on text that it cannot read, for that is a mistake in the test.
func New(text string) *Recording {
	r := &Recording{Files: fstest.MapFS{}}
	r.Manifest = recording.Manifest{Schema: recording.Schema, ID: "test", Start: Start, Complete: true}
	head, files, _ := cutFiles(text)
	for line := range strings.Lines(head) {
		if line = strings.TrimSpace(line); line != "" {
			r.fact(line)
		}
	}
	for files != "" {
		header, body, _ := strings.Cut(files, "\n")
		body, files, _ = cutFiles(body)
		r.file(strings.TrimSpace(header), body)
	}
	for _, p := range r.Manifest.Phases {
		r.Manifest.End = max(r.Manifest.End, p.Span.End)
	}
	return r
}

// cutFiles splits the text before its first line that begins a file.
func cutFiles(text string) (before, from string, found bool) {
	at := 0
	for line := range strings.Lines(text) {
		if f := strings.TrimSpace(line); strings.HasPrefix(f, "-- ") && strings.HasSuffix(f, " --") {
			return text[:at], text[at:], true
		}
		at += len(line)
	}
	return text, "", false
}

// fields are the words of a line: those in order, and those with a name.
type fields struct {
	line  string
	words []string
	named map[string]string
}

func fieldsOf(line string) *fields {
	f := &fields{line: line, named: map[string]string{}}
	for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimSpace(rest) {
		end := strings.IndexByte(rest+" ", ' ')
		if quote := strings.Index(rest[:end], `="`); quote >= 0 {
			text, err := strconv.QuotedPrefix(rest[quote+1:])
			f.must(err)
			value, err := strconv.Unquote(text)
			f.must(err)
			f.named[rest[:quote]] = value
			rest = rest[quote+1+len(text):]
			continue
		}
		word := rest[:end]
		rest = rest[end:]
		if name, value, ok := strings.Cut(word, "="); ok {
			f.named[name] = value
		} else {
			f.words = append(f.words, word)
		}
	}
	return f
}

func (f *fields) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("line %q: %v", f.line, err))
	}
}

// word returns the n-th word; it must be there.
func (f *fields) word(n int) string {
	if n >= len(f.words) {
		panic(fmt.Sprintf("line %q: it has no word %d", f.line, n+1))
	}
	return f.words[n]
}

// has tells whether a word stands alone somewhere after the first.
func (f *fields) has(word string) bool {
	for _, w := range f.words[1:] {
		if w == word {
			return true
		}
	}
	return false
}

func (f *fields) duration(text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	f.must(err)
	return d
}

func (f *fields) number(name string) float64 {
	if f.named[name] == "" {
		return 0
	}
	v, err := strconv.ParseFloat(f.named[name], 64)
	f.must(err)
	return v
}

func (f *fields) span(text string) timeline.Span {
	from, to, ok := strings.Cut(text, "..")
	if !ok {
		panic(fmt.Sprintf("line %q: %q is not a span FROM..TO", f.line, text))
	}
	return timeline.Span{Start: timeline.Time(f.duration(from)), End: timeline.Time(f.duration(to))}
}

// fact reads one line of the manifest.
func (r *Recording) fact(line string) {
	f, m := fieldsOf(line), &r.Manifest
	_, rest, _ := strings.Cut(line, " ")
	switch f.word(0) {
	case "title":
		m.Title = rest
	case "note":
		m.Notes = append(m.Notes, rest)
	case "start":
		at, err := time.Parse(time.RFC3339, f.word(1))
		f.must(err)
		m.Start = at
	case "mark":
		_, text, _ := strings.Cut(rest, " ")
		m.Marks = append(m.Marks, recording.Mark{At: timeline.Time(f.duration(f.word(1))), Text: text})
	case "incomplete":
		m.Complete = false
	case "target":
		m.Target.Kind, m.Target.Name, m.Target.Args = f.word(1), f.word(2), f.words[3:]
		m.Target.Module, m.Target.Go, m.Target.Package = f.named["module"], f.named["go"], f.named["package"]
		m.Target.Env = strings.Fields(f.named["env"])
	case "host":
		m.Host = recording.Host{
			OS: f.named["os"], Arch: f.named["arch"], CPU: f.named["cpu"], Kernel: f.named["kernel"], CPUs: int(f.number("cpus")),
			Quota: f.number("quota"), Load: f.number("load"), Virtual: f.named["virtual"],
		}
	case "run":
		m.Target.Runs = append(m.Target.Runs, recording.Run{
			PID: int(f.number("pid")), Span: f.span(f.word(1)), User: f.duration(f.named["user"]), System: f.duration(f.named["system"]),
			MaxRSS: int64(f.number("rss")), Exit: f.named["exit"], Stopped: f.has("stopped"),
		})
	case "phase":
		m.Phases = append(m.Phases, recording.Phase{
			Name: f.word(1), Span: f.span(f.word(2)), Profiler: f.named["profiler"], Error: f.named["error"],
			Round: int(f.number("round")), Order: int(f.number("order")), Run: int(f.number("run")),
			User: f.duration(f.named["user"]), System: f.duration(f.named["system"]), MaxRSS: int64(f.number("rss")),
		})
	case "clock":
		m.Clocks = append(m.Clocks, recording.Clock{Path: f.word(1), Clock: timeline.Clock{
			Offset: timeline.Time(f.duration(f.word(2))), Error: f.duration(f.named["error"]),
		}})
	default:
		panic(fmt.Sprintf("line %q: unknown fact", line))
	}
}

// file adds the file of a header line.
func (r *Recording) file(header, body string) {
	f := fieldsOf(strings.Trim(header, "- "))
	e := recording.Entry{Path: f.word(0), Kind: recording.Kind(f.word(1)), Phase: f.named["phase"], Run: int(f.number("run")), Source: f.named["from"]}
	if text := f.named["span"]; text != "" {
		e.Span = f.span(text)
	}
	switch e.Kind {
	case recording.Stderr:
		text, times := cutTimes(f, body)
		r.Put(e, []byte(text))
		if times != "" {
			r.Put(recording.Entry{Path: e.Path + ".times", Kind: recording.StderrTimes, Run: e.Run}, []byte(times))
		}
	case recording.OS:
		r.Put(e, []byte(table(f, body, 0)))
	case recording.Metrics:
		r.Put(e, []byte(table(f, body, r.Manifest.Start.UnixNano())))
	default:
		r.Put(e, []byte(body))
	}
}

// cutTimes parts the lines from their times of arrival.
func cutTimes(f *fields, body string) (text, times string) {
	var b, t strings.Builder
	for line := range strings.Lines(body) {
		if at, rest, ok := strings.Cut(line, "| "); ok {
			if d, err := time.ParseDuration(strings.TrimSpace(at)); err == nil {
				fmt.Fprintln(&t, d.Nanoseconds())
				b.WriteString(rest)
				continue
			}
		}
		if t.Len() > 0 {
			panic(fmt.Sprintf("line %q: it has no time of arrival, those before it have (of %s)", line, f.line))
		}
		b.WriteString(line)
	}
	return b.String(), t.String()
}

// table makes NDJSON of a table; NDJSON it returns as it is. The date zero is
// added to the column t_ns.
func table(f *fields, body string, zero int64) string {
	if strings.HasPrefix(strings.TrimSpace(body), "{") || strings.TrimSpace(body) == "" {
		return body
	}
	var names []string
	var out strings.Builder
	for line := range strings.Lines(body) {
		cells := strings.Fields(line)
		if len(cells) == 0 {
			continue
		}
		if names == nil {
			names = cells
			continue
		}
		if len(cells) != len(names) {
			panic(fmt.Sprintf("line %q of %s: %d cells, want %d", line, f.line, len(cells), len(names)))
		}
		sample := map[string]any{}
		for i, c := range cells {
			if n, err := strconv.ParseFloat(c, 64); err == nil {
				sample[names[i]] = n
				continue
			}
			at := f.duration(c).Nanoseconds()
			if names[i] == "t_ns" {
				at += zero
			}
			sample[names[i]] = at
		}
		data, err := json.Marshal(sample)
		f.must(err)
		out.Write(append(data, '\n'))
	}
	return out.String()
}

// Put adds an entry with its file.
func (r *Recording) Put(e recording.Entry, data []byte) *Recording {
	e.Bytes = int64(len(data))
	r.Manifest.Entries = append(r.Manifest.Entries, e)
	r.Files[e.Path] = &fstest.MapFile{Data: data}
	return r
}

// Clock says where the zero of an entry's own time lies.
func (r *Recording) Clock(path string, offset time.Duration) *Recording {
	r.Manifest.Clocks = append(r.Manifest.Clocks, recording.Clock{Path: path, Clock: timeline.Clock{Offset: timeline.Time(offset)}})
	return r
}

// Open writes the manifest and opens the recording.
func (r *Recording) Open() *recording.Recording {
	data, err := json.Marshal(r.Manifest)
	if err != nil {
		panic(fmt.Sprintf("cannot encode the manifest: %v", err))
	}
	r.Files[recording.ManifestName] = &fstest.MapFile{Data: data}
	rec, err := recording.Open(r.Files)
	if err != nil {
		panic(err.Error())
	}
	return rec
}
