/** What the colours and patterns mean. */
import { classesOf, type LaneKind } from "../../model/lanes.ts";
import { palette } from "../../draw/palette.ts";
import { useEffect, useRef } from "preact/hooks";
import { theme } from "../../model/theme.ts";
import type { Class } from "../../model/lanes.ts";

/** shown are the states of the kinds of lanes that differ. */
const shown: readonly [string, LaneKind][] = [["goroutines", "goroutine"], ["Ps", "proc"], ["collector", "gc"]];

export function Legend() {
  return (
    <details class="tl-legend">
      <summary>What the colours mean</summary>
      {shown.map(([name, kind]) => (
        <div key={kind}>
          <b>{name}</b>
          <ul>{classesOf[kind].filter((c) => c.name).map((c) => <li key={c.name}><Swatch of={c} /> {c.name}</li>)}</ul>
        </div>
      ))}
      <p class="muted">Each column shows how the time of its pixel was spent: running from below, runnable (waiting for a P) from above, blocked at half height. A mark of three pixels at the upper edge is a rare state that would be too short to see otherwise: stop-the-world, mark assist, GC work, a system call of more than 20 µs.</p>
    </details>
  );
}

function Swatch({ of }: { of: Class }) {
  const canvas = useRef<HTMLCanvasElement>(null), colours = theme.value;
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const c = canvas.current?.getContext("2d");
      if (!c) return;
      const image = c.createImageData(24, 12), pixels = new Uint32Array(image.data.buffer), p = palette().pattern(of.colour, of.texture);
      const from = of.share === 1 ? 0 : of.share > 0 ? 6 : of.colour === "sleep" ? 10 : 0;
      for (let y = of.top ? 0 : from; y < 12; y++) for (let x = 0; x < 24; x++) pixels[y * 24 + x] = p[(y & 7) << 3 | x & 7]!;
      c.putImageData(image, 0, 0);
    });
    return () => cancelAnimationFrame(frame);
  }, [colours]);
  return <canvas ref={canvas} width={24} height={12} aria-hidden="true" />;
}
