package stores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"loupe/internal/cli/command"
	"loupe/store"
	"loupe/store/blob"
	"loupe/store/blob/s3"
	"loupe/store/block"
	"loupe/value/unit"
)

// bucket opens what -archive or -copy names.
func bucket(flag, address string) (*s3.Bucket, error) {
	b, err := s3.Open(address)
	if err != nil {
		return nil, command.Usagef("%s: %w", flag, err)
	}
	return b, nil
}

// Incidents opens the bucket for the recordings of incidents: the one that -incidents names, or a part of that of
// -archive.
func Incidents(incidents, archive string) (blob.Bucket, error) {
	if incidents != "" {
		return bucket("-incidents", incidents)
	}
	at, query, asks := strings.Cut(archive, "?")
	at = strings.TrimRight(at, "/") + "/incidents"
	if asks {
		at += "?" + query
	}
	return bucket("-archive", at)
}

// IsBucket tells whether a name is the address of a bucket.
func IsBucket(name string) bool { return strings.HasPrefix(name, s3.Scheme) }

// Archiving brings sealed blocks of an engine to a bucket.
type Archiving struct{ to *s3.Bucket }

// OpenArchiving makes one of what -archive says.
func OpenArchiving(address string) (*Archiving, error) {
	b, err := bucket("-archive", address)
	return &Archiving{b}, err
}

// archiver is an engine whose blocks can be uploaded.
type archiver interface {
	Archive(ctx context.Context, to blob.Bucket) error
	Upload(ctx context.Context) (n int, err error)
}

var _ archiver = (*block.Engine)(nil)

// Run brings blocks to the bucket each time that housekeeping is done, until ctx ends. A bucket
// that does not answer stops nothing; it is tried again.
func (a *Archiving) Run(ctx context.Context, of store.Engine, sealed <-chan struct{}, tell func(string, ...any)) {
	engine, ok := of.(archiver)
	if !ok {
		tell("archive: this store has no sealed blocks to upload; only a folder has")
		return
	}
	attached, last := false, ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-sealed:
		}
		var err error
		if !attached {
			err = engine.Archive(ctx, a.to)
			attached = err == nil
		}
		n := 0
		if err == nil {
			n, err = engine.Upload(ctx)
		}
		if n > 0 {
			tell("archive: uploaded %s to %s", unit.Plural(n, "block"), a.to)
		}
		said := ""
		if err != nil && ctx.Err() == nil {
			said = err.Error()
		}
		if said != last && said != "" {
			tell("archive: %s (retried every minute)", said)
		}
		last = said
	}
}

// restoring is an archive that is copied from. Its end says what of it was damaged.
type restoring struct{ *block.Archived }

// openArchive opens an archive to copy from, with a folder for its blocks.
func openArchive(e *command.Env, address, temp string) (store.Exporter, io.Closer, error) {
	from, err := bucket("-copy", address)
	if err != nil {
		return nil, nil, err
	}
	a, err := block.OpenArchive(e.Ctx, from, temp)
	if err != nil {
		return nil, nil, err
	}
	n, bytes := a.Blocks()
	fmt.Fprintf(e.Stderr, "%s has %s, %s\n", from, unit.Plural(n, "block"), unit.Bytes(bytes))
	r := restoring{a}
	return r, r, nil
}

// Close ends it.
func (r restoring) Close() error {
	err := r.Archived.Close()
	if damage := r.Damage(); len(damage) > 0 {
		err = errors.Join(err, fmt.Errorf("parts of the archive cannot be read and were skipped; everything else was copied:\n  %s", strings.Join(damage, "\n  ")))
	}
	return err
}
