package compiler_test

import (
	"fmt"
	"strings"

	"loupe/format/compiler"
)

func Example() {
	text := `# example.com/shop
./cart.go:12:9: &Item{...} escapes to heap in NewItem:
./cart.go:12:9:   flow: ~r0 ← &{storage for &Item{...}}:
./cart.go:12:9:     from &Item{...} (spill) at ./cart.go:12:9
./cart.go:12:9:     from return &Item{...} (return) at ./cart.go:12:2
./cart.go:12:9: &Item{...} escapes to heap
`
	out, err := compiler.ParseText(strings.NewReader(text), compiler.Options{Dir: "/src/shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range out.Diagnostics {
		fmt.Println(d.Pos, d.Kind, d.Text, "in", d.Function)
		for _, f := range d.Flow {
			for _, s := range f.Steps {
				fmt.Println(" ", s.Why, s.Expr)
			}
		}
	}
	// Output:
	// /src/shop/cart.go:12:9 escape &Item{...} in NewItem
	//   spill &Item{...}
	//   return return &Item{...}
}
