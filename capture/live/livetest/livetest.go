// Package livetest starts the programs that tests and measurements look into.
package livetest

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build builds a package of this module in a folder and returns the program.
func Build(dir, pkg string) (string, error) {
	program := filepath.Join(dir, filepath.Base(pkg))
	if out, err := exec.Command("go", "build", "-pgo=off", "-o", program, pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build %s: %w\n%s", pkg, err, out)
	}
	return program, nil
}

// Start starts a program that prints a line when it is ready, waits for that line
// and returns it without its end. After an error nothing runs; else [Stop] ends it.
func Start(c *exec.Cmd) (line string, err error) {
	out, err := c.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := c.Start(); err != nil {
		return "", err
	}
	if line, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		Stop(c)
		return "", fmt.Errorf("cannot start %s: it has printed %q and no line: %w", c.Path, line, err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// Stop kills a program and waits for its end. What it had to say then is of no
// interest.
func Stop(c *exec.Cmd) {
	_ = c.Process.Kill()
	_ = c.Wait()
}
