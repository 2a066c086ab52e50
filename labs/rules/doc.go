// Rules is one program for each rule of loupe that no other lab and no bug of the corpus
// shows: in its form slow the rule must find something, in its form fixed it must not.
//
//	go run ./labs/rules -rule AL05 -form slow
//	loupe run -phases allocs loupe/labs/rules -rule AL05 -form slow
//	loupe run -phases allocs loupe/labs/rules -rule AL05 -form fixed
//
// The program of rule AL05 is the function al05, in a file by what it is about: allocate.go, builds.go,
// compute.go, memory.go, schedule.go, serve.go; docs/rules/AL05.md has the command that
// records it. labs.RuleLabs lists them with what is recorded, and the test that does so for
// all is
//
//	LOUPE_LONG=1 go test ./labs -run TestRuleLabs
//	LOUPE_LONG=1 go test ./labs -run TestRuleLabs/AL05
//
// A new one is a function of that name, a line in programs.go, and an entry in
// labs.RuleLabs. Effects are larger than thresholds by far, as the machine that records them
// may be busy: what computes goes on until it has used a second of CPU time. Of rules that
// judge the machine as well, and of benchmarks, recordings are kept in testdata.
package main
