package unit

import (
	"math"
	"testing"
	"time"
)

func TestPrint(t *testing.T) {
	f := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(Bytes(0).String(), "0 B")
	f(Bytes(1023).String(), "1023 B")
	f(Bytes(1024).String(), "1.00 KiB")
	f(Bytes(1<<20-1).String(), "1.00 MiB")
	f(Bytes(4980736).String(), "4.75 MiB")
	f(Bytes(-3<<30).String(), "-3.00 GiB")
	f(Bytes(math.MaxInt64).String(), "8.00 EiB")
	f(Duration(0), "0")
	f(Duration(7), "7.00 ns")
	f(Duration(999*time.Nanosecond), "999 ns")
	f(Duration(999999*time.Nanosecond), "1.00 ms")
	f(Duration(312400*time.Nanosecond), "312 µs")
	f(Duration(59990*time.Millisecond), "60.0 s")
	f(Duration(192*time.Second), "3m12s")
	f(Nanoseconds(0.25), "0.250 ns")
	f(Count(0), "0")
	f(Count(999), "999")
	f(Count(10000), "10,000")
	f(Count(-1234567), "-1,234,567")
	f(Count(math.MinInt64), "-9,223,372,036,854,775,808")
	f(Number(3.981), "3.98")
	f(Number(9.996), "10.0")
	f(Number(1881.6), "1,882")
	f(Number(1<<63), "9.22e+18")
	f(Number(-2e19), "-2.00e+19")
	f(Number(math.NaN()), "n/a")
	f(Percent(0.1432), "14.3%")
	f(Percent(0.00012), "0.0120%")
	f(Percent(1), "100%")
	f(Change(1.93), "+93%")
	f(Change(0.55), "-45%")
	f(Change(0.9), "-10%")
	f(Change(0.0046), "-99.5%")
	f(Change(0.0003), "-99.97%")
	f(Change(0), "-100%")
	f(Change(1e-15), "-100%")
	f(Change(1.021), "+2.1%")
	f(Change(1.0001), "0%")
	f(Change(0.9999), "0%")
	f(Change(1), "0%")
	f(Change(3.24), "×3.2")
	f(Change(math.Inf(1)), "n/a")
}

func TestParseBytes(t *testing.T) {
	f := func(in string, want Bytes) {
		t.Helper()
		if got, err := ParseBytes(in); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	f("512", 512)
	f("64KiB", 64<<10)
	f("64kB", 64<<10)
	f("1.5 GB", 3<<29)
	f("2g", 2<<30)
	for _, bad := range []string{"", "x", "5X", "-1", "1e10G", "9999999999T", "NaN"} {
		if got, err := ParseBytes(bad); err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", bad, got)
		}
	}
}

func TestParseDuration(t *testing.T) {
	f := func(in string, want time.Duration) {
		t.Helper()
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	f("20", 20*time.Second)
	f("0.5", 500*time.Millisecond)
	f("1m30s", 90*time.Second)
	for _, bad := range []string{"", "x", "-1", "-5s", "NaN", "1e300"} {
		if got, err := ParseDuration(bad); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", bad, got)
		}
	}
}

func TestPlural(t *testing.T) {
	f := func(n int64, noun, want string) {
		t.Helper()
		if got := Plural(n, noun); got != want {
			t.Errorf("Plural(%d, %q) = %q, want %q", n, noun, got, want)
		}
	}
	f(1, "goroutine", "1 goroutine")
	f(0, "entry", "0 entries")
	f(2000, "more goroutine", "2,000 more goroutines")
	f(2, "box", "2 boxes")
	f(3, "day", "3 days")
	f(2, "P", "2 Ps")
}

// TestAbout: estimates have two digits.
func TestAbout(t *testing.T) {
	for n, want := range map[int64]string{0: "about 0", 7: "about 7", 42: "about 42", 128: "about 130", 995: "about 1,000", 288_873: "about 290,000", 999_999: "about 1,000,000"} {
		if got := About(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
