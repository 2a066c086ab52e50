package collect

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"loupe/recording"
	"loupe/value/secret"
)

// Service is a running service that was found.
type Service struct {
	// Ways are those in which a local process may be looked into; nil for an
	// address.
	Ways []Permission

	target string
	access Access
	src    source // of its profiles
	pid    int    // 0 when unknown
}

// Find looks for a running service: target is the address of its
// /debug/pprof in any form that [PprofURL] takes, or the number of a local
// process whose listening ports are tried, then the kernel. Which of the two a
// bare number means is decided by whether such a process exists. access is how the
// service is asked. The error wraps [ErrUnreachable] when nothing can be had of it; the Ways are there all the same.
func Find(ctx context.Context, target string, access Access) (*Service, error) {
	s := &Service{target: target, access: access}
	if pid, ok := isPID(target); ok {
		return s, s.findPID(ctx, pid)
	}
	if _, err := strconv.ParseUint(target, 10, 16); err == nil {
		if err := s.findURL(ctx); err != nil {
			return s, fmt.Errorf("%w; nor is there a process %s", err, target)
		}
		return s, nil
	}
	if _, err := strconv.ParseUint(target, 10, 64); err == nil { // beyond all ports
		return s, fmt.Errorf("%w: there is no process %s", ErrUnreachable, target)
	}
	return s, s.findURL(ctx)
}

// Asked tells whether the service is asked over HTTP, rather than looked into from
// outside.
func (s *Service) Asked() bool {
	_, ok := s.src.(*httpSource)
	return ok
}

// isPID tells whether a bare number is a process rather than a port.
func isPID(target string) (pid int, ok bool) {
	pid, err := strconv.Atoi(target)
	return pid, err == nil && pid > 0 && ProcessExists(pid)
}

// Attach begins the recording of a running service into w.
func Attach(ctx context.Context, w *recording.Writer, s *Service, opt RecorderOptions) (*Recorder, error) {
	r := newRecorder(w, opt)
	t := recording.Target{Kind: "url", Name: s.target}
	if s.Ways != nil {
		t.Kind = "pid"
	}
	r.src, r.pid = s.src, s.pid
	if k, ok := s.src.(kernelSource); ok {
		k.profiles, k.tell = opt.HeapProfiling, r.tell
		r.src = k
	}
	if r.pid > 0 {
		describeProcess(&t, r.pid)
		t.Runs = []recording.Run{{PID: r.pid}}
		r.run = 0
	}
	err := w.UpdateTarget(func(old *recording.Target) { *old = t })
	if err == nil {
		err = r.startSampler()
	}
	if err == nil {
		if r.pid > 0 {
			r.sampler.follow(newFamily(r.pid, ""))
		}
		r.sampler.watch(r.pid)
		r.startFollowing()
	}
	return r, err
}

func (s *Service) findURL(ctx context.Context) error {
	base, err := PprofURL(s.target)
	if err != nil {
		return err
	}
	h := newHTTPSource(base, s.access)
	if err := h.probe(ctx); err != nil {
		return fmt.Errorf("%w: %w (does the service import net/http/pprof, and is this its address?)", ErrUnreachable, err)
	}
	s.src, s.pid = h, listenerPID(TCP(base.Host))
	return nil
}

func (s *Service) findPID(ctx context.Context, pid int) error {
	var h *httpSource
	s.Ways, h = permissions(ctx, pid, s.access)
	if h != nil {
		s.src, s.pid = h, pid
		return nil
	}
	// Without a server of its own, the kernel may let us look at it.
	k := kernelSource{pid: pid, ways: s.Ways, tell: func(string, ...any) {}}
	if slices.ContainsFunc(s.Ways, func(p Permission) bool { return p.OK && p.What != "core" && kernelPhases[p.What] != nil }) {
		s.src, s.pid = k, pid
		return nil
	}
	return fmt.Errorf("%w: process %d serves no /debug/pprof, and cannot be looked into from outside (loupe attach -explain %d says why)", ErrUnreachable, pid, pid)
}

// describeProcess fills in what the executable of a local process says.
func describeProcess(t *recording.Target, pid int) {
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	bi, err := buildinfo.ReadFile(exe)
	if err != nil {
		return
	}
	t.Go, t.Package, t.Module = bi.GoVersion, bi.Path, bi.Main.Path
	t.BuildSettings = map[string]string{}
	for _, s := range bi.Settings {
		t.BuildSettings[s.Key] = s.Value
	}
	t.Stripped = stripped(exe)
	if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil {
		t.Env = runtimeEnv(strings.Split(string(env), "\x00"))
	}
}

// RecordAttached works through the plan on a service that was attached to.
func (r *Recorder) RecordAttached(ctx context.Context, plan Plan) error {
	if r.src == nil {
		return errors.New("BUG: RecordAttached without Attach")
	}
	if plan.Has(repeatsPhase) {
		plan.Phases = slices.DeleteFunc(slices.Clone(plan.Phases), func(p Phase) bool { return p.Name == repeatsPhase })
		if err := r.w.Miss(repeatsPhase, countsBuilt); err != nil {
			return err
		}
	}
	plan.Phases = r.possible(plan.Phases)
	if plan.Load != nil {
		reached(&r.running, plan.WaitFor)
	}
	err := r.recordRunning(ctx, plan)
	r.noteMissed(ctx, plan, err)
	return err
}

// buildInfoText is what `go version -m` prints of an executable, without what was
// put into it at link time and is secret.
func buildInfoText(path string) string {
	bi, err := buildinfo.ReadFile(path)
	if err != nil {
		return ""
	}
	return secret.Text(bi.String())
}
