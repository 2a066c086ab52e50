// Package inputs reads the profiles that loupe pgo is given.
package inputs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"loupe/analysis/pgo"
	"loupe/format/kind"
	"loupe/format/profile"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/programs"
	"loupe/recording"
	"loupe/source"
	"loupe/source/bounded"
)

// Named wants that something was named.
func Named(args []string) error {
	if len(args) == 0 || args[0] == "" {
		return command.Usagef("a profile is missing: name a CPU profile or a recording")
	}
	return nil
}

// Take reads all profiles that were named. Weights is a list of numbers, one for each, or "".
func Take(e *command.Env, names []string, weights string) ([]pgo.Source, error) {
	inputs, err := door.Take(e, door.New(e, "cpu:10s", nil), names...)
	if err != nil {
		return nil, err
	}
	var all []pgo.Source
	for _, in := range inputs {
		p, err := profileIn(in)
		if err != nil {
			return nil, err
		}
		if _, err := pgo.CallsOf(p); err != nil {
			return nil, Refused(in.Name, err)
		}
		all = append(all, pgo.Source{Name: in.Name, Profile: p, Weight: 1})
	}
	if weights == "" {
		return all, nil
	}
	list := strings.Split(weights, ",")
	if len(list) != len(all) {
		return nil, command.Usagef("-weights %s has %d numbers, but there are %d profiles", weights, len(list), len(all))
	}
	for i, text := range list {
		w, err := strconv.ParseFloat(text, 64)
		if err != nil || !(w > 0) || w > 1e9 || w < 1e-9 {
			return nil, command.Usagef("-weights: %q is not a number above zero", text)
		}
		all[i].Weight = w
	}
	return all, nil
}

// profileIn reads the CPU profile of an input. It notes what a recording knows of the program.
func profileIn(in *source.Input) (*profile.Profile, error) {
	if in.Recording {
		p, _, err := examine.MainProfile(in)
		if err != nil {
			return nil, err
		}
		rec, err := recording.OpenFile(in.Path)
		if err != nil {
			return nil, err
		}
		defer rec.Close()
		return pgo.Note(p, originOf(&rec.Manifest)), nil
	}
	if in.Folder {
		return nil, fmt.Errorf("%s is a folder: name the profiles in it, such as '%s/*.pb.gz'", in.Name, strings.TrimSuffix(in.Name, "/"))
	}
	if in.Kind != kind.Profile {
		return nil, door.WrongKind(in, "a CPU profile or a recording with one")
	}
	p, err := programs.ReadProfile(in.Path, in.Name)
	if err != nil {
		return nil, err
	}
	if m := recordedIn(in); m != nil {
		p = pgo.Note(p, originOf(m))
	}
	return p, nil
}

// recordedIn is the manifest of the recording that a profile lies in, as RECORDING/cpu.pb.gz and
// recording.zip/cpu.pb.gz do; nil where it lies in none, or is not what was recorded there.
func recordedIn(in *source.Input) *recording.Manifest {
	const deepest = 3 // growth/heap-01.pb.gz
	name := filepath.ToSlash(in.Name)
	for dir, up := path.Dir(name), 0; up < deepest && dir != "." && dir != "/"; dir, up = path.Dir(dir), up+1 {
		rec, err := recording.OpenFile(filepath.FromSlash(dir))
		if err != nil {
			continue
		}
		rec.Close()
		m, inner := &rec.Manifest, strings.TrimPrefix(name, dir+"/")
		at := slices.IndexFunc(m.Entries, func(e recording.Entry) bool { return e.Path == inner })
		if at >= 0 && m.Entries[at].SHA256 != "" && m.Entries[at].SHA256 == sumOf(in.Path) {
			return m
		}
		return nil
	}
	return nil
}

// sumOf is the SHA-256 of a file in hexadecimal, as recordings have it; empty where it cannot be read.
func sumOf(name string) string {
	f, err := bounded.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// originOf is what a recording knows of its program. What loupe run has built is of the tree that it
// was built from; of a ready binary only its own stamp tells, which the tree around need not be.
func originOf(m *recording.Manifest) pgo.Origin {
	o := pgo.Origin{Go: []string{m.Target.Go}}
	revision, edited := m.Target.BuildSettings["vcs.revision"], m.Target.BuildSettings["vcs.modified"] == "true"
	if kind := m.Target.Kind; m.Made != nil && (kind == "package" || kind == "test") {
		revision, edited = m.Made.Commit, m.Made.Edited
	}
	o.Revisions = []string{revision}
	if edited {
		o.Edited = []string{revision}
	}
	return o
}

// Refused says of a profile that the compiler cannot use what to do about it.
func Refused(name string, err error) error {
	advice := ""
	switch {
	case errors.Is(err, pgo.ErrKind):
		advice = " (record CPU time: loupe run -phases bare,cpu …, or /debug/pprof/profile)"
	case errors.Is(err, pgo.ErrNoStart):
		advice = " (was it converted, or is it from another language?)"
	case errors.Is(err, pgo.ErrEmpty):
		advice = " (record longer, or under load)"
	}
	return command.Nothingf("the compiler cannot use %s: %w%s", name, err, advice)
}

// Share reads the percentage of a flag.
func Share(flag, text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(v >= 0) || v > 100 {
		return 0, command.Usagef("-%s: want a percentage such as 95%%, not %q", flag, text)
	}
	return v / 100, nil
}
