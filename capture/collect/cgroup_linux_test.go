package collect

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// fakeCgroups lays out files as the kernel shows them.
func fakeCgroups(t *testing.T, files map[string]string) *cgroups {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &cgroups{root: root}
}

// cgroupFacts is all that is asked of the cgroups of a process.
type cgroupFacts struct {
	limit, used, kills int64
	quota              float64
	throttled          time.Duration
}

func factsOf(c *cgroups, pid string) cgroupFacts {
	m, cpu := c.of(pid, "memory"), c.of(pid, "cpu")
	return cgroupFacts{m.memoryLimit(), m.memory(), m.oomKills(), cpu.quota(), cpu.throttled()}
}

func TestCgroups(t *testing.T) {
	f := func(what string, files map[string]string, want cgroupFacts) {
		t.Helper()
		if got := factsOf(fakeCgroups(t, files), "7"); got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	f("version 2, with the limit of a parent", map[string]string{
		"proc/7/cgroup":                                       "0::/app.slice/shop.service\n",
		"proc/self/mountinfo":                                 "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
		"sys/fs/cgroup/app.slice/memory.max":                  "209715200\n",
		"sys/fs/cgroup/app.slice/cpu.max":                     "150000 100000\n",
		"sys/fs/cgroup/app.slice/shop.service/memory.max":     "max\n",
		"sys/fs/cgroup/app.slice/shop.service/cpu.max":        "max 100000\n",
		"sys/fs/cgroup/app.slice/shop.service/memory.current": "1000\n",
		"sys/fs/cgroup/app.slice/shop.service/memory.events":  "low 0\noom 4\noom_kill 3\noom_group_kill 0\n",
		"sys/fs/cgroup/app.slice/shop.service/cpu.stat":       "usage_usec 9\nthrottled_usec 250\n",
	}, cgroupFacts{209715200, 1000, 3, 1.5, 250 * time.Microsecond})
	f("version 2, slowed down before it is killed", map[string]string{
		"proc/7/cgroup":                     "0::/shop\n",
		"proc/self/mountinfo":               "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"sys/fs/cgroup/shop/memory.max":     "209715200\n",
		"sys/fs/cgroup/shop/memory.high":    "157286400\n",
		"sys/fs/cgroup/shop/memory.current": "5000\n",
	}, cgroupFacts{limit: 157286400, used: 5000})
	f("version 1, each controller by itself, and version 2 beside it without any", map[string]string{
		"proc/7/cgroup": "5:memory:/shop\n3:cpuacct,cpu:/shop\n1:name=systemd:/\n0::/\n",
		"proc/self/mountinfo": "31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs rw\n32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n" +
			"35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes":      "9223372036854771712\n",
		"sys/fs/cgroup/memory/shop/memory.limit_in_bytes": "209715200\n",
		"sys/fs/cgroup/memory/shop/memory.usage_in_bytes": "2000\n",
		"sys/fs/cgroup/memory/shop/memory.oom_control":    "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
		"sys/fs/cgroup/cpu/cpu.cfs_quota_us":              "-1\n",
		"sys/fs/cgroup/cpu/shop/cpu.cfs_quota_us":         "50000\n",
		"sys/fs/cgroup/cpu/shop/cpu.cfs_period_us":        "100000\n",
		"sys/fs/cgroup/cpu/shop/cpu.stat":                 "nr_periods 5\nthrottled_time 7000\n",
	}, cgroupFacts{209715200, 2000, 2, 0.5, 7 * time.Microsecond})
	f("in a container, of which the host's path is told", map[string]string{
		"proc/7/cgroup":                              "5:memory:/docker/abc\n",
		"proc/self/mountinfo":                        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "1048576\n",
		"sys/fs/cgroup/memory/memory.usage_in_bytes": "3000\n",
	}, cgroupFacts{limit: 1048576, used: 3000})
	f("a process above what is mounted here", map[string]string{
		"proc/7/cgroup":            "0::/elsewhere\n",
		"proc/self/mountinfo":      "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n",
		"sys/fs/cgroup/memory.max": "4096\n",
	}, cgroupFacts{limit: 4096})
	f("no limit at all", map[string]string{
		"proc/7/cgroup":                              "5:memory:/\n",
		"proc/self/mountinfo":                        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		"sys/fs/cgroup/memory/memory.usage_in_bytes": "4000\n",
	}, cgroupFacts{used: 4000})
	f("nothing mounted", map[string]string{"proc/7/cgroup": "0::/x\n", "proc/self/mountinfo": ""}, cgroupFacts{})
	f("no such process", map[string]string{"proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"}, cgroupFacts{})
	f("lines of no form", map[string]string{"proc/7/cgroup": "\n::\nx\n0::\n", "proc/self/mountinfo": "x\n - cgroup2\n- - -\n1 2 3 4 5 - cgroup x\n"}, cgroupFacts{})
}
