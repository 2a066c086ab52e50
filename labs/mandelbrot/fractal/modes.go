package fractal

import "sync"

// Mode is a way to spread the work of a picture over goroutines. It returns
// when every pixel is painted. Modes that have no workers ignore their number.
type Mode func(p Picture, workers int)

// Modes lists the ways by name.
var Modes = map[string]Mode{
	"seq":      sequential,
	"px":       onePerPixel,
	"row":      onePerRow,
	"workers":  pixelWorkers,
	"buffered": bufferedWorkers,
	"batched":  rowWorkers,
}

// sequential paints everything in the goroutine that called it.
func sequential(p Picture, _ int) {
	for y := range p.Rect.Dy() {
		p.paintRow(y)
	}
}

// onePerPixel starts a goroutine for every pixel. Most of them do less work
// than it takes to start and to schedule them.
func onePerPixel(p Picture, _ int) {
	var wg sync.WaitGroup
	for y := range p.Rect.Dy() {
		for x := range p.Rect.Dx() {
			wg.Go(func() { p.paint(x, y) })
		}
	}
	wg.Wait()
}

// onePerRow starts a goroutine for every row: a thousand times fewer.
func onePerRow(p Picture, _ int) {
	var wg sync.WaitGroup
	for y := range p.Rect.Dy() {
		wg.Go(func() { p.paintRow(y) })
	}
	wg.Wait()
}

// pixelWorkers hands every pixel to a worker over an unbuffered channel: each
// hand-over needs both sides at once, and one of them nearly always sleeps.
func pixelWorkers(p Picture, workers int) { handOver(p, workers, 0) }

// bufferedWorkers is pixelWorkers with room for every pixel in the channel:
// nobody waits for the other side.
func bufferedWorkers(p Picture, workers int) { handOver(p, workers, len(p.Pix)) }

// point is a pixel to paint. It is small because a buffer may hold millions.
type point struct{ x, y int32 }

// handOver sends each pixel through a channel to the workers.
func handOver(p Picture, workers, buffer int) {
	points := make(chan point, buffer)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for at := range points {
				p.paint(int(at.x), int(at.y))
			}
		})
	}
	for y := range p.Rect.Dy() {
		for x := range p.Rect.Dx() {
			points <- point{int32(x), int32(y)}
		}
	}
	close(points)
	wg.Wait()
}

// rowWorkers hands over whole rows. The channel is unbuffered still, but there
// is so much work in a message that the hand-over does not matter.
func rowWorkers(p Picture, workers int) {
	rows := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for y := range rows {
				p.paintRow(y)
			}
		})
	}
	for y := range p.Rect.Dy() {
		rows <- y
	}
	close(rows)
	wg.Wait()
}
