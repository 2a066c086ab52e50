/** The call graph, laid out by the server and drawn here: boxes that can be walked through, chosen and scaled. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { GraphShown, ReportDrawingBox } from "../../api/types.ts";
import { say } from "../../base/dom.ts";
import { colourOf } from "./lists.tsx";

export interface GraphProps {
  readonly of: GraphShown;
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
}

/** curve is the path of a line: points are x and y in turn, the first the start and then three for each curve. */
function curve(p: readonly number[]): string {
  let d = `M${p[0]} ${p[1]}`;
  for (let i = 2; i + 5 < p.length; i += 6) d += `C${p.slice(i, i + 6).join(" ")}`;
  return d;
}

export function Graph({ of, chosen, onChoose }: GraphProps) {
  const d = of.drawing!, boxes = d.boxes ?? [], lines = d.lines ?? [];
  const box = useRef<HTMLDivElement>(null);
  const [scale, setScale] = useState(1);
  const [at, setAt] = useState(0);
  useEffect(() => {
    const room = box.current!.clientWidth / d.width;
    setScale(Math.max(0.7, Math.min(1, room)));
    // The heaviest function begins in the middle; the first box has the most of its own.
    let most = 0;
    boxes.forEach((b, i) => { if (b.function && Math.abs(b.share) > Math.abs(boxes[most]!.share)) most = i; });
    setAt(most);
    requestAnimationFrame(() => show(most, false));
  }, [of]);
  // What is chosen elsewhere is brought into sight.
  useEffect(() => {
    const i = boxes.findIndex((b) => b.function === chosen && chosen !== "");
    if (i >= 0) show(i, false);
  }, [chosen, scale]);
  const show = (i: number, focus = true): void => {
    const b = boxes[i], room = box.current;
    if (!b || !room) return;
    room.scrollTo({ left: b.x * scale - room.clientWidth / 2, top: b.y * scale - room.clientHeight / 2 });
    if (focus) {
      setAt(i);
      (room.querySelector(`[data-box="${i}"]`) as SVGElement | null)?.focus({ preventScroll: true });
      say(b.tip.replaceAll("\n", ", "));
    }
  };
  const near = (key: string): number => {
    const me = boxes[at]!;
    const linked = (from: boolean): number[] => lines.filter((l) => (from ? l.from : l.to) === at && l.from !== l.to)
      .sort((a, b) => Math.abs(b.share) - Math.abs(a.share)).map((l) => (from ? l.to : l.from));
    if (key === "ArrowDown") return linked(true)[0] ?? at;
    if (key === "ArrowUp") return linked(false)[0] ?? at;
    let best = at, distance = Infinity;
    boxes.forEach((b, i) => {
      const dx = b.x - me.x, dy = Math.abs(b.y - me.y);
      if (i !== at && (key === "ArrowRight" ? dx > 0 : dx < 0) && Math.abs(dx) + dy * 4 < distance) {
        best = i;
        distance = Math.abs(dx) + dy * 4;
      }
    });
    return best;
  };
  const keys = (e: KeyboardEvent): void => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key.startsWith("Arrow")) show(near(e.key));
    else if (e.key === "Enter" || e.key === " ") boxes[at]?.function && onChoose(boxes[at]!.function);
    else if (e.key === "+" || e.key === "=") setScale(Math.min(3, scale * 1.25));
    else if (e.key === "-") setScale(Math.max(0.1, scale / 1.25));
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const fill = (b: ReportDrawingBox, i: number): string | undefined => (b.function ? colourOf(of.classes[i] ?? "6") : undefined);
  return (
    <>
      <div class="pbar">
        <button type="button" aria-label="smaller" onClick={() => setScale(Math.max(0.1, scale / 1.25))}>−</button>
        <button type="button" aria-label="larger" onClick={() => setScale(Math.min(3, scale * 1.25))}>+</button>
        <button type="button" onClick={() => setScale(Math.max(0.1, box.current!.clientWidth / d.width))}>Fit</button>
        <span class="muted">{(d.legend ?? []).slice(-3).filter((t) => /Showing|Dropped/.test(t)).join(". ")}</span>
      </div>
      <div class="pgraph" ref={box} tabIndex={0} role="region" aria-label="call graph">
        <svg width={d.width * scale} height={Math.max(1, d.height) * scale} viewBox={`0 0 ${d.width} ${Math.max(1, d.height)}`} role="group" aria-label={`call graph of ${boxes.length} functions. Arrows follow calls, Enter selects.`} onKeyDown={keys}>
          {lines.map((l, i) => (
            <g key={i} class="pline" aria-hidden="true">
              <title>{l.tip}</title>
              <path d={curve(l.points ?? [])} stroke-width={l.width} stroke-dasharray={l.dashed ? "4 3" : undefined} />
              <path class="head" d={`M${(l.head ?? []).join(" ")}Z`} />
              {(l.text ?? []).map((t, k) => <text key={k} x={l.label![0]!} y={l.label![1]! + (k - ((l.text?.length ?? 1) - 1) / 2) * 12 + 3} font-size={9.5}>{t}</text>)}
            </g>
          ))}
          {boxes.map((b, i) => (
            <g key={i} data-box={i} class={"pbox" + (b.function ? "" : " label") + (b.function && b.function === chosen ? " on" : "")} tabIndex={i === at ? 0 : -1} role={b.function ? "button" : "img"}
              data-tip={b.tip} onFocus={() => setAt(i)} onClick={() => b.function && onChoose(b.function)}>
              <rect x={b.x - b.w / 2} y={b.y - b.h / 2} width={b.w} height={b.h} rx={b.function ? 3 : 9} style={fill(b, i) ? { fill: fill(b, i)! } : undefined} />
              {(b.text ?? []).map((t, k) => <text key={k} x={b.x} y={b.y - b.h / 2 + 6 + (k + 0.5) * b.size * 1.2 + b.size * 0.36} font-size={b.size * 0.92}>{t + " "}</text>)}
            </g>
          ))}
        </svg>
      </div>
    </>
  );
}
