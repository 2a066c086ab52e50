package plan_test

import (
	"fmt"

	"loupe/capture/load/plan"
)

func ExampleStages() {
	stages, err := plan.ParseStages("2s:2,1s:2")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := plan.Stages(stages, plan.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p)
	turns := p.Part(0, 1)
	for t, ok := turns.Next(); ok; t, ok = turns.Next() {
		fmt.Println(t.Due)
	}
	// Output:
	// 0 to 2.00/s in 2 stages, 3s
	// 0s
	// 1.414213562s
	// 2s
	// 2.5s
}
