package mcp

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// TestFramed: a line that is too long is answered and left out, with all of it, and the next line
// comes.
func TestFramed(t *testing.T) {
	const first, last = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n", `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n"
	var out bytes.Buffer
	f := newFramed(io.MultiReader(strings.NewReader(first), strings.NewReader(strings.Repeat("x", 3*maxLine)+"\n"), strings.NewReader(last)), &out)
	got, err := io.ReadAll(f)
	if err != nil || string(got) != first+last {
		t.Errorf("handed on: %.200q, %v", got, err)
	}
	if !strings.Contains(out.String(), `"code":-32600`) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("answered: %q", out.String())
	}
}
