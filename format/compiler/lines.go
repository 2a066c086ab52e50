package compiler

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// longestLine bounds the memory for one line. The longest that the standard
// library gives is the body of an inlinable function, some 10 kB.
const longestLine = 1 << 20

// eachLine hands on the lines of what the compiler prints, without their ends; of one that is too
// long, the beginning, to tooLong. A line is good until the next. The error is only ever that of r.
func eachLine(r io.Reader, each, tooLong func(line []byte)) error {
	br := bufio.NewReaderSize(r, 1<<16)
	var long []byte
	for {
		chunk, err := br.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if len(long) < longestLine {
				long = append(long, chunk...)
			}
			continue
		}
		line := chunk
		if len(long) > 0 {
			line = append(long, chunk...)
			long = nil
		}
		if len(line) > longestLine {
			tooLong(line)
		} else if len(line) > 0 {
			each(bytes.TrimRight(line, "\r\n"))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read compiler output: %w", err)
		}
	}
}
