package fleet

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"loupe/format/connect"
)

// How much may be under way at once.
const (
	maxBody    = 64 << 20  // bytes of one body as it comes
	maxUnread  = 256 << 20 // bytes of all bodies that are read or being written
	maxDecoded = 2         // bodies that are unpacked at the same time
)

// patience is how long a request waits for room. Clients that are told to come back later
// keep what they have.
const patience = 5 * time.Second

// room bounds the memory that requests take, however many come at once.
type room struct {
	bodies   *semaphore.Weighted
	decoding chan struct{}
}

func newRoom() *room {
	return &room{semaphore.NewWeighted(maxUnread), make(chan struct{}, maxDecoded)}
}

// read reads a body. The caller calls done when the body and what was made of it are no
// longer needed, with an error too.
func (o *room) read(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	size := r.ContentLength
	if size > maxBody {
		return nil, func() {}, connect.TooLarge(maxBody)
	}
	if size < 0 {
		size = maxBody // it does not say
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if err := o.bodies.Acquire(ctx, size); err != nil {
		return nil, func() {}, connect.Errorf(connect.Unavailable, "more is being sent than there is room for: come back later")
	}
	done = func() { o.bodies.Release(size) }
	var b bytes.Buffer
	b.Grow(int(min(max(r.ContentLength, 0), 1<<20)) + bytes.MinRead) // what is said may be a lie
	_, err = b.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		err = connect.TooLarge(maxBody)
	} else if err != nil {
		err = connect.Errorf(connect.InvalidArgument, "the body does not come to its end: %v", err)
	}
	return b.Bytes(), done, err
}

// decode runs what may take many times the memory of the body.
func (o *room) decode(f func()) {
	o.decoding <- struct{}{}
	defer func() { <-o.decoding }()
	f()
}
