package report

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"loupe/format/loadlog"
	"loupe/value/unit"
)

// waterfallLabel says what a phase is called in text.
var waterfallLabel = map[string]string{
	"dns": "DNS lookup", "connect": "TCP connect", "tls": "TLS handshake", "write": "request out", "wait": "wait for first byte", "read": "response in",
}

// WriteClientTrace prints requests as waterfalls: a line for each phase, with a
// bar where it lies in its exchange.
func WriteClientTrace(out io.Writer, t *loadlog.ClientTrace, s Style) error {
	w := &lines{w: out}
	for i := range t.Exchanges {
		writeWaterfall(w, &t.Exchanges[i], s)
	}
	writePhaseSummary(w, t, s)
	return w.err
}

func writeWaterfall(w *lines, x *loadlog.Exchange, s Style) {
	arrow := ""
	if x.Hop > 0 {
		arrow = "↳ "
	}
	w.printf("\n%s%s %s\n", arrow, s.paint(bold, clean(x.Method)), s.paint(bold, clean(x.URL)))
	w.printf("  %s\n", wrap(answerLine(x, s), s.width()-2, "  "))
	w.printf("  %s\n", s.paint(dim, wrap(connectionLine(x), s.width()-2, "  ")))
	if x.TLS != nil {
		w.printf("  %s\n", s.paint(dim, wrap(tlsLine(x.TLS), s.width()-2, "  ")))
	}
	if x.Error != "" {
		w.printf("  %s\n", s.paint(red, wrap(clean(x.Error), s.width()-2, "  ")))
	}
	const label, length = 21, 10
	columns := min(max(s.width()-label-length-4, 10), 60)
	w.printf("\n")
	for _, p := range x.Phases {
		from, to := barOf(p, x.Total, columns)
		bar := strings.Repeat(" ", from) + strings.Repeat("█", to-from)
		if p.End-p.Start < x.Total/time.Duration(8*columns) {
			bar = strings.Repeat(" ", from) + "▏"
		}
		w.printf("  %-*s%*s %s\n", label, waterfallLabel[p.Name], length, unit.Duration(p.End-p.Start), s.paint(phaseColour(p), "│"+bar))
		note := clean(p.Detail)
		if p.Error != "" {
			note = strings.TrimSpace(note + " failed: " + clean(p.Error))
		}
		if note != "" {
			w.printf("    %s\n", s.paint(dim, wrap(note, s.width()-4, "    ")))
		}
	}
}

// answerLine says what came back, and how long it took.
func answerLine(x *loadlog.Exchange, s Style) string {
	text := unit.Duration(x.Total)
	if x.Status != 0 {
		text = fmt.Sprintf("%d %s, %s of body, %d header lines, %s", x.Status, clean(x.Protocol), unit.BytesOf(float64(x.Bytes)), x.Header, text)
	} else {
		text = "no answer, " + text
	}
	if x.Location != "" {
		text += ", redirects to " + clean(x.Location)
	}
	for _, code := range x.Informational {
		text += fmt.Sprintf(", %d before", code)
	}
	return text
}

func connectionLine(x *loadlog.Exchange) string {
	switch {
	case x.Remote == "":
		return "no connection"
	case x.Reused && x.Idle > 0:
		return fmt.Sprintf("on a reused connection: %s → %s, idle for %s", clean(x.Local), clean(x.Remote), unit.Duration(x.Idle))
	case x.Reused:
		return fmt.Sprintf("on a reused connection: %s → %s", clean(x.Local), clean(x.Remote))
	}
	return fmt.Sprintf("on a new connection: %s → %s", clean(x.Local), clean(x.Remote))
}

func tlsLine(t *loadlog.TLS) string {
	text := clean(t.Version) + ", " + clean(t.Cipher)
	if t.Protocol != "" {
		text += ", ALPN " + clean(t.Protocol)
	}
	if t.Resumed {
		text += ", resumed"
	}
	if t.Subject != "" {
		text += fmt.Sprintf("; certificate of %s by %s, until %s", clean(t.Subject), clean(t.Issuer), t.Expires.UTC().Format("2006-01-02"))
	}
	if !t.Verified {
		text += "; not verified (-verify does)"
	}
	return text
}

// barOf returns the columns that a phase covers, at least one.
func barOf(p loadlog.Phase, total time.Duration, columns int) (from, to int) {
	if total <= 0 {
		return 0, 1
	}
	at := func(d time.Duration) int { return int(float64(columns) * min(max(d.Seconds()/total.Seconds(), 0), 1)) }
	from = min(at(p.Start), columns-1)
	return from, max(at(p.End), from+1)
}

// phaseColour tells what the network and the service do apart.
func phaseColour(p loadlog.Phase) string {
	switch {
	case p.Error != "":
		return red
	case p.Name == "wait":
		return yellow
	case p.Name == "write" || p.Name == "read":
		return green
	}
	return cyan
}

// writePhaseSummary lays several requests side by side: a line each, a column
// for each phase.
func writePhaseSummary(w *lines, t *loadlog.ClientTrace, s Style) {
	if len(t.Exchanges) < 2 {
		return
	}
	var g grid
	head := []cell{{text: "", left: true}, {text: "status", paint: dim}}
	for _, name := range loadlog.PhaseNames {
		head = append(head, cell{text: name, paint: dim})
	}
	g.add(append(head, cell{text: "total", paint: dim}, cell{text: "connection", left: true, paint: dim})...)
	for i := range t.Exchanges {
		x := &t.Exchanges[i]
		path := x.URL
		if u, err := url.Parse(x.URL); err == nil {
			path = u.RequestURI()
		}
		status := "–"
		if x.Status != 0 {
			status = fmt.Sprint(x.Status)
		}
		row := []cell{{text: cutTo(clean(x.Method+" "+path), 30), left: true}, {text: status}}
		for _, name := range loadlog.PhaseNames {
			text := ""
			if d, ok := x.Length(name); ok {
				text = unit.Duration(d)
			}
			row = append(row, cell{text: text})
		}
		connection := "new"
		if x.Reused {
			connection = "reused"
		}
		g.add(append(row, cell{text: unit.Duration(x.Total)}, cell{text: connection, left: true})...)
	}
	w.printf("\n")
	g.write(w, s, "  ")
}

// cutTo shortens a text to so many characters, with a sign that it did.
func cutTo(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return string(r[:most-1]) + "…"
}
