package insight

import "testing"

// TestLeaveAdvice: a buffer with room for one is offered where one send is all that the source shows.
func TestLeaveAdvice(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"once", "out := make(chan int)\n\tgo func() {\n\t\tout <- work() // here\n\t}()", wayOutOnceAdvice},
		{"in a loop", "go func() {\n\t\tfor e := range in {\n\t\t\tout <- e // here\n\t\t}\n\t}()", wayOutLoopAdvice},
		{"in a select of a loop", "go func() {\n\t\tfor {\n\t\t\tselect { // here\n\t\t\tcase out <- next():\n\t\t\tcase <-quit:\n\t\t\t}\n\t\t}\n\t}()", wayOutLoopAdvice},
		{"one of many", "for range n {\n\t\tgo func() {\n\t\t\tout <- work() // here\n\t\t}()\n\t}", wayOutAdvice},
		{"twice", "go func() {\n\t\tout <- 1 // here\n\t\tout <- 2\n\t}()", wayOutAdvice},
		{"not started here", "out <- 1 // here", wayOutAdvice},
		{"it receives", "go func() {\n\t\t<-in // here\n\t}()", wayOutWaitAdvice},
	} {
		text := "package main\n\nfunc f() {\n\t" + c.body + "\n}\n"
		if got := leaveAdvice(sourceOf(text), lineWith(text, "// here")); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	text := "package main\n\nfunc start() { go f() }\n\nfunc f() {\n\tout <- 1 // here\n}\n"
	if got := leaveAdvice(sourceOf(text), lineWith(text, "// here")); got != wayOutOnceAdvice {
		t.Errorf("a function that is started: %s", got)
	}
	if got := leaveAdvice(sourceOf(""), lineWith(text, "// here")); got != wayOutAdvice {
		t.Errorf("without the source: %s", got)
	}
}
