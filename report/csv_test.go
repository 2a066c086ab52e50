package report

import (
	"strings"
	"testing"
)

// TestSheetCSV: what a name holds is text, for a terminal and for a spreadsheet.
func TestSheetCSV(t *testing.T) {
	s := &Sheet{
		Columns: []Column{{Key: "name"}, {Key: "n"}, {Key: "stack"}},
		Rows: [][]any{
			{"=cmd|' /C calc'!A0", -5, []string{"@a", "b"}},
			{"+1+1", int64(-7), []string{"-1+2"}},
			{"-12.5", -1.5, []string{"m\x1b[2J\u202e.f"}},
			{"\x1b]0;t\x07=1", nil, []string(nil)},
			{"\t=1+1", " -5", []string(nil)},
		},
	}
	var b strings.Builder
	if err := WriteSheetCSV(&b, s); err != nil {
		t.Fatal(err)
	}
	want := "name,n,stack\n'=cmd|' /C calc'!A0,-5,'@a;b\n'+1+1,-7,'-1+2\n-12.5,-1.5,m[2J.f\n]0;t=1,,\n' =1+1,\" -5\",\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
