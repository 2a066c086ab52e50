//go:build linux && (amd64 || arm64)

package heap

import (
	"fmt"
	"strings"
	"testing"
)

// TestTogether: where no place holds half, the few global variables that do together are named; not those of which one alone
// does, and not a few of many.
func TestTogether(t *testing.T) {
	t.Parallel()
	const all = `package main

import (
	"fmt"
	"runtime"
	"time"
)

type entry struct { data [15]int64; next *int64 }

func fill(m map[*entry]*int64, n int) {
	for i := 0; i < n; i++ { m[&entry{next: new(int64)}] = new(int64) }
}

%s

func main() {
%s
	runtime.GC()
	runtime.GC()
	fmt.Println("ready")
	for { time.Sleep(time.Hour) }
}
`
	for _, c := range []struct{ name, vars, body, want string }{
		{"two maps with the same keys", "var open, done = map[*entry]*int64{}, map[*entry]int{}", "fill(open, 40000)\nfor e := range open { done[e] = 1 }", "main.open main.done"},
		{"two parts of one variable", "var pair struct { left, right map[*entry]*int64 }", "pair.left, pair.right = map[*entry]*int64{}, map[*entry]*int64{}\nfill(pair.left, 20000)\nfill(pair.right, 20000)", "main.pair"},
		{"one map", "var open = map[*entry]*int64{}", "fill(open, 40000)", ""},
		{"one map that a goroutine looks at", "var open = map[*entry]*int64{}", "fill(open, 40000)\ngo func(m map[*entry]*int64) { time.Sleep(time.Hour); fmt.Println(len(m)) }(open)\ntime.Sleep(10*time.Millisecond)", ""},
		{"many maps", "var a, b, c, d, e, f, g, h = map[*entry]*int64{}, map[*entry]*int64{}, map[*entry]*int64{}, map[*entry]*int64{}, map[*entry]*int64{}, map[*entry]*int64{}, map[*entry]*int64{}, map[*entry]*int64{}",
			"for _, m := range []map[*entry]*int64{a, b, c, d, e, f, g, h} { fill(m, 6000) }", ""},
	} {
		mem, bin, bias := stopped(t, buildSource(t, "go", fmt.Sprintf(all, c.vars, c.body)))
		g, err := openUnwound(t, mem, bin, bias).Graph()
		if err != nil {
			t.Fatal(err)
		}
		k, err := Keepers(g, 400<<10)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		if k.Together != nil {
			for _, r := range k.Together.Roots {
				names = append(names, strings.TrimLeft(r.Root.Name, "*"))
			}
			sum := int64(0)
			for _, n := range k.Together.Sizes {
				sum += n
			}
			if sum != k.Together.Bytes || 2*sum < k.Reached || sum > k.Reached {
				t.Errorf("%s: %d bytes by size, %d together, %d in all", c.name, sum, k.Together.Bytes, k.Reached)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %q together, want %q", c.name, got, c.want)
		}
	}
}

// TestPackageOf names the package of a variable.
func TestPackageOf(t *testing.T) {
	for name, want := range map[string]string{"main.open": "main", "*example.org/shop/v2.All": "example.org/shop/v2", "example.org/a.b/c.d.e": "example.org/a.b/c", "os": "os"} {
		if got := PackageOf(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
