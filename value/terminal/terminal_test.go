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
