package insight

import "testing"

// TestMadeForEach: a worker's value that the loop makes which starts it is its own; one that is made before the loop, or gets a
// field from there, is shared.
func TestMadeForEach(t *testing.T) {
	const head = "type head struct {\nconn net.Conn\nin *bufio.Reader\njobs chan job\n}\nfunc (h *head) run() {}\nfunc newHead(k net.Conn) *head { return &head{conn: k} }\nfunc main() {\n"
	for text, want := range map[string]bool{
		"for range 2 {\nk, _ := net.Dial(a, b)\nh := &head{k, bufio.NewReader(k), jobs}\ngo h.run()\n}":                         true,
		"for range 2 {\nfor {\nk, err := net.Dial(a, b)\nif err == nil {\nh := &head{k, nil, jobs}\ngo h.run()\nbreak\n}\n}\n}": true,
		"for range 2 {\nk, _ := net.Dial(a, b)\nh := newHead(k)\nwg.Go(h.run)\n}":                                               true,
		"for range 2 {\nk, _ := net.Dial(a, b)\nh := &head{conn: k}\ngo func() { h.run() }()\n}":                                true,
		"for _, h := range heads {\ngo h.run()\n}":                                                                              true,
		"k, _ := net.Dial(a, b)\nfor range 2 {\nh := &head{conn: k, jobs: jobs}\ngo h.run()\n}":                                 false,
		"k, _ := net.Dial(a, b)\nfor range 2 {\nh := &head{k, bufio.NewReader(k), jobs}\ngo h.run()\n}":                         false,
		"h := &head{}\nfor range 2 {\ngo h.run()\n}":                                                                            false,
		"h := &head{}\ngo h.run()": false,
		"h := &head{}\nh.run()":    false,
	} {
		if got := madeForEach(sourcesOf(head+text+"\n}").code, "head", "run", "conn"); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
