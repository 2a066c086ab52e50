package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/timeline"
)

// running is a program that ran for so long, with a CPU profile of a second whose samples
// are of 10 ms.
func running(length time.Duration, settings map[string]string, picture string, samples ...int) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase bare 0s..10s\nphase cpu 10s..15s profiler=cpu\n" +
		"-- source/search/rss.go source from=/src/rss.go --\n" + rss)
	r.Manifest.Target.Runs = []recording.Run{{Span: timeline.Span{End: timeline.Time(length)}}}
	r.Manifest.Target.BuildSettings = map[string]string{"-compiler": "gc"}
	for k, v := range settings {
		r.Manifest.Target.BuildSettings[k] = v
	}
	counts, ns := "=", "="
	for _, n := range samples {
		counts += fmt.Sprintf(" %d", n)
		ns += fmt.Sprintf(" %d", n*10_000_000)
	}
	data := profiletest.Encode(strings.TrimSpace(picture)+"\n"+counts+"\n"+ns, profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}, Duration: 5 * time.Second})
	return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, data)
}

func TestCP09(t *testing.T) {
	const work = "shop/a.f  runtime.mallocgc"
	f := expect(t, "busy", running(15*time.Second, nil, work, 400, 50), "CP09", Found, "88.9%", "0.90 CPUs")
	severity(t, "busy", f, Info)
	if f.Impact.Low != 0.02 || f.Impact.High != 0.07 {
		t.Errorf("impact %+v", f.Impact)
	}
	in := NewInput(session.New(running(15*time.Second, nil, work, 400, 50).Open()))
	all := Run(in)
	for _, c := range Cards(in, all) {
		if all[c.Finding].Rule == "CP09" {
			t.Error("a hint has a card")
		}
	}
	expect(t, "with one", running(15*time.Second, map[string]string{"-pgo": "/src/default.pgo"}, work, 400, 50), "CP09", Fine, "default.pgo")
	expect(t, "at rest", running(15*time.Second, nil, work, 350, 10), "CP09", Fine, "0.72 CPUs")
	noisy := running(15*time.Second, nil, work, 350, 10)
	noisy.Put(recording.Entry{Path: "os.ndjson", Kind: recording.OS}, []byte("{\"t_ns\":10000000000,\"pid\":7,\"busy_ns\":0,\"user_ns\":0,\"waited_ns\":0}\n{\"t_ns\":14900000000,\"pid\":7,\"busy_ns\":9800000000,\"user_ns\":3600000000,\"waited_ns\":1200000000}\n"))
	expect(t, "others have the CPUs", noisy, "CP09", Found, "used 0.72 CPUs, and would have used about 0.96 on a quiet machine")
	expect(t, "it allocates", running(15*time.Second, nil, work, 100, 400), "CP09", Fine, "20.0%")
	expect(t, "a short tool", running(3*time.Second, nil, work, 400, 50), "CP09", Fine, "3 s")
	expect(t, "few samples", running(15*time.Second, nil, work, 100, 50), "CP09", TooLittle, "200 are needed")
	r := running(15*time.Second, nil, work, 400, 50)
	r.Manifest.Target.Kind = "test"
	expect(t, "a test", r, "CP09", NotApplicable)
	expect(t, "no build", recordingtest.New("title x"), "CP09", NotApplicable)
}

func TestCP10(t *testing.T) {
	with := func(old string) *recordingtest.Recording {
		r := running(15*time.Second, map[string]string{"-pgo": "/src/default.pgo"}, "shop/a.main  shop/a.main\nshop/a.f     shop/a.g\nruntime.mallocgc", 300, 200)
		return r.Put(recording.Entry{Path: "default.pgo", Kind: recording.PGO}, profiletest.Profile(old))
	}
	f := expect(t, "g is new", with("shop/a.main\nshop/a.f\n= 900"), "CP10", Found, "40.0%", "default.pgo")
	severity(t, "g is new", f, Info)
	near(t, "g is new", f, 0.4)
	expect(t, "both are there", with("shop/a.main shop/a.main\nshop/a.f    shop/a.g\n= 899 1"), "CP10", Fine, "0%")
	expect(t, "another caller", with("shop/a.main shop/b.main\nshop/a.f    shop/a.g\n= 500 400"), "CP10", Found, "40.0%")
	expect(t, "trimmed to two addresses", with("shop/a.f         shop/a.main\nruntime.mallocgc shop/a.g\n= 500 400"), "CP10", Fine, "0%")
	expect(t, "too few", with("shop/a.main\nshop/a.f\n= 90"), "CP10", TooLittle)
	expect(t, "none", recordingtest.New("title x"), "CP10", NotApplicable)
}

func TestCP11(t *testing.T) {
	const popcount = "package bitset\n\nimport \"math/bits\"\n\nfunc count(words []uint64) (n int) {\n\tfor _, w := range words {\n\t\tn += bits.OnesCount64(w)\n\t\tn += int(w)\n\t}\n\treturn n\n}\n"
	with := func(host, build string, line int) *recordingtest.Recording {
		r := running(15*time.Second, map[string]string{"GOAMD64": build, "GOARCH": "amd64"}, fmt.Sprintf("shop/bitset.count:/src/bitset.go:%d  shop/a.f", line), 100, 300)
		r.Manifest.Host.Level = host
		return r.Put(recording.Entry{Path: "source/bitset.go", Kind: recording.Source, Source: "/src/bitset.go"}, []byte(popcount))
	}
	f := expect(t, "counting", with("v3", "v1", 7), "CP11", Found, "GOAMD64=v1", "level v3", "25.0%", "bits.OnesCount64")
	severity(t, "counting", f, Info)
	if f.Evidence[0].File != "/src/bitset.go" || f.Evidence[0].Line != 7 {
		t.Errorf("evidence %+v", f.Evidence)
	}
	expect(t, "another line", with("v3", "v1", 8), "CP11", Fine)
	expect(t, "built so", with("v3", "v3", 7), "CP11", Fine, "GOAMD64=v3")
	expect(t, "an old processor", with("v2", "v1", 7), "CP11", Fine, "level v2")
	expect(t, "unknown", with("", "v1", 7), "CP11", TooLittle)
	arm := with("", "", 7)
	arm.Manifest.Target.BuildSettings["GOARCH"] = "arm64"
	expect(t, "arm", arm, "CP11", NotApplicable, "arm64")
}
