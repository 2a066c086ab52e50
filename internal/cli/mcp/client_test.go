package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"loupe/internal/cli"
)

// most is the size of an answer in bytes that stands for 2,000 tokens.
const most = 5000

// client is a scripted client of loupe mcp.
type client struct {
	t       *testing.T
	session *sdk.ClientSession
	asked   map[string]bool
}

// connect starts loupe mcp with arguments in this process, with pipes as its standard input
// and output, and connects a client of the SDK.
func connect(t *testing.T, args ...string) *client {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan int)
	go func() {
		code := cli.Main(append([]string{"mcp"}, args...), inR, outW, os.Stderr)
		outW.Close()
		done <- code
	}()
	c := dial(t, &sdk.IOTransport{Reader: outR, Writer: inW})
	t.Cleanup(func() {
		if code := <-done; code != 0 {
			t.Errorf("loupe mcp ended with %d", code)
		}
	})
	t.Cleanup(func() { c.session.Close(); inW.Close() })
	return c
}

// dial connects a client.
func dial(t *testing.T, transport sdk.Transport) *client {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &client{t: t, session: session, asked: map[string]bool{}}
}

// reply is an answer as a client reads it.
type reply struct {
	Tool string   `json:"tool"`
	Of   []string `json:"of"`
	Says string   `json:"says"`
	Rows string   `json:"rows"`
	Next string   `json:"next_cursor"`
	Open string   `json:"open"`
	Page string   `json:"page"`
	Data struct {
		Warning string `json:"warning"`
		Tables  []struct {
			Name    string   `json:"name"`
			Columns []string `json:"columns"`
			Rows    [][]any  `json:"rows"`
		} `json:"tables"`
	} `json:"untrusted_data"`

	text   string
	failed bool
}

// raw calls a tool and returns its text. Every answer is small, is JSON, and has no character
// that would be obeyed.
func (c *client) raw(tool string, args map[string]any) (text string, failed bool) {
	c.t.Helper()
	result, err := c.session.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		c.t.Fatalf("%s %v: %v", tool, args, err)
	}
	if len(result.Content) != 1 {
		c.t.Fatalf("%s: %d parts", tool, len(result.Content))
	}
	text = result.Content[0].(*sdk.TextContent).Text
	if len(text) > most {
		c.t.Errorf("%s %v: %d bytes", tool, args, len(text))
	}
	if i := strings.IndexFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co) || r == '<' || r == '>'
	}); i >= 0 {
		c.t.Errorf("%s %v: %q at %d", tool, args, text[i:min(len(text), i+10)], i)
	}
	c.asked[tool] = true
	return text, result.IsError
}

// page calls a tool for one page.
func (c *client) page(tool string, args map[string]any) *reply {
	c.t.Helper()
	r := &reply{}
	r.text, r.failed = c.raw(tool, args)
	if err := json.Unmarshal([]byte(r.text), r); err != nil {
		c.t.Fatalf("%s: %v: %s", tool, err, r.text)
	}
	return r
}

// all calls a tool for all pages, and returns the first with the rows of all of them.
func (c *client) all(tool string, args map[string]any) *reply {
	c.t.Helper()
	first := c.page(tool, args)
	for r := first; r.Next != ""; {
		more := map[string]any{"cursor": r.Next}
		for k, v := range args {
			more[k] = v
		}
		if r = c.page(tool, more); r.failed {
			c.t.Fatalf("%s: %s", tool, r.text)
		}
		for _, table := range r.Data.Tables {
			last := &first.Data.Tables[len(first.Data.Tables)-1]
			if last.Name == table.Name && strings.Join(last.Columns, ",") == strings.Join(table.Columns, ",") {
				last.Rows = append(last.Rows, table.Rows...)
			} else {
				first.Data.Tables = append(first.Data.Tables, table)
			}
		}
	}
	first.Next = ""
	return first
}

// value is the cell of a column in the first row of a table in which another column has a
// value.
func (r *reply) value(table, key, is, column string) string {
	for _, t := range r.Data.Tables {
		if t.Name != table {
			continue
		}
		k, v := index(t.Columns, key), index(t.Columns, column)
		for _, row := range t.Rows {
			if k >= 0 && v >= 0 && strings.Contains(text(row[k]), is) {
				return text(row[v])
			}
		}
	}
	return ""
}

// column are the values of a column.
func (r *reply) column(table, column string) (all []string) {
	for _, t := range r.Data.Tables {
		if i := index(t.Columns, column); t.Name == table && i >= 0 {
			for _, row := range t.Rows {
				all = append(all, text(row[i]))
			}
		}
	}
	return all
}

func index(all []string, name string) int {
	for i, one := range all {
		if one == name {
			return i
		}
	}
	return -1
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// root is the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(dir)
}
