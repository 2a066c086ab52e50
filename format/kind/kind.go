// Package kind tells what a file is by what is in it. It decodes nothing: the begin of
// a file tells, and of a log the first line that says more than others.
package kind

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"loupe/format/benchmark"
	"loupe/format/compiler"
	"loupe/format/core"
	"loupe/format/dump"
	"loupe/format/godebug"
	"loupe/format/loadlog"
	"loupe/format/profile"
)

// Kind is what a file is.
type Kind string

// The kinds.
const (
	// Unknown is none of the others.
	Unknown Kind = ""
	// Empty has no byte at all.
	Empty Kind = "empty"
	// Trace is an execution trace of any version.
	Trace Kind = "execution trace"
	// Profile is a profile of any kind that package profile reads, which may be packed
	// by gzip.
	Profile Kind = "profile"
	// Dump is a text with stacks of goroutines or reports of the race detector.
	Dump Kind = "goroutine dump"
	// GCTrace is a log with lines of GODEBUG=gctrace=1 and maybe others of the runtime,
	// dumps among them.
	GCTrace Kind = "log of gctrace"
	// SchedTrace is one with lines of schedtrace and without those of gctrace.
	SchedTrace Kind = "log of schedtrace"
	// RuntimeLog is one with other lines of the runtime alone: inittrace, scavtrace,
	// gcpacertrace.
	RuntimeLog Kind = "log of the runtime"
	// Core is a core file.
	Core Kind = "core"
	// Program is an executable.
	Program Kind = "program"
	// Load is a load run with each request: one that loupe has saved, or the results of
	// hey -o csv or vegeta.
	Load Kind = "load run"
	// LoadText is the text in which hey, vegeta report, wrk or wrk2 sums a load run up.
	LoadText Kind = "summary of a load"
	// Benchmarks is the output of go test -bench, also as go test -json prints it.
	Benchmarks Kind = "output of go test -bench"
	// Tests is the output of go test -json in which there is neither a benchmark nor
	// a goroutine dump: it tells whether tests have failed.
	Tests Kind = "output of go test -json"
	// CompilerLog is what go build -gcflags=-m, -m=2 or -json=0,DIR prints or writes: what
	// escapes, what is not inlined, what is checked at run time.
	CompilerLog Kind = "output of the compiler"
	// Zip is a zip file: a recording, or several files.
	Zip Kind = "zip file"
	// Tar is a tar file: a recording, or several files.
	Tar Kind = "tar file"
	// Gzip and Zstd are packed files of what is no profile: what they are tells what
	// comes out of them.
	Gzip Kind = "gzip file"
	Zstd Kind = "zstd file"
	// UTF16 is a text in UTF-16, as PowerShell writes what it redirects.
	UTF16 Kind = "text in UTF-16"
)

// One is the kind with its article: "an execution trace".
func (k Kind) One() string {
	switch {
	case k == Unknown:
		return "no file that is known"
	case k == Empty:
		return "an empty file"
	case k == Benchmarks, k == Tests, k == CompilerLog:
		return "the " + string(k)
	case strings.ContainsRune("aeiou", rune(k[0])):
		return "an " + string(k)
	}
	return "a " + string(k)
}

// Known lists what loupe reads, for the errors of what is none of it.
const Known = "recording, execution trace, profile (also of perf, jemalloc, V8 or a Chrome trace), goroutine dump, core, load run or its summary (of loupe load, hey, vegeta or wrk), output of go test -bench (also with -json), output of the compiler (-gcflags=-m) or log of GODEBUG=gctrace=1,schedtrace=1000 (also inittrace, scavtrace, gcpacertrace)"

const (
	// sniffed is how much of a file tells what it is.
	sniffed = 64 << 10
	// searched is how much of a log is looked at at a time, and longestLine how
	// much of one part is looked at again with the next.
	searched, longestLine = 1 << 20, 1 << 10
)

// Of tells what a file is. Its begin tells, but for text that begins with nothing that
// is known: a service logs for an hour before it panics. Such a file is read to its
// end, or to the part that tells, which is returned.
func Of(r io.Reader) (k Kind, part []byte, err error) {
	buf := make([]byte, searched)
	n, err := readAtMost(r, buf[:sniffed])
	if err != nil {
		return Unknown, nil, err
	}
	head := buf[:n]
	if benchmark.LooksEvents(head) {
		return ofEvents(r, buf, n)
	}
	if k := ofBegin(head); k != Unknown {
		return k, head, nil
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return Unknown, head, nil
	}
	for n == sniffed || n == searched {
		kept := copy(buf, buf[n-longestLine:n])
		if n, err = readAtMost(r, buf[kept:]); err != nil {
			return Unknown, nil, err
		}
		n += kept
		if k := ofLog(buf[:n]); k != Unknown {
			return k, buf[:n], nil
		}
	}
	return Unknown, nil, nil
}

// ofEvents tells what the output of go test -json is, of which the first n bytes of buf
// are the begin. Whoever measures looks for the benchmarks in it, whatever its tests
// have printed; without any, a dump of a test that panicked or timed out is what it tells.
func ofEvents(r io.Reader, buf []byte, n int) (k Kind, part []byte, err error) {
	k, part = Tests, bytes.Clone(buf[:n])
	for whole := sniffed; ; whole = searched {
		if benchmark.HasResult(buf[:n]) {
			return Benchmarks, buf[:n], nil
		}
		if k == Tests && dump.LooksLike(buf[:n]) {
			k, part = Dump, bytes.Clone(buf[:n])
		}
		if n < whole {
			return k, part, nil
		}
		kept := copy(buf, buf[n-longestLine:n])
		if n, err = readAtMost(r, buf[kept:]); err != nil {
			return Unknown, nil, err
		}
		n += kept
	}
}

// readAtMost fills buf as far as r goes.
func readAtMost(r io.Reader, buf []byte) (int, error) {
	n, err := io.ReadFull(r, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// magic are files that begin as nothing else does.
var magic = []struct {
	begin string
	Kind
}{
	{"PK\x03\x04", Zip}, {"PK\x05\x06", Zip}, // the second is an empty one
	{"\x28\xb5\x2f\xfd", Zstd},
	{"\x7fELF", Program}, {"MZ", Program}, {"\xcf\xfa\xed\xfe", Program}, {"\xca\xfe\xba\xbe", Program},
}

// ofBegin tells what a file is by its begin.
func ofBegin(head []byte) Kind {
	if len(head) == 0 {
		return Empty
	}
	if core.LooksLike(head) {
		return Core
	}
	if loadlog.Looks(head) {
		return Load
	}
	if isTar(head) {
		return Tar
	}
	if _, ok := UTF16Order(head); ok {
		return UTF16
	}
	for _, m := range magic {
		if bytes.HasPrefix(head, []byte(m.begin)) {
			return m.Kind
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte("go 1.")) && bytes.Contains(head[:min(16, len(head))], []byte(" trace\x00")):
		return Trace
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		if inner := unpacked(head); !bytes.HasPrefix(inner, head[:2]) && ofBegin(inner) == Profile {
			return Profile
		}
		return Gzip
	}
	if head[0] == '{' && compiler.Looks(head) {
		return CompilerLog
	}
	if benchmark.LooksEvents(head) { // of a packed file
		return Tests
	}
	if !isText(head) {
		// Bytes of a profile that happen to read "gc2(" are no log.
		if profile.Looks(head) {
			return Profile
		}
		return Unknown
	}
	if k := ofLog(head); k != Unknown {
		return k
	}
	if benchmark.Looks(head) {
		return Benchmarks
	}
	if loadlog.LooksText(head) {
		return LoadText
	}
	if compiler.Looks(head) {
		return CompilerLog
	}
	if profile.Looks(head) {
		return Profile
	}
	return Unknown
}

// maxControls is the part of control characters from which on bytes are no text. Chosen: a log has
// hardly any, but for line ends, tabs and colours, and the zeros that a rotation leaves.
const maxControls = 0.05

// isText tells whether the begin of a file may be text.
func isText(head []byte) bool {
	controls := 0
	for _, c := range head {
		if c < ' ' && c != 0 && c != '\t' && c != '\n' && c != '\r' && c != 0x1b {
			controls++
		}
	}
	return float64(controls) <= maxControls*float64(len(head))
}

// isTar tells whether a file begins with the header of a tar file, by the sum of its bytes:
// the oldest format says nothing else.
func isTar(head []byte) bool {
	const size, at, end = 512, 148, 156 // of the header, and where its sum stands
	if len(head) < size || head[0] == 0 {
		return false
	}
	sum := int64(' ' * (end - at))
	for i, c := range head[:size] {
		if i < at || i >= end {
			sum += int64(c)
		}
	}
	said, err := strconv.ParseInt(strings.Trim(string(head[at:end]), " \x00"), 8, 64)
	return err == nil && said == sum
}

// UTF16Order tells whether a text begins as one in UTF-16, and in which order the bytes of a
// word are: by a byte order mark, or, where there is none, by its first sixteen characters,
// which are then all of ASCII, as are the begins of all that is known.
func UTF16Order(head []byte) (order binary.ByteOrder, ok bool) {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return binary.LittleEndian, true
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return binary.BigEndian, true
	case len(head) < 32:
		return nil, false
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		ok = true
		for i := 0; i < 32; i += 2 {
			c := order.Uint16(head[i:])
			ok = ok && (c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t')
		}
		if ok {
			return order, true
		}
	}
	return nil, false
}

// unpacked is what comes out of the begin of a gzip file.
func unpacked(head []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return nil
	}
	out := make([]byte, sniffed)
	n, _ := io.ReadFull(z, out) // the begin of a file ends in the middle
	return out[:n]
}

// ofLog tells what is worth looking at in a part of a log.
func ofLog(part []byte) Kind {
	gctrace, schedtrace := godebug.Looks(part)
	switch {
	case gctrace:
		return GCTrace // also with a dump in it
	case schedtrace:
		return SchedTrace
	case dump.LooksLike(part):
		return Dump
	case godebug.LooksOther(part):
		return RuntimeLog
	}
	return Unknown
}
