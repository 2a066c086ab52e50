package facts

import (
	"cmp"
	"slices"

	"loupe/format/metrics"
	"loupe/recording"
)

// Reopened is which files the program opened for reading in one phase, as looks at its open files have seen it.
type Reopened struct {
	Phase string
	Entry recording.Entry
	// Looks is how often was looked, and Opened how many openings were seen, each of which may stand for many. Again are those of them
	// of a file that had been seen opened twice before: a program that reads each file to check it, and to use it, has none. Once are
	// those of files that were seen opened once.
	Looks, Opened, Again, Once int
	// Changed tells that one of them had another time of modification later.
	Changed bool
	// Files are those that were opened, the most often opened first.
	Files []metrics.FileSeen
}

// mostOpened bounds what one sample says of one file: a recording may be damaged.
const mostOpened = 1 << 20

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
			r.Looks += openings(s.Looks)
			r.Opened, r.Once = r.Opened+openings(s.OtherFiles), r.Once+openings(s.OtherFiles)
			for _, x := range s.Files {
				seen := by[x.Path]
				seen.Path, seen.Opened = x.Path, seen.Opened+openings(x.Opened)
				if rewinds {
					seen.Opened += openings(x.Rewound)
				}
				seen.Writes, seen.Changed = seen.Writes || x.Writes, seen.Changed || x.Changed
				by[x.Path] = seen
			}
		}
		for _, x := range by {
			if x.Opened == 0 || x.Writes {
				continue
			}
			r.Files = append(r.Files, x)
			r.Opened += x.Opened
			r.Again += max(0, x.Opened-2)
			if x.Opened == 1 {
				r.Once++
			}
			r.Changed = r.Changed || x.Changed
		}
		slices.SortFunc(r.Files, func(a, b metrics.FileSeen) int {
			return cmp.Or(cmp.Compare(b.Opened, a.Opened), cmp.Compare(a.Path, b.Path))
		})
		if len(r.Files) > 0 && r.Opened > most.Opened {
			most, ok = r, true
		}
	}
	return most, ok
}

// openings is a count of a sample within bounds.
func openings(n int) int { return max(0, min(n, mostOpened)) }
