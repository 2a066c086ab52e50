package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// binary is the program of a system.
type binary struct {
	platform
	file string
}

// name is what people call the program.
func (b binary) name() string {
	if b.os == "windows" {
		return "loupe.exe"
	}
	return "loupe"
}

// build makes the program for each system, and for this one as "here", which says its version
// and prints its help.
func (s *source) build(work string, chosen []platform) ([]binary, error) {
	if err := s.compile(filepath.Join(work, "here"), platform{runtime.GOOS, runtime.GOARCH}); err != nil {
		return nil, err
	}
	out, err := exec.Command(filepath.Join(work, "here"), "version", "-json").Output()
	if err != nil {
		return nil, fmt.Errorf("loupe version: %w", err)
	}
	var said struct{ Version string }
	if err := json.Unmarshal(out, &said); err != nil {
		return nil, err
	}
	s.version = strings.TrimPrefix(said.Version, "v")
	var built []binary
	for _, p := range chosen {
		b := binary{p, filepath.Join(work, p.os+"-"+p.arch)}
		if err := s.compile(b.file, p); err != nil {
			return nil, err
		}
		built = append(built, b)
	}
	return built, nil
}

// compile builds the program. Nothing of the machine, its folders or its environment is to be
// in it: no C, no paths, the baseline of each architecture.
func (s *source) compile(file string, p platform) error {
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", file, "./cmd/loupe")
	c.Dir = s.root
	for _, e := range os.Environ() {
		switch name, _, _ := strings.Cut(e, "="); name {
		case "GOFLAGS", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140", "GODEBUG":
		default:
			c.Env = append(c.Env, e)
		}
	}
	c.Env = append(c.Env, "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOWORK=off", "GOENV=off")
	for _, keep := range []string{"GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GONOPROXY"} { // where modules come from is the machine's own affair: go.sum says what they are
		if v, err := exec.Command("go", "env", keep).Output(); err == nil {
			c.Env = append(c.Env, keep+"="+strings.TrimSpace(string(v)))
		}
	}
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Run(); err != nil {
		return fmt.Errorf("go build for %v: %w\n%s", p, err, &errs)
	}
	return nil
}
