package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestAdviseHandOver: a buffer is no advice where the sender writes again to what is behind an address that it has sent, and none where it waits for
// the answer before it sends again.
func TestAdviseHandOver(t *testing.T) {
	const head = "package main\n\nimport \"io\"\n\ntype row struct {\n\tid int\n\tvals [8]int\n}\n\ntype msg struct{ reply chan int }\n\ntype actor struct {\n\tin chan msg\n\task, answers chan int\n\trows chan []byte\n\tbuf []byte\n}\n\n"
	const work = "func (a *actor) work() {\n\tfor x := range a.ask {\n\t\ta.answers <- x + 1\n\t}\n}\n\n"
	for _, c := range []struct {
		name, source, says string // "" where the plain advice stays
	}{
		{"two rows in turn", "func scan(n int, out chan<- *row) {\n\tvar rows [2]row\n\tfor i := range n {\n\t\tr := &rows[i%2]\n\t\tr.id = i // C\n\t\tout <- r // A\n\t}\n}\n", "writes again to what is behind it at a.go:%C"},
		{"the address itself", "func scan(n int, out chan<- *row) {\n\tvar rows [2]row\n\tfor i := range n {\n\t\trows[i%2].vals[0] = i // C\n\t\tout <- &rows[i%2] // A\n\t}\n}\n", "at a.go:%C"},
		{"one buffer that is read into", "func pump(r io.Reader, out chan<- []byte) {\n\tbuf := make([]byte, 512)\n\tfor {\n\t\tn, _ := r.Read(buf) // C\n\t\tout <- buf[:n] // A\n\t}\n}\n", "at a.go:%C"},
		{"a slice that is emptied", "func batch(in []int, out chan<- []int) {\n\tvar all []int\n\tfor _, x := range in {\n\t\tall = append(all, x)\n\t\tout <- all // A\n\t\tall = all[:0] // C\n\t}\n}\n", "at a.go:%C"},
		{"a field in each call", "func (a *actor) emit(b []byte) {\n\ta.buf = append(a.buf[:0], b...) // C\n\ta.rows <- a.buf // A\n}\n", "at a.go:%C"},
		{"a variable around the loop", "func scan(n int, out chan<- *row) {\n\tvar r row\n\tfor i := range n {\n\t\tr.id = i // C\n\t\tout <- &r // A\n\t}\n}\n", "at a.go:%C"},
		{"a channel in the message", "func (a *actor) call() int {\n\tm := msg{make(chan int)}\n\ta.in <- m // A\n\treturn <-m.reply // C\n}\n", "waits for the answer at a.go:%C before it sends again"},
		{"a channel of the loop in each", "func (a *actor) all(n int) {\n\tback := make(chan int)\n\tfor range n {\n\t\ta.in <- msg{reply: back} // A\n\t\t<-back // C\n\t}\n}\n", "waits for the answer at a.go:%C"},
		{"two channels of a worker", work + "func (a *actor) call(x int) int {\n\ta.ask <- x // A\n\treturn <-a.answers // C\n}\n", "waits for the answer at a.go:%C"},

		{"a new one each time", "func scan(n int, out chan<- *row) {\n\tfor i := range n {\n\t\tr := &row{}\n\t\tr.id = i\n\t\tout <- r // A\n\t}\n}\n", ""},
		{"declared in the loop", "func scan(n int, out chan<- *row) {\n\tfor i := range n {\n\t\tvar r row\n\t\tr.id = i\n\t\tout <- &r // A\n\t}\n}\n", ""},
		{"values", "func scan(n int, out chan<- row) {\n\tvar rows [2]row\n\tfor i := range n {\n\t\trows[i%2].id = i\n\t\tout <- rows[i%2] // A\n\t}\n}\n", ""},
		{"numbers of a field", "func (a *actor) emit(n int) {\n\ta.buf[0]++\n\ta.ask <- n // A\n}\n", ""},
		{"the elements of a list", "func feed(all []*row, out chan<- *row) {\n\tfor _, r := range all {\n\t\tout <- r // A\n\t}\n}\n", ""},
		{"batches that begin anew", "func batch(in []int, out chan<- []int) {\n\tvar all []int\n\tfor _, x := range in {\n\t\tall = append(all, x)\n\t\tif len(all) == 64 {\n\t\t\tout <- all // A\n\t\t\tall = nil\n\t\t}\n\t}\n}\n", ""},
		{"a pipeline", "func stage(in <-chan int, out chan<- int) {\n\tfor {\n\t\tx := <-in\n\t\tout <- x + 1 // A\n\t}\n}\n", ""},
		{"all asked first", "func (a *actor) all(n int) {\n\tback := make(chan int)\n\tfor range n {\n\t\ta.in <- msg{reply: back} // A\n\t}\n\tfor range n {\n\t\t<-back\n\t}\n}\n", ""},
		{"something else is received", "func (a *actor) tick(done chan int) {\n\ta.ask <- 1 // A\n\t<-done\n}\n", ""},
	} {
		text := head + c.source
		before, _, _ := strings.Cut(text, "// A\n")
		at := stack.Frame{Func: "main.f", File: "a.go", Line: 1 + strings.Count(before, "\n")}
		f := Finding{Advice: "plain"}
		is := adviseHandOver(codeOf(text), &f, []stack.Frame{at})
		if want := lineMarks(text, c.says); is != (c.says != "") || is && !strings.Contains(f.Advice, want) {
			t.Errorf("%s: %v, %s, want %s", c.name, is, f.Advice, want)
		}
	}
}
