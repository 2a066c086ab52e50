package pprof

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Config are the options of a report. Their names on the command line, in the
// shell and in saved settings are those of [Fields].
type Config struct {
	Output string // file to write to; "" means standard output

	CallTree            bool
	RelativePercentages bool
	Unit                string // "minimum" means the one that fits, "auto" one for each value
	CompactLabels       bool
	SourcePath          string
	TrimPath            string
	IntelSyntax         bool
	Mean                bool
	SampleIndex         string
	DivideBy            float64
	Normalize           bool
	Sort                string // "flat" or "cum"

	TagRoot, TagLeaf string

	DropNegative bool
	NodeCount    int // -1 means the command's own limit
	NodeFraction float64
	EdgeFraction float64
	Trim         bool
	Focus        string
	Ignore       string
	PruneFrom    string
	Hide         string
	Show         string
	ShowFrom     string
	TagFocus     string
	TagIgnore    string
	TagShow      string
	TagHide      string
	NoInlines    bool
	ShowColumns  bool
	Granularity  string // "" means functions

	// What go tool pprof does not have.
	Group        string // "" or "function", "package", "module" or "work"
	FoldGenerics bool   // one entry for all instances of a generic function
}

// Defaults are the options of go tool pprof when none is given.
func Defaults() Config {
	return Config{
		Unit: "minimum", NodeCount: -1, NodeFraction: 0.005, EdgeFraction: 0.001,
		Trim: true, DivideBy: 1, Sort: "flat",
	}
}

// override applies what a command wants to have otherwise. Listings and
// exports show everything: what is cut is chosen before they pick their part.
func (c *Config) override(cmd *Command) {
	trim := c.Trim
	switch cmd.Name {
	case "disasm":
		// One place in the source for each address.
		trim, c.Granularity, c.NoInlines = false, "addresses", true
	case "weblist":
		trim, c.Granularity, c.NoInlines = false, "addresses", false
	case "peek":
		trim = false
	case "list":
		trim, c.Granularity = false, "lines"
	case "text", "top", "topproto":
		if c.NodeCount == -1 {
			c.NodeCount = 0
		}
	default:
		if c.NodeCount == -1 {
			c.NodeCount = 80
		}
	}
	if cmd.exact {
		trim, c.Granularity = false, "addresses"
	}
	if !trim {
		c.NodeCount, c.NodeFraction, c.EdgeFraction = 0, 0, 0
	}
}

// Field is one option.
type Field struct {
	Name    string
	Choices []string // the values that it may have, each a name of its own
	Saved   bool     // part of saved settings
	Ours    bool     // go tool pprof does not have it
	Help    string   // the first line stands alone; the value is named in backquotes

	at func(c *Config) any // *string, *bool, *int or *float64
}

// Fields are all options, in the order of pprof's settings file.
var Fields = []Field{
	{Name: "output", Help: "`file` to write the report to", at: func(c *Config) any { return &c.Output }},
	{Name: "call_tree", Saved: true, at: func(c *Config) any { return &c.CallTree },
		Help: "keep functions apart by how they were reached\nApplies to dot and callgrind, and what is made from them."},
	{Name: "relative_percentages", Saved: true, at: func(c *Config) any { return &c.RelativePercentages },
		Help: "take percentages of what the filters leave\nOtherwise they are of the whole profile."},
	{Name: "unit", Saved: true, at: func(c *Config) any { return &c.Unit },
		Help: "`unit` to show values in\nseconds, ms, MB, …; minimum fits the smallest, auto fits each."},
	{Name: "compact_labels", Saved: true, Help: "short headers", at: func(c *Config) any { return &c.CompactLabels }},
	{Name: "source_path", Help: "`folders` to search for source files", at: func(c *Config) any { return &c.SourcePath }},
	{Name: "trim_path", Help: "`prefixes` to cut from source paths before the search", at: func(c *Config) any { return &c.TrimPath }},
	{Name: "intel_syntax", Saved: true, at: func(c *Config) any { return &c.IntelSyntax },
		Help: "assembly in Intel syntax\nApplies to disasm and weblist."},
	{Name: "mean", Saved: true, at: func(c *Config) any { return &c.Mean },
		Help: "divide by the first sample type\nThe mean size of an allocation, or the mean delay of a contention."},
	{Name: "sample_index", at: func(c *Config) any { return &c.SampleIndex },
		Help: "sample `type` to show, by name or position"},
	{Name: "divide_by", at: func(c *Config) any { return &c.DivideBy },
		Help: "divide all values by a `number`\nSuch as that of requests, processors or runs."},
	{Name: "normalize", Saved: true, Help: "scale the profile to the total of its base", at: func(c *Config) any { return &c.Normalize }},
	{Name: "sort", Saved: true, Choices: []string{"cum", "flat"}, at: func(c *Config) any { return &c.Sort }},
	{Name: "tagroot", Saved: true, at: func(c *Config) any { return &c.TagRoot },
		Help: "show the values of label `keys` as frames at the root\nA list of label keys, separated by commas, the first outermost."},
	{Name: "tagleaf", Saved: true, at: func(c *Config) any { return &c.TagLeaf },
		Help: "show the values of label `keys` as frames at the leaf\nA list of label keys, separated by commas, the last innermost."},
	{Name: "drop_negative", Saved: true, Help: "leave out what has shrunk\nApplies to differences.", at: func(c *Config) any { return &c.DropNegative }},
	{Name: "nodecount", Saved: true, at: func(c *Config) any { return &c.NodeCount },
		Help: "show at most `n` entries\nA dashed edge of a graph stands for a path through entries that are left out."},
	{Name: "nodefraction", Saved: true, Help: "leave out entries below this `share` of the total", at: func(c *Config) any { return &c.NodeFraction }},
	{Name: "edgefraction", Saved: true, Help: "leave out calls below this `share` of the total", at: func(c *Config) any { return &c.EdgeFraction }},
	{Name: "trim", Saved: true, at: func(c *Config) any { return &c.Trim },
		Help: "apply nodecount, nodefraction and edgefraction\nWithout it everything is shown."},
	{Name: "focus", Saved: true, at: func(c *Config) any { return &c.Focus },
		Help: "keep samples that go through a match of `regexp`\nFunctions, source files and binaries are matched."},
	{Name: "ignore", Saved: true, at: func(c *Config) any { return &c.Ignore },
		Help: "leave out samples that go through a match of `regexp`\nFunctions, source files and binaries are matched."},
	{Name: "prune_from", Saved: true, at: func(c *Config) any { return &c.PruneFrom },
		Help: "leave out what a function that matches `regexp` calls"},
	{Name: "hide", Saved: true, at: func(c *Config) any { return &c.Hide },
		Help: "leave out frames that match `regexp`, but not their samples\nFunctions, source files and binaries are matched."},
	{Name: "show", Saved: true, at: func(c *Config) any { return &c.Show },
		Help: "leave out all frames but those that match `regexp`\nFunctions, source files and binaries are matched."},
	{Name: "show_from", Saved: true, at: func(c *Config) any { return &c.ShowFrom },
		Help: "leave out what calls the outermost match of `regexp`\nFunctions, source files and binaries are matched."},
	{Name: "tagfocus", Saved: true, at: func(c *Config) any { return &c.TagFocus },
		Help: "keep samples whose labels match a `filter`\nAn expression, key=expression, or a range such as 1kb, 1kb:10kb, size=32mb:"},
	{Name: "tagignore", Saved: true, at: func(c *Config) any { return &c.TagIgnore },
		Help: "leave out samples whose labels match a `filter`\nAn expression, key=expression, or a range such as 1kb, 1kb:10kb, size=32mb:"},
	{Name: "tagshow", Saved: true, Help: "keep only labels whose key matches `regexp`", at: func(c *Config) any { return &c.TagShow }},
	{Name: "taghide", Saved: true, Help: "leave out labels whose key matches `regexp`", at: func(c *Config) any { return &c.TagHide }},
	{Name: "noinlines", Saved: true, at: func(c *Config) any { return &c.NoInlines },
		Help: "count inlined calls for the function they were inlined into"},
	{Name: "showcolumns", Saved: true, Help: "show columns beside line numbers", at: func(c *Config) any { return &c.ShowColumns }},
	{Name: "granularity", Saved: true, at: func(c *Config) any { return &c.Granularity },
		Choices: []string{"functions", "filefunctions", "files", "lines", "addresses"}},
	{Name: "group", Ours: true, at: func(c *Config) any { return &c.Group },
		Help: "one entry for each function, package, module or work: `what`\nThe kinds of work are the duties of the runtime, and code by whose it is."},
	{Name: "fold_generics", Ours: true, Help: "one entry for all instances of a generic function", at: func(c *Config) any { return &c.FoldGenerics }},
}

// groups are the values of the option group.
var groups = []string{"function", "package", "module", "work"}

// ChoiceHelp says in a line what a value of an option with choices means.
func ChoiceHelp(choice string) string { return choiceHelp[choice] }

// choiceHelp says what the values of the options with choices mean.
var choiceHelp = map[string]string{
	"flat":          "rank by what functions do themselves",
	"cum":           "rank by functions including everything they call",
	"functions":     "one entry for each function name",
	"filefunctions": "one entry for each function and file",
	"files":         "one entry for each source file",
	"lines":         "one entry for each line",
	"addresses":     "one entry for each address",
}

// FindField returns the option with a name, or the one that the name is a
// value of; nil if there is none.
func FindField(name string) *Field {
	for i := range Fields {
		if f := &Fields[i]; f.Name == name || slices.Contains(f.Choices, name) {
			return f
		}
	}
	return nil
}

// IsBool says whether a name may stand without a value.
func (f *Field) IsBool(name string) bool {
	_, ok := f.at(new(Config)).(*bool)
	return ok || f.Name != name
}

// Get returns the value of the option.
func (f *Field) Get(c *Config) string {
	switch v := f.at(c).(type) {
	case *string:
		return *v
	case *int:
		return strconv.Itoa(*v)
	case *float64:
		return fmt.Sprint(*v)
	case *bool:
		return strconv.FormatBool(*v)
	}
	panic("BUG: option of an unknown type")
}

// Set gives the option a value by its name, or by the name of a value, which
// must then be true.
func (f *Field) Set(c *Config, name, value string) error {
	if f.Name != name {
		if v, err := strconv.ParseBool(value); !v || err != nil {
			return fmt.Errorf("unknown config field %q", name)
		}
		value = name
	}
	var err error
	switch v := f.at(c).(type) {
	case *string:
		if len(f.Choices) > 0 && !slices.Contains(f.Choices, value) || f.Name == "group" && value != "" && !slices.Contains(groups, value) {
			return fmt.Errorf("invalid %q value %q", f.Name, value)
		}
		*v = value
	case *int:
		var n int
		if n, err = strconv.Atoi(value); err == nil {
			*v = n
		}
	case *float64:
		var x float64
		if x, err = strconv.ParseFloat(value, 64); err == nil {
			*v = x
		}
	case *bool:
		var b bool
		if b, err = parseBool(value); err == nil {
			*v = b
		}
	}
	return err
}

// parseBool takes more words than strconv does: nothing at all means true.
func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "t", "yes", "y", "1", "":
		return true, nil
	case "false", "f", "no", "n", "0":
		return false, nil
	}
	return false, fmt.Errorf("illegal value %q for bool variable", s)
}
