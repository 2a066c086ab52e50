package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strings"

	"loupe/value/stack"
)

// compressKept is what is left to do about compression whose level is the fastest.
const compressKept = "Keep the compressed form of what does not change, and do not compress what is compressed already, or is only a few hundred bytes."

// tellLevel takes the advice about the level back where the encoder runs at the fastest one already: by what it calls, or
// where the samples do not say that, by the calls in the source that make encoders.
func tellLevel(h *hit, f *Finding) {
	fast, slower := compressedAt(h)
	by := "which the functions below it show"
	if fast+slower == 0 {
		made, at := encodersMade(h.in.code)
		if !made {
			return
		}
		by = "by the source"
		f.Evidence = append(f.Evidence, at)
	} else if float64(fast) < nearlyAll*float64(fast+slower) {
		return
	}
	f.Summary += fmt.Sprintf("; the encoder works at its fastest level already, %s", by)
	f.Advice = "The level is the fastest one, so that only fewer bytes make it less. " + compressKept + " Where the format is yours to choose, others cost a fraction (LZ4, Snappy, zstd at its fastest level)."
}

// compressedAt counts the samples of the lines that are in what the fastest levels of package flate run alone, and those
// in what the others run.
func compressedAt(h *hit) (fast, slower int64) {
	lines := map[stack.Frame]bool{}
	for _, l := range h.lines {
		lines[l.Caller] = true
	}
	for id, w := range h.p.Samples(h.index) {
		frames := h.p.Stacks.Frames(id)
		if w <= 0 || !slices.ContainsFunc(frames, func(f stack.FrameID) bool { return lines[h.p.Stacks.Frame(f)] }) {
			continue
		}
		for _, f := range frames {
			switch name, ok := strings.CutPrefix(h.p.Stacks.Frame(f).Func, "compress/flate.(*"); {
			case !ok:
				continue
			case slices.Contains([]string{"compressor).encSpeed", "deflateFast).encode", "compressor).storeHuff"}, name):
				fast += w
			case slices.Contains([]string{"compressor).deflate", "compressor).findMatch", "compressor).fillDeflate", "compressor).writeBlock"}, name):
				slower += w
			default:
				continue
			}
			break
		}
	}
	return fast, slower
}

// encodersMade tells whether all encoders that the source makes are made with the fastest level, and where one is.
func encodersMade(c *code) (fastest bool, at Evidence) {
	others := false
	for _, pkg := range []string{"compress/gzip", "compress/flate", "compress/zlib"} {
		made := func(function string, is func(level string) bool) []Evidence {
			return c.callsIn(path.Base(pkg)+"."+function, func(file *ast.File, call *ast.CallExpr) bool {
				f, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || f.Sel.Name != function && !(function == "NewWriterLevel" && pkg == "compress/flate" && f.Sel.Name == "NewWriter") {
					return false
				}
				x, ok := f.X.(*ast.Ident)
				if !ok || x.Name != importedAs(file, pkg) {
					return false
				}
				level := ""
				if len(call.Args) > 1 {
					level = types.ExprString(call.Args[1])
				}
				return is(level)
			})
		}
		fast := func(level string) bool {
			return level == "1" || level == "-2" || strings.HasSuffix(level, ".BestSpeed") || strings.HasSuffix(level, ".HuffmanOnly")
		}
		if all := made("NewWriterLevel", fast); len(all) > 0 {
			fastest, at = true, all[0]
		}
		slow := func(level string) bool { return !fast(level) }
		others = others || len(made("NewWriterLevel", slow)) > 0 || len(made("NewWriterLevelDict", slow)) > 0 || pkg != "compress/flate" && len(made("NewWriter", slow)) > 0
	}
	return fastest && !others, at
}
