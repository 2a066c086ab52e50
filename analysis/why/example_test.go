package why_test

import (
	"fmt"
	"strings"

	"loupe/analysis/why"
	"loupe/format/compiler"
)

func ExampleFlowWords() {
	out, err := compiler.ParseText(strings.NewReader(`./main.go:9:14: n escapes to heap in report:
./main.go:9:14:   flow: {storage for ... argument} ← &{storage for n}:
./main.go:9:14:     from n (spill) at ./main.go:9:14
./main.go:9:14:     from ... argument (slice-literal-element) at ./main.go:9:13
./main.go:9:14:   flow: {heap} ← {storage for ... argument}:
./main.go:9:14:     from ... argument (spill) at ./main.go:9:13
./main.go:9:14:     from fmt.Println(... argument...) (call parameter) at ./main.go:9:13
./main.go:9:14: n escapes to heap
`), compiler.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range out.Diagnostics {
		fmt.Println(why.FlowWords(&out.Diagnostics[i]))
	}
	// Output: put into the slice of the variadic arguments, passed to fmt.Println
}

func ExampleMechanismsOf() {
	fmt.Println(why.MechanismsOf("runtime.growslice"))
	fmt.Println(why.MechanismsOf("runtime.convTstring"))
	// Output:
	// append
	// interface
}
