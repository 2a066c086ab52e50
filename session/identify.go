package session

import (
	"bytes"
	"errors"
	"io"

	"loupe/benchmark"
	"loupe/core"
	"loupe/dump"
	"loupe/godebug"
	"loupe/recording"
)

const (
	// sniffed is how much of a file tells what it is.
	sniffed = 64 << 10
	// searched is how much of a log is looked at at a time, and longestLine how
	// much of one part is looked at again with the next.
	searched, longestLine = 1 << 20, 1 << 10
)

// Identify tells what a file is: [recording.ExecTrace], [recording.Stacks] for
// a goroutine dump or a log with one, [recording.Stderr] for a log with lines of the
// runtime, [recording.Load] for a load run, [BenchmarkOutput], [CoreFile],
// [OtherProfile] for a profile of any kind, or "". Its begin tells, but for text that begins with
// none of that: a service logs for an hour before it panics. Such a file is read
// to its end, or to the part that tells, which is returned.
func Identify(r io.Reader) (kind recording.Kind, part []byte, err error) {
	buf := make([]byte, searched)
	n, err := readAtMost(r, buf[:sniffed])
	head := buf[:n]
	if kind := sniffBinary(head); kind != "" || err != nil {
		return kind, head, err
	}
	if kind := sniffText(head); kind != "" || bytes.IndexByte(head, 0) >= 0 {
		return kind, head, nil
	}
	for n == sniffed || n == searched {
		kept := copy(buf, buf[n-longestLine:n])
		if n, err = readAtMost(r, buf[kept:]); err != nil {
			return "", nil, err
		}
		n += kept
		if kind := sniffLog(buf[:n]); kind != "" {
			return kind, buf[:n], nil
		}
	}
	return "", nil, nil
}

// readAtMost fills buf as far as r goes.
func readAtMost(r io.Reader, buf []byte) (int, error) {
	n, err := io.ReadFull(r, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// sniffBinary tells files that begin as nothing else does.
func sniffBinary(head []byte) recording.Kind {
	switch {
	case core.LooksLike(head):
		return CoreFile
	case bytes.HasPrefix(head, []byte("loupe.load/")):
		return recording.Load
	case bytes.HasPrefix(head, []byte("go 1.")) && bytes.Contains(head[:min(16, len(head))], []byte(" trace\x00")):
		return recording.ExecTrace
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}), bytes.HasPrefix(head, []byte("PERFILE2")), len(head) > 0 && head[0] == 0x0a:
		return OtherProfile
	}
	return ""
}

// sniffText tells texts by the lines at their begin.
func sniffText(head []byte) recording.Kind {
	if kind := sniffLog(head); kind != "" {
		return kind
	}
	if benchmark.Looks(head) {
		return BenchmarkOutput
	}
	return ""
}

// sniffLog tells what is worth looking at in a part of a log.
func sniffLog(part []byte) recording.Kind {
	if gctrace, schedtrace := godebug.Looks(part); gctrace || schedtrace {
		return recording.Stderr // also with a dump in it: Stacks looks there too
	}
	if dump.LooksLike(part) {
		return recording.Stacks
	}
	return ""
}
