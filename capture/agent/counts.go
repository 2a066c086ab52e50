package agent

import (
	"fmt"
	"strings"
)

// Counts are the files of a package of the standard library, by its path, that counts
// calls which repeat (the package repeats): with them and the copies that capture/counting makes
// a program is built that writes to the file that RepeatsEnv names. minor is the minor version
// of the toolchain, arch the GOARCH of the program.
func Counts(minor int, arch string) (pkg string, files []File, err error) {
	switch {
	case minor < 21:
		return "", nil, fmt.Errorf("it needs Go 1.21 or later, this is Go 1.%d", minor)
	case arch != "amd64" && arch != "arm64":
		return "", nil, fmt.Errorf("calls can be counted on amd64 and arm64, not on %s", arch)
	}
	names := []string{"repeats.go", "tally.go", "concurrent.go", "everywhere.go", "recursion.go", "blocks.go", "sites.go", "hash.go", "write.go", "exit.go", "g.go", "g_" + arch + ".s"}
	if minor >= 23 {
		names = append(names, "exit_go123.go.txt")
	} else {
		names = append(names, "exit_go121.go.txt")
	}
	for _, name := range names {
		text := source("repeats/" + name)
		base, _, _ := strings.Cut(name, ".")
		base = "zz_loupe_" + strings.ReplaceAll(base, "_", "")
		if strings.HasSuffix(name, ".s") {
			// An assembly file goes with its package without a name in it.
			files = append(files, File{base + ".s", text})
			continue
		}
		_, text, _ = strings.Cut("\n"+text, "\npackage repeats\n")
		files = append(files, File{base + ".go", "package " + envPackage + "\n" + text})
	}
	return envPackage, files, nil
}

// RepeatsEnv names the file that a program writes which counts its calls. It takes the variable out of
// its environment.
const RepeatsEnv = "LOUPE_REPEATS"
