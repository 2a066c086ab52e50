package loupe_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"loupe/internal/long"
)

// TestSystems type-checks the program and its tests for the other systems that it is released for, and for another
// processor: files and functions of one system alone are used there alone. It takes a sixth of the CPU time of
// compiling all of it.
func TestSystems(t *testing.T) {
	long.Only(t, "it type-checks the program for other systems")
	t.Parallel()
	for _, target := range []string{"darwin/amd64", "windows/amd64", "freebsd/amd64", "linux/arm64"} {
		system, processor, _ := strings.Cut(target, "/")
		all, err := packages.Load(&packages.Config{
			Mode: packages.LoadAllSyntax, Tests: true,
			Env: append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
		}, "./...")
		if err != nil || len(all) == 0 {
			t.Fatalf("%s: %d packages, %v", target, len(all), err)
		}
		packages.Visit(all, nil, func(p *packages.Package) {
			for _, e := range p.Errors {
				t.Errorf("%s: %v", target, e)
			}
		})
	}
}
