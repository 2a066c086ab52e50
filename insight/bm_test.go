package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// results is an output of go test -bench: lines of a benchmark with these times in ns.
func results(name string, ns ...float64) string {
	var b strings.Builder
	for _, v := range ns {
		fmt.Fprintf(&b, "Benchmark%s\t 1000\t %g ns/op\n", name, v)
	}
	return b.String()
}

func benchmarked(text ...string) *recordingtest.Recording {
	return recordingtest.New("title x\n-- bench.txt benchmarks --\npkg: shop\n" + strings.Join(text, ""))
}

var steady = []float64{100, 103, 98, 101, 99, 102, 97, 100, 104, 101}

func TestBM01(t *testing.T) {
	f := expect(t, "empty", benchmarked(results("Sum-8", 0.25, 0.26, 0.25), results("Encode-8", steady...)), "BM01", Found, "Sum with 0.250 ns/op")
	severity(t, "empty", f, Warning)
	near(t, "empty", f, 1)
	expect(t, "fast", benchmarked(results("Sum-8", 1.2, 1.3)), "BM01", Fine)
	expect(t, "on all Ps", benchmarked(results("SumParallel-8", 0.25)), "BM01", Fine)
	expect(t, "on all Ps, by its rows", benchmarked(results("Sum", 2), results("Sum-8", 0.25)), "BM01", Fine)
	expect(t, "a service", recordingtest.New("title x\n-- stdout.log stdout --\nlistening\n"), "BM01", NotApplicable, "no benchmark results")
	expect(t, "none", recordingtest.New("title x"), "BM01", NotApplicable, "go test -bench")
	// What a recorded test printed in its bare phase counts, and not that under a profiler.
	r := recordingtest.New("title x\ntarget test ./shop\nphase bare 0s..1s run=0\nphase cpu 1s..2s run=1 profiler=cpu\n-- stdout.log stdout run=0 --\n" + results("Encode-8", steady...) +
		"-- stdout-2.log stdout run=1 --\n" + results("Sum-8", 0.25))
	expect(t, "recorded", r, "BM01", Fine, "1 benchmark")
}

// tested is a recorded benchmark whose source is this, with a CPU profile.
func tested(source, picture string) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget test ./shop module=shop\nphase bare 0s..1s run=0\n-- stdout.log stdout run=0 --\n" + results("Encode-8", steady...))
	r.Put(recording.Entry{Path: "source/e_test.go", Kind: recording.Source, Source: "/src/e_test.go"}, []byte("package shop\n\nimport \"testing\"\n\n"+source))
	return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU}, profiletest.Profile(picture))
}

func TestBM02(t *testing.T) {
	const stops = `func BenchmarkEncode(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		in := prepare()
		b.StartTimer()
		encode(in)
	}
}
`
	const at = "shop.BenchmarkEncode:/src/e_test.go:%d  shop.BenchmarkEncode:/src/e_test.go:%d\n%-42s  %s\n= %d %d"
	f := expect(t, "in the loop", tested(stops, fmt.Sprintf(at, 7, 10, "testing.(*B).StopTimer", "shop.encode", 60, 40)), "BM02", Found, "e_test.go:7", "60.0% of the CPU time")
	severity(t, "in the loop", f, Warning)
	if len(f.Evidence) != 2 || f.Evidence[1].Line != 9 || f.Evidence[0].Source != "b.StopTimer()" {
		t.Errorf("evidence %+v", f.Evidence)
	}
	expect(t, "another benchmark", tested(strings.Replace(stops, "BenchmarkEncode", "BenchmarkDecode", 1), fmt.Sprintf(at, 7, 10, "testing.(*B).StopTimer", "shop.encode", 60, 40)), "BM02", Fine, "that ran")
	severity(t, "at little cost", expect(t, "at little cost", tested(stops, fmt.Sprintf(at, 7, 10, "testing.(*B).StopTimer", "shop.encode", 3, 97)), "BM02", Found), Info)

	const before = `func BenchmarkEncode(b *testing.B) {
	in := prepare()
%s	for %s {
		encode(in)
	}
}
`
	picture := fmt.Sprintf(at, 6, 9, "shop.prepare", "shop.encode", 30, 70)
	f = expect(t, "timed preparation", tested(fmt.Sprintf(before, "", "range b.N"), strings.Replace(picture, ":9", ":8", 1)), "BM02", Found, "30.0% of the time of BenchmarkEncode", "e_test.go:6")
	severity(t, "timed preparation", f, Warning)
	expect(t, "with ResetTimer", tested(fmt.Sprintf(before, "\tb.ResetTimer()\n", "range b.N"), picture), "BM02", Fine)
	expect(t, "with b.Loop", tested(fmt.Sprintf(before, "", "b.Loop()"), picture), "BM02", Fine)
	expect(t, "a quick preparation", tested(fmt.Sprintf(before, "", "range b.N"), fmt.Sprintf(at, 6, 8, "shop.prepare", "shop.encode", 3, 97)), "BM02", Fine)
	expect(t, "its text alone", benchmarked(results("Encode", steady...)), "BM02", TooLittle, "source")
}

func TestBM03(t *testing.T) {
	two := []float64{100, 150, 101, 151, 100, 149, 102, 150, 101, 100}
	f := expect(t, "two modes", benchmarked(results("Encode-8", two...)), "BM03", Found, "Encode has two modes: 6 runs at 100 ns", "4 at 150 ns")
	severity(t, "two modes", f, Info)
	expect(t, "one mode", benchmarked(results("Encode-8", steady...)), "BM03", Fine)
	expect(t, "an outlier", benchmarked(results("Encode-8", append([]float64{300}, steady...)...)), "BM03", Fine)
	expect(t, "few runs", benchmarked(results("Encode-8", 100, 150, 100, 150)), "BM03", TooLittle, "8 runs")
	few := "BenchmarkEncode-8 \t1000\t 100 ns/op\t %d gc-cycles\n"
	expect(t, "few collections", benchmarked(fmt.Sprintf(few, 2)), "BM03", Found, "2 collections in a run")
	expect(t, "many collections", benchmarked(fmt.Sprintf(few, 20)), "BM03", Fine)
	expect(t, "no collections", benchmarked(fmt.Sprintf(few, 0)), "BM03", TooLittle)
}

func TestBM04(t *testing.T) {
	rising := []float64{100, 102, 103, 105, 104, 108, 110, 111, 113, 115}
	f := expect(t, "slower and slower", benchmarked(results("Encode-8", rising...)), "BM04", Found, "Encode changed by +14%")
	severity(t, "slower and slower", f, Info)
	expect(t, "steady", benchmarked(results("Encode-8", steady...)), "BM04", Fine)
	expect(t, "by little", benchmarked(results("Encode-8", 100, 100.1, 100.2, 100.3, 100.4, 100.5, 100.6, 100.7, 100.8, 100.9)), "BM04", Fine)
	expect(t, "few runs", benchmarked(results("Encode-8", 100, 110, 120)), "BM04", TooLittle)
	all := benchmarked(results("A-8", rising...), results("B-8", rising...), results("C-8", rising...), results("D-8", steady...))
	expect(t, "the machine", all, "BM04", Found, "3 of 4 benchmarks became slower", "points at the machine")
}

func TestLK05(t *testing.T) {
	f := expect(t, "each other's way", benchmarked(results("Count", 10, 11, 10, 10), results("Count-4", 40, 42, 39, 41)), "LK05", Found, "Count takes 10.0 ns/op with 1 P and 40.5 ns/op with 4", "times as long")
	severity(t, "each other's way", f, Info)
	doubted(t, f, "how many CPUs the machine has")
	expect(t, "poor", benchmarked(results("Get", 100, 101, 99, 100), results("Get-2", 65, 66, 64, 65), results("Get-8", 60, 61, 59, 60)), "LK05", Found, "1.67 times as fast with 8 Ps", "20.8%")
	expect(t, "well", benchmarked(results("Get", 100, 101, 99, 100), results("Get-4", 26, 27, 25, 26)), "LK05", Fine)
	expect(t, "serial", benchmarked(results("Sum", 100, 101, 99, 100), results("Sum-4", 100, 103, 98, 101)), "LK05", Fine)
	expect(t, "noise", benchmarked(results("Sum", 100, 180, 99, 100), results("Sum-4", 150, 103, 160, 151)), "LK05", Fine)
	expect(t, "few runs", benchmarked(results("Count", 10), results("Count-4", 40)), "LK05", TooLittle)
	expect(t, "one number", benchmarked(results("Count-4", 40, 40, 40, 40)), "LK05", NotApplicable)
	r := recordingtest.New("title x\ntarget test ./shop\nhost cpus=2\nphase bare 0s..1s run=0\n-- stdout.log stdout run=0 --\n" + results("Count", 10, 11, 10, 10) + results("Count-4", 40, 42, 39, 41))
	expect(t, "more Ps than CPUs", r, "LK05", NotApplicable)
}
