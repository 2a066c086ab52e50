package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"loupe/format/godebug"
)

// RuntimeWords is the JSON form of loupe gc -explain.
type RuntimeWords struct {
	Schema string               `json:"schema"` // loupe.gc-explain/1
	Lines  []*godebug.Explained `json:"lines"`
}

// RuntimeWordsSchema names the form of [RuntimeWords].
const RuntimeWordsSchema = "loupe.gc-explain/1"

// WriteRuntimeWords prints lines of the runtime piece by piece, with what each means.
func WriteRuntimeWords(out io.Writer, all []*godebug.Explained, s Style) error {
	w := &lines{w: out}
	for i, x := range all {
		if i > 0 {
			w.printf("\n")
		}
		texts, names := 0, 0
		var line strings.Builder
		for _, p := range x.Parts {
			line.WriteString(p.Text)
			texts = max(texts, utf8.RuneCountInString(shownPart(p)))
			names = max(names, len(p.Name))
		}
		w.printf("%s\n\n", s.paint(bold, wrap(clean(line.String()), s.width(), "  ")))
		w.printf("%s\n\n", wrap("GODEBUG="+x.Setting+": "+x.When+".", s.width(), ""))
		texts = min(texts, 28)
		margin := texts + names + 6
		for _, p := range x.Parts {
			if p.Name == "" {
				continue
			}
			text := clean(shownPart(p))
			if room := texts - utf8.RuneCountInString(text); room >= 0 {
				text += strings.Repeat(" ", room)
			} else {
				text += "\n" + strings.Repeat(" ", texts+2)
			}
			w.printf("  %s  %s  %s\n", s.paint(bold, text), fmt.Sprintf("%-*s", names, p.Name), wrap(p.Means, s.width()-margin, strings.Repeat(" ", margin)))
		}
	}
	return w.err
}

// shownPart is the text of a part without the punctuation that leads to the next.
func shownPart(p godebug.Part) string {
	text := strings.TrimSuffix(strings.TrimSpace(p.Text), "->")
	return strings.TrimRight(text, ",:;(+/ ")
}
