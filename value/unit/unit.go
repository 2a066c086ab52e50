// Package unit holds the quantities that loupe measures and how they are
// printed and parsed: bytes, durations, counts, rates, shares and changes.
//
// Inside the program a quantity is a tidy base unit (ns, B, a ratio). Outside
// it is scaled with three significant digits, because a fourth digit of a
// measurement is noise. The package does not know tables or colours.
//
// Note: text that a peer defines byte for byte (hey's report, pprof's top) is
// formatted where that contract lives, not here.
package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bytes is an amount of memory or data in bytes.
type Bytes int64

// String prints b scaled by 1024 with three significant digits: "612 B",
// "4.75 MiB".
func (b Bytes) String() string { return BytesOf(float64(b)) }

var byteUnits = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// BytesOf prints an amount of bytes that need not be whole, such as a mean.
func BytesOf(b float64) string {
	i := 0
	for i < len(byteUnits)-1 && math.Abs(b) >= 1023.5 {
		b /= 1024
		i++
	}
	if a := math.Abs(b); i == 0 && (b == math.Trunc(b) || a >= 100 || a < 0.1) {
		return digits(b, 0) + " B"
	}
	return digits(b, 3) + " " + byteUnits[i]
}

// Duration prints d with three significant digits and one unit: "312 µs",
// "1.88 ms", "2.41 s", "3m12s" from a minute on.
func Duration(d time.Duration) string { return Nanoseconds(float64(d)) }

// Nanoseconds prints a time in nanoseconds that need not be whole, such as a
// mean, in the form of [Duration].
func Nanoseconds(ns float64) string {
	switch a := math.Abs(ns); {
	case a == 0:
		return "0"
	case a < 999.5:
		return digits(ns, 3) + " ns"
	case a < 999.5e3:
		return digits(ns/1e3, 3) + " µs"
	case a < 999.5e6:
		return digits(ns/1e6, 3) + " ms"
	case a < 60e9:
		return digits(ns/1e9, 3) + " s"
	default:
		return time.Duration(ns).Round(time.Second).String()
	}
}

// Count prints a whole number with thousands separated by commas: "10,000".
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// About prints a count that was estimated, with two significant digits: "about 290,000".
func About(n int64) string {
	round := int64(1)
	for m := max(n, -n); m >= 100; m /= 10 {
		round *= 10
	}
	return "about " + Count((n+round/2)/round*round)
}

// Plural is a number of things: "1 goroutine", "2,000 goroutines", "3 entries", "2 boxes".
func Plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch stem, y := strings.CutSuffix(noun, "y"); {
	case y && !strings.HasSuffix(stem, "a") && !strings.HasSuffix(stem, "e") && !strings.HasSuffix(stem, "o"):
		noun = stem + "ies"
	case strings.HasSuffix(noun, "x") || strings.HasSuffix(noun, "s") || strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return Count(int64(n)) + " " + noun
}

// Number prints x with three significant digits, or as a whole number with
// separated thousands when it has more than three digits before the point: 9.22e+18 where no
// int64 holds it.
func Number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "n/a"
	}
	if math.Abs(x) >= 1<<63 {
		return strconv.FormatFloat(x, 'e', 2, 64)
	}
	if math.Abs(x) >= 999.5 {
		return Count(int64(math.Round(x)))
	}
	return digits(x, 3)
}

// Percent prints a share, where 1 is the whole: 0.1432 is "14.3%".
func Percent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return "n/a"
	}
	return digits(share*100, 3) + "%"
}

// Change prints the ratio of a new value to an old one as a signed change in
// percent: 1.93 is "+93%", 0.55 is "-45%". A ratio of 3 or more reads better
// as a factor and is printed as "×3.2". What is left of the old value shows: 0.004 is
// "-99.6%", and only nothing is "-100%".
func Change(ratio float64) string {
	switch {
	case math.IsNaN(ratio) || math.IsInf(ratio, 0):
		return "n/a"
	case ratio >= 3:
		return "×" + digits(ratio, 2)
	}
	p := (ratio - 1) * 100
	s := strconv.FormatFloat(p, 'f', 0, 64)
	if math.Abs(p) < 9.95 {
		s = strconv.FormatFloat(p, 'f', 1, 64)
	}
	for digits := 1; s == "-100" && ratio > 0 && digits < 10; digits++ {
		if more := strconv.FormatFloat(p, 'f', digits, 64); strings.TrimRight(more, "0") != "-100." {
			s = more
		}
	}
	switch {
	case s == "-0" || s == "-0.0" || s == "0.0":
		return "0%"
	case p > 0:
		return "+" + s + "%"
	}
	return s + "%"
}

// digits prints x with n significant digits and no exponent; with n = 0 it
// rounds to a whole number. Zeros after the point are kept, for they tell the
// precision.
func digits(x float64, n int) string {
	if n == 0 || x == 0 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	// The digits before the point are counted on the rounded value:
	// 9.996 with three digits is 10.0, not 10.00.
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', n-1, 64), 64)
	if err != nil {
		return strconv.FormatFloat(x, 'g', n, 64)
	}
	before := int(math.Floor(math.Log10(math.Abs(rounded)))) + 1
	return strconv.FormatFloat(rounded, 'f', min(max(n-before, 0), 6), 64)
}

// ParseBytes reads an amount such as "512", "64KiB", "64kB", "1.5 GB" or "2g".
// All prefixes are powers of 1024, as everywhere in Go's tools.
func ParseBytes(s string) (Bytes, error) {
	num, suffix := splitNumber(s)
	x, err := strconv.ParseFloat(num, 64)
	if err != nil {
		return 0, fmt.Errorf("cannot parse size %q: want a number with B, KB, MB, GB or TB", s)
	}
	scale := 1.0
	switch strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(suffix), "b"), "i") {
	case "":
	case "k":
		scale = 1 << 10
	case "m":
		scale = 1 << 20
	case "g":
		scale = 1 << 30
	case "t":
		scale = 1 << 40
	default:
		return 0, fmt.Errorf("cannot parse size %q: unknown unit %q (use B, KB, MB, GB or TB)", s, suffix)
	}
	if x*scale >= math.MaxInt64 || x < 0 {
		return 0, fmt.Errorf("cannot parse size %q: out of range", s)
	}
	return Bytes(x * scale), nil
}

// ParseDuration reads a Go duration ("500ms", "1m30s") or a bare number of
// seconds ("20", "0.5"), the way hey's and pprof's flags are written.
func ParseDuration(s string) (time.Duration, error) {
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		if x < 0 || x > math.MaxInt64/1e9 || math.IsNaN(x) {
			return 0, fmt.Errorf("cannot parse duration %q: out of range", s)
		}
		return time.Duration(x * 1e9), nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("cannot parse duration %q: want a form like 500ms, 10s or 1m30s", s)
	}
	if d < 0 {
		return 0, fmt.Errorf("cannot parse duration %q: it is negative", s)
	}
	return d, nil
}

func splitNumber(s string) (num, suffix string) {
	s = strings.TrimSpace(s)
	i := strings.LastIndexAny(s, "0123456789.") + 1
	return s[:i], strings.TrimSpace(s[i:])
}
