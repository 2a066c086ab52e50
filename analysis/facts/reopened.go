package facts

import (
	"cmp"
	"maps"
	"slices"

	"loupe/format/metrics"
	"loupe/recording"
)

// Reopened is which files the program opened for reading in one phase, as looks at its open files have seen it.
type Reopened struct {
	Phase string
	Entry recording.Entry
	// Looks is how often was looked, Opened how many openings were seen, each of which may stand for many, and Again those of them
	// of a file that had been seen opened twice before: a program that reads each file to check it, and to use it, has none.
	Looks, Opened, Again int
	// Changed tells that one of them had another time of modification later.
	Changed bool
	// Files are those that were opened, the most often opened first.
	Files []metrics.FileSeen
}

// ReopenedIn is the phase in which the most openings were seen; ok is false where none was seen. rewinds tells that a file which
// is read from an earlier place than before was opened anew: the program does not set the place itself.
func ReopenedIn(f *Facts, rewinds bool) (most Reopened, ok bool) {
	samples, err := f.session.OS()
	if err != nil {
		return most, false
	}
	entry, _ := f.Manifest.Main(recording.OS)
	for _, p := range f.Manifest.Phases {
		r := Reopened{Phase: p.Name, Entry: entry}
		by := map[string]metrics.FileSeen{}
		for _, s := range within(samples, p.Span) {
			r.Looks += s.Looks
			for _, x := range s.Files {
				seen := by[x.Path]
				by[x.Path] = metrics.FileSeen{Path: x.Path, Seen: seen.Seen + x.Seen, Opened: seen.Opened + x.Opened, Rewound: seen.Rewound + x.Rewound,
					Writes: seen.Writes || x.Writes, Changed: seen.Changed || x.Changed}
			}
		}
		for path, x := range by {
			if rewinds {
				x.Opened += x.Rewound
				by[path] = x
			}
			if x.Opened > 0 && !x.Writes {
				r.Opened += x.Opened
				r.Again += max(0, x.Opened-2)
				r.Changed = r.Changed || x.Changed
			}
		}
		r.Files = slices.SortedFunc(maps.Values(by), func(a, b metrics.FileSeen) int {
			return cmp.Or(cmp.Compare(b.Opened, a.Opened), cmp.Compare(a.Path, b.Path))
		})
		r.Files = slices.DeleteFunc(r.Files, func(x metrics.FileSeen) bool { return x.Opened == 0 || x.Writes })
		if r.Opened > most.Opened {
			most, ok = r, true
		}
	}
	return most, ok
}
