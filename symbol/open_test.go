package symbol

import (
	"bytes"
	"errors"
	"testing"
)

func TestOpenOther(t *testing.T) {
	for _, in := range []string{"", "#!/bin/sh\n", "\xca\xfe\xba\xbe\x00\x00\x00\x37", "MZ"} {
		_, err := Open(bytes.NewReader([]byte(in)), Options{})
		if err == nil {
			t.Errorf("Open(%q) has no error", in)
		}
		if in != "MZ" && !errors.Is(err, ErrNotBinary) {
			t.Errorf("Open(%q): %v, want ErrNotBinary", in, err)
		}
	}
}
