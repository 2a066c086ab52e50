/** What is seen, without its pixels, for tests and measurements: window.__loupe. */
import type { Span } from "../../base/units.ts";
import { title } from "../../model/lanes.ts";
import { pan, zoom } from "../../model/viewport.ts";
import { svgOf } from "./save.ts";
import type { Stage } from "./stage.ts";

/** Dump is what a test may know of the picture. */
export interface Dump {
  readonly snapshot: () => {
    readonly seen: Span;
    readonly all: Span;
    readonly scroll: number;
    readonly height: number;
    /** rows are those that are seen: section heads have no key. */
    readonly rows: readonly { readonly key: string; readonly title: string; readonly y: number; readonly height: number; readonly pinned: boolean }[];
    /** settled tells that nothing is awaited. */
    readonly settled: boolean;
    readonly tiles: number;
    readonly bytes: number;
    /** frames counts all that were drawn, lanes those of them that were drawn anew. */
    readonly frames: number;
    readonly lanes: number;
    readonly level: number;
    /** took is how many ms the last frame was worked on. */
    readonly took: number;
  };
  /** svg is the picture as it is saved. */
  readonly svg: () => string;
  readonly pan: (px: number) => void;
  readonly zoom: (factor: number) => void;
}

declare global {
  interface Window {
    __loupe?: Dump;
  }
}

/** expose lets tests look at a stage; what it returns ends that. */
export function expose(stage: Stage): () => void {
  window.__loupe = {
    snapshot: () => ({
      seen: stage.seen, all: stage.all, scroll: stage.scroll, height: stage.height,
      rows: stage.rows().map((r) => ({
        key: r.lane?.key ?? "", title: r.lane ? title(r.lane) : r.block.of.type === "section" ? r.block.of.name : "", y: r.at, height: r.block.height, pinned: r.pinned,
      })),
      settled: !stage.cache.pending && !stage.busy && stage.done.value >= 1, tiles: stage.cache.count, bytes: stage.cache.size, frames: stage.frames, lanes: stage.drawn, level: stage.level, took: stage.took,
    }),
    svg: () => svgOf(stage),
    pan: (px) => stage.show(pan(stage.view, px)),
    zoom: (factor) => stage.show(zoom(stage.view, factor, stage.view.width / 2)),
  };
  return () => delete window.__loupe;
}
