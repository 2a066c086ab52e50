package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestPowerHints: what does less than math.Pow depends on its numbers; for most there is nothing.
func TestPowerHints(t *testing.T) {
	for call, want := range map[string]string{
		"math.Pow(a-b, 2)":                  "x*x, x being a - b",
		"math.Pow(x, -3)":                   "1/(x*x*x)",
		"math.Pow(x, cube)":                 "x*x*x",
		"math.Pow(x, 0.5)":                  "math.Sqrt for 0.5",
		"math.Pow(x, 1.0/3)":                "math.Cbrt",
		"math.Pow(2, x)":                    "math.Exp2(x)",
		"math.Pow(math.E, x)":               "math.Exp(x)",
		"math.Pow(10, float64(n))":          "math.Pow10",
		"math.Pow(10, x/20)":                "",
		"math.Pow(10, float64(x.n)/20)":     "",
		"math.Pow(x, 1/2.4)":                "",
		"math.Pow(x, 1/3)":                  "",
		"math.Pow(x, gamma)":                "",
		"math.Pow(1+r, -days/365.25)":       "",
		"math.Pow(x, 17)":                   "",
		"math.Pow(a, 2) + math.Pow(b, 0.7)": "x*x",
	} {
		code := sourceOf("package main\n\nconst cube = 3\n\nvar gamma = 2.0\n\nfunc f() float64 {\n\treturn " + call + "\n}\n")
		line := &hitLine{}
		line.Caller = stack.Frame{Func: "main.f", File: "a.go", Line: 8}
		hints, all := powerHints(code, line)
		if got := strings.Join(hints, "; "); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
		if all != (want != "" && !strings.Contains(call, "0.7")) {
			t.Errorf("%s: all %v", call, all)
		}
	}
}
