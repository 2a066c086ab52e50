package profile

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// looksLike says what input that is no profile.proto seems to be and what to
// do about it, or nothing. It is asked only after decoding has failed.
func looksLike(data []byte) string {
	if isLegacyCPU(data) {
		return "a CPU profile in the binary format before profile.proto (convert it with go tool pprof -proto)"
	}
	for _, s := range signatures {
		if strings.HasPrefix(string(data[:min(len(data), 64)]), s.prefix) {
			return s.what
		}
	}
	head := string(data[:min(len(data), 512)])
	if !isText(head) {
		return ""
	}
	head = strings.TrimSpace(head)
	line, _, _ := strings.Cut(head, "\n")
	if strings.Contains(line, " profile: total ") {
		return textProfile
	}
	for _, s := range texts {
		if strings.HasPrefix(head, s.prefix) {
			return s.what
		}
	}
	if len(line) > 40 {
		line = line[:40]
	}
	return fmt.Sprintf("text that begins with %q", line)
}

type signature struct{ prefix, what string }

const (
	textProfile = "a profile in the text form of debug=1 (fetch it again without debug=1)"
	dump        = "a dump of goroutine stacks (debug=2 or a crash), not a profile"
)

// signatures are the first bytes of binary formats.
var signatures = []signature{
	{"\x1f\x8b", "gzip inside gzip (unpack it once)"},
	{"\x28\xb5\x2f\xfd", "zstd (unpack it first)"},
	{"PK\x03\x04", "a zip archive (unpack it first)"},
	{"\x7fELF", "an ELF binary; give the profile, not the program"},
	{"\xcf\xfa\xed\xfe", "a Mach-O binary; give the profile, not the program"},
	{"MZ", "a Windows binary; give the profile, not the program"},
	{"go 1.", "a Go execution trace or heap dump, not a profile"},
	{"PERFILE2", "a perf.data file (convert it with perf_to_profile)"},
}

// texts are the beginnings of text formats.
var texts = []signature{
	{"heap profile:", textProfile},
	{"heapz v2", textProfile},
	{"--- contention", textProfile},
	{"--- mutex", textProfile},
	{"--- threadz", textProfile},
	{"--- heapz", textProfile},
	{"goroutine ", dump},
	{"panic: ", dump},
	{"fatal error: ", dump},
	{"SIGQUIT: ", dump},
	{"GO PREPROFILE V1", "a profile prepared for the compiler (go tool preprofile); give the profile that it was made of"},
	{"<", "a web page or XML: the address did not answer with a profile"},
	{"{", "JSON, not a profile"},
	{"[", "JSON, not a profile"},
	{"404 page not found", "the answer of a server without that profile (is net/http/pprof imported, is the path right?)"},
	{"Could not enable CPU profiling", "a server's refusal: a CPU profile is being taken already"},
	{"gc 1 @", "the output of gctrace, not a profile"},
}

// isLegacyCPU knows the header of gperftools: words 0, 3, 0, period, 0 in 32 or
// 64 bits of either order. The third word is a version that some writers set.
func isLegacyCPU(data []byte) bool {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if len(data) >= 20 && order.Uint32(data) == 0 && order.Uint32(data[4:]) == 3 && order.Uint32(data[16:]) == 0 {
			return true
		}
		if len(data) >= 40 && order.Uint64(data) == 0 && order.Uint64(data[8:]) == 3 && order.Uint64(data[32:]) == 0 {
			return true
		}
	}
	return false
}

func isText(head string) bool {
	return head != "" && strings.IndexFunc(head, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' && r != '\r'
	}) < 0
}
