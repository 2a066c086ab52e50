package insight

import (
	"fmt"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/unit"
)

var be08 = &Rule{
	ID: "BE08", Title: "Profiles have too few samples, truncated stacks, or not all of the CPU time",
	About: "A share in a CPU profile is only as good as the number of its samples. Stacks are truncated at a limit of frames (64 in CPU profiles, 128 in others): the callers beyond it " +
		"are missing, and shares of callers are too small. Samples that the runtime could not attribute belong to no function.",
	Asks: []facts.Question{facts.Captures},
	Params: []Param{
		g0,
		{"busy", 0.25, "CPUs", "chosen: a program that hardly runs has few samples anyway"},
		{"cut", 0.10, "share of the weight in stacks at the limit", "chosen: the rules look for shares of a few hundredths"},
		{"lost", 0.05, "share of the samples", "chosen, as for cut"},
		{"covered", 0.7, "share of the CPU time that the program used", "chosen: of recordings with a second and more, all but those with long system calls have 0.78 and more"},
		{"used", 1, "s of CPU time", "chosen: of less, the profiler misses a part that counts"},
	},
	Measurement: true,
	Check:       checkTooLittle,
}

// depthLimits are how many frames the runtime keeps of a stack, by kind of profile:
// maxCPUProfStack, and since Go 1.23 the default of GODEBUG=profstackdepth, before that
// maxStack (runtime/cpuprof.go, runtime/mprof.go).
var depthLimits = map[recording.Kind][]int{
	recording.CPU: {64}, recording.Allocs: {32, 128}, recording.Heap: {32, 128}, recording.Block: {32, 128}, recording.Mutex: {32, 128},
}

// lostNames are what the runtime puts in the place of samples that it could not place.
var lostNames = []string{"runtime._LostSIGPROFDuringAtomic64", "runtime._LostExternalCode", "runtime/pprof.lostProfileEvent"}

func checkTooLittle(r *Rule, in *Input) []Finding {
	f := r.answer(Found, "")
	var parts, do, fine []string
	var unread error
	looked := 0
	tell := func(what, advice string, e recording.Entry, worst float64) {
		parts, do = append(parts, what), appendNew(do, advice)
		f.Evidence = append(f.Evidence, Evidence{Text: what, Path: e.Path, Phase: e.Phase})
		f.Score = max(f.Score, score(worst, 0.1, 0.5))
	}
	seen := map[string]bool{}
	for _, kind := range r.from() {
		limits, profiled := depthLimits[kind]
		if !profiled || len(in.Session.Manifest().Of(kind)) == 0 {
			continue
		}
		p, e, err := in.Session.Profile(kind)
		if err != nil || len(p.SampleTypes) == 0 {
			unread = err
			continue
		}
		if looked++; seen[e.Path] {
			continue
		}
		seen[e.Path] = true
		if kind == recording.CPU {
			own := coverage(in, p, e)
			if n, cpus := p.Total(0), max(cpusOf(p), own.cpus(p)); float64(n) < r.param("samples") && cpus >= r.param("busy") {
				tell(fmt.Sprintf("%s has %s of a program that used %.2f CPUs: its shares are uncertain by 10 points or more", e.Path, unit.Plural(n, "sample"), cpus),
					"record longer (-phases cpu:30s)", e, 1-float64(n)/r.param("samples"))
			} else {
				fine = append(fine, unit.Plural(n, "CPU sample"))
			}
			if own.known && own.used().Seconds() >= r.param("used") && float64(own.has) < r.param("covered")*float64(own.used()) {
				what, advice := own.missing()
				tell(fmt.Sprintf("%s has %s of about %s of CPU time that the program used meanwhile (%s in the program, %s in the kernel): its shares are of what it has. %s", e.Path, unit.Duration(own.has), unit.Duration(own.used()), unit.Duration(own.user), unit.Duration(own.system), what),
					advice, e, 1-float64(own.has)/float64(own.used()))
			}
			if lost := lostShare(p); lost >= r.param("lost") {
				tell(fmt.Sprintf("%s of the samples of %s could not be attributed", unit.Percent(lost), e.Path), "record again on a machine that is less busy", e, lost)
			}
		}
		if share, limit := atLimit(p, limits); share >= r.param("cut") {
			tell(fmt.Sprintf("%s of %s is in stacks truncated at the limit of %d frames: their callers are not known", unit.Percent(share), e.Path, limit),
				deeper(kind), e, share)
		}
	}
	switch {
	case len(parts) > 0:
	case looked == 0 && unread != nil:
		return []Finding{r.answer(TooLittle, "%v", unread)}
	case looked == 0:
		return []Finding{r.answer(NotApplicable, "the recording has no %s and no %s", facts.Describe(recording.CPU), facts.Describe(recording.Allocs))}
	default:
		return []Finding{r.answer(Fine, "%s", strings.Join(append(fine, "no significant share of the stacks was truncated"), ", "))}
	}
	f.Summary, f.Severity = strings.Join(parts, "; "), Info
	f.Advice = strings.ToUpper(do[0][:1]) + strings.Join(do, "; ")[1:] + "."
	f.Verify = "Record again: this rule is then fine."
	return []Finding{f}
}

// appendNew adds a text to those that are there once.
func appendNew(all []string, text string) []string {
	for _, s := range all {
		if s == text {
			return all
		}
	}
	return append(all, text)
}

// deeper says how to get longer stacks.
func deeper(kind recording.Kind) string {
	if kind == recording.CPU {
		return "rely on leaf lines rather than callers, or take an execution trace with the CPU profile, whose stacks are longer; a loop with an explicit stack is easier to profile than recursion"
	}
	return "record with GODEBUG=profstackdepth=1024"
}

// cpusOf is how many CPUs the program used while a CPU profile was taken; 0 where the
// profile does not tell.
func cpusOf(p *profile.Profile) float64 {
	index, err := p.Index("cpu")
	if err != nil || p.Duration <= 0 {
		return 0
	}
	return float64(p.Total(index)) / float64(p.Duration)
}

// covered is how much CPU time a profile has, and how much the program used while it was taken, itself and in the kernel, without its children.
type covered struct {
	has, user, system time.Duration
	known             bool
}

func (c covered) used() time.Duration { return c.user + c.system }

// cpus is how many CPUs that is.
func (c covered) cpus(p *profile.Profile) float64 {
	if !c.known || p.Duration <= 0 {
		return 0
	}
	return float64(c.used()) / float64(p.Duration)
}

// missing says what the time that a profile has not may be, by the parts that cannot be anything else, and what to rely on.
func (c covered) missing() (what, advice string) {
	const (
		byTimes = "rely on the times of the operating system (user and system)"
		call    = "a long system call, as one that reads or writes much at once, gets one sample, however long the kernel works on it"
		unseen  = "threads that the profiler does not see (of C code that blocks signals, or such as live for a few milliseconds only, as that of a goroutine that ends locked to its thread)"
	)
	missing := c.used() - c.has
	switch inProgram, inKernel := missing-c.system, missing-c.user; {
	case 2*inProgram >= missing:
		return fmt.Sprintf("Of what it lacks, at least %s is no system call, but in the program: it may be of %s", unit.Duration(inProgram), unseen), byTimes + ", or on perf, which samples all threads"
	case 2*inKernel >= missing:
		return fmt.Sprintf("Of what it lacks, at least %s is in the kernel: ", unit.Duration(inKernel)) + call, byTimes + ", or on perf, for what the kernel does"
	}
	return "It may lack long system calls (" + call + "), or " + unseen, byTimes + ", or on perf"
}

// coverage is that of a profile, by the samples of the system.
func coverage(in *Input, p *profile.Profile, e recording.Entry) (c covered) {
	phase, known := in.Session.Manifest().PhaseNamed(e.Phase)
	index, err := p.Index("cpu")
	if !known || phase.Lives > 1 || err != nil || p.Duration <= 0 || phase.Span.Len() <= 0 {
		return c
	}
	user, system := facts.OwnTimes(in.Session, phase)
	part := min(1, p.Duration.Seconds()/phase.Span.Len().Seconds())
	c = covered{has: time.Duration(p.Total(index)), user: time.Duration(part * float64(user)), system: time.Duration(part * float64(system))}
	c.known = c.used() > 0
	return c
}

// lostShare is the part of a profile that the runtime could not place.
func lostShare(p *profile.Profile) float64 {
	var lost, all int64
	for id, w := range p.Samples(0) {
		all += w
		for _, f := range p.Stacks.Frames(id) {
			if name := p.Stacks.Frame(f).Func; name == lostNames[0] || name == lostNames[1] || name == lostNames[2] {
				lost += w
				break
			}
		}
	}
	return float64(lost) / float64(max(1, all))
}

// atLimit is the part of a profile in stacks of exactly as many frames as the runtime keeps,
// and that limit. Stacks that happen to be as long are few: those around them are too.
func atLimit(p *profile.Profile, limits []int) (share float64, limit int) {
	index := len(p.SampleTypes) - 1
	by := map[int]int64{}
	var all int64
	deepest := 0
	for id, w := range p.Samples(index) {
		if w > 0 {
			n := len(p.Stacks.Frames(id))
			by[n] += w
			all += w
			deepest = max(deepest, n)
		}
	}
	for _, l := range limits {
		if s := float64(by[l]) / float64(max(1, all)); l == deepest && s > share {
			share, limit = s, l
		}
	}
	return share, limit
}
