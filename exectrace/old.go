package exectrace

import "errors"

type oldReader struct{ r *Reader }

func newOldReader(r *Reader) *oldReader { return &oldReader{r} }
func (o *oldReader) next() bool         { return false }
func (t *Trace) openOld() error         { return errors.New("old") }
