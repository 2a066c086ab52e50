package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"loupe/internal/cli/command"
	"loupe/store"
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

// archive brings sealed blocks to the bucket: each time that housekeeping is done. A bucket that
// does not answer stops nothing; it is tried again.
func (s *serving) archive(ctx context.Context, to *s3.Bucket, sealed <-chan struct{}) {
	attached, last := false, ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-sealed:
		}
		var err error
		if !attached {
			err = s.engine.Archive(ctx, to)
			attached = err == nil
		}
		n := 0
		if err == nil {
			n, err = s.engine.Upload(ctx)
		}
		if n > 0 {
			s.tell("archive: %s in %s", unit.Plural(n, "more block"), to)
		}
		said := ""
		if err != nil && ctx.Err() == nil {
			said = err.Error()
		}
		if said != last && said != "" {
			s.tell("archive: %s (tried again every minute)", said)
		}
		last = said
	}
}

// restoring is an archive that is copied from. Its end says what of it was damaged.
type restoring struct {
	*block.Archived
	e    *command.Env
	done func()
}

// openArchive opens an archive to copy from, with a folder for its blocks.
func openArchive(e *command.Env, address string) (store.Exporter, io.Closer, error) {
	from, err := bucket("-copy", address)
	if err != nil {
		return nil, nil, err
	}
	temp, remove, err := e.Temp()
	if err != nil {
		return nil, nil, err
	}
	a, err := block.OpenArchive(e.Ctx, from, temp)
	if err != nil {
		remove()
		return nil, nil, err
	}
	n, bytes := a.Blocks()
	fmt.Fprintf(e.Stderr, "%s has %s, %s\n", from, unit.Plural(n, "block"), unit.Bytes(bytes))
	r := &restoring{a, e, remove}
	return r, r, nil
}

// Close ends it.
func (r *restoring) Close() error {
	err := r.Archived.Close()
	r.done()
	if damage := r.Damage(); len(damage) > 0 {
		err = errors.Join(err, fmt.Errorf("a part of the archive was left out, all else is there:\n  %s", strings.Join(damage, "\n  ")))
	}
	return err
}
