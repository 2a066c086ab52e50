package insight

import (
	"path"
	"strings"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/value/stack"
)

// observed are the observations behind a sample type, by stack.
func observed(p *profile.Profile, index int) calltree.Samples {
	counts, _ := p.Observations(index)
	return func(yield func(stack.ID, int64) bool) {
		for i, id := range p.StackIDs {
			if !yield(id, counts[i]) {
				return
			}
		}
	}
}

// baseName is the last element of a file's path.
func baseName(file string) string { return path.Base(strings.ReplaceAll(file, "\\", "/")) }
