package pprof

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Command is one report that pprof knows by name.
type Command struct {
	Name  string
	Param bool   // it needs a regular expression
	Help  string // one line
	Usage string // more lines, of the shell

	// Image is the format that the report is drawn in: "svg", "png", "pdf",
	// "ps" or "gif", whose text is that of dot, and "html", which has none; ""
	// is text. Package report draws.
	Image string
	// File is the ending of a file that the output goes to when it would fill
	// a terminal with what nobody can read; "" for readable text.
	File string
	// Viewer is the kind of program that shows the output: "browser",
	// "kcachegrind" or the name of an image viewer; "" for none.
	Viewer string

	exact bool // everything, address by address
	write func(r *Report, w io.Writer) error
}

const (
	usageReport = "%s [n] [focus_regex]* [-ignore_regex]*%s\nShow at most n entries.\nKeep samples that match focus_regex, leave out those that match ignore_regex."
	usageList   = "%s func_regex|address [focus_regex]* [-ignore_regex]*%s\nShow the functions that match, or the one at the address.\nKeep samples that match focus_regex, leave out those that match ignore_regex."
	usageFile   = "\n>f writes the report to the file f"
	usageCum    = "\n-cum ranks by cumulative weight"
)

func reportUsage(name string, cum bool) string {
	args, more := "", usageFile
	if cum {
		args, more = " [-cum]", usageCum+usageFile
	}
	return fmt.Sprintf(usageReport, name, args+" >f") + more
}

func listUsage(name string) string { return fmt.Sprintf(usageList, name, " >f") + usageFile }

// Commands are all commands, by name.
var Commands = commands()

func commands() []Command {
	list := []Command{
		{Name: "callgrind", Help: "the call graph in callgrind's format", Usage: reportUsage("callgrind", false), File: "callgraph.out", exact: true, write: writeCallgrind},
		{Name: "comments", Help: "the comments of the profile", write: writeComments},
		{Name: "disasm", Help: "machine instructions with their weights", Usage: listUsage("disasm"), Param: true, write: writeDisassembly},
		{Name: "dot", Help: "the call graph in Graphviz' format", Usage: reportUsage("dot", false), write: writeDot},
		{Name: "kcachegrind", Help: "the call graph in KCachegrind", Usage: reportUsage("kcachegrind", false), Viewer: "kcachegrind", exact: true, write: writeCallgrind},
		{Name: "list", Help: "source lines with their weights", Usage: listUsage("list"), Param: true, write: writeList},
		{Name: "peek", Help: "callers and callees of functions", Param: true, Usage: "peek func_regex\nShow the functions that match with all their callers and callees.", write: writeTree},
		{Name: "proto", Help: "the profile in pprof's own format", File: "pb.gz", exact: true, write: writeProto},
		{Name: "raw", Help: "the profile as text, all of it", exact: true, write: writeRaw},
		{Name: "tags", Help: "labels with their weights", Usage: "tags [tag_regex]* [-ignore_regex]* >f\nShow labels whose key:value matches tag_regex and leave out ignore_regex.", write: writeTags},
		{Name: "text", Help: "the heaviest functions", Usage: reportUsage("text", true), write: writeTop},
		{Name: "top", Help: "the heaviest functions", Usage: reportUsage("top", true), write: writeTop},
		{Name: "topproto", Help: "the heaviest functions as a profile", File: "pb.gz", write: writeTopProto},
		{Name: "traces", Help: "every stack with its weight", write: writeTraces},
		{Name: "tree", Help: "the heaviest functions with callers and callees", Usage: reportUsage("tree", true), write: writeTree},
		{Name: "weblist", Help: "source and instructions with their weights, as a web page", Usage: listUsage("weblist"), Param: true, Image: "html", Viewer: "browser", write: writeList},
	}
	for _, image := range []string{"gif", "pdf", "png", "ps", "svg"} {
		list = append(list, Command{
			Name: image, Help: "the call graph as a picture in " + strings.ToUpper(image), Usage: reportUsage(image, false),
			Image: image, File: image, write: writeDot,
		})
	}
	for _, v := range []struct{ name, image, viewer string }{
		{"web", "svg", "browser"}, {"eog", "svg", "eog"}, {"evince", "pdf", "evince"}, {"gv", "ps", "gv"},
	} {
		list = append(list, Command{
			Name: v.name, Help: "the call graph in " + map[bool]string{true: "a web browser", false: v.viewer}[v.name == "web"],
			Usage: reportUsage(v.name, false), Image: v.image, Viewer: v.viewer, write: writeDot,
		})
	}
	slices.SortFunc(list, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Find returns the command with a name, or nil.
func Find(name string) *Command {
	i, ok := slices.BinarySearchFunc(Commands, name, func(c Command, name string) int { return strings.Compare(c.Name, name) })
	if !ok {
		return nil
	}
	return &Commands[i]
}
