package scrape

import "fmt"

// Kind is one sort of profile that net/http/pprof serves.
type Kind struct {
	// Name is what runtime/pprof calls it; "cpu" is the one that takes time.
	Name string
	// Path is where it lies below the URL of a target.
	Path string
}

// timed tells that taking the profile takes as long as the profile is.
func (k Kind) timed() bool { return k.Name == "cpu" }

// kinds are all that there are. Those that a program does not have are found missing once
// (goroutineleak needs an experiment of Go 1.26) and not asked for again until it restarts.
var kinds = []Kind{
	{"cpu", "profile"}, {"allocs", "allocs"}, {"heap", "heap"}, {"mutex", "mutex"}, {"block", "block"},
	{"goroutine", "goroutine"}, {"goroutineleak", "goroutineleak"},
}

// kindNames are their names.
func kindNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

// usualKinds are taken where a job does not say: all but allocs, which has the same records
// and values as heap and would cost the target the same again.
func usualKinds() (list []Kind) {
	for _, k := range kinds {
		if k.Name != "allocs" {
			list = append(list, k)
		}
	}
	return list
}

// kindsOf are those of some names.
func kindsOf(names []string) (list []Kind, err error) {
	for _, name := range names {
		found := false
		for _, k := range kinds {
			if k.Name == name {
				list, found = append(list, k), true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no profile %q: there are %v", name, kindNames())
		}
	}
	return list, nil
}
