package symbol_test

import (
	"fmt"
	"log"
	"os"
	"regexp"

	"loupe/format/symbol"
	"loupe/value/stack"
)

// Example disassembles the first instructions of a function of the running
// program, and says which calls an address belongs to.
func Example() {
	name, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	b, err := symbol.Open(f, symbol.Options{})
	if err != nil {
		log.Fatal(err)
	}
	funcs, err := b.Functions(regexp.MustCompile(`^fmt\.Sprintf$`))
	if err != nil {
		log.Fatal(err)
	}
	for _, fn := range funcs {
		list, err := b.Disassemble(fn.Entry, fn.End, symbol.GoSyntax)
		if err != nil {
			log.Fatal(err)
		}
		frames := b.Frames(list[0].PC)
		fmt.Println(stack.Short(fn.Name), len(list) > 10, frames[0].Line == fn.StartLine)
	}
	// Output:
	// fmt.Sprintf true true
}

func ExampleSources_Candidates() {
	s := symbol.Sources{SourcePath: "/home/me", GOROOT: "/usr/local/go", GOMODCACHE: "/home/me/go/pkg/mod"}
	for _, file := range []string{"net/http/server.go", "github.com/BurntSushi/toml@v1.4.0/decode.go"} {
		list := s.Candidates(file, "")
		fmt.Println(list[len(list)-1])
	}
	// Output:
	// /usr/local/go/src/net/http/server.go
	// /home/me/go/pkg/mod/github.com/!burnt!sushi/toml@v1.4.0/decode.go
}
