/** A flame graph on a canvas: pointed at, walked through by keyboard, zoomed into. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Flame, FlameView } from "../../api/types.ts";
import { say } from "../../base/dom.ts";
import { count } from "../../base/units.ts";
import { drawFlame, rowHeight, type FlameBox } from "../../draw/flame.ts";
import { theme } from "../../model/theme.ts";
import { at, change, classNames, hashes, layout, share, step, weight, type Layout } from "./model.ts";

export type Colouring = "class" | "self" | "diff";

export interface FlameProps {
  readonly of: Flame;
  readonly view: number;
  readonly label: string;
  readonly colours: Colouring;
  /** chosen is the function that is marked, hovered one that is pointed at elsewhere. */
  readonly chosen: string;
  readonly hovered: string;
  readonly onHover?: (name: string) => void;
  readonly onChoose: (name: string) => void;
  /** onZoom takes the hash of the box to zoom into, onUp the number of a step of the path. */
  readonly onZoom?: (hash: string) => void;
  readonly onUp?: (step: number) => void;
  /** onKey is what a key does to the function that is under the cursor; true when it does something. */
  readonly onKey?: (key: string, name: string) => boolean;
  /** rows is the most that are in sight at once. */
  readonly rows?: number;
}

/** sampleSigns say in words what the signs of a comparison mean. */
const sampleSigns: Record<string, string> = { "+": "grew beyond chance", "-": "shrank beyond chance", "=": "no difference shown", "?": "too few samples to tell" };

export function FlameCanvas(props: FlameProps) {
  const { of: f, view, label, colours, chosen, hovered } = props;
  const v = f.views![view]!;
  const l = useMemo(() => layout(v), [v]), hash = useMemo(() => hashes(f, view, l), [f, view, l]);
  const above = (f.path ?? []).slice(0, -1);
  const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [top, setTop] = useState(0);
  const [here, setHere] = useState(-1); // by keyboard
  const [tip, setTip] = useState<{ x: number; y: number; i: number; row: number } | null>(null);
  const [focused, setFocused] = useState(false);
  const depths = above.length + l.depths, high = Math.min(depths, props.rows ?? 32) * rowHeight;

  useEffect(() => {
    const b = box.current!;
    const watch = new ResizeObserver(() => setSize({ width: b.clientWidth, height: b.clientHeight }));
    watch.observe(b);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    setHere(-1);
    setTip(null);
    if (box.current) box.current.scrollTop = 0;
  }, [v]);

  const pointed = tip && tip.i >= 0 ? f.names![v.name![tip.i]!]! : "";
  const boxes = useMemo(() => (size.width ? boxesOf(f, v, l, size.width, colours, above) : []), [f, v, l, size.width, colours]);
  useEffect(() => {
    const target = canvas.current; // the page may have gone on before the frame
    if (!target || size.width === 0) return;
    const frame = requestAnimationFrame(() => {
      const marked = boxes.map((b, n): FlameBox => {
        const i = n - above.length;
        const name = i >= 0 && i < l.n ? f.names![v.name![i]!]! : n < above.length ? above[n]!.name : null;
        const mark = i === here && focused ? "here" : name !== null && (name === pointed || name === hovered || name === chosen) ? "chosen" : b.mark;
        return mark === b.mark ? b : { ...b, mark };
      });
      drawFlame(target, marked, size.width, Math.max(rowHeight, size.height), top);
    });
    return () => cancelAnimationFrame(frame);
  }, [boxes, size, top, here, focused, pointed, hovered, chosen, theme.value]);

  /** place is what is at a point: the number of a box, -1 for nothing, and the row. */
  const place = (e: { clientX: number; clientY: number }): { i: number; row: number; x: number; y: number } => {
    const r = canvas.current!.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    const row = Math.floor((y + top) / rowHeight);
    return { i: row >= above.length ? at(l, row - above.length, x / size.width) : -1, row, x, y };
  };
  const move = (e: PointerEvent): void => {
    const p = place(e);
    setTip(p);
    props.onHover?.(p.i >= 0 ? f.names![v.name![p.i]!]! : "");
  };
  const zoom = (i: number): void => {
    if (i < 0) return;
    const name = f.names![v.name![i]!]!;
    if (!props.onZoom) props.onChoose(name);
    else props.onZoom(hash[i]!.toString(36));
  };
  const click = (e: MouseEvent): void => {
    const p = place(e);
    if (p.row < above.length) props.onUp?.(p.row);
    else if (p.i >= 0 && (e.ctrlKey || e.metaKey || e.shiftKey)) props.onChoose(f.names![v.name![p.i]!]!);
    else zoom(p.i);
  };
  const show = (i: number): void => {
    setHere(i);
    say(described(f, v, i, l));
    const b = box.current!, y = (above.length + l.depth[i]!) * rowHeight;
    if (y < b.scrollTop) b.scrollTop = y;
    else if (y + rowHeight > b.scrollTop + b.clientHeight) b.scrollTop = y + rowHeight - b.clientHeight;
  };
  const keys = (e: KeyboardEvent): void => {
    if (e.ctrlKey || e.metaKey || e.altKey || l.n === 0) return;
    const from = here >= 0 && here < l.n ? here : 0;
    if (e.key.startsWith("Arrow") || e.key === "Home" || e.key === "End") {
      show(here < 0 ? 0 : step(l, from, e.key));
    } else if (e.key === "Enter") {
      zoom(from);
    } else if (e.key === "Backspace" || e.key === "Escape") {
      if (tip && e.key === "Escape") setTip(null);
      else if (!above.length && !(f.path ?? []).length) return;
      else props.onUp?.(above.length - 1);
    } else if (e.key === " ") {
      props.onChoose(f.names![v.name![from]!]!);
    } else if (!props.onKey?.(e.key, here >= 0 ? f.names![v.name![from]!]! : "")) {
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  };
  const at0 = focused && here >= 0 && here < l.n ? here : -1;
  return (
    <div class="pflame" ref={box} style={{ height: high + "px" }} onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <div style={{ height: depths * rowHeight + "px" }}>
        <canvas ref={canvas} tabIndex={0} role="img" style={{ height: size.height + "px" }}
          aria-label={`${label}: ${count(l.n)} boxes on ${l.depths} levels, ${f.part_shown} of ${f.type}. Arrows walk, Enter zooms, Backspace goes back.` + (at0 >= 0 ? " At " + described(f, v, at0, l) : "")}
          onPointerMove={move} onPointerLeave={() => { setTip(null); props.onHover?.(""); }} onClick={click} onKeyDown={keys}
          onFocus={(e) => setFocused(e.currentTarget.matches(":focus-visible"))} onBlur={() => setFocused(false)} />
      </div>
      {tip ? <Tip f={f} v={v} l={l} at={tip} above={above} width={size.width} bounds={canvas.current!.getBoundingClientRect()} /> :
        at0 >= 0 ? <Tip f={f} v={v} l={l} at={{ i: at0, row: above.length + l.depth[at0]!, x: l.x[at0]! * size.width, y: (above.length + l.depth[at0]! + 1) * rowHeight - top - 10 }} above={above} width={size.width} bounds={canvas.current!.getBoundingClientRect()} /> : null}
    </div>
  );
}

/** described says what a box is, for people who do not see it. */
export function described(f: Flame, v: FlameView, i: number, l: Layout): string {
  const n = v.name![i]!, w = v.weight![i]!;
  const parts = [f.names![n]!, weight(w, f.unit), share(w, f.total), "itself " + weight(v.self![i]!, f.unit), "level " + (l.depth[i]! + 1)];
  if (v.base) parts.push(change(w, v.base[i]!) + ", " + sampleSigns[f.signs[n] ?? "?"]);
  if (l.inline[i]) parts.push("inlined");
  if (v.narrow![i]) parts.push(count(v.narrow![i]!) + " boxes below are too narrow to draw");
  return parts.filter(Boolean).join(", ");
}

/** boxesOf are the rectangles: what is above the one that is zoomed into, the boxes, and those that stand for hidden ones. */
function boxesOf(f: Flame, v: FlameView, l: Layout, width: number, colours: Colouring, above: readonly { name: string; shown: string }[]): FlameBox[] {
  const out: FlameBox[] = [];
  const plain = { share: 1, over: "bg", vary: 0, hatch: false, joined: false, mark: "", dim: false, prefix: "" } as const;
  above.forEach((s, row) => out.push({ ...plain, x: 0, w: width, row, label: s.name, colour: "idle", dim: true }));
  const searching = f.hits.includes("1");
  let most = 1;
  for (let i = 0; i < l.n; i++) most = Math.max(most, Math.abs(v.self![i]!));
  for (let i = 0; i < l.n; i++) {
    const n = v.name![i]!, w = v.weight![i]!, hit = f.hits[n] === "1";
    let colour: string = classNames[Number(f.classes[n])]?.[1] ?? "f-cgo", shareOf = 1, over = "bg", label = f.names![n]!, prefix = "", hatch = false;
    if (colours === "self") {
      shareOf = 0.05 + 0.95 * Math.sqrt(Math.abs(v.self![i]!) / most);
      colour = "f-heavy";
      over = "f-none";
    } else if (colours === "diff" && v.base) {
      const b = v.base[i]!, d = w + b === 0 ? 0 : (w - b) / (w + b);
      colour = d > 0 ? "f-worse" : "f-better";
      shareOf = d === 0 ? 0 : 0.2 + 0.8 * Math.min(1, Math.abs(d) * 2);
      over = "f-none";
      const sign = f.signs[n];
      hatch = d !== 0 && sign !== "+" && sign !== "-";
      prefix = change(w, b) + " ";
    }
    let h = 0;
    const name = f.names![n]!;
    for (let k = 0; k < name.length; k++) h = h * 31 + name.charCodeAt(k) | 0;
    out.push({
      x: l.x[i]! * width, w: l.w[i]! * width, row: above.length + l.depth[i]!, label, prefix, colour, share: shareOf, over,
      vary: colours === "class" ? (h % 101) / 100 : 0, hatch, joined: l.inline[i] === 1, mark: hit ? "hit" : "", dim: searching && !hit,
    });
  }
  for (const h of l.hidden) {
    if (h.w * width < 1.5) continue;
    out.push({ ...plain, x: h.x * width, w: h.w * width, row: above.length + h.depth, label: h.count ? `${count(h.count)} hidden ${share(h.weight, f.total)}` : `without a stack ${share(h.weight, f.total)}`, colour: "idle", hatch: true, dim: true });
  }
  return out;
}

function Tip({ f, v, l, at: p, above, width, bounds }: {
  f: Flame; v: FlameView; l: Layout; at: { x: number; y: number; i: number; row: number }; above: readonly { name: string; shown: string; weight: number }[]; width: number; bounds: DOMRect;
}) {
  const side = p.x > width / 2 ? { right: Math.max(4, innerWidth - bounds.left - p.x + 8) + "px" } : { left: bounds.left + p.x + 12 + "px" };
  const y = bounds.top + p.y, place = { ...side, ...(y > innerHeight - 200 ? { bottom: innerHeight - y + 12 + "px" } : { top: y + 16 + "px" }) };
  if (p.row < above.length) {
    const s = above[p.row]!;
    return <div class="tip ptip" style={place}><b>{s.name}</b><span>{s.shown}, {share(s.weight, f.total)}. Click to go back to it.</span></div>;
  }
  if (p.i < 0) {
    const x = p.x / width, h = l.hidden.find((h) => h.depth === p.row - above.length && x >= h.x && x < h.x + h.w);
    if (h && !h.count) return <div class="tip ptip" style={place}><b>without a stack</b><span>{weight(h.weight, f.unit)}, {share(h.weight, f.total)}: the program, or the trace, does not say where</span></div>;
    return h ? <div class="tip ptip" style={place}><b>{count(h.count)} hidden</b><span>too narrow to be drawn, {weight(h.weight, f.unit)} together, {share(h.weight, f.total)}: zoom into their caller to see them</span></div> : null;
  }
  const n = v.name![p.i]!, w = v.weight![p.i]!, cls = classNames[Number(f.classes[n])];
  return (
    <div class="tip ptip" style={place}>
      <b>{f.names![n]}</b>
      <span class="muted">{[f.files![n], cls?.[0], l.inline[p.i] ? "inlined" : ""].filter(Boolean).join(" · ")}</span>
      <table>
        <tbody>
          <tr><th>here</th><td>{weight(w, f.unit)}</td><td>{share(w, f.total)}</td></tr>
          <tr><th>here, itself</th><td>{weight(v.self![p.i]!, f.unit)}</td><td>{share(v.self![p.i]!, f.total)}</td></tr>
          {v.base ? <tr><th>before</th><td>{weight(v.base[p.i]!, f.unit)}</td><td>{change(w, v.base[p.i]!)}</td></tr> : null}
          <tr><th>everywhere</th><td>{weight(f.cum![n]!, f.unit)}</td><td>{share(f.cum![n]!, f.total)}</td></tr>
          <tr><th>everywhere, itself</th><td>{weight(f.flat![n]!, f.unit)}</td><td>{share(f.flat![n]!, f.total)}</td></tr>
        </tbody>
      </table>
      {v.base ? <span>{sampleSigns[f.signs[n] ?? "?"]}</span> : null}
      {v.narrow![p.i] ? <span class="muted">{count(v.narrow![p.i]!)} boxes below are too narrow to draw</span> : null}
    </div>
  );
}

/** Legend says what the colours mean, of those that are there. */
export function Legend({ of: f, colours }: { of: Flame; colours: Colouring }) {
  if (colours === "self") return <ul class="plegend"><li><i class="pramp" /> low to high flat value</li></ul>;
  if (colours === "diff") {
    return (
      <ul class="plegend">
        <li><i style={{ background: "var(--f-worse)" }} /> + more than before</li>
        <li><i style={{ background: "var(--f-better)" }} /> − less than before</li>
        <li><i class="phatch" /> hatched: no more than chance, or unknown</li>
        <li class="muted">the width of a box is before plus after</li>
      </ul>
    );
  }
  const there = new Set(f.classes);
  return (
    <ul class="plegend">
      {classNames.map(([name, colour], i) => (there.has(String(i)) ? <li key={name}><i style={{ background: `var(--${colour})` }} /> {name}</li> : null))}
    </ul>
  );
}
