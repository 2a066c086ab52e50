package facts

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"loupe/recording"
	"loupe/session"
)

// Build is how the program was built and started, as far as the recording knows.
type Build struct {
	Provenance
	// Go is the version of the toolchain ("go1.26.1"); empty is unknown.
	Go string
	// Settings are those of debug/buildinfo: "-race", "-gcflags", "GOAMD64".
	Settings map[string]string
}

// BuildOf is the build of the program, by the manifest or by the build information that
// was kept. The error says why it is unknown; [session.ErrNone] that nothing tells.
func BuildOf(f *Facts) (*Build, error) {
	t := &f.Manifest.Target
	entry, _ := f.Manifest.Main(recording.BuildInfo)
	b := &Build{Provenance: Provenance{Entry: entry, What: "build information", Precision: Measured}, Go: t.Go, Settings: t.BuildSettings}
	if len(b.Settings) > 0 || entry.Path == "" && b.Go != "" {
		return b, nil
	}
	if entry.Path == "" {
		return nil, fmt.Errorf("how the program was built: %w", session.ErrNone)
	}
	info, err := session.BuildInfo(f.session, entry.Path)
	if err != nil {
		return nil, err
	}
	if info.GoVersion == "" && len(info.Settings) == 0 {
		return nil, fmt.Errorf("%s says nothing of a build", entry.Path)
	}
	b.Go, b.Settings = info.GoVersion, settingsOf(info)
	return b, nil
}

func settingsOf(info *debug.BuildInfo) map[string]string {
	m := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		m[s.Key] = s.Value
	}
	return m
}

// Minor is the minor release of Go, 26 of "go1.26.1"; 0 where it is unknown or in
// development.
func (b *Build) Minor() int {
	version, ok := strings.CutPrefix(b.Go, "go1.")
	if !ok {
		return 0
	}
	digits := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if digits >= 0 {
		version = version[:digits]
	}
	n, _ := strconv.Atoi(version)
	return n
}

// Without tells whether the build switched an experiment of the toolchain off, such as
// "greenteagc".
func (b *Build) Without(experiment string) bool {
	return slices.Contains(strings.Split(b.Settings["GOEXPERIMENT"], ","), "no"+experiment)
}

// Instrument is something that was built into a program and slows it down.
type Instrument struct {
	// Flag is that of go build, What what it does to the program.
	Flag, What string
}

// Instruments are those of the build, the heaviest first.
func (b *Build) Instruments() (all []Instrument) {
	for _, i := range []Instrument{
		{"-race", "the race detector watches each access to memory"},
		{"-asan", "the address sanitizer checks each access to memory"},
		{"-msan", "the memory sanitizer checks each access to memory"},
		{"-cover", "each block of code is counted, and inlining changes"},
	} {
		if b.Settings[i.Flag] == "true" {
			all = append(all, i)
		}
	}
	if off := b.unoptimised(); off != "" {
		all = append(all, Instrument{off, "compiler optimisations were disabled"})
	}
	return all
}

// unoptimised is the setting of -gcflags that switches optimisation or inlining off, with
// the packages that it is for; empty where there is none.
func (b *Build) unoptimised() string {
	flags := strings.Fields(strings.NewReplacer(`"`, " ", `'`, " ").Replace(b.Settings["-gcflags"]))
	for _, flag := range flags {
		if at := strings.Index(flag, "=-"); at >= 0 { // PATTERN=FLAG
			flag = flag[at+1:]
		}
		if flag == "-N" || flag == "-l" {
			return "-gcflags=" + b.Settings["-gcflags"]
		}
	}
	return ""
}

// Debug is a key of GODEBUG with the value that was in force.
type Debug struct{ Key, Value string }

// ownDebugs are the settings of GODEBUG that loupe run asks for itself.
var ownDebugs = []Debug{{"gctrace", "1"}, {"schedtrace", "1000"}}

// Debugs are the settings of GODEBUG in the environment of the program that loupe did not
// set itself, in their order; of a key that comes twice the last counts, as for the runtime.
func (f *Facts) Debugs() (all []Debug) {
	t := &f.Manifest.Target
	started := t.Kind == "package" || t.Kind == "binary" || t.Kind == "test"
	for _, env := range t.Env {
		values, ok := strings.CutPrefix(env, "GODEBUG=")
		if !ok {
			continue
		}
		for kv := range strings.SplitSeq(values, ",") {
			key, value, _ := strings.Cut(kv, "=")
			d := Debug{key, value}
			if key == "" || started && slices.Contains(ownDebugs, d) {
				continue
			}
			all = slices.DeleteFunc(all, func(o Debug) bool { return o.Key == key })
			all = append(all, d)
		}
	}
	return all
}
