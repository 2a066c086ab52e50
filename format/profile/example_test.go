package profile_test

import (
	"fmt"

	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

func ExampleDecode() {
	data := profiletest.Profile(`
		main.main   main.main    main.main
		main.parse  main.parse   main.write
		main.alloc
		= 30        20           50`, "cpu/nanoseconds")

	p, err := profile.Decode(data, profile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	cpu, err := p.Index("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	for id, value := range p.Samples(cpu) {
		leaf := p.Stacks.Frame(p.Stacks.Frames(id)[0])
		fmt.Println(leaf.Func, value)
	}
	fmt.Println(p.Total(cpu), p.SampleTypes[cpu].Unit)
	// Output:
	// main.alloc 30
	// main.parse 20
	// main.write 50
	// 100 nanoseconds
}
