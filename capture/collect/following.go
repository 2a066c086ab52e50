package collect

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"
)

// following are the samples of the runtime's metrics, while they are taken.
type following struct {
	*background
	src source

	mu sync.Mutex
	to io.Writer
}

// keep keeps a line. Of an error the entry knows.
func (f *following) keep(line []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to.Write(append(line, '\n'))
}

// boundaryWait is for how long a program that hangs is asked at a boundary, and for how long it is
// waited for then.
const boundaryWait = time.Second

// boundary takes a sample where the work of a phase begins and where it ends: those at an
// interval tell nothing of a phase that is shorter. Only the agent has one at once; the page of
// a service takes longer, and costs it more.
func (f *following) boundary(ctx context.Context) {
	if f == nil {
		return
	}
	a, ok := f.src.(agentSource)
	if !ok {
		return
	}
	// The end of a phase that was interrupted counts, too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), boundaryWait)
	defer cancel()
	a.grace = boundaryWait
	var sample bytes.Buffer
	if err := a.ask(ctx, "boundary", &sample); err != nil {
		return // the program has ended: that is told elsewhere
	}
	if line, whole := bytes.CutSuffix(sample.Bytes(), []byte("\n")); whole {
		f.keep(line)
	}
}
