package report

import "loupe/report/internal/layout"

// Drawing is a call graph in place: boxes and lines with their coordinates, for
// a page that draws them itself. Nothing in it is markup.
type Drawing struct {
	Width  float64       `json:"width"`
	Height float64       `json:"height"`
	Legend []string      `json:"legend"`
	Boxes  []DrawingBox  `json:"boxes"`
	Lines  []DrawingLine `json:"lines"`
}

// DrawingBox is a function, or a label of one.
type DrawingBox struct {
	// X and Y are the centre.
	X    float64  `json:"x"`
	Y    float64  `json:"y"`
	W    float64  `json:"w"`
	H    float64  `json:"h"`
	Text []string `json:"text"`
	Size float64  `json:"size"` // of the letters
	// Share is what of the whole it is with all that it calls, from -1 to 1.
	Share float64 `json:"share"`
	Tip   string  `json:"tip"`
	// Function is the name; "" for a label.
	Function string `json:"function"`
}

// DrawingLine is the calls from one box to another.
type DrawingLine struct {
	From   int      `json:"from"`
	To     int      `json:"to"`
	Text   []string `json:"text"`
	Share  float64  `json:"share"`
	Width  float64  `json:"width"`
	Dashed bool     `json:"dashed"`
	Tip    string   `json:"tip"`
	// Points are x and y in turn: the start, and for each cubic curve two
	// control points and the end. Head is the triangle of the arrow, Label the
	// centre of the text.
	Points []float64 `json:"points"`
	Head   []float64 `json:"head"`
	Label  []float64 `json:"label"`
}

// DrawCallGraph lays a call graph out as [CallGraphSVG] does.
func DrawCallGraph(g *CallGraph) *Drawing {
	s := newScene(g, sansWidth)
	// The legend stands beside the picture on a page.
	above := s.legendSize.Y + sceneMargin
	d := &Drawing{Width: s.width, Height: s.height - above, Legend: s.legend, Boxes: make([]DrawingBox, len(s.boxes)), Lines: make([]DrawingLine, len(s.lines))}
	for i := range s.boxes {
		b := &s.boxes[i]
		d.Boxes[i] = DrawingBox{X: b.X, Y: b.Y - above, W: b.w, H: b.h, Text: b.text, Size: b.size, Share: b.share, Tip: b.tip}
		if !b.label && i < len(g.Graph.Nodes) {
			d.Boxes[i].Function = g.Graph.Nodes[i].Func
		}
	}
	flat := func(points ...layout.Point) []float64 {
		out := make([]float64, 0, 2*len(points))
		for _, p := range points {
			out = append(out, p.X, p.Y-above)
		}
		return out
	}
	for i := range s.lines {
		l := &s.lines[i]
		points, head := l.arrow()
		d.Lines[i] = DrawingLine{
			From: l.from, To: l.to, Text: l.text, Share: l.share, Width: l.width, Dashed: l.dashed, Tip: l.tip,
			Points: flat(points...), Head: flat(head[:]...), Label: flat(l.route.Label),
		}
	}
	return d
}
