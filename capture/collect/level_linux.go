package collect

import (
	"fmt"
	"slices"
	"strings"
)

// amd64Levels are what a processor must have for the microarchitecture levels of the x86-64
// psABI from 2 on, by the names that Linux has for it: lzcnt is abm, sse3 is pni.
var amd64Levels = []string{
	"cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3",
	"avx avx2 bmi1 bmi2 f16c fma abm movbe xsave",
	"avx512f avx512bw avx512cd avx512dq avx512vl",
}

// amd64Level is the level of a processor with these flags of /proc/cpuinfo: "v3"; empty
// where there are none.
func amd64Level(flags string) string {
	have := strings.Fields(flags)
	if len(have) == 0 {
		return ""
	}
	level := 1
	for _, need := range amd64Levels {
		for flag := range strings.FieldsSeq(need) {
			if !slices.Contains(have, flag) {
				return fmt.Sprintf("v%d", level)
			}
		}
		level++
	}
	return fmt.Sprintf("v%d", level)
}
