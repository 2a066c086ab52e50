package pprof

import (
	"loupe/analysis/pgo"
	"loupe/format/profile"
)

// PGOSeen says how much of an older profile for the compiler a newer one has seen again.
type PGOSeen = pgo.Seen

// PGO is what the compiler reads of a CPU profile: [pgo.Trim].
func PGO(p *profile.Profile) (*profile.Profile, error) { return pgo.Trim(p) }

// PGOMatch compares a profile that was made for the compiler with a newer one: [pgo.SeenAgain].
func PGOMatch(older, newer *profile.Profile) (*PGOSeen, error) { return pgo.SeenAgain(older, newer) }
