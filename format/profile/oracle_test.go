package profile_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	google "github.com/google/pprof/profile"

	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

// TestOracle compares every sample, frame and label with what google/pprof
// reads, on profiles of the runtime, of the compiler and of our own fixtures.
func TestOracle(t *testing.T) {
	for name, data := range realProfiles(t) {
		t.Run(name, func(t *testing.T) { compare(t, data) })
	}
}

// realProfiles collects one profile of every kind. The compiler's come from
// building two packages; the environment variable LOUPE_ORACLE=full takes all
// packages below cmd/compile.
func realProfiles(t testing.TB) map[string][]byte {
	all := map[string][]byte{}
	for _, first := range []bool{false, true} {
		for _, unpacked := range []bool{false, true} {
			opt := pictureOptions
			opt.SamplesFirst, opt.Unpacked = first, unpacked
			all[fmt.Sprintf("fixture first=%v unpacked=%v", first, unpacked)] = profiletest.Encode(picture, opt)
		}
	}
	own, err := profiletest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range own {
		all[name] = data
		// The same profile in the other wire order and with other ids.
		p, err := google.ParseData(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range p.Location {
			l.ID *= 1 << 40
		}
		var buf bytes.Buffer
		if err := p.Write(&buf); err != nil {
			t.Fatal(err)
		}
		all[name+" rewritten"] = buf.Bytes()
	}
	packages := "strconv"
	if os.Getenv("LOUPE_ORACLE") == "full" {
		packages = "cmd/compile/..."
	}
	for _, flag := range []string{"cpuprofile", "memprofile"} {
		dir := t.TempDir()
		cmd := exec.Command("go", "build", "-gcflags=-"+flag+"="+dir+string(filepath.Separator), "-o", os.DevNull, packages)
		if packages != "strconv" {
			cmd.Args = slices.Delete(cmd.Args, 3, 5) // -o wants one package or a folder
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("cannot run the compiler: %v\n%s", err, out)
			continue
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all[flag+" "+filepath.Base(file)] = data
		}
	}
	return all
}

func compare(t *testing.T, data []byte) {
	want, err := google.ParseData(data)
	if err != nil {
		// At times the compiler writes one file for two builds of a package.
		if _, ours := profile.Decode(data, profile.Options{}); ours == nil {
			t.Errorf("google/pprof cannot read it: %v, but we can", err)
		}
		return
	}
	got := mustDecode(t, data)
	if a, b := headerOfGoogle(want), header(got); a != b {
		t.Errorf("header:\n%s\nwant:\n%s", b, a)
	}
	if got.Len() != len(want.Sample) {
		t.Fatalf("%d samples, want %d", got.Len(), len(want.Sample))
	}
	for i, s := range want.Sample {
		if a, b := sampleOfGoogle(s), sample(got, i); a != b {
			t.Fatalf("sample %d:\n%s\nwant:\n%s", i, b, a)
		}
	}
}

func header(p *profile.Profile) string {
	var b strings.Builder
	nanos := int64(0)
	if !p.Time.IsZero() {
		nanos = p.Time.UnixNano()
	}
	fmt.Fprintln(&b, p.SampleTypes, p.DefaultSampleType, p.PeriodType, p.Period, nanos, p.Duration.Nanoseconds(), p.Comments, p.DocURL, p.DropFrames, p.KeepFrames)
	for _, m := range p.Mappings {
		fmt.Fprintln(&b, m.ID, m.Start, m.Limit, m.Offset, m.File, m.BuildID, m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames)
	}
	return b.String()
}

func headerOfGoogle(p *google.Profile) string {
	var b strings.Builder
	var types []profile.ValueType
	for _, v := range p.SampleType {
		types = append(types, profile.ValueType{Type: v.Type, Unit: v.Unit})
	}
	fmt.Fprintln(&b, types, p.DefaultSampleType, p.PeriodType.Type+"/"+p.PeriodType.Unit, p.Period, p.TimeNanos, p.DurationNanos, p.Comments, p.DocURL, p.DropFrames, p.KeepFrames)
	for _, m := range p.Mapping {
		fmt.Fprintln(&b, m.ID, m.Start, m.Limit, m.Offset, m.File, m.BuildID, m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames)
	}
	return b.String()
}

func sample(p *profile.Profile, i int) string {
	var b strings.Builder
	for _, column := range p.Values {
		fmt.Fprintln(&b, column[i])
	}
	for _, id := range p.Stacks.Frames(p.StackIDs[i]) {
		f := p.Stacks.Frame(id)
		fmt.Fprintln(&b, f.Func, f.System, f.File, f.Module, f.Line, f.Column, f.Address, f.StartLine, f.Inlined)
	}
	var labels []string
	if p.LabelSets != nil {
		for _, l := range p.Labels(p.LabelSets[i]) {
			labels = append(labels, fmt.Sprint(l))
		}
	}
	slices.Sort(labels)
	fmt.Fprintln(&b, labels)
	return b.String()
}

func sampleOfGoogle(s *google.Sample) string {
	var b strings.Builder
	for _, v := range s.Value {
		fmt.Fprintln(&b, v)
	}
	for _, l := range s.Location {
		module := ""
		if l.Mapping != nil {
			module = l.Mapping.File
		}
		for i, line := range l.Line {
			f := line.Function
			name := f.Name
			if name == "" {
				name = f.SystemName
			}
			fmt.Fprintln(&b, name, f.SystemName, f.Filename, module, line.Line, line.Column, l.Address, f.StartLine, i < len(l.Line)-1)
		}
		if len(l.Line) == 0 {
			fmt.Fprintln(&b, "", "", "", module, 0, 0, l.Address, 0, false)
		}
	}
	var labels []string
	for key, values := range s.Label {
		for _, v := range values {
			labels = append(labels, fmt.Sprint(profile.Label{Key: key, Str: v}))
		}
	}
	for key, values := range s.NumLabel {
		for i, v := range values {
			l := profile.Label{Key: key, Num: v, Numeric: true}
			if units := s.NumUnit[key]; i < len(units) {
				l.Unit = units[i]
			}
			labels = append(labels, fmt.Sprint(l))
		}
	}
	slices.Sort(labels)
	fmt.Fprintln(&b, labels)
	return b.String()
}

// FuzzDecode holds the decoder to three promises: no panic, memory in
// proportion to the input, and the verdict of google/pprof.
func FuzzDecode(f *testing.F) {
	for _, opt := range []profiletest.Options{{Raw: true}, {Raw: true, SamplesFirst: true}, {Raw: true, Unpacked: true}, {}} {
		opt.Types = pictureOptions.Types
		f.Add(profiletest.Encode(picture, opt))
	}
	type M = profiletest.Message
	f.Add([]byte(M{}.Bytes(1, nil).Bytes(6, nil).Bytes(2, M{}.Varint(2, 1).Varints(1, []uint64{1, 1, 1}, true).Varint(1, 1)).Bytes(4, M{}.Varint(1, 1))))
	f.Add([]byte("heap profile: 0: 0 [0: 0] @ heap/1048576\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 1 << 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := profile.Decode(data, profile.Options{MaxBytes: most})
		runtime.ReadMemStats(&after)
		raw := uint64(max(len(data), 1))
		if len(data) > 2 && data[0] == 0x1f {
			raw = most
		}
		// The inflater's tables and the empty hash tables are the constant part.
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<22+200*raw {
			t.Errorf("decoding %d bytes has allocated %d", len(data), used)
		}
		if err != nil {
			if len(err.Error()) > 400 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
			return
		}
		for i := range p.Len() {
			sample(p, i)
		}
		want, err := google.ParseUncompressed(data)
		if err != nil || want.CheckValid() != nil {
			return // gzip, or something that both may see differently
		}
		if a, b := headerOfGoogle(want), header(p); a != b {
			t.Errorf("header:\n%s\nwant:\n%s", b, a)
		}
		for i, s := range want.Sample {
			if a, b := sampleOfGoogle(s), sample(p, i); a != b {
				t.Errorf("sample %d:\n%s\nwant:\n%s", i, b, a)
			}
		}
	})
}
