package web

import (
	"net/http"
	"time"
)

// readTime is how long a browser may take to read what it was sent. One that
// reads nothing must not hold an answer in memory for ever.
const readTime = time.Minute

// patient gives each part of an answer its own time to be read, so that a
// stream of events lives as long as its page does, and a question may take as
// long to compute as it takes.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

// withPatience wraps a writer of an answer. The function that it returns is called
// after the answer: what is left of it goes out then.
func withPatience(w http.ResponseWriter) (http.ResponseWriter, func()) {
	p := &patient{ResponseWriter: w, control: http.NewResponseController(w)}
	return p, p.again
}

// again lets the time begin anew. Where there is no connection, as in tests,
// there is nothing to wait for.
func (p *patient) again() { _ = p.control.SetWriteDeadline(time.Now().Add(readTime)) }

// Unwrap lets [http.ResponseController] do the rest.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *patient) WriteHeader(status int) {
	p.begun = true
	p.again()
	p.ResponseWriter.WriteHeader(status)
}

func (p *patient) Write(data []byte) (int, error) {
	p.begun = true
	p.again()
	return p.ResponseWriter.Write(data)
}

// begun says whether a part of an answer is out.
func begun(w http.ResponseWriter) bool {
	p, ok := w.(*patient)
	return ok && p.begun
}
