package report

import (
	"errors"
	"io"
	"io/fs"

	"loupe/insight"
	"loupe/internal/cli/command"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
)

// Verify is loupe verify.
var Verify = &command.Command{
	Name:  "verify",
	Short: "check that a recording is complete and unchanged",
	Args:  "[-json] RECORDING…",
	Example: []string{
		"loupe verify loupe-server-20261120-101500",
		"loupe verify rec.zip && loupe report rec.zip",
		"loupe verify -json rec | jq '.entries[] | select(.state != \"whole\")'",
	},
	About: `
Reads every entry to its end and checks its size and sha256 against the manifest, and the
manifest against the journal. Says which entries are missing, truncated, changed or
unreadable, and which profiles are from a different program than the rest (by build id). Files
that were not recorded are listed, and do no harm. Small entries are checked whenever a
recording is opened, and problems are noted in the report.

The checksums detect damage and mix-ups, not deliberate tampering: they can be changed too.

Exits with 0 if everything is intact, with 3 if something is not, with 1 if it is not a
readable recording, and with 4 if there is none.`,
	Files: true,
	Reads: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON ("+report.VerifySchema+"), one object per recording")
		return func(e *command.Env, args []string) error {
			if len(args) == 0 {
				return command.Usagef("nothing to verify: loupe verify RECORDING")
			}
			wrong := false
			for _, name := range args {
				v, err := verify(e, name)
				if err != nil {
					return err
				}
				wrong = wrong || v.Wrong > 0 || !v.Complete
				if err := command.Buffered(e.Stdout, func(w io.Writer) error {
					if *asJSON {
						return report.WriteJSON(w, v)
					}
					return report.WriteVerified(w, v, e.Style())
				}); err != nil {
					return err
				}
			}
			if wrong {
				return command.ErrFound
			}
			return nil
		}
	},
}

// verify holds a recording against its manifest.
func verify(e *command.Env, name string) (*report.Verified, error) {
	rec, err := recording.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, command.Nothingf("cannot find %s", name)
	}
	if err != nil {
		return nil, err
	}
	defer rec.Close()
	v := &report.Verified{Schema: report.VerifySchema, Recording: name, Complete: rec.Complete, Entries: []recording.Checked{}}
	checked, err := rec.Verify(e.Ctx)
	if err != nil {
		return nil, err
	}
	v.Entries = append(v.Entries, checked...)
	strays, _ := session.New(rec).Strays()
	for _, stray := range strays {
		for i := range v.Entries {
			if c := &v.Entries[i]; c.Path == stray.Path && c.State == recording.Whole {
				c.State, c.Why = recording.Foreign, insight.StrayText(stray)
			}
		}
	}
	for _, c := range v.Entries {
		if c.State != recording.Whole && c.State != recording.Unlisted {
			v.Wrong++
		}
	}
	return v, nil
}
