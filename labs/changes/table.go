package main

// Change is a change of a public module whose effect its changelog, or the change itself, names:
// what loupe bench has to come to.
type Change struct {
	Name   string
	Module string
	// Old and New are versions of the module proxy.
	Old, New string
	// Package is the folder below the module. The benchmark, the same for both versions, is in
	// bench/NAME.txt.
	Package string
	// Says is what the public says of it, and where.
	Says string
	Want []Want
}

// Want is what is expected of one figure of a change.
type Want struct {
	Unit, Verdict string
	// Function is the end of the name of a function whose cost has moved. Line is a part of the text
	// of a line of it that has; "" where no line is known, such as of assembly.
	Function, Line string
}

// changes are all of them.
var changes = []Change{
	{
		Name: "decimal", Module: "github.com/shopspring/decimal", Old: "v1.2.0", New: "v1.3.1",
		Says: "CHANGELOG of 1.3.0: performance optimization of NewFromString (#198); the code: strconv.ParseInt instead of big.Int.SetString, no strings.Split",
		Want: []Want{
			{"cpu-ns/op", "faster", "decimal.NewFromString", "dValue.SetString(intString, 10)"},
			{"B/op", "less", "decimal.NewFromString", `strings.Split(value, ".")`},
		},
	},
	{
		Name: "jwt", Module: "github.com/golang-jwt/jwt/v5", Old: "v5.2.1", New: "v5.2.2",
		Says: "CVE-2025-30204: ParseUnverified splits untrusted tokens with strings.Split, which allocates for every dot",
		Want: []Want{
			{"B/op", "less", "ParseUnverified", "strings.Split(tokenString"},
			{"cpu-ns/op", "faster", "ParseUnverified", "strings.Split(tokenString"},
		},
	},
	{
		Name: "html", Module: "golang.org/x/net", Old: "v0.32.0", New: "v0.33.0", Package: "html",
		Says: "CVE-2024-45338: parsing takes time that is not linear; the code: strings.EqualFold instead of strings.ToLower",
		Want: []Want{
			{"cpu-ns/op", "faster", "html.htmlIntegrationPoint", "strings.ToLower(a.Val)"},
			{"B/op", "less", "html.htmlIntegrationPoint", "strings.ToLower(a.Val)"},
		},
	},
	{
		Name: "huff0", Module: "github.com/klauspost/compress", Old: "v1.15.0", New: "v1.15.1", Package: "huff0",
		Says: "README of v1.15.1: huff0: add x86 assembly of Decode4X (#512); the code: what is handed to assembly moves to the heap",
		Want: []Want{
			{"cpu-ns/op", "faster", "huff0.decompress4x_8b_loop_x86", ""},
			{"B/op", "more", "Decompress4X", "var br [4]bitReaderShifted"},
		},
	},
	{
		Name: "runewidth", Module: "github.com/mattn/go-runewidth", Old: "v0.0.9", New: "v0.0.10",
		Says: "the code: StringWidth goes through uniseg.Graphemes instead of runes",
		Want: []Want{
			{"cpu-ns/op", "slower", "StringWidth", "g.Next()"},
			{"B/op", "more", "StringWidth", "uniseg.NewGraphemes(s)"},
		},
	},
}
