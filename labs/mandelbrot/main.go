package main

import (
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"log"
	"os"

	"loupe/labs/form"
	"loupe/labs/mandelbrot/fractal"
)

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "seq", "how to spread the work: `one` of "+form.Names(fractal.Modes))
	workers := flag.Int("workers", 1, "`number` of workers, in the modes that have some")
	width := flag.Int("width", 1024, "`pixels` from left to right")
	height := flag.Int("height", 1024, "`pixels` from top to bottom")
	out := flag.String("o", "", "write the picture to `file`; without it the PNG is made and dropped")
	traceFile := flag.String("trace", "", "write an execution trace to `file`")
	flag.Parse()
	err := form.Traced(*traceFile, func() error {
		picture, err := paint(*mode, *workers, *width, *height)
		if err != nil {
			return err
		}
		return save(picture, *out)
	})
	if err != nil {
		log.Fatalln("mandelbrot:", err)
	}
}

// paint makes the picture in one of the modes.
func paint(mode string, workers, width, height int) (image.Image, error) {
	fill, err := form.Choose(fractal.Modes, mode)
	if err != nil {
		return nil, err
	}
	if workers < 1 || width < 1 || height < 1 {
		return nil, fmt.Errorf("-workers %d, -width %d, -height %d: want at least 1 of each", workers, width, height)
	}
	picture := fractal.New(width, height)
	fill(picture, workers)
	return picture, nil
}

// save encodes the picture into a file; without a name it encodes it all the
// same, so that a run takes as long.
func save(picture image.Image, name string) error {
	if name == "" {
		return png.Encode(io.Discard, picture)
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(file, picture), file.Close())
}
