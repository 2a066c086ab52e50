package collect

import "testing"

func TestAMD64Level(t *testing.T) {
	const v2 = "fpu sse sse2 pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm "
	const v3 = v2 + "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave "
	f := func(flags, want string) {
		t.Helper()
		if got := amd64Level(flags); got != want {
			t.Errorf("amd64Level(%q) = %q, want %q", flags, got, want)
		}
	}
	f("", "")
	f("fpu sse sse2", "v1")
	f(v2, "v2")
	f(v3, "v3")
	f(v2+"avx avx2 bmi1 bmi2 f16c fma movbe xsave", "v2") // no lzcnt
	f(v3+"avx512f avx512bw avx512cd avx512dq avx512vl", "v4")
}
