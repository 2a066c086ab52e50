package dump_test

import (
	"fmt"

	"loupe/format/dump"
)

func Example() {
	f := dump.Parse([]byte(`web_1  | goroutine 18 [chan receive, 7 minutes]:
web_1  | main.worker(0xc000020000, {0x1, 0x2?})
web_1  | 	/home/user/main.go:20 +0x2a
web_1  | created by main.main in goroutine 1
web_1  | 	/home/user/main.go:4 +0x3c
web_1  |
web_1  | goroutine 19 [chan receive]:
web_1  | main.worker(0xc000020008, {0x5, 0x2?})
web_1  | 	/home/user/main.go:20 +0x2a
web_1  | created by main.main in goroutine 1
web_1  | 	/home/user/main.go:4 +0x3c
`))
	for _, group := range f.Groups(nil) {
		fmt.Println(group.Count, group.State, "up to", group.MaxWait, "minutes")
		for _, id := range f.Stacks.Frames(group.Stack) {
			frame := f.Stacks.Frame(id)
			fmt.Printf("\t%s %s:%d\n", frame.Func, frame.File, frame.Line)
		}
	}
	calls, _ := f.Calls(0)
	args, _ := dump.ParseArgs(calls[0].Args)
	fmt.Printf("%#x, stale: %v\n", args[1].Fields[1].Value, args[1].Fields[1].Stale)
	// Output:
	// 2 chan receive up to 7 minutes
	// 	main.worker /home/user/main.go:20
	// 	created by main.main /home/user/main.go:4
	// 0x2, stale: true
}
