// Command prog is a program to read symbols out of: it uses much of the
// standard library.
package main

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"net/http"
	"os"
)

func main() {
	fset := token.NewFileSet()
	_, err := parser.ParseFile(fset, "x.go", "package x", 0)
	_ = json.NewEncoder(os.Stdout).Encode(err)
	fmt.Println(http.ListenAndServe("", nil))
}
