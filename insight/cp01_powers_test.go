package insight

import (
	"strings"
	"testing"
)

// TestPowers: powers of one base whose exponent is counted by a loop are told at the line of the loop, also through functions
// that only hand them on; other exponents, bases that change, and turns that need none of the one before are not.
func TestPowers(t *testing.T) {
	const (
		pow  = "runtime.main main.main:/src/none.go:1 main.f@A math.Pow"
		big  = "runtime.main main.main:/src/none.go:1 main.f@A math/big.(*Int).Exp math/big.nat.expNN"
		wrap = "runtime.main main.main:/src/none.go:1 main.f@A main.(*field).exp@B math/big.(*Int).Exp math/big.nat.expNN"
		exp  = "type field struct{ q *big.Int }\nfunc (f *field) exp(x, y *big.Int) *big.Int {\nreturn new(big.Int).Exp(x, y, f.q) // B\n}\nfunc (f *field) mul(x, y *big.Int) *big.Int { return new(big.Int).Mod(new(big.Int).Mul(x, y), f.q) }\n"
	)
	const told, doubtful, not = "warning", "info", ""
	for _, c := range []struct {
		name, source, frames, want string
	}{
		{"by a loop", "func f(x float64, c []float64) (sum float64) {\nfor i, a := range c {\nsum += a * math.Pow(x, float64(i)) // A\n}\nreturn sum\n}\n", pow, told},
		{"from the other end", "func f(x float64, c []float64) (sum float64) {\nn := len(c)\nfor i := range c {\nsum += c[i] * math.Pow(x, float64(n-1-i)) // A\n}\nreturn sum\n}\n", pow, told},
		{"a variable of the turn", "func f(x float64, n int) (sum float64) {\nfor i := 0; i < n; i++ {\ne := float64(i) / 12\nsum += math.Pow(x, e) // A\n}\nreturn sum\n}\n", pow, told},
		{"rows of powers", "func f(xs []float64, m [][]float64) {\nfor r, x := range xs {\nfor i := range m[r] {\nm[r][i] = math.Pow(x, float64(i)) // A\n}\n}\n}\n", pow, told},
		{"big numbers", "func f(x, m *big.Int, n int) (sum *big.Int) {\nsum = new(big.Int)\nfor i := 1; i < n; i++ {\nsum.Add(sum, new(big.Int).Exp(x, big.NewInt(int64(i)), m)) // A\n}\nreturn sum\n}\n", big, told},
		{"a number that is set in each turn", "func f(x, m *big.Int, n int) (sum *big.Int) {\nsum, e := new(big.Int), new(big.Int)\nfor i := 1; i < n; i++ {\ne.SetInt64(int64(i))\nsum.Add(sum, new(big.Int).Exp(x, e, m)) // A\n}\nreturn sum\n}\n", big, told},
		{"through a method", exp + "func f(fd *field, x *big.Int, c []*big.Int) *big.Int {\nsum := new(big.Int)\nfor i := range c {\nsum.Add(sum, fd.mul(c[i], fd.exp(x, big.NewInt(int64(i))))) // A\n}\nreturn sum\n}\n", wrap, told},
		{"under a condition", "func f(x float64, c []float64) (sum float64) {\nfor i, a := range c {\nif a != 0 {\nsum += a * math.Pow(x, float64(i)) // A\n}\n}\nreturn sum\n}\n", pow, doubtful},
		{"after turns that are left out", "func f(x float64, c []float64) (sum float64) {\nfor i, a := range c {\nif a == 0 {\ncontinue\n}\nsum += a * math.Pow(x, float64(i)) // A\n}\nreturn sum\n}\n", pow, doubtful},

		{"an exponent from data", "func f(x float64, c []float64) (sum float64) {\nfor _, a := range c {\nsum += math.Pow(x, a) // A\n}\nreturn sum\n}\n", pow, not},
		{"an exponent that is looked up", "func f(x float64, c []float64) (sum float64) {\nfor i := range c {\nsum += math.Pow(x, c[i]) // A\n}\nreturn sum\n}\n", pow, not},
		{"a square", "func f(c []float64) (sum float64) {\nfor _, a := range c {\nsum += math.Pow(a, 2) // A\n}\nreturn sum\n}\n", pow, not},
		{"a base that is counted, too", "func f(n int) (sum float64) {\nfor i := range n {\nsum += math.Pow(float64(i), float64(i)) // A\n}\nreturn sum\n}\n", pow, not},
		{"a base that changes", "func f(x float64, n int) (sum float64) {\nfor i := range n {\nsum += math.Pow(x, float64(i)) // A\nx += 0.1\n}\nreturn sum\n}\n", pow, not},
		{"a base that changes in place", "func f(x, m, one *big.Int, n int) (sum *big.Int) {\nsum = new(big.Int)\nfor i := 1; i < n; i++ {\nsum.Add(sum, new(big.Int).Exp(x, big.NewInt(int64(i)), m)) // A\nx.Add(x, one)\n}\nreturn sum\n}\n", big, not},
		{"a base that a function changes", "func step(x *big.Int) { x.Add(x, big.NewInt(1)) }\nfunc f(x, m *big.Int, n int) (sum *big.Int) {\nsum = new(big.Int)\nfor i := 1; i < n; i++ {\nsum.Add(sum, new(big.Int).Exp(x, big.NewInt(int64(i)), m)) // A\nstep(x)\n}\nreturn sum\n}\n", big, not},
		{"a base that is another's, too", "func f(x, m *big.Int, n int) (sum *big.Int) {\nsum = x\nfor i := 1; i < n; i++ {\nsum.Add(sum, new(big.Int).Exp(x, big.NewInt(int64(i)), m)) // A\n}\nreturn sum\n}\n", big, not},
		{"a modulus that changes", exp + "func (f *field) next() { f.q = new(big.Int).Add(f.q, f.q) }\nfunc f(fd *field, x *big.Int, n int) {\nfor i := range n {\nfd.exp(x, big.NewInt(int64(i))) // A\nfd.next()\n}\n}\n", wrap, not},
		{"an exponent that is changed in a turn", "func f(x float64, n int) (sum float64) {\nfor i := 0; i < n; i++ {\nsum += math.Pow(x, float64(i)) // A\nif sum > 9 {\ni *= 2\n}\n}\nreturn sum\n}\n", pow, not},
		{"keys of a map", "func f(x float64, c map[int]float64) (sum float64) {\nfor i, a := range c {\nsum += a * math.Pow(x, float64(i)) // A\n}\nreturn sum\n}\n", pow, not},
		{"a counter modulo something", "func f(x float64, n int) (sum float64) {\nfor i := range n {\nsum += math.Pow(x, float64(i*i%7)) // A\n}\nreturn sum\n}\n", pow, not},
		{"few turns", "func f(x float64) (sum float64) {\nfor i := range 3 {\nsum += math.Pow(x, float64(i)) // A\n}\nreturn sum\n}\n", pow, not},
		{"a goroutine for each", "func f(x float64, out []float64) {\nfor i := range out {\ngo func() {\nout[i] = math.Pow(x, float64(i)) // A\n}()\n}\n}\n", strings.Replace(pow, "main.f@A", "main.f.func1@A", 1), not},
		{"a function that does more", strings.Replace(exp, "return new(big.Int).Exp(x, y, f.q) // B", "var z *big.Int\nfor range 3 {\nz = new(big.Int).Exp(x, y, f.q) // B\n}\nreturn z", 1) + "func f(fd *field, x *big.Int, n int) {\nfor i := range n {\nfd.exp(x, big.NewInt(int64(i))) // A\n}\n}\n", wrap, not},
	} {
		source := "package main\n\nimport (\"math\"; \"math/big\")\n\nvar _ = math.Pi\nvar _ big.Int\n\n" + c.source
		f := hotIn(t, source, c.frames)
		got := not
		if strings.HasPrefix(f.Title, "Each power is computed anew") {
			got = string(f.Severity)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q: %s", c.name, got, c.want, f.Summary)
		}
		if got != not && f.Evidence[0].Line != lineOfMark(source, "A") {
			t.Errorf("%s: line %d", c.name, f.Evidence[0].Line)
		}
	}
}
