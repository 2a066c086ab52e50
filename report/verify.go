package report

import (
	"io"

	"loupe/recording"
	"loupe/value/unit"
)

// VerifySchema names the form of [Verified] as JSON.
const VerifySchema = "loupe.verify/1"

// Verified is a recording that was held against its manifest.
type Verified struct {
	Schema    string `json:"schema"`
	Recording string `json:"recording"`
	// Complete is false when the recording was cut off, or is being written.
	Complete bool                `json:"complete"`
	Entries  []recording.Checked `json:"entries"`
	Wrong    int                 `json:"wrong"` // how many are not whole; unlisted files do not count
}

// WriteVerified prints what is wrong with a recording, or that nothing is.
func WriteVerified(out io.Writer, v *Verified, s Style) error {
	w := &lines{w: out}
	bytes, whole, listed := int64(0), 0, 0
	sheet := &Sheet{Columns: []Column{{Key: "state", Head: "state"}, {Key: "entry", Head: "entry"}, {Key: "why", Head: "why"}}}
	for _, c := range v.Entries {
		if c.State != recording.Unlisted {
			listed++
		}
		if c.State == recording.Whole {
			whole++
			bytes += c.Bytes
			continue
		}
		sheet.Rows = append(sheet.Rows, []any{string(c.State), c.Path, c.Why})
	}
	w.printf("%s\n", s.paint(bold, clean(v.Recording)))
	if len(sheet.Rows) > 0 {
		if err := WriteSheet(w, sheet, s); err != nil {
			return err
		}
	}
	if !v.Complete {
		w.printf("  The recording was cut off, or is still being written.\n")
	}
	w.printf("  %d of %d entries are whole, %s\n", whole, listed, unit.Bytes(bytes))
	return w.err
}
