package collect

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"loupe/live"
	"loupe/recording"
)

// Probe tells whether a target that [Attach] takes can be recorded; the error
// wraps [ErrUnreachable] when it cannot be reached.
func Probe(ctx context.Context, target string) error {
	r := newRecorder(nil, RecorderOptions{})
	return r.find(ctx, target)
}

// find reaches the target and sets the source of its profiles.
func (r *Recorder) find(ctx context.Context, target string) error {
	if pid, ok := isPID(target); ok {
		return r.attachPID(ctx, pid)
	}
	return r.attachURL(ctx, target)
}

// isPID tells whether a bare number is a process rather than a port.
func isPID(target string) (pid int, ok bool) {
	pid, err := strconv.Atoi(target)
	return pid, err == nil && pid > 0 && processExists(pid)
}

// Attach begins the recording of a running service into w. target is the
// address of its /debug/pprof in any form that [PprofURL] takes, or the
// number of a local process whose listening ports are tried. Which of the two
// a bare number means is decided by whether such a process exists.
func Attach(ctx context.Context, w *recording.Writer, target string, opt RecorderOptions) (*Recorder, error) {
	r := newRecorder(w, opt)
	t := recording.Target{Kind: "url", Name: target}
	if _, ok := isPID(target); ok {
		t.Kind = "pid"
	}
	if err := r.find(ctx, target); err != nil {
		return nil, err
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
		r.sampler.watch(r.pid)
		r.startFollowing()
	}
	return r, err
}

func (r *Recorder) attachURL(ctx context.Context, target string) error {
	base, err := PprofURL(target)
	if err != nil {
		return err
	}
	h := newHTTPSource(base)
	if err := h.probe(ctx); err != nil {
		return fmt.Errorf("%w: %w (does the service import net/http/pprof, and is this its address?)", ErrUnreachable, err)
	}
	r.src = h
	r.pid = listenerPID(base.Host)
	return nil
}

func (r *Recorder) attachPID(ctx context.Context, pid int) error {
	ports := listeningPorts(pid)
	var errs []string
	for _, port := range ports {
		base, err := PprofURL(port)
		if err != nil {
			continue
		}
		h := newHTTPSource(base)
		if err = h.probe(ctx); err == nil {
			r.src, r.pid = h, pid
			return nil
		}
		errs = append(errs, err.Error())
	}
	// Without a server of its own, the kernel may let us look at it.
	for _, p := range live.Permissions(pid) {
		if p.OK {
			r.src, r.pid = kernelSource{pid}, pid
			return nil
		}
		errs = append(errs, p.String())
	}
	where := "listens on no TCP port that this user may see"
	if len(ports) > 0 {
		where = "listens on " + strings.Join(ports, ", ") + ", but none serves /debug/pprof"
	}
	return fmt.Errorf("%w: process %d %s: %s (start it with `loupe run` to record it without net/http/pprof)", ErrUnreachable, pid, where, strings.Join(errs, "; "))
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
	if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil {
		t.Env = runtimeEnv(strings.Split(string(env), "\x00"))
	}
}

// RecordAttached works through the plan on a service that was attached to.
func (r *Recorder) RecordAttached(ctx context.Context, plan Plan) error {
	if r.src == nil {
		return errors.New("BUG: RecordAttached without Attach")
	}
	plan.Phases = r.possible(plan.Phases)
	return r.recordRunning(ctx, plan)
}

// buildInfoText is what `go version -m` prints of an executable.
func buildInfoText(path string) string {
	bi, err := buildinfo.ReadFile(path)
	if err != nil {
		return ""
	}
	return bi.String()
}
