package insight

import "go/types"

// mostTypes bounds how many types one walk goes to. A type with parameters may have fields of ever more others of its kind: that does
// not compile, but go/types still makes them, one after the other.
const mostTypes = 1000

// typesSeen are the types that a walk has been to: most types that refer to others lead back to themselves.
type typesSeen map[types.Type]bool

// again tells of a type that the walk need not go to it: it has been there, or to too many.
func (s typesSeen) again(t types.Type) bool {
	if s[t] || len(s) >= mostTypes {
		return true
	}
	s[t] = true
	return false
}

// full tells that the walk may not have gone to all types: what it has not found may be there.
func (s typesSeen) full() bool { return len(s) >= mostTypes }
