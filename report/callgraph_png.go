package report

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"loupe/report/internal/layout"
)

const (
	maxPixels = 24e6
	pngScale  = 1.5 // of the SVG's pixels, as long as that fits
)

// faces are the Go typeface in the sizes that were asked for.
type faces struct {
	font  *opentype.Font
	sizes map[float64]font.Face
}

func newFaces() (*faces, error) {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	return &faces{font: f, sizes: map[float64]font.Face{}}, nil
}

func (f *faces) face(size float64) font.Face {
	size = math.Max(1, math.Round(size*4)/4)
	if f.sizes[size] == nil {
		// It fails for no options of this kind.
		f.sizes[size], _ = opentype.NewFace(f.font, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	}
	return f.sizes[size]
}

// width measures a text at one size and scales, so that a scene does not
// depend on rounding.
func (f *faces) width(text string, size float64) float64 {
	const em = 64
	return float64(font.MeasureString(f.face(em), text)) / 64 / em * size
}

// painter draws a scene in pixels.
type painter struct {
	img   *image.RGBA
	scale float64
	faces *faces
	mask  vector.Rasterizer
}

func writeScenePNG(out io.Writer, s *scene, f *faces) error {
	scale := math.Min(pngScale, math.Sqrt(maxPixels/(s.width*s.height)))
	// Very long pictures: no side beyond what viewers open.
	scale = math.Min(scale, 32_000/math.Max(s.width, s.height))
	p := &painter{scale: scale, faces: f}
	p.img = image.NewRGBA(image.Rect(0, 0, max(1, int(s.width*scale)), max(1, int(s.height*scale))))
	draw.Draw(p.img, p.img.Bounds(), image.White, image.Point{}, draw.Src)
	text := color.RGBA{0x1b, 0x22, 0x2c, 0xff}
	p.box(sceneMargin, sceneMargin, s.legendSize.X, s.legendSize.Y, color.RGBA{0xf6, 0xf7, 0xf9, 0xff}, color.RGBA{0x7a, 0x84, 0x94, 0xff})
	p.text(s.legend, legendText, 1.35, sceneMargin+boxPadX, sceneMargin+boxPadY, false, text)
	for i := range s.lines {
		l := &s.lines[i]
		course, head := l.arrow()
		c := opaque(l.share, lineSaturation, lineValue)
		p.curve(course, l.width, l.dashed, c)
		p.polygon(head[:], c)
	}
	for i := range s.lines { // texts lie above all lines
		l := &s.lines[i]
		at := l.route.Label
		p.text(l.text, smallText, lineHeight, at.X, at.Y-float64(len(l.text))*labelLine/2, true, color.RGBA{0x42, 0x4c, 0x5b, 0xff})
	}
	for i := range s.boxes {
		b := &s.boxes[i]
		fill, line := opaque(b.share, areaSaturation, areaValue), opaque(b.share, lineSaturation, lineValue)
		if b.label {
			fill, line = color.RGBA{0xff, 0xff, 0xff, 0xff}, color.RGBA{0x7a, 0x84, 0x94, 0xff}
		}
		p.box(b.X-b.w/2, b.Y-b.h/2, b.w, b.h, fill, line)
		p.text(b.text, b.size, lineHeight, b.X, b.Y-b.h/2+boxPadY, true, text)
	}
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(out, p.img)
}

func opaque(share, saturation, value float64) color.RGBA {
	r, g, b := shade(float64(step(share))/steps, saturation, value)
	return color.RGBA{r, g, b, 0xff}
}

// fill paints what path draws inside of a rectangle of the scene.
func (p *painter) fill(x0, y0, x1, y1 float64, c color.RGBA, path func(at func(layout.Point) (x, y float32))) {
	r := image.Rect(int(x0*p.scale)-2, int(y0*p.scale)-2, int(x1*p.scale)+3, int(y1*p.scale)+3).Intersect(p.img.Bounds())
	if r.Empty() {
		return
	}
	p.mask.Reset(r.Dx(), r.Dy())
	path(func(q layout.Point) (x, y float32) {
		return float32(q.X*p.scale - float64(r.Min.X)), float32(q.Y*p.scale - float64(r.Min.Y))
	})
	p.mask.Draw(p.img, r, image.NewUniform(c), image.Point{})
}

func (p *painter) polygon(points []layout.Point, c color.RGBA) {
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, q := range points {
		x0, y0, x1, y1 = math.Min(x0, q.X), math.Min(y0, q.Y), math.Max(x1, q.X), math.Max(y1, q.Y)
	}
	p.fill(x0, y0, x1, y1, c, func(at func(layout.Point) (x, y float32)) {
		for i, q := range points {
			if x, y := at(q); i == 0 {
				p.mask.MoveTo(x, y)
			} else {
				p.mask.LineTo(x, y)
			}
		}
		p.mask.ClosePath()
	})
}

func (p *painter) box(x, y, w, h float64, fill, line color.RGBA) {
	p.rect(x, y, w, h, line)
	edge := math.Max(1, 1/p.scale)
	p.rect(x+edge, y+edge, w-2*edge, h-2*edge, fill)
}

func (p *painter) rect(x, y, w, h float64, c color.RGBA) {
	p.polygon([]layout.Point{{X: x, Y: y}, {X: x + w, Y: y}, {X: x + w, Y: y + h}, {X: x, Y: y + h}}, c)
}

// curve draws Bézier curves as a ribbon: along one side and back on the other.
func (p *painter) curve(points []layout.Point, width float64, dashed bool, c color.RGBA) {
	var flat []layout.Point
	for i := 0; i+3 < len(points); i += 3 {
		a, b, q, d := points[i], points[i+1], points[i+2], points[i+3]
		n := 1
		if a.X != d.X || b.X != a.X {
			n = 6 + int(math.Min(40, math.Hypot(d.X-a.X, d.Y-a.Y)/8))
		}
		for k := range n {
			t := float64(k) / float64(n)
			u := 1 - t
			flat = append(flat, layout.Point{
				X: u*u*u*a.X + 3*u*u*t*b.X + 3*u*t*t*q.X + t*t*t*d.X,
				Y: u*u*u*a.Y + 3*u*u*t*b.Y + 3*u*t*t*q.Y + t*t*t*d.Y,
			})
		}
	}
	flat = append(flat, points[len(points)-1])
	width = math.Max(width, 0.8/p.scale)
	if !dashed {
		p.ribbon(flat, width, c)
		return
	}
	for _, dash := range dashes(flat, 2+width, 4) {
		for i := 1; i < len(dash); i++ {
			p.stroke(dash[i-1], dash[i], width, c)
		}
	}
}

// dashes cuts a course into pieces with gaps between.
func dashes(flat []layout.Point, on, off float64) (out [][]layout.Point) {
	left, drawing := on, true
	piece := []layout.Point{flat[0]}
	for i := 1; i < len(flat); i++ {
		a, b := flat[i-1], flat[i]
		for {
			d := math.Hypot(b.X-a.X, b.Y-a.Y)
			if d < left {
				left -= d
				piece = append(piece, b)
				break
			}
			a.X, a.Y = a.X+(b.X-a.X)*left/d, a.Y+(b.Y-a.Y)*left/d
			if drawing {
				out = append(out, append(piece, a))
			}
			drawing = !drawing
			piece = []layout.Point{a}
			if left = off; drawing {
				left = on
			}
		}
	}
	if drawing && len(piece) > 1 {
		out = append(out, piece)
	}
	return out
}

// largestMask is how many pixels a line may have around it to be painted as an
// area. A mask covers the rectangle around what is painted, and 30,000 lines
// across a large picture would take minutes.
const largestMask = 60_000

func (p *painter) ribbon(flat []layout.Point, width float64, c color.RGBA) {
	x0, x1, y0, y1 := flat[0].X, flat[0].X, flat[0].Y, flat[0].Y
	for _, q := range flat {
		x0, x1, y0, y1 = math.Min(x0, q.X), math.Max(x1, q.X), math.Min(y0, q.Y), math.Max(y1, q.Y)
	}
	if ((x1-x0)*p.scale+8)*((y1-y0)*p.scale+8) > largestMask {
		for i := 1; i < len(flat); i++ {
			p.stroke(flat[i-1], flat[i], width, c)
		}
		return
	}
	n := len(flat)
	sides := make([]layout.Point, 2*n)
	for i, q := range flat {
		a, b := flat[max(0, i-1)], flat[min(n-1, i+1)]
		dx, dy := b.X-a.X, b.Y-a.Y
		d := math.Hypot(dx, dy)
		if d == 0 {
			dx, dy, d = 0, 1, 1
		}
		dx, dy = dx/d*width/2, dy/d*width/2
		sides[i] = layout.Point{X: q.X - dy, Y: q.Y + dx}
		sides[2*n-1-i] = layout.Point{X: q.X + dy, Y: q.Y - dx}
	}
	p.polygon(sides, c)
}

// stroke paints a straight line pixel by pixel, column by column or row by row.
func (p *painter) stroke(a, b layout.Point, width float64, c color.RGBA) {
	ax, ay, bx, by := a.X*p.scale, a.Y*p.scale, b.X*p.scale, b.Y*p.scale
	steep := math.Abs(by-ay) > math.Abs(bx-ax)
	if steep {
		ax, ay, bx, by = ay, ax, by, bx
	}
	if ax > bx {
		ax, ay, bx, by = bx, by, ax, ay
	}
	if ax == bx {
		return
	}
	slope := (by - ay) / (bx - ax)
	half := width * p.scale / 2 * math.Sqrt(1+slope*slope)
	for x := int(math.Ceil(ax - 0.5)); float64(x)+0.5 < bx; x++ {
		y := ay + slope*(float64(x)+0.5-ax)
		for k := int(math.Floor(y - half)); k <= int(math.Floor(y+half)); k++ {
			cover := math.Min(float64(k)+1, y+half) - math.Max(float64(k), y-half)
			if steep {
				p.blend(k, x, cover, c)
			} else {
				p.blend(x, k, cover, c)
			}
		}
	}
}

func (p *painter) blend(x, y int, cover float64, c color.RGBA) {
	if !(image.Point{x, y}).In(p.img.Rect) {
		return
	}
	at := p.img.Pix[p.img.PixOffset(x, y):]
	for i, v := range [3]uint8{c.R, c.G, c.B} {
		at[i] = uint8(float64(at[i]) + (float64(v)-float64(at[i]))*cover)
	}
}

// text draws lines of text from the top down, as svgLines does.
func (p *painter) text(text []string, size, spacing, x, y float64, centred bool, c color.RGBA) {
	if size*p.scale < 1.5 {
		return // there is nothing to see
	}
	d := font.Drawer{Dst: p.img, Src: image.NewUniform(c), Face: p.faces.face(size * p.scale)}
	for i, t := range text {
		at := x
		if centred {
			at -= p.faces.width(t, size) / 2
		}
		base := y + (float64(i)+0.5)*size*spacing + size*0.36
		d.Dot = fixed.Point26_6{X: fixed.Int26_6(at * p.scale * 64), Y: fixed.Int26_6(base * p.scale * 64)}
		d.DrawString(t)
	}
}
