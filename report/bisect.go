package report

import "fmt"

// Bisected is what a walk through revisions has found.
type Bisected struct {
	Good string `json:"good"`
	Bad  string `json:"bad"`
	// Unit is the figure that was followed.
	Unit string `json:"unit"`
	// Left are the revisions one of which has done it: one, where Found.
	Left  []TriedRevision `json:"left"`
	Found bool            `json:"found"`
	// Change is what became of the figure in what is left: "slower, +61%".
	Change string `json:"change,omitempty"`
	// Undecided is why it is not found.
	Undecided string          `json:"undecided,omitempty"`
	Tried     []TriedRevision `json:"tried"`
}

// TriedRevision is a revision and what was found out about it.
type TriedRevision struct {
	Hash    string `json:"hash"`
	Subject string `json:"subject"`
	// Standing is which end it is like: "like 1234abcd", or "skipped" or "undecided"; Why
	// says the reason of the last two.
	Standing string `json:"standing,omitempty"`
	Why      string `json:"why,omitempty"`
	Rounds   int    `json:"rounds,omitempty"`
}

// BisectSheet is the table of the revisions that were tried, with the answer above it.
func BisectSheet(b *Bisected) *Sheet {
	s := &Sheet{Key: "bisect", Columns: []Column{{"revision", "revision"}, {"subject", "subject"}, {"standing", "standing"}, {"rounds", "rounds"}}}
	first := b.Left[0]
	if s.Title = fmt.Sprintf("%s %s: %s %s", shortHash(first.Hash), first.Subject, b.Unit, b.Change); !b.Found {
		s.Title = fmt.Sprintf("Undecided: one or more of %d revisions changed %s", len(b.Left), b.Unit)
		for _, r := range b.Left {
			s.Notes = append(s.Notes, "Possible causes: "+shortHash(r.Hash)+" "+r.Subject)
		}
	}
	for _, r := range b.Tried {
		standing := r.Standing
		if r.Why != "" {
			standing += ": " + r.Why
		}
		s.Rows = append(s.Rows, []any{shortHash(r.Hash), r.Subject, standing, r.Rounds})
	}
	return s
}

func shortHash(hash string) string { return hash[:min(len(hash), 12)] }
