package cli

import (
	_ "embed"
	"fmt"
	"io"
	"runtime"

	"loupe/internal/cli/command"
)

// licences

//go:embed licence.txt
var ownLicence string

//go:embed third_party.txt
var thirdPartyLicences string

// licences are the terms of all that is in the program.
var licences = ownLicence + "\n" + thirdPartyLicences

var versionCommand = &command.Command{
	Name:    "version",
	Short:   "print the version of loupe and of the Go it was built with",
	Args:    "[-json|-licenses]",
	Example: []string{"loupe version", "loupe version -licenses     the licences of loupe and everything in it"},
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON")
		terms := fs.Bool("licenses", false, "print the licences of loupe and of everything in it")
		return func(e *command.Env, args []string) error {
			if err := command.NoArgs(args); err != nil {
				return err
			}
			if *terms {
				if *asJSON {
					return command.Usagef("-licenses prints text, not JSON")
				}
				_, err := io.WriteString(e.Stdout, licences)
				return err
			}
			if *asJSON {
				return command.WriteJSON(e.Stdout, map[string]string{
					"schema": "loupe.version/1", "version": command.Version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(e.Stdout, "loupe %s %s %s/%s\n", command.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		}
	},
}
