package command

import (
	"strconv"
	"strings"
)

// ParsePercent reads the percentage of a flag, such as "5%", as a share of 1. An error is one
// of usage.
func ParsePercent(flag, text string) (share float64, err error) {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(percent >= 0) {
		return 0, Usagef("-%s: want a percentage such as 5%%, not %q", flag, text)
	}
	return percent / 100, nil
}
