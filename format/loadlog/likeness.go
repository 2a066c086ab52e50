package loadlog

import "time"

// Likeness says how alike the answers to one target were, whose requests were the same to the byte. It is of a few
// answers a second, and of the first 64 KiB of each body, as it came over the wire, and pieces of the rest. What repeats within one answer counts once.
type Likeness struct {
	Target uint16 `json:"target"` // as [Request.Target]
	// Compared is how many answers were compared with the one that was looked at before, at least a quarter of a second
	// earlier; Bytes is how long they were, and Same how much of that the one before had as well.
	Compared int   `json:"compared"`
	Bytes    int64 `json:"bytes"`
	Same     int64 `json:"same"`
	// LastBytes is how long the last answer was, SameAsFirst how much of it the first one had as well, and Between how much
	// earlier that was sent.
	LastBytes   int64         `json:"last_bytes"`
	SameAsFirst int64         `json:"same_as_first"`
	Between     time.Duration `json:"between_ns"`
}

// Join adds what another sender has seen of the same target.
func (k *Likeness) Join(o Likeness) {
	k.Compared += o.Compared
	k.Bytes += o.Bytes
	k.Same += o.Same
	k.LastBytes += o.LastBytes
	k.SameAsFirst += o.SameAsFirst
	k.Between = max(k.Between, o.Between)
}

// Share is how much of the answers had been in the one before, from 0 to 1; 0 where none was compared.
func (k Likeness) Share() float64 { return part(k.Same, k.Bytes) }

// ShareOfFirst is how much of the last answer had been in the first one, from 0 to 1; 0 where none was compared.
func (k Likeness) ShareOfFirst() float64 { return part(k.SameAsFirst, k.LastBytes) }

func part(of, all int64) float64 {
	if all <= 0 {
		return 0
	}
	return float64(of) / float64(all)
}
