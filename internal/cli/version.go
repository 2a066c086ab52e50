package cli

import (
	_ "embed" // licences
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"loupe/report"
)

//go:embed licence.txt
var ownLicence string

//go:embed third_party.txt
var thirdPartyLicences string

// licences are the terms of all that is in the program.
var licences = ownLicence + "\n" + thirdPartyLicences

var versionCommand = &command{
	name:    "version",
	short:   "print the version of loupe and of the Go it was built with",
	args:    "[-json|-licenses]",
	example: []string{"loupe version", "loupe version -licenses     the terms of loupe and of all that is in it"},
	setup: func(fs *flagSet) func(*env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON")
		terms := fs.Bool("licenses", false, "print the licences of loupe and of everything in it")
		return func(e *env, args []string) error {
			if err := noArgs(args); err != nil {
				return err
			}
			if *terms {
				if *asJSON {
					return usagef("-licenses are texts, and no JSON")
				}
				_, err := io.WriteString(e.stdout, licences)
				return err
			}
			if *asJSON {
				return report.WriteJSON(e.stdout, map[string]string{
					"schema": "loupe.version/1", "version": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(e.stdout, "loupe %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		}
	},
}

// version is the module's version as the build recorded it: a tag, a
// revision, or "devel".
func version() string {
	bi, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := bi.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	rev, dirty := "", ""
	for _, s := range bi.Settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if rev == "" {
		return "devel"
	}
	return "devel-" + rev[:min(12, len(rev))] + dirty
}
