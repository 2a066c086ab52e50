package symbol

import (
	"fmt"
	"strings"
)

// FactKind names a kind of [Fact] for programs.
type FactKind string

// The kinds of facts. The first three exclude each other.
const (
	SameBuild    FactKind = "same-build"    // the profile was taken of this binary
	OtherBuild   FactKind = "other-build"   // it was taken of another one
	UnknownBuild FactKind = "unknown-build" // nothing tells

	NoSymbols FactKind = "no-symbols" // -ldflags=-s, or strip
	NoDWARF   FactKind = "no-dwarf"   // -ldflags=-w
	Trimmed   FactKind = "trimmed"    // -trimpath
	NotGo     FactKind = "not-go"     // no table of Go functions
)

// Fact says in one sentence what about a binary limits what can be shown of a
// profile, what that means and what to do.
type Fact struct {
	Kind FactKind
	Text string
}

// Judge says whether the binary belongs to a mapping of a profile, and what it
// lacks. The fact about the build comes first and is always there.
func (b *Binary) Judge(m Mapping) []Fact {
	facts := []Fact{judgeBuild(b.Format, b.BuildID, m.BuildID)}
	add := func(kind FactKind, format string, args ...any) {
		facts = append(facts, Fact{kind, fmt.Sprintf(format, args...)})
	}
	isGo := b.IsGo()
	if !isGo {
		add(NotGo, "The binary has no table of Go functions, so only its symbol table and debug information can name what is in it.")
	}
	switch {
	case !b.HasSymbols() && isGo:
		add(NoSymbols, "The binary is stripped (-ldflags=-s, or strip): functions, lines, source and instructions of Go code are shown all the same, but C functions and variables have no names; build without -s to have them.")
	case !b.HasSymbols():
		add(NoSymbols, "The binary is stripped, so nothing in it has a name; use the file from before it was stripped.")
	case !b.HasDWARF():
		add(NoDWARF, "The binary has no debug information (-ldflags=-w): Go code is shown all the same, but lines of C code and the arguments of calls are unknown; build without -w to have them.")
	}
	if v, _ := b.Setting("-trimpath"); v == "true" {
		add(Trimmed, "The binary was built with -trimpath, so the names of its source files have no directory of this machine: source is looked for in GOROOT, in the module cache and in the main module; say where the latter is with -source_path.")
	}
	return facts
}

// judgeBuild compares the build id of a binary with that of a profile.
func judgeBuild(format Format, buildID, profileID string) Fact {
	// On Windows the runtime writes the path and the time of the file instead.
	comparable := format != PE && strings.Trim(strings.ToLower(profileID), "0123456789abcdef") == ""
	switch {
	case profileID == "" || !comparable:
		return Fact{UnknownBuild, "The profile does not name the build that it was taken of (Go does so on Linux only), so nothing shows whether it was this binary: instructions and source are right only if it was built from the same code."}
	case buildID == "":
		return Fact{UnknownBuild, fmt.Sprintf("The profile was taken of build %s, but this binary has no build id, so nothing shows whether it is the same: build with Go 1.24 or later, or with -ldflags=-B=gobuildid.", profileID)}
	case strings.EqualFold(profileID, buildID):
		return Fact{SameBuild, fmt.Sprintf("The profile was taken of this binary: both have the build id %s.", buildID)}
	}
	return Fact{OtherBuild, fmt.Sprintf("The profile was taken of another build: it names %s, this binary is %s; instructions and source may be of other code, so give the binary that ran.", profileID, buildID)}
}
