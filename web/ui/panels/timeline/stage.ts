/**
 * The stage: what is seen of the timeline, and the frames in which it is drawn.
 *
 * Nothing happens while nothing changes. A change asks for one frame; in it the
 * lanes are drawn anew whose pixels may be other ones: all when the viewport has
 * moved, else those for which tiles have come.
 */
import { signal } from "@preact/signals";
import { binary } from "../../api/client.ts";
import type { TaskLane } from "../../api/types.ts";
import type { Span, Time } from "../../base/units.ts";
import { duration } from "../../base/units.ts";
import { font, sharp } from "../../draw/axis.ts";
import { drawCounts, drawHeat, drawStates, drawValues, highOf, mostOf, ramp, round, style, type Picture, type Style } from "../../draw/states.ts";
import { palette, type Palette } from "../../draw/palette.ts";
import type { Pen } from "../../draw/svg.ts";
import { addPieces, addStarts, Columns, Grids, type Window } from "../../model/columns.ts";
import { classesOf, figure, type Lane, type LaneKind } from "../../model/lanes.ts";
import type { Place } from "../../model/stack.ts";
import { TileCache, type Piece } from "../../model/tilecache.ts";
import { Form, latencyRows, type Tile } from "../../model/tiles.ts";
import { clamp, resize, seen, toX, type Viewport } from "../../model/viewport.ts";
import { LaneRows, type Content } from "./lanerows.ts";
import { Runs } from "./runs.ts";

/** Row is a row that is seen: y is from the top of the stage. */
export interface Row extends Place<Content> {
  readonly at: number;
  readonly pinned: boolean;
  readonly lane: Lane | null;
}

/** Labelled is what the labels of a lane are made of. */
export interface Labelled {
  /** most is what a count or a counter goes up to, 0 for other lanes. */
  most: number;
  pieces: readonly Piece[];
}

/** Painted is what a lane was drawn of, and the pixels. */
interface Painted extends Labelled {
  stamp: number;
  tiles: readonly Tile[];
  theme: Palette;
  image: ImageData;
}

/** Part draws something of its own in each frame: the axis, the minimap, what lies over the lanes. */
export type Part = (stage: Stage) => void;

export class Stage {
  readonly lanes: LaneRows;
  readonly cache: TileCache;
  readonly runs: Runs;
  view: Viewport = { start: 0, perPx: 1e6, width: 0 };
  /** all is what the trace covers on the axis. */
  all: Span = { start: 0, end: 1 };
  height = 0;
  scroll = 0;
  /** shape counts changes of which rows are seen, for what lies beside the lanes. */
  readonly shape = signal(0);
  /** settled is the viewport once it has stayed the same for a moment. */
  readonly settled = signal<Viewport | null>(null);
  /** done is how much of the trace is read. */
  readonly done = signal(0);
  /** stale counts what says that the lanes are other ones by now. */
  readonly stale = signal(0);
  /** parts are drawn after the lanes. */
  readonly parts = new Set<Part>();
  /** frames counts what was drawn: how many lanes anew. */
  frames = 0;
  drawn = 0;
  /** took is how many ms the last frame was worked on. */
  took = 0;
  /** drawOver draws what lies over the lanes on something else than the page. */
  drawOver: (c: Pen) => void = () => {};

  private canvas: HTMLCanvasElement | null = null;
  private readonly scratch = document.createElement("canvas");
  private readonly painted = new Map<string, Painted>();
  private styles = new Map<string, Style>();
  private theme: Palette | null = null;
  private columns = new Columns(0);
  private readonly taskTiles = new WeakMap<TaskLane, Tile>();
  private stamp = 0;
  private layout = "";
  private wanted = 0;
  private dirty = true;
  private calm = 0;

  constructor(readonly source: string) {
    this.lanes = new LaneRows(source, () => this.reshape(), () => this.stale.value++);
    this.runs = new Runs(source, () => this.repaint());
    this.cache = new TileCache((ids, version, since, signal) => binary("timeline/tiles", { s: source, version: version || undefined, since: since || undefined }, ids.buffer as ArrayBuffer, signal), () => this.invalidate(), () => this.stale.value++);
  }

  /** attach begins to draw on a canvas. */
  attach(canvas: HTMLCanvasElement): void {
    this.canvas = canvas;
    this.invalidate();
  }

  /** leave ends all that goes on. */
  leave(): void {
    cancelAnimationFrame(this.wanted);
    clearTimeout(this.calm);
    this.canvas = null;
    this.runs.stop();
    this.cache.renew(0, false);
  }

  /** resizeTo tells how large the stage is. */
  resizeTo(width: number, height: number): void {
    if (width === this.view.width && height === this.height) return;
    this.view = this.view.width === 0 ? { ...this.view, width } : resize(this.view, width);
    this.height = height;
    this.stamp++;
    this.reshape();
  }

  /** show moves to another viewport. */
  show(v: Viewport): void {
    v = clamp(v, this.all);
    if (v.start === this.view.start && v.perPx === this.view.perPx && v.width === this.view.width) return;
    this.view = v;
    this.stamp++;
    this.invalidate();
    clearTimeout(this.calm);
    this.calm = setTimeout(() => {
      this.settled.value = this.view;
      this.runs.see(this.seen, this.view.perPx);
    }, 250);
  }

  scrollTo(y: number): void {
    if (y === this.scroll) return;
    this.scroll = y;
    this.reshape();
  }

  /** reshape draws, and tells that other rows may be seen. */
  reshape(): void {
    this.shape.value++;
    this.invalidate();
  }

  /** repaint draws all lanes anew. */
  repaint(): void {
    this.stamp++;
    this.invalidate();
  }

  /** invalidate asks for a frame in which the lanes are looked at. */
  invalidate(): void {
    this.dirty = true;
    this.over();
  }

  /** over asks for a frame in which only what lies over the lanes is drawn. */
  over(): void {
    if (!this.wanted) this.wanted = requestAnimationFrame(() => this.frame());
  }

  /** busy tells that a frame is to come. */
  get busy(): boolean { return this.wanted !== 0; }

  /** origin of the tiles on the axis. */
  get origin(): Time { return this.lanes.info?.origin ?? 0; }
  get rate(): number { return this.lanes.info?.rate || 1; }
  /** own maps an instant of the axis to ns since the origin of the tiles. */
  own(t: Time): number { return (t - this.origin) / this.rate; }
  onAxis(own: number): Time { return this.origin + own * this.rate; }

  /** level is that of the buckets which are about as wide as a pixel. */
  get level(): number { return Math.round(Math.log2(this.view.perPx / this.rate)); }

  private window(v: Viewport): Window {
    return { from: this.own(v.start), perPx: v.perPx / this.rate, width: v.width };
  }

  /** rows are those that are seen, from top to bottom. */
  rows(): Row[] {
    const { rows, pinned } = this.lanes, out: Row[] = [];
    for (const p of pinned.within(0, this.height)) out.push({ ...p, at: p.y, pinned: true, lane: this.lanes.lane(p.block.of, p.index) });
    const top = pinned.height;
    for (const p of rows.within(this.scroll, this.scroll + this.height - top)) {
      out.push({ ...p, at: p.y - this.scroll + top, pinned: false, lane: this.lanes.lane(p.block.of, p.index) });
    }
    return out;
  }

  /** rowAt is the row under a place of the stage. */
  rowAt(y: number): Row | null {
    return this.rows().find((r) => y >= r.at && y < r.at + r.block.height && (r.pinned || r.at >= this.lanes.pinned.height || y >= this.lanes.pinned.height)) ?? null;
  }

  private frame(): void {
    this.wanted = 0;
    if (!this.canvas || this.view.width === 0 || this.height === 0) return;
    const began = performance.now();
    this.frames++;
    if (this.dirty && this.lanes.info) {
      this.dirty = false;
      this.drawLanes();
      this.cache.flush();
    }
    for (const part of this.parts) part(this);
    this.took = performance.now() - began;
  }

  /** pieces are what shows a stretch of a lane. */
  private pieces(lane: Lane, from: number, to: number, ahead = true): readonly Piece[] {
    if (!lane.task) return this.cache.pieces(lane, this.level, from, to, ahead);
    let tile = this.taskTiles.get(lane.task);
    if (!tile) {
      const spans = lane.task.spans ?? [];
      const starts = Float64Array.from([...spans.map((s) => s.start_ns), lane.end], (t) => this.own(t)), classes = Uint8Array.from(spans, (s) => (s.region ? 0 : 1));
      this.taskTiles.set(lane.task, tile = { lane: -1, level: 0, index: 0, form: Form.spans, bytes: 0, packed: null, spans: { starts, classes } });
    }
    return to > from ? [{ tile, from, to }] : [];
  }

  private styleOf(kind: LaneKind): Style {
    let s = this.styles.get(kind);
    if (!s) this.styles.set(kind, s = style(classesOf[kind], this.theme!, kind === "goroutine"));
    return s;
  }

  private drawLanes(): void {
    const p = palette();
    if (p !== this.theme) {
      this.theme = p;
      this.styles.clear();
      this.layout = "";
    }
    const { width } = this.view, c = sharp(this.canvas!, width, this.height), rows = this.rows();
    const ratio = devicePixelRatio || 1;
    const layout = width + "x" + this.height + "@" + ratio + " " + rows.map((r) => (r.lane?.key ?? r.block.key) + (r.pinned ? "^" : "") + r.at).join(" ");
    const anew = layout !== this.layout;
    if (anew) {
      this.layout = layout;
      c.clearRect(0, 0, width, this.height);
    }
    if (this.columns.width !== width) this.columns = new Columns(width);
    const grids = new Grids(this.window(this.view)), used = new Set<string>(), fresh = new Set<string>();
    c.font = font;
    const top = this.lanes.pinned.height;
    for (const r of rows) {
      const { lane } = r, h = r.block.height;
      if (!lane) {
        if (anew && r.block.of.type === "section") {
          c.fillStyle = p.css("surface");
          c.fillRect(0, r.at, width, h);
        }
        continue;
      }
      const key = lane.key;
      used.add(key);
      // A lane that is pinned may be seen twice.
      if (this.paint(lane, h, grids)) fresh.add(key);
      if (!fresh.has(key) && !anew) continue;
      const done = this.painted.get(key)!;
      c.save();
      if (!r.pinned && r.at < top) {
        c.beginPath();
        c.rect(0, top, width, this.height);
        c.clip();
      }
      this.put(c, done.image, r.at, ratio, !r.pinned && r.at < top);
      this.label(c, lane, done, r.at, h);
      c.restore();
    }
    if (anew && top > 0) {
      c.fillStyle = p.css("control");
      c.fillRect(0, top - 1, width, 1);
    }
    // Pixels of lanes that are no longer seen are kept while they are few.
    if (this.painted.size > used.size + 40) {
      for (const key of this.painted.keys()) {
        if (!used.has(key)) this.painted.delete(key);
        if (this.painted.size <= used.size + 20) break;
      }
    }
  }

  /** put copies pixels to the canvas. Screens with more of them get each several times. */
  private put(c: CanvasRenderingContext2D, image: ImageData, y: number, ratio: number, clipped: boolean): void {
    if (ratio === 1 && !clipped) {
      c.putImageData(image, 0, y);
      return;
    }
    const s = this.scratch;
    if (s.width !== image.width || s.height !== image.height) {
      s.width = image.width;
      s.height = image.height;
    }
    s.getContext("2d")!.putImageData(image, 0, 0);
    c.imageSmoothingEnabled = false;
    c.drawImage(s, 0, y);
  }

  /** paint draws the pixels of a lane if they may be other ones than the last time. */
  private paint(lane: Lane, height: number, grids: Grids): boolean {
    const w = grids.window, begin = this.own(lane.start), end = this.own(lane.end);
    const pieces = this.pieces(lane, Math.max(w.from, begin), Math.min(w.from + w.width * w.perPx, end));
    let d = this.painted.get(lane.key);
    if (d && d.stamp === this.stamp && d.theme === this.theme && d.image.height === height && d.image.width === w.width
      && d.tiles.length === pieces.length && pieces.every((p, i) => p.tile === d!.tiles[i])) return false;
    if (!d || d.image.width !== w.width || d.image.height !== height) {
      d = { stamp: 0, tiles: [], theme: this.theme!, image: new ImageData(w.width, height), most: 0, pieces };
      this.painted.set(lane.key, d);
    }
    d.stamp = this.stamp;
    d.theme = this.theme!;
    d.tiles = pieces.map((p) => p.tile);
    d.pieces = pieces;
    this.drawn++;
    const c = this.columns, kind = lane.kind as LaneKind, p = this.theme!;
    c.clear();
    addPieces(c, pieces, grids);
    outside(c, (begin - w.from) / w.perPx, (end - w.from) / w.perPx);
    const out: Picture = { width: w.width, height, pixels: new Uint32Array(d.image.data.buffer) };
    switch (kind) {
      case "group":
        d.most = round(mostOf(c));
        drawCounts(out, c, this.styleOf(kind), d.most);
        break;
      case "counter":
        d.most = round(highOf(c));
        drawValues(out, c, { ground: p.pixel("bg"), band: p.pixel("accent", "bg", 0.5), fill: p.pixel("accent", "bg", 0.14), line: p.pixel("accent") }, d.most);
        break;
      case "latency":
        drawHeat(out, c, ramp(p, "runnable"), p.pixel("bg"));
        break;
      default:
        drawStates(out, c, this.styleOf(kind));
    }
    return true;
  }

  /** label writes into wide spans what they are, and beside counts how high they go. */
  label(c: Pen, lane: Lane, d: Labelled, y: number, h: number): void {
    const p = palette();
    c.textBaseline = "middle";
    if (d.most > 0) {
      const text = figure(lane, d.most), w = c.measureText(text).width;
      c.fillStyle = p.css("bg");
      c.globalAlpha = 0.75;
      c.fillRect(0, y, w + 6, 12);
      c.globalAlpha = 1;
      c.fillStyle = p.css("muted");
      c.fillText(text, 3, y + 6.5);
      return;
    }
    if (lane.kind === "latency") {
      c.fillStyle = p.css("muted");
      for (const [row, text] of [[4, "1 µs"], [14, "1 ms"], [24, "1 s"]] as const) c.fillText(text, 3, y + (latencyRows - row) * Math.floor((h - 1) / latencyRows));
      return;
    }
    if (lane.kind === "proc") {
      this.labelRuns(c, lane, y, h);
      return;
    }
    if (h < 16) return;
    const list = classesOf[lane.kind as LaneKind];
    let n = 0;
    for (const piece of d.pieces) {
      const s = piece.tile.form === Form.spans ? piece.tile.spans : null;
      if (!s) continue;
      for (let i = 0; i < s.classes.length && n < 60; i++) {
        // One that goes on from the tile before has been written there.
        if (s.starts[i]! < piece.from && piece !== d.pieces[0]) continue;
        const a = Math.max(0, toX(this.view, this.onAxis(s.starts[i]!))), b = Math.min(this.view.width, toX(this.view, this.onAxis(s.starts[i + 1]!)));
        if (b - a < 48) continue;
        const k = list[s.classes[i]!];
        if (!k?.name || k.share === 0 && lane.kind !== "goroutine") continue;
        const text = (lane.task?.spans?.[i]?.region || k.name) + " " + duration((s.starts[i + 1]! - s.starts[i]!) * this.rate);
        if (text.length * 6.2 > b - a - 8) continue;
        const solid = k.share === 1;
        c.fillStyle = p.css(solid ? "bg" : "text");
        c.fillText(text, a + 4, y + (solid ? h / 2 : h / 4 + 1));
        n++;
      }
    }
  }

  /** labelRuns parts the runs on a P, and writes into wide ones whose they are. */
  private labelRuns(c: Pen, lane: Lane, y: number, h: number): void {
    c.fillStyle = palette().css("bg");
    let last = -10;
    for (const r of this.runs.on(lane.subject)) {
      const a = toX(this.view, r.start), b = toX(this.view, r.end);
      if (b < 0 || a > this.view.width || a - last < 3) continue;
      last = a;
      if (b - a >= 4) c.fillRect(Math.round(a), y, 1, h - 1);
      const from = Math.max(0, a), room = Math.min(this.view.width, b) - from - 8, id = "g" + r.g, whole = id + " " + r.name;
      const text = whole.length * 6.2 <= room ? whole : id.length * 6.4 <= room ? id : "";
      if (text) c.fillText(text, from + 4, y + h / 2 + 1);
    }
  }

  /** look adds up what a lane shows of a span: what a tooltip and a table tell. */
  look(lane: Lane, s: Span, width = 1): Columns {
    const v = { start: s.start, perPx: Math.max(1e-3, (s.end - s.start) / width), width }, w = this.window(v), grids = new Grids(w), c = new Columns(width);
    c.clear();
    const begin = this.own(lane.start), end = this.own(lane.end);
    const pieces = this.pieces(lane, Math.max(w.from, begin), Math.min(w.from + width * w.perPx, end), false);
    addPieces(c, pieces, grids);
    addStarts(c, pieces, grids);
    return c;
  }

  /** drawnOf is what a lane is drawn of in the time that is seen. */
  drawnOf(lane: Lane): { columns: Columns; pieces: readonly Piece[] } {
    const w = this.window(this.view), begin = this.own(lane.start), end = this.own(lane.end), columns = new Columns(w.width);
    columns.clear();
    const pieces = this.pieces(lane, Math.max(w.from, begin), Math.min(w.from + w.width * w.perPx, end), false);
    addPieces(columns, pieces, new Grids(w));
    outside(columns, (begin - w.from) / w.perPx, (end - w.from) / w.perPx);
    return { columns, pieces };
  }

  /** spanAt is the span of a lane at an instant when its spans are here, in time of the axis. */
  spanAt(lane: Lane, t: Time): { span: Span; class: number } | null {
    const own = this.own(t);
    for (const piece of this.pieces(lane, own, own + 1, false)) {
      const s = piece.tile.spans;
      if (!s) continue;
      for (let i = 0; i < s.classes.length; i++) {
        if (s.starts[i]! <= own && own < s.starts[i + 1]!) return { span: { start: this.onAxis(s.starts[i]!), end: this.onAxis(s.starts[i + 1]!) }, class: s.classes[i]! };
      }
    }
    return null;
  }

  /** seen is the span that is seen. */
  get seen(): Span { return seen(this.view); }
}

/** outside tells that nothing is unknown where a lane is not: in front of it and behind it. */
function outside(c: Columns, from: number, to: number): void {
  for (let x = 0; x < c.width; x++) if (x + 1 <= from || x >= to) c.known[x] = 1;
}
