package insight

import (
	"go/parser"
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
	const (
		own     = "runtime.main main.main:/src/none.go:1 main.f@A main.power@B"
		squared = "const mod = 1_000_000_007\nfunc power(b, e uint64) uint64 {\nr := uint64(1)\nfor b %= mod; e > 0; e >>= 1 {\nif e&1 == 1 {\nr = r * b % mod // B\n}\nb = b * b % mod\n}\nreturn r\n}\n"
		halved  = "func power(b float64, e int) float64 {\nr := 1.0\nfor e > 0 {\nif e%2 == 1 {\nr *= b // B\n}\nb *= b\ne /= 2\n}\nreturn r\n}\n"
		hashes  = "func f(s []byte) (h uint64) {\nfor i, c := range s {\nh = (h + uint64(c)*power(31, uint64(i))) % mod // A\n}\nreturn h\n}\n"
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
		{"by squaring", squared + hashes, own, told},
		{"by squaring, of floats", halved + "func f(x float64, c []float64) (sum float64) {\nfor i, a := range c {\nsum += a * power(x, i) // A\n}\nreturn sum\n}\n", own, told},

		{"by squaring, of what a turn has", squared + strings.Replace(hashes, "power(31,", "power(uint64(c),", 1), own, not},
		{"by squaring, an exponent from data", squared + strings.Replace(hashes, "uint64(i)", "uint64(c)", 1), own, not},
		{"it sums up, too", strings.Replace(squared, "b = b * b % mod", "b = b * b % mod\nr += e", 1) + hashes, own, not},
		{"it begins with another number", strings.Replace(squared, "uint64(1)", "uint64(3)", 1) + hashes, own, not},
		{"it adds instead", strings.Replace(squared, "r * b % mod", "(r + b) % mod", 1) + hashes, own, not},
		{"a base that is doubled", strings.Replace(squared, "b * b % mod", "b * 2 % mod", 1) + hashes, own, not},
		{"a modulus that a turn changes", strings.Replace(squared, "const mod =", "var mod uint64 =", 1) + strings.Replace(hashes, "// A", "// A\nmod++", 1), own, not},
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

// TestFactorText: an operand of a product that is no single term stands in parentheses.
func TestFactorText(t *testing.T) {
	for text, want := range map[string]string{
		"x": "x", "1.03": "1.03", "p.rate": "p.rate", "r[i]": "r[i]", "float64(n)": "float64(n)", "(x)": "x", "m.at(i + 1)": "m.at(i + 1)",
		"1+p.rate": "(1 + p.rate)", "(1 + p.rate)": "(1 + p.rate)", "a*b": "(a * b)", "-x": "(-x)", "*x": "(*x)", "1/(1+r)": "(1 / (1 + r))", "x<<1": "(x << 1)",
	} {
		x, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := factorText(x); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestPowersFormula: what is to be written instead is a formula that can be taken as it stands, with a doubt where it rounds.
func TestPowersFormula(t *testing.T) {
	const pow = "runtime.main main.main:/src/none.go:1 main.f@A math.Pow"
	f := hotIn(t, "package main\n\nimport \"math\"\n\ntype plan struct{ rate float64 }\n\nfunc f(p plan, c []float64) (sum float64) {\nfor i, a := range c {\nsum += a * math.Pow(1+p.rate, float64(i)) // A\n}\nreturn sum\n}\n", pow)
	if !strings.Contains(f.Advice, "(power = power·(1 + p.rate))") || !strings.Contains(f.Advice, "sum = sum·(1 + p.rate) + c[i]") || !strings.Contains(strings.Join(f.Doubts, "; "), "last digits") {
		t.Errorf("%s %q", f.Advice, f.Doubts)
	}
}
