package scrape

import (
	"context"
	"strconv"
	"time"

	"loupe/capture/collect"
)

// Local is a job of the Go programs on this machine that serve /debug/pprof on loopback,
// each named after its main package. Programs that start later are found, too.
func Local() *Job {
	return &Job{
		Name: "local", Interval: UsualInterval, Length: UsualLength, Timeout: UsualTimeout, Profiles: usualKinds(),
		scheme: "http", path: UsualPath, finders: []finder{local{}},
	}
}

// local finds programs of this machine.
type local struct{}

func (local) every() time.Duration { return 10 * time.Second }

func (local) find(ctx context.Context) (all []Group, err error) {
	for _, s := range collect.LocalServices(ctx) {
		l := Labels{ServiceLabel: s.Program, "__meta_local_pid": strconv.Itoa(s.PID)}
		l.set("version", s.Version)
		all = append(all, Group{[]string{s.Base.Host}, l})
	}
	return all, ctx.Err()
}
