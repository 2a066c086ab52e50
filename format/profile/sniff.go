package profile

import (
	"fmt"
	"strings"
)

// looksLike says what input that is no profile seems to be and what to
// do about it, or nothing. It is asked only after decoding has failed.
func looksLike(data []byte) string {
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

// signatures are the first bytes of binary formats.
var signatures = []signature{
	{"\x1f\x8b", "gzip inside gzip (unpack it once)"},
	{"\x28\xb5\x2f\xfd", "zstd (unpack it first: zstd -d)"},
	{"PK\x03\x04", "a zip archive (unpack it first)"},
	{"\x7fELF", "an ELF binary; give the profile, not the program"},
	{"\xcf\xfa\xed\xfe", "a Mach-O binary; give the profile, not the program"},
	{"MZ", "a Windows binary; give the profile, not the program"},
	{"go 1.", "a Go execution trace or heap dump, not a profile"},
}

const otherJSON = "none of the kinds that are read: speedscope, .cpuprofile of V8, Chrome traces"

// texts are the beginnings of text formats.
var texts = []signature{
	{"GO PREPROFILE V1", "a profile prepared for the compiler (go tool preprofile); give the profile that it was made of"},
	{"<", "a web page or XML: the address did not answer with a profile"},
	{"{", "JSON, but " + otherJSON},
	{"[", "JSON, but " + otherJSON},
	{"404 page not found", "the answer of a server without that profile (is net/http/pprof imported, is the path right?)"},
	{"Could not enable CPU profiling", "a server's refusal: a CPU profile is being taken already"},
	{"gc 1 @", "the output of gctrace, not a profile"},
}

func isText(head string) bool {
	return head != "" && strings.IndexFunc(head, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' && r != '\r'
	}) < 0
}
