package profile_test

import (
	"fmt"
	"os"
	"strings"

	"loupe/format/profile"
)

func ExampleDecode_text() {
	const text = `goroutine profile: total 5
4 @ 0x43a4f1 0x40b6fd 0x5f1b45 0x46c2a1
# labels: {"route":"/users"}
#	0x5f1b44	main.wait+0x64	/home/user/main.go:12

1 @ 0x43a4f1 0x5f1b95 0x43a0c7 0x46c2a1
#	0x5f1b94	main.main+0x34	/home/user/main.go:20
#	0x43a0c6	runtime.main+0x286	/usr/local/go/src/runtime/proc.go:283
`
	p, err := profile.Decode([]byte(text), profile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.SampleTypes[0], p.Labels(p.LabelSets[0]))
	for id, n := range p.Samples(0) {
		f := p.Stacks.Frame(p.Stacks.Frames(id)[0])
		fmt.Println(n, f.Func, f.Line)
	}
	// Output:
	// goroutine/count [{route /users 0  false}]
	// 4 main.wait 12
	// 1 main.main 20
}

func ExampleProfile_WriteFolded() {
	const dump = `goroutine 1 [running]:
main.main()
	/home/user/main.go:20 +0x1d

goroutine 18 [chan receive, 3 minutes]:
main.wait(0xc00001c0a8)
	/home/user/main.go:12 +0x64
created by main.main in goroutine 1
	/home/user/main.go:19 +0x13
`
	p, err := profile.Decode([]byte(dump), profile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range p.Len() {
		for _, l := range p.Labels(p.LabelSets[i]) {
			if l.Numeric {
				fmt.Println(l.Key, l.Num, l.Unit)
			} else {
				fmt.Println(l.Key, l.Str)
			}
		}
	}
	if err := p.WriteFolded(os.Stdout, 0); err != nil {
		fmt.Println(err)
	}
	// Output:
	// state running
	// state chan receive
	// wait 3 minutes
	// main.main 1
	// created by main.main;main.wait 1
}

func ExampleProfile_WriteSpeedscope() {
	p, err := profile.Decode([]byte("main;parse 3\nmain;write 5\n"), profile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file strings.Builder
	if err := p.WriteSpeedscope(&file, 0); err != nil {
		fmt.Println(err)
	}
	_, profiles, _ := strings.Cut(file.String(), `"profiles":`)
	fmt.Print(profiles)
	// Output:
	// [{"type":"sampled","name":"samples","unit":"none","startValue":0,"endValue":8,"samples":[[1,0],[1,2]],"weights":[3,5]}]}
}
