package dump

import (
	"bytes"
	"strconv"
	"strings"
)

// message gathers what a program says before its goroutines.
type message struct {
	text   []byte
	at     int64
	lines  int
	blank  int // length of text before the first empty line; 0 is none yet
	thread Thread
	signal bool
}

// maxMessageLines is after how many lines without a goroutine a message was none.
const maxMessageLines = 400

// messageBegins tells that a line begins what is said before goroutines.
func messageBegins(l []byte) bool {
	if len(l) < 5 {
		return false
	}
	switch l[0] {
	case 'p':
		return bytes.HasPrefix(l, []byte("panic: "))
	case 'f':
		return bytes.HasPrefix(l, []byte("fatal error: ")) || bytes.HasPrefix(l, []byte("fatal: "))
	case 'u':
		return bytes.HasPrefix(l, []byte("unexpected fault address "))
	case 'r':
		return bytes.HasPrefix(l, []byte("runtime: goroutine stack exceeds ")) || bytes.HasPrefix(l, []byte("runtime: unexpected return pc "))
	case 'S':
		return isSignal(l)
	}
	return false
}

// isSignal tells that a line is such as "SIGQUIT: quit".
func isSignal(l []byte) bool {
	if !bytes.HasPrefix(l, []byte("SIG")) {
		return false
	}
	i := bytes.IndexByte(l, ':')
	if i < 5 || i > 12 || i+2 >= len(l) || l[i+1] != ' ' {
		return false
	}
	for _, c := range l[3:i] {
		if (c < 'A' || c > 'Z') && c-'0' > 9 {
			return false
		}
	}
	return true
}

// messageStart begins a message, if the line is the first of one.
func (p *parser) messageStart(l []byte) bool {
	if !messageBegins(l) {
		// Recovered panics of net/http are a line of its log.
		if i := bytes.Index(l, []byte("panic serving ")); i < 0 || i > 64 {
			return false
		}
	}
	p.msg = message{text: append(p.msg.text[:0], l...), at: p.at(), lines: 1, signal: isSignal(l)}
	p.mode = inMessage
	return true
}

// messageLine reads a line of a message.
func (p *parser) messageLine(l []byte) {
	m := &p.msg
	if id, tail, ok := cutHeader(l); ok {
		p.begin(id, tail)
		return
	}
	switch {
	case string(l) == systemStack+":":
		p.endMessage(true)
		p.begin(0, []byte(systemStack))
		return
	case bytes.HasPrefix(l, []byte("exit status ")):
		p.endMessage(true)
		return
	case m.signal && p.threadLine(l):
		return
	case m.blank > 0 && messageBegins(l):
		p.endMessage(false)
		p.messageStart(l)
		return
	case string(l) == "WARNING: DATA RACE":
		p.endMessage(false)
		p.startRace()
		return
	case bytes.Contains(l, []byte(headerStart)):
		if f, ok := wrapped(l, headerStart); ok && strings.TrimSpace(f.env.prefix+f.env.field) != "" || f.embedded != nil {
			p.endMessage(false)
			p.found(f)
			return
		}
	}
	if m.lines++; m.lines > maxMessageLines {
		p.endMessage(false)
		return
	}
	if len(l) == 0 && m.blank == 0 {
		m.blank = len(m.text)
	}
	if len(m.text)+len(l) < maxMessage {
		m.text = append(append(m.text, '\n'), l...)
	}
}

// endMessage makes a dump of the message. One that no goroutine has followed
// is real when the program has ended with it (GOTRACEBACK=none).
func (p *parser) endMessage(real bool) {
	m := &p.msg
	p.mode = idle
	if !real {
		return
	}
	text := strings.TrimRight(string(m.text), "\n")
	first, _, _ := strings.Cut(text, "\n")
	if m.signal && p.dumps.open && p.dumps.crash {
		return // one block for each thread: threadLine has it
	}
	d := p.dumps.begin(kindOf(text), p.at(), &p.wrapping)
	d.Offset, d.Message = m.at, text
	d.SignalLine = signalLine(text)
	if m.signal {
		d.SignalLine = first
	}
	d.Panics = cutPanics(text)
	if m.thread.Signal != "" {
		d.Threads = append(d.Threads, m.thread)
		m.thread = Thread{}
	}
}

// kindOf says what kind of dump a message begins.
func kindOf(text string) Kind {
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case strings.HasPrefix(first, "panic: test timed out after "):
		return Timeout
	case strings.Contains(text, "fatal error: stack overflow"), strings.HasPrefix(first, "runtime: goroutine stack exceeds "):
		return StackOverflow
	case strings.HasPrefix(first, "fatal error: all goroutines are asleep"), strings.HasPrefix(first, "panic: deadlock: "), strings.HasPrefix(first, "fatal error: no goroutines (main called runtime.Goexit)"):
		return Deadlock
	case strings.HasPrefix(first, "panic: "), strings.Contains(first, "panic serving "):
		return Panic
	case isSignal([]byte(first)):
		return Signal
	}
	return Fatal
}

// signalLine finds "[signal SIGSEGV: segmentation violation code=0x1 addr=0x0
// pc=0x495871]".
func signalLine(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "[signal ") {
			return line
		}
	}
	return ""
}

// cutPanics takes the panics of a message apart. The first is on the first
// line; those that happened meanwhile follow behind a tab. A value with
// several lines goes on behind a tab, too (since Go 1.23), or at the begin of
// the line (before), so that a value can look like a further panic.
func cutPanics(text string) (all []PanicValue) {
	add := func(value string) {
		var v PanicValue
		for {
			if s, ok := strings.CutSuffix(value, " [recovered, repanicked]"); ok {
				value, v.Recovered, v.Repanicked = s, true, true
			} else if s, ok := strings.CutSuffix(value, " [recovered]"); ok {
				value, v.Recovered = s, true
			} else if s, ok := strings.CutSuffix(value, " [goexit]"); ok {
				value, v.Goexit = s, true
			} else {
				break
			}
		}
		v.Value = value
		all = append(all, v)
	}
	value, in := "", false
	for line := range strings.SplitSeq(text, "\n") {
		rest, ok := strings.CutPrefix(line, "panic: ")
		if !ok || in {
			rest, ok = strings.CutPrefix(line, "\tpanic: ")
			ok = ok && in
		}
		if !ok && !in {
			if i := strings.Index(line, "panic serving "); i >= 0 {
				if _, after, found := strings.Cut(line[i+len("panic serving "):], ": "); found {
					rest, ok = after, true
				}
			}
		}
		switch {
		case ok && in:
			add(value)
			value = rest
		case ok:
			value, in = rest, true
		case in && strings.HasPrefix(line, "[signal "), in && strings.HasPrefix(line, "fatal error: "):
			add(value)
			value, in = "", false
		case in && line == "\tgoexit":
			add(value)
			value, in = "", false
			all[len(all)-1].Goexit = true
		case in:
			// The mark stands at the end of the last line of the value.
			value += "\n" + strings.TrimPrefix(line, "\t")
		}
	}
	if in {
		add(strings.TrimRight(value, "\n"))
	}
	return all
}

// threadLine reads what is printed of a thread: "PC=0x4814b7 m=1 sigcode=0",
// "rax    0xca".
func (p *parser) threadLine(l []byte) bool {
	t, ok := cutThread(l)
	switch {
	case !ok:
		return p.mode != inMessage && p.dumps.register(l)
	case p.mode != inMessage:
		p.dumps.thread(t)
		return true
	}
	first, _, _ := bytes.Cut(p.msg.text, []byte("\n"))
	t.Signal = string(first)
	if p.dumps.open && p.dumps.crash {
		p.dumps.thread(t)
	} else {
		p.msg.text = append(append(p.msg.text, '\n'), l...)
		p.msg.thread = t
	}
	return true
}

// cutThread reads "PC=0x4814b7 m=1 sigcode=0".
func cutThread(l []byte) (t Thread, ok bool) {
	if !bytes.HasPrefix(l, []byte("PC=0x")) || !bytes.Contains(l, []byte(" m=")) {
		return t, false
	}
	t.Signal = "?"
	for word := range strings.FieldsSeq(string(l)) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "PC":
			t.PC, _ = strconv.ParseUint(value, 0, 64)
		case "m":
			t.M, _ = strconv.ParseInt(value, 10, 64)
		case "sigcode":
			t.Code, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	return t, true
}

// isRegister tells that a line is such as "rax    0x0" or "lr      0x1".
func isRegister(l []byte) bool {
	i := 0
	for i < len(l) && (l[i]-'a' < 26 || isDigit(l[i])) {
		i++
	}
	if i == 0 || i > 8 || i >= len(l) || l[i] != ' ' && l[i] != '\t' {
		return false
	}
	rest := bytes.TrimLeft(l[i:], " \t")
	if !bytes.HasPrefix(rest, []byte("0x")) || len(rest) < 3 || len(rest) > 18 {
		return false
	}
	for _, c := range rest[2:] {
		if hexValue(c) < 0 {
			return false
		}
	}
	return true
}
