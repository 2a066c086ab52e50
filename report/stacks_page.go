package report

import (
	"loupe/format/dump"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Minutes is a wait as Go prints it, in a sheet: text shows none below one.
type Minutes int32

func (m Minutes) text() string {
	if m <= 0 {
		return "–"
	}
	return waitText(int32(m))
}

func (m Minutes) plain() any { return int64(m) * 60e9 }

// Change is a number with its sign in a sheet: what has come and gone.
type Change int64

func (c Change) text() string {
	switch {
	case c > 0:
		return "+" + unit.Count(int64(c))
	case c == 0:
		return "–"
	}
	return unit.Count(int64(c))
}

func (c Change) plain() any { return int64(c) }

// SuspectText says in a sentence what is suspicious, as [WriteStacks] prints it.
func SuspectText(f *dump.File, x *dump.Suspect) string { return suspectText(f, x) }

// StackPlace is the frame of a stack that says most: the first one of the
// program itself, or else of no runtime.
func StackPlace(f *dump.File, id stack.ID) string { return stackPlace(f, id) }

// AgeText names a stretch of ages: "5 min to 15 min".
func AgeText(a dump.AgeCount) string { return ageText(a) }
