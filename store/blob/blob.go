// Package blob has what keeps whole files under names, far away: buckets. Sealed blocks of
// profiles go there as an archive, and what is recorded of incidents.
//
// Package blob/s3 is a bucket of S3, package blob/blobtest one in memory for tests.
package blob

import (
	"context"
	"errors"
	"io"
	"iter"
)

// Errors that callers tell apart. Buckets wrap them.
var (
	ErrNotFound = errors.New("there is no blob of this name")
	// ErrExists is a Put under a name that is taken. What was there is unchanged.
	ErrExists = errors.New("there is a blob of this name already")
)

// Bucket keeps blobs. Names have slashes in them; a blob is there as a whole or not at all,
// and does not change. Its methods may be called at the same time.
type Bucket interface {
	// Put stores a blob. It fails with ErrExists where the name is taken; of two at the same
	// time that use one name both may succeed where the server has no way to prevent it.
	Put(ctx context.Context, name string, r io.ReadSeeker, size int64) error
	// Get opens a blob.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// List goes over the names that begin so, sorted. After an error nothing follows.
	List(ctx context.Context, prefix string) iter.Seq2[string, error]
	// Delete removes a blob. One that is not there is no error.
	Delete(ctx context.Context, name string) error
	// String is what the bucket is called, without anything secret.
	String() string
}
