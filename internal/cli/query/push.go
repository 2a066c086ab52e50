package query

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"loupe/capture/remote"
	"loupe/format/kind"
	"loupe/format/profile"
	"loupe/format/push"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/loadflags"
	"loupe/recording"
	"loupe/source"
	"loupe/source/bounded"
	"loupe/value/unit"
)

var pushCommand = &command.Command{
	Name:  "push",
	Short: "send profiles to loupe serve or Pyroscope",
	Args:  "[flags] FILE|RECORDING…",
	Example: []string{
		"loupe push -service shop cpu.pb.gz heap.pb.gz",
		"loupe push -to https://profiles.example.com -bearer TOKEN -service shop -label version=v1.42 cpu.pb.gz",
		"loupe push -label branch=main -label commit=$(git rev-parse HEAD) loupe-shop-20261120-101500",
		"loupe push -service parser -label what=benchmark cpu.pb.gz    in CI, after the benchmarks",
	},
	About: `
Sends every profile in the files and recordings, in any format that loupe reads, as one series
each: the labels are service_name (-service, or the name of the recorded program) and those of
-label. The counts are taken as they are: the allocations in a heap profile cover the whole
run and are not treated as the start of a longer series. From a recording the CPU, heap,
mutex, block and goroutine profiles are sent; of several heap profiles, the one of the phase
heap.

The kind of a profile, the first part of its type, follows from what it counts. Mutex and
block profiles count the same thing: the word must be in the file name, or -kind says it.

loupe serve stores what is sent twice only once. If some files could not be sent, they are
named and the exit code is 1; it is 4 if the server does not answer.`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &pushFlags{}
		fs.StringVar(&f.to, "to", address, "`address` of the server")
		fs.StringVar(&f.service, "service", "", "`name` of the service (default: the recording's program)")
		fs.Func("label", "`name=value` of a label (repeatable)", func(text string) error {
			name, value, ok := strings.Cut(text, "=")
			if !ok || name == "" || value == "" {
				return fmt.Errorf("want name=value")
			}
			if i := slices.IndexFunc(f.labels, func(l push.Label) bool { return l.Name == name }); i >= 0 {
				return fmt.Errorf("the label %s is given twice", name)
			}
			f.labels = append(f.labels, push.Label{Name: name, Value: value})
			return nil
		})
		fs.StringVar(&f.kind, "kind", "", "`kind` of all profiles: process_cpu, memory, mutex, block, goroutine or another")
		f.asking.DeclareAccess(fs)
		return f.run
	},
}

type pushFlags struct {
	to, service, kind string
	labels            []push.Label
	asking            loadflags.Flags
}

// one is a profile that is to be sent.
type one struct {
	name    string // for people
	service string // of the recording that it is in
	kind    string // where the recording tells
	read    func() ([]byte, error)
}

func (f *pushFlags) run(e *command.Env, args []string) error {
	if len(args) == 0 {
		return command.Usagef("name the profiles to send")
	}
	server, err := serverAt(f.to, &f.asking)
	if err != nil {
		return err
	}
	inputs, err := door.Take(e, door.New(e, "", nil), args...)
	if err != nil {
		return err
	}
	var all []one
	for _, in := range inputs {
		some, err := found(in)
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	var failed error
	sent := 0
	for _, p := range all {
		if err := f.send(e, server, p); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s was not sent: %w", p.name, err))
			if errors.Is(err, remote.ErrNothing) || e.Ctx.Err() != nil {
				break // nobody answers: the next would not be sent either
			}
			continue
		}
		sent++
	}
	if failed != nil && sent > 0 {
		fmt.Fprintf(e.Stdout, "sent %d of %s to %s\n", sent, unit.Plural(len(all), "profile"), server)
	}
	return door.Remote(failed)
}

// found are the profiles of an input.
func found(in *source.Input) ([]one, error) {
	if !in.Recording {
		if in.Kind != kind.Profile {
			return nil, door.WrongKind(in, "a profile or a recording with one")
		}
		return []one{{name: in.Name, read: func() ([]byte, error) { return bounded.ReadNamed(in.Path) }}}, nil
	}
	rec, err := recording.OpenFile(in.Path)
	if err != nil {
		return nil, err
	}
	names := map[recording.Kind]string{recording.CPU: "process_cpu", recording.Heap: "memory", recording.Mutex: "mutex", recording.Block: "block", recording.Goroutine: "goroutine"}
	var all []one
	for _, entry := range rec.Entries {
		kind := names[entry.Kind]
		if kind == "" || entry.Kind == recording.Heap && entry.Phase != "heap" {
			continue
		}
		all = append(all, one{in.Name + "/" + entry.Path, strings.TrimSuffix(filepath.Base(rec.Target.Name), ".go"), kind, func() ([]byte, error) { return rec.ReadFile(entry.Path, bounded.MaxAnswer) }})
	}
	if len(all) == 0 {
		return nil, command.Nothingf("%s has no profiles of CPU, heap, mutex, block or goroutines", in.Name)
	}
	return all, nil
}

// send sends one profile.
func (f *pushFlags) send(e *command.Env, server *remote.Server, one one) error {
	data, err := one.read()
	if err != nil {
		return err
	}
	p, err := profile.Decode(data, profile.Options{})
	if err != nil {
		return err
	}
	name := f.kind
	if name == "" {
		name = one.kind
	}
	if name == "" {
		if name, err = kindOf(p, one.name); err != nil {
			return err
		}
	}
	service := f.service
	if service == "" {
		service = one.service
	}
	if service == "" {
		return command.Usagef("name its service with -service")
	}
	var body bytes.Buffer
	if err := p.Encode(&body); err != nil {
		return err
	}
	labels := append([]push.Label{{Name: "__name__", Value: name}, {Name: "service_name", Value: service}, {Name: "__delta__", Value: "false"}}, f.labels...)
	if err := server.Push(e.Ctx, push.Item{Labels: labels, ID: idOf(labels, body.Bytes()), Profile: body.Bytes()}); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "%s: %s of %s, %s, stored by %s\n", one.name, name, service, unit.Plural(len(p.StackIDs), "sample"), server)
	return nil
}

// kindOf is the kind of a profile by what it counts, as Pyroscope's clients call it, and
// where that does not tell by the name of its file.
func kindOf(p *profile.Profile, file string) (string, error) {
	for _, t := range p.SampleTypes {
		switch {
		case t.Type == "cpu":
			return "process_cpu", nil
		case strings.HasPrefix(t.Type, "alloc_") || strings.HasPrefix(t.Type, "inuse_"):
			return "memory", nil
		case t.Type == "goroutine" || t.Type == "goroutineleak" || t.Type == "threadcreate":
			return t.Type, nil
		}
	}
	for _, word := range []string{"mutex", "block"} {
		if strings.Contains(strings.ToLower(filepath.Base(file)), word) {
			return word, nil
		}
	}
	return "", command.Usagef("it counts %s: name its kind with -kind (mutex, block, or another name)", typesText(p.SampleTypes))
}

func typesText(types []profile.ValueType) string {
	var names []string
	for _, t := range types {
		names = append(names, t.Type)
	}
	return strings.Join(names, " and ")
}

// idOf names a profile by what it is, in the form of a UUID, which Pyroscope wants: what is
// sent again is the same.
func idOf(labels []push.Label, body []byte) string {
	h := sha256.New()
	for _, l := range labels {
		fmt.Fprintf(h, "%q=%q,", l.Name, l.Value)
	}
	h.Write(body)
	sum := h.Sum(nil)
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8 (RFC 9562), made by whoever wants
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
