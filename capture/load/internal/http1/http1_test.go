package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// answer is what a parser says about bytes and the end of the connection
// behind them.
type answer struct {
	Status        int
	Bytes, Length int64
	Close, Done   bool
	Location      string
	Used          int
	Err           error
}

// parse feeds the bytes in parts that end where cut says.
func parse(method string, in []byte, cut func(left int) int) answer {
	var p Parser
	var h Head
	p.Begin(&h, method)
	return feed(&p, in, cut)
}

func feed(p *Parser, in []byte, cut func(left int) int) (a answer) {
	for a.Used < len(in) && !a.Done && a.Err == nil {
		part := in[a.Used : a.Used+cut(len(in)-a.Used)]
		var n int
		n, a.Done, a.Err = p.Feed(part)
		if a.Used += n; n < len(part) && !a.Done && a.Err == nil {
			panic("bytes were left in the middle of an answer")
		}
	}
	if !a.Done && a.Err == nil {
		a.Done, a.Err = p.End()
	}
	if a.Err != nil {
		return answer{Err: a.Err}
	}
	a.Status, a.Bytes, a.Length, a.Close, a.Location = p.Status(), p.Bytes(), p.Length(), p.Close(), string(p.Location())
	return a
}

func whole(n int) int  { return n }
func single(n int) int { return 1 }

func TestAnswers(t *testing.T) {
	f := func(method, in string, want answer) {
		t.Helper()
		in = strings.ReplaceAll(in, "\n", "\r\n")
		want.Done = want.Err == nil
		if want.Done && want.Used == 0 {
			want.Used = len(in)
		}
		for name, cut := range map[string]func(int) int{"whole": whole, "by bytes": single} {
			if got := parse(method, []byte(in), cut); got != want {
				t.Errorf("%q %s:\n got %+v\nwant %+v", in, name, got, want)
			}
		}
	}
	f("GET", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", answer{Status: 200, Bytes: 5, Length: 5})
	f("GET", "HTTP/1.1 200\ncontent-LENGTH:5 \n\nhello", answer{Status: 200, Bytes: 5, Length: 5})
	f("GET", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", answer{Status: 200})
	f("GET", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhello", answer{Status: 200, Bytes: 2, Length: 2, Used: 40})
	f("GET", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nhello\n0\n\n", answer{Status: 200, Bytes: 5, Length: -1})
	f("GET", "HTTP/1.1 200 OK\nTransfer-Encoding: Chunked\n\n5;a=b\nhello\n1f \n0123456789012345678901234567890\n0;x\nTrailer: y\nZ: z\n\n", answer{Status: 200, Bytes: 36, Length: -1})
	f("GET", "HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early Hints\nLink: x\n\nHTTP/1.1 200 OK\nContent-Length: 1\n\nx", answer{Status: 200, Bytes: 1, Length: 1})
	f("GET", "HTTP/1.1 204 No Content\n\n", answer{Status: 204, Length: -1})
	f("GET", "HTTP/1.1 304 Not Modified\nContent-Length: 5\n\n", answer{Status: 304, Length: 5})
	f("HEAD", "HTTP/1.1 200 OK\nContent-Length: 5\n\n", answer{Status: 200, Length: 5})
	f("HEAD", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", answer{Status: 200, Length: -1})
	f("GET", "HTTP/1.1 200 OK\n\nto the end", answer{Status: 200, Bytes: 10, Length: -1, Close: true})
	f("GET", "HTTP/1.0 200 OK\nContent-Length: 2\n\nhi", answer{Status: 200, Bytes: 2, Length: 2, Close: true})
	f("GET", "HTTP/1.0 200 OK\nConnection: Keep-Alive\nContent-Length: 2\n\nhi", answer{Status: 200, Bytes: 2, Length: 2})
	f("GET", "HTTP/1.1 200 OK\nConnection: x, Close\nContent-Length: 2\n\nhi", answer{Status: 200, Bytes: 2, Length: 2, Close: true})
	f("GET", "HTTP/1.1 302 Found\nLocation:  /a b \nContent-Length: 0\n\n", answer{Status: 302, Location: "/a b"})
	f("GET", "HTTP/1.1 101 Switching\n\nanything", answer{Status: 101, Length: -1, Close: true, Used: 26})
	f("GET", "HTTP/1.1 200 OK\nContent-Length:\n 5\n\nhello", answer{Status: 200, Bytes: 5, Length: 5})
	f("GET", "HTTP/1.1 200 OK\nContent-Length: 5\nContent-Length: 5\n\nhello", answer{Status: 200, Bytes: 5, Length: 5})

	f("GET", "", answer{Err: ErrNoAnswer})
	f("GET", "HTTP/1.1 200 OK\nContent-Le", answer{Err: ErrCutOff})
	f("GET", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhell", answer{Err: ErrCutOff})
	f("GET", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nhello\n", answer{Err: ErrCutOff})
	f("GET", "SSH-2.0-OpenSSH_9.6\n\n", answer{Err: ErrStatusLine})
	f("GET", "HTTP/1.1 20 OK\n\n", answer{Err: ErrStatusLine})
	f("GET", "HTTP/1.1 200 OK\nno colon\n\n", answer{Err: ErrHeader})
	f("GET", "HTTP/1.1 200 OK\nContent-Length: -5\n\n", answer{Err: ErrLength})
	f("GET", "HTTP/1.1 200 OK\nContent-Length: 99999999999999999999\n\n", answer{Err: ErrLength})
	f("GET", "HTTP/1.1 200 OK\nContent-Length: 5\nContent-Length: 6\n\nhello", answer{Err: ErrLength})
	f("GET", "HTTP/1.1 200 OK\nTransfer-Encoding: gzip\n\n", answer{Err: ErrEncoding})
	f("GET", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\nx\n", answer{Err: ErrChunk})
	f("GET", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nhelloo\n", answer{Err: ErrChunk})
	f("GET", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n11111111111111111\n", answer{Err: ErrChunk})
	f("GET", "HTTP/1.1 200 OK\nX: "+strings.Repeat("x", MaxHead)+"\n\n", answer{Err: ErrHeadLimit})
}

// TestSameHead: an answer whose header is that of the last one is read from
// what is kept of it, also for another kind of request.
func TestSameHead(t *testing.T) {
	in := []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
	var p Parser
	var h Head
	for i, method := range []string{"GET", "GET", "HEAD", "GET"} {
		p.Begin(&h, method)
		want := int64(5)
		if method == "HEAD" {
			want = 0
		}
		if a := feed(&p, in[:len(in)-5+int(want)], whole); a.Bytes != want || a.Status != 200 {
			t.Errorf("answer %d: %+v", i, a)
		}
	}
	p.Begin(&h, "GET")
	if a := feed(&p, []byte("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), whole); !errors.Is(a.Err, ErrLength) {
		t.Errorf("a bad header gave %+v", a)
	}
	p.Begin(&h, "GET")
	if a := feed(&p, in, whole); a.Bytes != 5 {
		t.Errorf("behind a bad header: %+v", a)
	}
}

// official reads the answer with net/http; ok tells that it is one.
func official(method string, in []byte) (a answer, ok bool) {
	from := bytes.NewReader(in)
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return a, false
		}
		if resp.StatusCode/100 == 1 && resp.StatusCode != 101 {
			continue
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err != nil {
			return a, false
		}
		a = answer{Status: resp.StatusCode, Bytes: n, Close: resp.Close || resp.StatusCode == 101, Done: true}
		a.Used = len(in) - from.Len() - r.Buffered()
		return a, true
	}
}

// FuzzResponse: what net/http takes for an answer, so do we, and see the same
// in it; and however the bytes come in parts, they mean the same.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
		"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5;a=b\nhello\n0\nA: b\n\nrest",
		"HTTP/1.0 200 OK\nConnection: keep-alive\n\nbody",
		"HTTP/1.1 100 Continue\n\nHTTP/1.1 304 Not\nLocation: x\n\n",
		"HTTP/1.1 301 M\nContent-Length:\n 3\nLocation: /x\n\nabc",
		"HTTP/1.1 200 OK\nConnection: close, x\nContent-Length: 3\nContent-Length: 3\n\nabcd",
	} {
		f.Add([]byte(strings.ReplaceAll(s, "\n", "\r\n")), uint64(3), false)
		f.Add([]byte(s), uint64(1), true)
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64, head bool) {
		method := "GET"
		if head {
			method = "HEAD"
		}
		got := parse(method, in, whole)
		state := seed
		parts := parse(method, in, func(left int) int {
			state = state*6364136223846793005 + 1442695040888963407
			return min(left, 1+int(state>>60))
		})
		if parts != got {
			t.Fatalf("whole %+v, in parts %+v", got, parts)
		}
		want, ok := official(method, in)
		if !ok || plainStatus(in) == "" {
			return
		}
		got.Length, got.Location = 0, ""
		if got != want {
			t.Fatalf("%q\n got %+v\nwant %+v", in, got, want)
		}
	})
}

// plainStatus is empty for a status that net/http takes and nobody sends: one
// with a sign, or less than 100.
func plainStatus(in []byte) string {
	for {
		line, rest, _ := bytes.Cut(in, []byte("\n"))
		_, code, _ := bytes.Cut(line, []byte(" "))
		code = bytes.TrimLeft(code, " ")
		if len(code) < 3 || code[0] < '1' || code[0] > '9' {
			return ""
		}
		if code[0] != '1' || string(code[:3]) == "101" {
			return string(code[:3])
		}
		end, _ := headEnd(rest, 0)
		if end < 0 {
			return ""
		}
		in = rest[end:]
	}
}

// TestParserAllocates nothing for an answer, also where headers differ.
func TestParserAllocates(t *testing.T) {
	a := []byte("HTTP/1.1 200 OK\r\nDate: a\r\nContent-Length: 5\r\n\r\nhello")
	b := []byte("HTTP/1.1 200 OK\r\nDate: b\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
	var p Parser
	var h Head
	read := func(in []byte) {
		p.Begin(&h, "GET")
		if _, done, err := p.Feed(in); !done || err != nil {
			t.Fatal(done, err)
		}
	}
	read(b)
	if n := testing.AllocsPerRun(100, func() { read(a); read(a); read(b) }); n != 0 {
		t.Errorf("three answers allocate %v times, want 0", n)
	}
}

func BenchmarkParser(b *testing.B) {
	const head = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/plain; charset=utf-8\r\nDate: Sat, 21 Nov 2026 09:00:0%d GMT\r\nContent-Length: 13\r\n\r\nHello, world!"
	one := []byte(strings.ReplaceAll(head, "%d", "1"))
	other := []byte(strings.ReplaceAll(head, "%d", "2"))
	for _, bench := range []struct {
		name string
		in   [2][]byte
	}{{"same", [2][]byte{one, one}}, {"differs", [2][]byte{one, other}}} {
		b.Run(bench.name, func(b *testing.B) {
			var p Parser
			var h Head
			i := 0
			for b.Loop() {
				p.Begin(&h, "GET")
				p.Feed(bench.in[i&1])
				i++
			}
		})
	}
}
