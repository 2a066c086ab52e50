package compare

import (
	"fmt"
	"time"

	"loupe/analysis/compare"
	"loupe/format/kind"
	"loupe/format/loadlog"
	"loupe/internal/cli/command"
	"loupe/internal/cli/examine"
	"loupe/source"
	"loupe/source/bounded"
)

// ShowLoadText prints the figures of a load run of which there are no others.
func ShowLoadText(e *command.Env, in *source.Input) error {
	return compareLoads(e, []compared{{in.Name, []*source.Input{in}}}, "text")
}

// compareLoads lays saved load runs side by side.
func compareLoads(e *command.Env, all []compared, format string) error {
	sides, turns, err := loadSides(e, all)
	if err != nil {
		return err
	}
	return examine.PrintLoads(e, compare.Loads(sides, turns), format)
}

// loadSides reads load runs, and tells whether those of the sides took turns.
func loadSides(e *command.Env, all []compared) (sides []compare.LoadSide, turns bool, err error) {
	var when [][]time.Time
	for _, s := range all {
		side := compare.LoadSide{Title: s.name}
		var starts []time.Time
		for _, in := range s.inputs {
			if in.Kind == kind.LoadText {
				l, err := readLoadText(in)
				if err != nil {
					return nil, false, err
				}
				side.Open = side.Open || loadlog.Scheduled(l.Foreign)
				side.Runs, starts = append(side.Runs, l), append(starts, time.Time{})
				continue
			}
			l, err := ReadLoad(e, in)
			if err != nil {
				return nil, false, err
			}
			side.Open = side.Open || l.Open || loadlog.Scheduled(l.Foreign)
			side.Runs = append(side.Runs, l.Summary())
			starts = append(starts, l.Start)
		}
		side.Starts = starts
		sides, when = append(sides, side), append(when, starts)
	}
	return sides, loadlog.TookTurns(when), nil
}

// readLoadText reads a summary of a load run.
func readLoadText(in *source.Input) (*loadlog.Summary, error) {
	data, err := bounded.ReadNamed(in.Path)
	if err != nil {
		return nil, err
	}
	s, err := loadlog.DecodeText(data)
	if err != nil {
		return nil, fmt.Errorf("cannot use %s: %w", in.Name, err)
	}
	return s, nil
}

// ReadLoad reads a load run; of one that is damaged what comes before.
func ReadLoad(e *command.Env, in *source.Input) (*loadlog.Log, error) {
	data, err := bounded.ReadNamed(in.Path)
	if err != nil {
		return nil, err
	}
	l, err := loadlog.Decode(data)
	if err != nil && (l == nil || l.Len() == 0) {
		return nil, fmt.Errorf("cannot use %s: %w", in.Name, err)
	}
	if err != nil {
		fmt.Fprintf(e.Stderr, "%s: %v; it is used up to that point\n", in.Name, err)
	}
	return l, nil
}
