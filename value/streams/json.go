package streams

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// messageFields are where loggers put what a program has printed, the likeliest first.
var messageFields = []string{"log", "message", "msg", "MESSAGE", "textPayload", "line", "text", "body", "@message", "event"}

// varies are fields that say something of the line, and nothing of who has printed it.
func varies(field string) bool {
	switch f := strings.ToLower(strings.Trim(field, "@_")); f {
	case "time", "ts", "timestamp", "date", "datetime", "level", "severity", "lvl", "loglevel", "seq", "sequence", "offset", "caller", "logtag", "insertid", "priority":
		return true
	default:
		return strings.HasSuffix(f, "time") || strings.HasSuffix(f, "timestamp") || strings.HasSuffix(f, "cursor")
	}
}

// decode takes an object with a message apart; fields is nil for any other line.
func decode(line []byte) (fields map[string]json.RawMessage, message string) {
	t := bytes.TrimSpace(line)
	if len(t) < 2 || t[0] != '{' || t[len(t)-1] != '}' || json.Unmarshal(t, &fields) != nil {
		return nil, ""
	}
	for _, name := range messageFields {
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, &message) == nil {
			delete(fields, name)
			return fields, message
		}
	}
	return nil, ""
}

// learnJSON learns from lines that are objects with a message: what else is in them
// may name the process.
func learnJSON(text []byte) *Splitter {
	if !bytes.HasPrefix(text, []byte("{")) && !bytes.Contains(text, []byte("\n{")) && !bytes.Contains(text, []byte("\n {")) {
		return nil
	}
	values := map[string]map[string]int{}
	objects := 0
	for line := range bytes.Lines(text) {
		fields, _ := decode(line)
		if fields == nil {
			continue
		}
		objects++
		for name, raw := range fields {
			if varies(name) || len(values) > 64 {
				continue
			}
			if values[name] == nil {
				values[name] = map[string]int{}
			}
			if len(values[name]) <= maxStreams {
				values[name][string(raw)]++
			}
		}
	}
	s := new(Splitter)
	for name, seen := range values {
		total := 0
		for _, n := range seen {
			total += n
		}
		// A field that names a process is in all of its lines.
		if len(seen) <= maxStreams && total >= fewFields*len(seen) && (len(seen) > 1 || total < objects) {
			s.fields = append(s.fields, name)
		}
	}
	if s.fields == nil {
		return nil
	}
	s.several = true
	slices.Sort(s.fields)
	return s
}

// ofObject is [Splitter.Of] for a line that is an object.
func (s *Splitter) ofObject(line []byte) (string, []byte) {
	fields, message := decode(line)
	if fields == nil || strings.Contains(strings.TrimRight(message, "\r\n"), "\n") {
		return "", line // a whole dump in one string is found where it is
	}
	key := "{"
	for _, name := range s.fields {
		if raw, ok := fields[name]; ok {
			key += name + "=" + strings.Trim(string(raw), `"`) + " "
		}
	}
	return strings.TrimRight(key, " ") + "}", []byte(message)
}
