package session

import (
	"strings"

	"loupe/recording"
)

// Stray is a profile that is of another program than the others of a recording.
type Stray struct {
	Path string
	// BuildID is the program's, Others that of most profiles.
	BuildID, Others string
}

// Strays finds the profiles whose program has another build id than that of most: a
// service that was replaced while it was recorded, or a file that was put in the place
// of another. known is how many profiles have a build id.
func (s *Session) Strays() (all []Stray, known int) {
	ids := map[string]string{}
	count := map[string]int{}
	var order []recording.Entry
	for _, e := range s.rec.Entries {
		if !strings.HasPrefix(string(e.Kind), "pprof.") || ids[e.Path] != "" || e.Partial {
			continue
		}
		p, err := s.ProfileAt(e.Path)
		if err != nil || len(p.Mappings) == 0 || p.Mappings[0].BuildID == "" {
			continue
		}
		ids[e.Path] = p.Mappings[0].BuildID
		count[ids[e.Path]]++
		order = append(order, e)
	}
	most := ""
	for _, e := range order { // the first of those with as many
		if id := ids[e.Path]; most == "" || count[id] > count[most] {
			most = id
		}
	}
	for _, e := range order {
		if id := ids[e.Path]; id != most {
			all = append(all, Stray{Path: e.Path, BuildID: id, Others: most})
		}
	}
	return all, len(order)
}
