/** Which lanes there are and in which order: sections that open and close, groups that open, lanes that are pinned. */
import { get } from "../../api/client.ts";
import type { LaneList } from "../../api/types.ts";
import { dense, heights, laneOf, laneOfTask, type Lane, type LaneKind } from "../../model/lanes.ts";
import { Pages } from "../../model/pages.ts";
import { Rows, type Block } from "../../model/stack.ts";

/** Content is what a block of rows holds. */
export type Content =
  | { readonly type: "section"; readonly id: string; readonly name: string; readonly total: number; readonly open: boolean }
  | { readonly type: "lanes"; readonly from: number; readonly pages: Pages<Lane>; readonly indent: boolean }
  | { readonly type: "lane"; readonly lane: Lane; readonly pinned: boolean }
  | { readonly type: "note"; readonly text: string };

/** sectionHeight is how high the head of a section is: as high as a button has to be. */
export const sectionHeight = 24;

/** Wish is what the user has chosen of the lanes; all of it is in the address. */
export interface Wish {
  readonly open: readonly string[];
  readonly pins: readonly string[];
  readonly filter: string;
  readonly order: string;
  /** flat lists goroutines without their groups. */
  readonly flat: boolean;
  /** dense has lanes of goroutines so low that many are seen at once. */
  readonly dense: boolean;
  /** t0 and t1 are the range; only lanes that have something in it are listed. */
  readonly t0: number | undefined;
  readonly t1: number | undefined;
}

/** sections are the parts of the timeline that are there, and whether they are open at first. What is one lane needs no head. */
const sections: readonly { id: string; name: string; kind: LaneKind; open: boolean }[] = [
  { id: "gc", name: "", kind: "gc", open: true },
  { id: "proc", name: "Ps", kind: "proc", open: true },
  { id: "latency", name: "", kind: "latency", open: true },
  { id: "counter", name: "Counters", kind: "counter", open: false },
  { id: "thread", name: "Threads", kind: "thread", open: false },
  { id: "task", name: "User tasks", kind: "task", open: false },
  { id: "goroutine", name: "Goroutines", kind: "goroutine", open: true },
];

/** isOpen tells whether a section or a group is open: the address has what differs from how it is at first. */
export function isOpen(id: string, open: readonly string[]): boolean {
  const without = sections.find((s) => s.id === id)?.open ?? false;
  return open.includes((without ? "-" : "") + id) ? !without : without;
}

/** toggled is the list of what is open after a click on one. */
export function toggled(id: string, open: readonly string[]): string[] {
  const mark = (sections.find((s) => s.id === id)?.open ? "-" : "") + id;
  return open.includes(mark) ? open.filter((o) => o !== mark) : [...open, mark];
}

/** LaneRows keeps the lists of lanes of one source. */
export class LaneRows {
  /** info is the last answer that tells of all lanes; fixed are those that are few. */
  info: LaneList | null = null;
  failed: Error | null = null;
  rows = new Rows<Content>([]);
  pinned = new Rows<Content>([]);
  private fixed: Lane[] = [];
  private groups: Pages<Lane> | null = null;
  private tasks: Pages<Lane> | null = null;
  private members = new Map<string, Pages<Lane>>();
  private before: { groups: Pages<Lane> | null; members: Map<string, Pages<Lane>> } | null = null;
  private pinnedLanes = new Map<string, Lane | "asked" | "none">();
  private wish: Wish = { open: [], pins: [], filter: "", order: "", flat: false, dense: false, t0: undefined, t1: undefined };
  private listed = "";

  constructor(private readonly source: string, private readonly changed: () => void, private readonly stale: () => void) {}

  /** load asks for the lanes anew, when they have been numbered anew. */
  async load(signal: AbortSignal): Promise<LaneList | null> {
    const info = await get("timeline/lanes", { s: this.source, kinds: "proc,thread,gc,counter,latency", n: 1000 }, signal);
    const before = this.info?.version;
    this.info = info;
    this.fixed = (info?.lanes ?? []).map((l) => laneOf(l, info!.version));
    if (info?.version !== before) {
      this.pinnedLanes.clear();
      this.listed = "";
    }
    this.choose(this.wish);
    return info;
  }

  /** choose lists what the user wishes to see. */
  choose(w: Wish): void {
    this.wish = w;
    if (!this.info) return;
    const listed = [w.filter, w.order, w.flat, w.t0, w.t1].join(" ");
    if (listed !== this.listed) {
      this.listed = listed;
      // What was listed stays until there is something instead of it.
      if (this.groups?.total !== -1) this.before = { groups: this.groups, members: this.members };
      else this.groups.stop();
      this.members = new Map();
      this.tasks?.stop();
      this.tasks = null;
      this.groups = this.pages({ kinds: this.flat() ? "goroutine" : "group", q: w.filter, order: w.order || "spans" });
    }
    this.build();
  }

  /** flat tells whether goroutines are listed one by one: because that is wished, or a number is looked for. */
  flat(): boolean {
    return this.wish.flat || /^g\d+$/.test(this.wish.filter);
  }

  private pages(params: Record<string, string | number>): Pages<Lane> {
    return new Pages<Lane>(async (from, n, signal) => {
      const l = await get("timeline/lanes", { s: this.source, from, n, t0: this.wish.t0, t1: this.wish.t1, ...params }, signal);
      if (l && l.version !== this.info?.version) this.stale();
      return { total: l?.total ?? 0, items: (l?.lanes ?? []).map((one) => laneOf(one, l!.version)) };
    }, () => {
      this.build();
      this.changed();
    });
  }

  /** tasksAsked are the tasks, which are read out of the trace when they are asked for. */
  private tasksAsked(): Pages<Lane> {
    const order = this.wish.order === "start" || this.wish.order === "lane" ? "start" : "";
    return this.tasks ??= new Pages<Lane>(async (from, n, signal) => {
      const l = await get("timeline/tasklanes", { s: this.source, from, n, q: this.flat() ? "" : this.wish.filter, order, t0: this.wish.t0, t1: this.wish.t1 }, signal);
      return { total: l?.total ?? 0, items: (l?.lanes ?? []).map((one) => laneOfTask(one, l!.version)) };
    }, () => {
      this.build();
      this.changed();
    });
  }

  /** lane is what is shown in a row, null for a head or what is still to come. */
  lane(content: Content, index: number): Lane | null {
    return content.type === "lane" ? content.lane : content.type === "lanes" ? content.pages.get(content.from + index) : null;
  }

  /** few are the lanes of a kind of which there are few. */
  few(kind: LaneKind): readonly Lane[] {
    return this.fixed.filter((l) => l.kind === kind);
  }

  /** known finds a lane by its key among those that have been seen, and asks for it otherwise. */
  known(key: string): Lane | null {
    const fixed = this.fixed.find((l) => l.key === key);
    if (fixed) return fixed;
    const have = this.pinnedLanes.get(key);
    if (have) return typeof have === "string" ? null : have;
    for (const pages of [this.groups, this.tasks, ...this.members.values()]) {
      for (const [, lane] of pages?.seen() ?? []) if (lane.key === key) return lane;
    }
    this.pinnedLanes.set(key, "asked");
    const arrived = (found: Lane | undefined): void => {
      this.pinnedLanes.set(key, found ?? "none");
      this.build();
      this.changed();
    };
    if (/^t\d+$/.test(key)) {
      get("timeline/tasklanes", { s: this.source, id: Number(key.slice(1)) }).then((l) => arrived(l?.lanes?.map((one) => laneOfTask(one, l.version))[0]), () => this.pinnedLanes.set(key, "none"));
      return null;
    }
    const group = key.startsWith("fn:");
    if (!group && !/^g\d+$/.test(key)) return null;
    get("timeline/lanes", { s: this.source, kinds: group ? "group" : "goroutine", q: group ? key.slice(3) : key, n: 50 }).then((l) => arrived((l?.lanes ?? []).map((one) => laneOf(one, l!.version)).find((one) => one.key === key)), () => this.pinnedLanes.set(key, "none"));
    return null;
  }

  /** sought tells whether a lane is still being asked for. */
  sought(key: string): boolean {
    return this.pinnedLanes.get(key) === "asked" || !this.info;
  }

  private build(): void {
    // The groups that are open come with those that they stand between.
    const settled = this.groups !== null && this.groups.total !== -1 && [...this.members.values()].every((m) => m.total !== -1 || m.failed);
    if (settled || this.groups?.failed) {
      this.before?.groups?.stop();
      for (const m of this.before?.members.values() ?? []) m.stop();
      this.before = null;
    } else if (this.groups?.total !== -1 && this.before) {
      // Asks for the members of the groups that are open.
      for (const [, lane] of this.groups?.seen() ?? []) if (this.wish.open.includes(lane.key)) this.membersOf(lane);
    }
    const { open, pins, filter } = this.wish, blocks: Block<Content>[] = [], top: Block<Content>[] = [];
    for (const key of pins) {
      const lane = this.known(key);
      if (lane) top.push({ key: "pin " + key, count: 1, height: heights[lane.kind as LaneKind], of: { type: "lane", lane, pinned: true } });
    }
    this.pinned = new Rows(top);
    for (const s of sections) {
      const goroutines = s.kind === "goroutine";
      if (s.kind === "task") {
        this.taskRows(blocks, isOpen(s.id, open));
        continue;
      }
      const fixed = goroutines ? [] : this.fixed.filter((l) => l.kind === s.kind);
      const total = goroutines ? (this.before?.groups ?? this.groups)?.total ?? -1 : fixed.length;
      if (total === 0 && !(goroutines && filter)) continue;
      const isOpened = isOpen(s.id, open);
      if (s.name) blocks.push({ key: s.id, count: 1, height: sectionHeight, of: { type: "section", id: s.id, name: s.name, total, open: isOpened } });
      if (!isOpened) continue;
      if (goroutines) this.goroutines(blocks, open);
      else for (const lane of fixed) blocks.push({ key: lane.key, count: 1, height: heights[s.kind], of: { type: "lane", lane, pinned: false } });
    }
    const d = this.info?.dropped;
    if (d && d.goroutines > 0) {
      blocks.push({ key: "dropped", count: 1, height: sectionHeight, of: { type: "note", text: `${d.goroutines.toLocaleString("en-US")} goroutines with fewer than ${d.minSpans} spans have no lane of their own` } });
    }
    this.rows = new Rows(blocks);
  }

  /** taskRows are the tasks, when there may be any. */
  private taskRows(blocks: Block<Content>[], open: boolean): void {
    const known = this.info?.tasks ?? 0;
    if (known === 0) return;
    const pages = open ? this.tasksAsked() : this.tasks, total = pages?.total ?? -1;
    blocks.push({ key: "task", count: 1, height: sectionHeight, of: { type: "section", id: "task", name: "User tasks", total: total >= 0 ? total : known, open } });
    if (!open || !pages) return;
    const text = pages.failed ?? (total === 0 ? "no task of this name runs in the range" : total < 0 ? "reading the trace for tasks…" : "");
    if (text) blocks.push({ key: "no task", count: 1, height: sectionHeight, of: { type: "note", text } });
    else blocks.push({ key: "tasks", count: total, height: heights.task, of: { type: "lanes", from: 0, pages, indent: false } });
  }

  /** membersOf are the goroutines of a group. */
  private membersOf(group: Lane): Pages<Lane> {
    let m = this.members.get(group.key);
    if (!m) this.members.set(group.key, m = this.pages({ kinds: "goroutine", group: group.id, order: this.wish.order || "spans" }));
    return m;
  }

  private goroutines(blocks: Block<Content>[], open: readonly string[]): void {
    const pages = this.before?.groups ?? this.groups!, height = this.wish.dense ? dense : heights.goroutine;
    if (pages.failed || pages.total === 0) {
      blocks.push({ key: "none", count: 1, height: sectionHeight, of: { type: "note", text: pages.failed ?? `nothing matches ${this.wish.filter}` } });
      return;
    }
    if (this.flat()) {
      blocks.push({ key: "goroutines", count: pages.total, height, of: { type: "lanes", from: 0, pages, indent: false } });
      return;
    }
    // Groups that are open part the list of groups.
    const opened: [number, Lane][] = [];
    for (const [i, lane] of pages.seen()) if (open.includes(lane.key)) opened.push([i, lane]);
    opened.sort((a, b) => a[0] - b[0]);
    let from = 0;
    for (const [i, group] of opened) {
      blocks.push({ key: "groups " + from, count: i + 1 - from, height: heights.group, of: { type: "lanes", from, pages, indent: false } });
      from = i + 1;
      const m = this.before?.members.get(group.key) ?? this.membersOf(group);
      if (m.failed) blocks.push({ key: "failed " + group.key, count: 1, height: sectionHeight, of: { type: "note", text: m.failed } });
      else if (m.total > 0) blocks.push({ key: "in " + group.key, count: m.total, height, of: { type: "lanes", from: 0, pages: m, indent: true } });
    }
    if (pages.total > from) blocks.push({ key: "groups " + from, count: pages.total - from, height: heights.group, of: { type: "lanes", from, pages, indent: false } });
  }
}
