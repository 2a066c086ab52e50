package dump

import (
	"bytes"

	"loupe/value/streams"
)

// headerIn returns where in a line the header of a goroutine stands, from a byte on;
// -1 for none.
func headerIn(line []byte, from int) int {
	for from < len(line) {
		i := bytes.Index(line[from:], []byte(headerStart))
		if i < 0 {
			return -1
		}
		if looseHeader(line[from+i:]) > 0 {
			return from + i
		}
		from += i + len(headerStart)
	}
	return -1
}

// split takes the streams of a log apart before anything is parsed, as a dump is a
// matter of lines that follow each other; nil where there is nothing to take apart.
// What belongs to none of them is the last one, without a name.
func split(text []byte) []streams.Stream {
	if len(text) > streams.MaxText || !bytes.Contains(text, []byte(headerStart)) {
		return nil
	}
	if s := streams.Learn(text, headerIn); s != nil && s.Several() {
		return s.Split(text)
	}
	return nil
}
