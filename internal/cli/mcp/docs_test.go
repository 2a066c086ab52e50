package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loupe/internal/long"
)

// example is a question in docs/mcp.md and its answer.
var example = regexp.MustCompile("(?ms)^### ([a-z_]+)\n(.*?)^```json\n(.*?)```\n(.*?)^```json\n(.*?)```\n")

// TestExamples: every tool has an example in docs/mcp.md, which is what it answers. Of a store
// and of what is run anew, names and times differ: their tables and columns are held.
func TestExamples(t *testing.T) {
	page := filepath.Join(root(t), "docs", "mcp.md")
	doc, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	at := store(t)
	here := filepath.ToSlash(t.TempDir())
	c := connect(t, "-run", "-to", at)
	tools, err := c.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	out := example.ReplaceAllStringFunc(string(doc), func(section string) string {
		m := example.FindStringSubmatch(section)
		tool, want := m[1], m[5]
		shown[tool] = true
		acts := tool == "record" || tool == "prove"
		if acts && !long.Wanted() {
			return section
		}
		var args map[string]any
		asked := strings.NewReplacer("/src/loupe", root(t), "/tmp/out", here).Replace(m[3])
		if err := json.Unmarshal([]byte(asked), &args); err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		got, failed := c.raw(tool, args)
		if failed {
			t.Errorf("%s: %s", tool, got)
		}
		got = strings.NewReplacer(root(t), "/src/loupe", at, "127.0.0.1:4040", here, "/tmp/out").Replace(got)
		if tool == "recordings" {
			got = date.ReplaceAllString(got, "2026-11-26 12:00:00 UTC")
		}
		if acts || strings.HasPrefix(tool, "fleet_") {
			if a, b := outline(t, got), outline(t, want); a != b && !*update {
				t.Errorf("%s has the tables\n%s\nand docs/mcp.md\n%s", tool, a, b)
			}
		} else if laid := lay(t, got); laid != want && !*update && !(tool == "recordings" && sorted(laid) == sorted(want)) {
			t.Errorf("%s answers\n%s\nand docs/mcp.md says\n%s", tool, laid, want)
		}
		if !*update {
			return section
		}
		return "### " + tool + "\n" + m[2] + "```json\n" + m[3] + "```\n" + m[4] + "```json\n" + lay(t, got) + "```\n"
	})
	for _, tool := range tools.Tools {
		if !shown[tool.Name] {
			t.Errorf("docs/mcp.md has no example of %s", tool.Name)
		}
	}
	if len(shown) != len(tools.Tools) {
		t.Errorf("docs/mcp.md has %d examples, and there are %d tools", len(shown), len(tools.Tools))
	}
	if *update && out != string(doc) {
		if err := os.WriteFile(page, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// lay lays out an answer: a line for each member of an object, and for each row.
func lay(t *testing.T, answer string) string {
	t.Helper()
	var b strings.Builder
	depth, inline, quoted := 0, 0, false
	end := func() {
		if inline == 0 {
			b.WriteString("\n" + strings.Repeat(" ", depth))
		}
	}
	for i := 0; i < len(answer); i++ {
		switch c := answer[i]; {
		case quoted:
			b.WriteByte(c)
			if c == '\\' {
				i++
				b.WriteByte(answer[i])
			}
			quoted = c != '"'
		case c == '[' && (inline > 0 || !strings.ContainsRune("[{", rune(answer[i+1]))):
			inline++
			b.WriteByte(c)
		case c == '[' || c == '{':
			depth++
			b.WriteByte(c)
			end()
		case c == ']' && inline > 0:
			inline--
			b.WriteByte(c)
		case c == ']' || c == '}':
			depth--
			end()
			b.WriteByte(c)
		case c == ',':
			b.WriteByte(c)
			if end(); inline > 0 {
				b.WriteByte(' ')
			}
		case c == ':':
			b.WriteString(": ")
		default:
			quoted = c == '"'
			b.WriteByte(c)
		}
	}
	return b.String() + "\n"
}

// sorted are the rows of an answer in the order of their text: a clone decides which file is the
// newest.
func sorted(laid string) string {
	lines := strings.Split(strings.ReplaceAll(laid, "],\n", "]\n"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// date is when a file has changed, which a clone decides.
var date = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`)

// outline are the tables of an answer with their columns.
func outline(t *testing.T, answer string) string {
	t.Helper()
	var r reply
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, table := range r.Data.Tables {
		if slices.Contains([]string{"recording", "about", "causes", "answer", "figure", "profile", "functions", "services", "release", "more", "rows"}, table.Name) {
			all = append(all, table.Name+": "+strings.Join(table.Columns, ", "))
		}
	}
	return r.Tool + "\n" + strings.Join(all, "\n")
}
