package insight

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"loupe/recording"
)

// A program that ends with an exit status of its own says why in words, if it does: nothing else of it is known to have gone wrong.

// badEnds finds the first process that ended by itself and not well, and how many of all did; -1 where none did, or is known to.
func badEnds(m *recording.Manifest) (first, bad, all int) {
	first = -1
	for i, run := range m.Target.Runs {
		if run.Exit == "" || run.Stopped {
			continue
		}
		if all++; run.Exit != "exit status 0" {
			if bad++; first < 0 {
				first = i
			}
		}
	}
	return first, bad, all
}

// endedText says how the program ended that did not end well, with its last words, without a full stop; empty where it ended well.
func endedText(in *Input) string {
	m := in.Session.Manifest()
	first, bad, all := badEnds(m)
	if first < 0 {
		return ""
	}
	text := "the program ended with " + m.Target.Runs[first].Exit
	if bad < all {
		text += fmt.Sprintf(" in %d of %d runs", bad, all)
	}
	words := ""
	for _, e := range m.Of(recording.Stderr) {
		if e.Run == first {
			if data, err := in.Session.Bytes(e, mostOutput); err == nil {
				words = lastWords(data)
			}
		}
	}
	if words == "" {
		return text + ", and nothing in its standard error says why"
	}
	return text + "; its last words were: " + words
}

// mostWords is how many bytes of last words are shown: chosen, as more than a sentence is seldom the reason.
const mostWords = 240

// lastWords is the last line that the program itself has printed.
func lastWords(stderr []byte) (words string) {
	for line := range bytes.Lines(stderr) {
		if bytes.HasPrefix(line, []byte("gc ")) || bytes.HasPrefix(line, []byte("SCHED ")) || bytes.HasPrefix(line, []byte("scvg")) {
			continue
		}
		if text := strings.TrimSpace(strings.ToValidUTF8(string(line), "")); text != "" && text != "exit status 1" {
			words = text
		}
	}
	if len(words) > mostWords {
		cut := mostWords
		for !utf8.RuneStart(words[cut]) {
			cut--
		}
		words = words[:cut] + "…"
	}
	return words
}

// Ended says of a program that did not end well how it ended, as a sentence; empty where it ended well, and where a finding
// tells why it failed.
func Ended(m *recording.Manifest, all []Finding) string {
	first, _, _ := badEnds(m)
	if first < 0 {
		return ""
	}
	text := "the program ended with " + m.Target.Runs[first].Exit
	for i := range all {
		if f := &all[i]; f.Rule == fa01.ID && f.State == Found {
			return ""
		} else if f.Rule == fa01.ID && strings.HasPrefix(f.Summary, text) {
			text = f.Summary
		}
	}
	return "T" + strings.TrimSuffix(text[1:], ".") + "."
}
