package perfdata

import (
	"encoding/binary"
	"testing"
)

// TestExact: the leaf is where the thread was, and so is the first frame of the program
// below the kernel, which has interrupted it there; the others are where calls return to.
func TestExact(t *testing.T) {
	chain := []uint64{contextKernel, 0xffffffff81000000, 0xffffffff81000100, contextUser, 0x1000, 0x2000}
	body := binary.LittleEndian.AppendUint64(nil, uint64(len(chain)))
	for _, addr := range chain {
		body = binary.LittleEndian.AppendUint64(body, addr)
	}
	// The first function ends where the second one begins.
	first, second := &Mapping{Start: 0x0800, Limit: 0x1000}, &Mapping{Start: 0x1000, Limit: 0x2000}
	w := &world{f: &File{Events: []Event{{SampleType: hasChain}}}, maps: map[int][]*Mapping{0: {first, second}}}
	var s Sample
	if !w.sample(&s, moment{body: body}) || len(s.Stack) != 4 {
		t.Fatalf("the sample is %+v", s)
	}
	for i, want := range []Frame{
		{Addr: 0xffffffff81000000, Kernel: true, Exact: true}, {Addr: 0xffffffff81000100, Kernel: true, Exact: true},
		{Addr: 0x1000, Exact: true, Map: second}, {Addr: 0x2000, Map: second},
	} {
		if s.Stack[i] != want {
			t.Errorf("frame %d is %+v, want %+v", i, s.Stack[i], want)
		}
	}
}
