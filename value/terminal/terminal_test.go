package terminal

import "testing"

func TestObeyed(t *testing.T) {
	for _, r := range "\x00\x1b\r\n\t\x7f\u009b\u202e\u2066\u200f\u061c" {
		if !Obeyed(r) {
			t.Errorf("%U passes", r)
		}
	}
	for _, r := range "aé€ \u00a0·▇\ufffd" {
		if Obeyed(r) {
			t.Errorf("%U does not pass", r)
		}
	}
}

// TestLine: nothing begins a line or is obeyed, and what has lines keeps them.
func TestLine(t *testing.T) {
	for in, want := range map[string][2]string{
		"plain é·":                 {"plain é·", "plain é·"},
		"a\nb\tc\u2028d\u2029e":    {"a b c d e", "a\nb\tc\u2028d\u2029e"},
		"\x1b[31mred\r\x00\u202e.": {"[31mred.", "[31mred."},
	} {
		if got := [2]string{Line(in), Text(in)}; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
