package reporttest_test

import (
	"strings"
	"testing"

	"loupe/report/reporttest"
)

// TestDocuments: what cannot be is found in what is printed, and nothing else is.
func TestDocuments(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := strings.Join(reporttest.CheckOutput([]byte(text)), "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	f(`{"latency":{"min":1,"p50":2,"p99":3,"p99.9":2.5,"max":4}}`, "p99.9 is 2.5, below p99, 3")
	f(`{"generator":{"lag_p50_ns":44060,"lag_p99_ns":0}}`, "lag_p99_ns is 0, below lag_p50_ns, 44060")
	f(`{"mmu":0.1,"p99_9":0.2,"p99":0.5}`, "")
	f(`{"mmu":0.1,"p99_9":1,"p99":0.975,"p95":0.9}`, "p99 is 0.975, below p99_9, 1")
	f(`{"a":[{"share":1.04}]}`, ".a[0]: share is 1.04")
	f(`{"gc_percent":101}`, "gc_percent is 101")
	f(`{"wait_ns":-1}`, "wait_ns is -1")
	f(`{"start_ns":-1,"lag_ns":0}`, "")
	f(`{"peak":3,"count":2}`, "peak is 3, above count, 2")
	f(`{"columns":[{"key":"p50_ns"},{"key":"p99_ns"}],"values":[[3,2]]}`, "p99_ns is 2, below p50_ns, 3")
	f(`{"better":"lower","cells":[{"median":448},{"median":438}],"changes":[{"ratio":1.3,"low":1.1,"high":1.5,"verdict":"worse"}]}`, "the change is 1.3, and that of the medians 0.97")
	f(`{"better":"lower","cells":[{"median":448},{"median":438}],"changes":[{"ratio":1.3,"low":1.1,"high":1.5,"verdict":"worse","method":"pairs"}]}`, "")
	f(`{"better":"lower","cells":[{"median":400},{"median":500}],"changes":[{"ratio":1.25,"low":1.1,"high":1.5,"verdict":"better"}]}`, "a change of 1.25 is called better, and lower is better")
	f(`{"better":"lower","cells":[{"median":400},{"median":500}],"changes":[{"ratio":1.25,"low":1.3,"high":1.5,"verdict":"worse"}]}`, "1.25 does not lie from 1.3 to 1.5")
	f(`{"impact":{"value":10.4,"unit":"share of the time of all Ps","low":10.4,"high":10.4}}`, "10.4 is a share of the time of all Ps")
	f("goroutines waited for 1040 % of the time of all Ps", "1040 % of the time")
	f("CPUs 9.81 of 2 CPUs", "9.81 of 2 CPUs")
	f("it is "+strings.Repeat("7", 310)+" times as much", "7777")
	f(`{"classes":"`+strings.Repeat("7", 310)+`"}`, "")
	f("one\n{\"share\":2}", "")
	f("{\"share\":0.2}\n{\"share\":2}\n", "share is 2")
	f("2 of 4 Ps, 100% of the time, +161% of it", "")
}

func TestEndless(t *testing.T) {
	long := strings.Repeat("7", 30)
	packed := strings.Repeat("a7B/", 60)
	for text, want := range map[string]string{
		"a ratio of " + long:     long,
		long + " times as many":  long,
		"it took 2562047h47m16s": "2562047h",
		"a share of NaN%":        " NaN",
		long:                     "", // a digit for each
		`{"sha256":"17761106557797599713487663ab` + strings.Repeat("0f", 18) + `"}`: "",
		"17761106557797599713487663ab times":                                        "1776",
		"data " + packed + long + packed + " of it":                                 "",
		"a name with 123456789012345678 in it":                                      "",
		"NaNs are no numbers":                                                       "",
	} {
		got := strings.Join(reporttest.CheckOutput([]byte(text)), "; ")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}
