/** The axis of time as a lane: ticks with labels over the span that is seen. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import { drawAxis, sharp } from "../draw/axis.ts";
import { exactSpan, type Span } from "../base/units.ts";
import { theme } from "../model/theme.ts";

/** useWidth is how wide an element is, in CSS pixels, 0 before it is known. */
export function useWidth(of: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = of.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    setWidth(element.clientWidth);
    return () => watch.disconnect();
  }, []);
  return width;
}

/** axisHeight is how high the axis is. */
export const axisHeight = 24;

/** TimeAxis shows the ticks of a span over the whole width of where it stands. */
export function TimeAxis({ span }: { span: Span }) {
  const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box), colours = theme.value;
  useEffect(() => {
    const target = canvas.current; // the page may have gone on before the frame
    if (!target || width === 0) return;
    const frame = requestAnimationFrame(() => drawAxis(sharp(target, width, axisHeight), span, width, axisHeight));
    return () => cancelAnimationFrame(frame);
  }, [width, span.start, span.end, colours]);
  return (
    <div ref={box} class="timeaxis">
      <canvas ref={canvas} style={{ width: width + "px", height: axisHeight + "px" }} role="img" aria-label={"time axis, " + exactSpan({ start: Math.round(span.start), end: Math.round(span.end) })} />
    </div>
  );
}
