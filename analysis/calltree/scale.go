package calltree

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// The units of pprof's text output. They are not those of package unit: kB is
// 1024 bytes, there are no minutes, and the form is a contract with those who
// parse it.

type scaleUnit struct {
	name    string
	factor  float64 // in the smallest unit of its family, or 1 for the base of GCU
	aliases []string
}

// family is a set of units that convert into each other.
type family struct {
	units    []scaleUnit
	fallback scaleUnit // for zero, and when another family was asked for
}

var families = []family{
	{[]scaleUnit{
		{"B", 1, []string{"b", "byte"}},
		{"kB", 1 << 10, []string{"kb", "kbyte", "kilobyte"}},
		{"MB", 1 << 20, []string{"mb", "mbyte", "megabyte"}},
		{"GB", 1 << 30, []string{"gb", "gbyte", "gigabyte"}},
		{"TB", 1 << 40, []string{"tb", "tbyte", "terabyte"}},
		{"PB", 1 << 50, []string{"pb", "pbyte", "petabyte"}},
	}, scaleUnit{name: "B", factor: 1}},
	{[]scaleUnit{
		{"ns", 1, []string{"ns", "nanosecond"}},
		{"us", float64(time.Microsecond), []string{"μs", "us", "microsecond"}},
		{"ms", float64(time.Millisecond), []string{"ms", "millisecond"}},
		{"s", float64(time.Second), []string{"s", "sec", "second"}},
		{"hrs", float64(time.Hour), []string{"hour", "hr"}},
	}, scaleUnit{name: "s", factor: float64(time.Second)}},
	{[]scaleUnit{
		{"n*GCU", 1e-9, []string{"nanogcu"}},
		{"u*GCU", 1e-6, []string{"microgcu"}},
		{"m*GCU", 1e-3, []string{"milligcu"}},
		{"GCU", 1, []string{"gcu"}},
		{"k*GCU", 1e3, []string{"kilogcu"}},
		{"M*GCU", 1e6, []string{"megagcu"}},
		{"G*GCU", 1e9, []string{"gigagcu"}},
		{"T*GCU", 1e12, []string{"teragcu"}},
		{"P*GCU", 1e15, []string{"petagcu"}},
	}, scaleUnit{name: "GCU", factor: 1}},
}

func (f *family) find(name string) (scaleUnit, bool) {
	name = strings.ToLower(name)
	if len(name) > 2 {
		name = strings.TrimSuffix(name, "s")
	}
	i := slices.IndexFunc(f.units, func(u scaleUnit) bool { return slices.Contains(u.aliases, name) })
	if i < 0 {
		return scaleUnit{}, false
	}
	return f.units[i], true
}

// Minimum asks for the unit that fits a value best: the largest one of which
// there is at least one. "auto" is the same.
const Minimum = "minimum"

// Scale converts a value into another unit as pprof does and returns the
// unit's name, which is "" for plain counts.
func Scale(v int64, from, to string) (float64, string) {
	if v < 0 && -v > 0 { // the smallest int64 has no positive twin
		x, unit := Scale(-v, from, to)
		return -x, unit
	}
	for i := range families {
		f := &families[i]
		source, ok := f.find(from)
		if !ok {
			continue
		}
		x := float64(v) * source.factor
		if to == Minimum || to == "auto" {
			best := f.fallback
			for i := len(f.units) - 1; i >= 0; i-- {
				if x/f.units[i].factor >= 1 {
					best = f.units[i]
					break
				}
			}
			return x / best.factor, best.name
		}
		target, ok := f.find(to)
		if !ok {
			target = f.fallback
		}
		return x / target.factor, target.name
	}
	switch to {
	case "count", "sample", "unit", Minimum, "auto":
		return float64(v), ""
	}
	return float64(v), to
}

// CompatibleUnits tells whether a value can be converted from one unit into
// the other: they are the same, or of one family, as bytes and kB are.
func CompatibleUnits(a, b string) bool {
	if a == b {
		return true
	}
	for i := range families {
		_, one := families[i].find(a)
		_, other := families[i].find(b)
		if one && other {
			return true
		}
	}
	return false
}

// UnitRatio returns how many of the unit "to" one of the unit "from" is. From
// is the finer unit where it is less than 1.
func UnitRatio(from, to string) float64 {
	ratio, _ := Scale(1, from, to)
	return ratio
}

// ConvertUnit is [UnitRatio] of units that can be converted, see
// [CompatibleUnits]. It is what profile.Commensurate asks for.
func ConvertUnit(from, to string) (ratio float64, ok bool) {
	return UnitRatio(from, to), CompatibleUnits(from, to)
}

// Format prints a value as pprof does, with two decimals, which are left out
// if both are zero. Zero has no unit. A unit of [Minimum] is one that fits.
func Format(v int64, from, to string) string {
	x, unit := Scale(v, from, to)
	s := strings.TrimSuffix(fmt.Sprintf("%.2f", x), ".00")
	if s == "0" || s == "-0" {
		return "0"
	}
	return s + unit
}

// Percent prints a share as pprof does, with at least two digits. The sign is
// dropped.
func Percent(v, total int64) string {
	var share float64
	if total != 0 {
		share = math.Abs(float64(v)/float64(total)) * 100
	}
	switch {
	case share >= 99.95 && share <= 100.05:
		return "  100%"
	case share >= 1:
		return fmt.Sprintf("%5.2f%%", share)
	}
	return fmt.Sprintf("%5.2g%%", share)
}
