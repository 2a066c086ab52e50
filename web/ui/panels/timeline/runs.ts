/** Which goroutines ran on the Ps, where one looks so closely that it can be told. */
import { get } from "../../api/client.ts";
import type { Span, Time } from "../../base/units.ts";
import { short } from "../../model/lanes.ts";

/** Run is a goroutine on a P. */
export interface Run {
  readonly g: number;
  readonly start: Time;
  readonly end: Time;
  readonly name: string;
}

/** closely is how many ns a pixel may be: a run is told from the next one when it has some pixels. */
const closely = 60_000;

/** Runs keeps those of the stretch that is seen. */
export class Runs {
  private of = new Map<number, Run[]>();
  private covers: Span = { start: 0, end: 0 };
  private asked: AbortController | null = null;

  constructor(private readonly source: string, private readonly arrived: () => void) {}

  /** on are the runs of a P. */
  on(proc: number): readonly Run[] {
    return this.of.get(proc) ?? [];
  }

  /** see asks for what is seen, when it is looked at closely and is not here. */
  see(s: Span, perPx: number): void {
    if (perPx > closely || s.start >= this.covers.start && s.end <= this.covers.end) return;
    this.asked?.abort();
    const abort = this.asked = new AbortController(), more = (s.end - s.start) / 2, covers = { start: s.start - more, end: s.end + more };
    get("timeline/runs", { s: this.source, t0: Math.floor(covers.start), t1: Math.ceil(covers.end) }, abort.signal).then((l) => {
      const to = new Map<number, Run[]>();
      if (l && !l.many) {
        for (let i = 0; i < (l.proc?.length ?? 0); i++) {
          const p = l.proc![i]!, list = to.get(p) ?? [], f = l.function![i]!;
          list.push({ g: l.goroutine![i]!, start: l.start![i]!, end: l.end![i]!, name: short(l.names?.[f] ?? "") });
          to.set(p, list);
        }
      }
      this.of = to;
      this.covers = covers;
      this.arrived();
    }, () => {});
  }

  /** forget is for a trace that has changed. */
  forget(): void {
    this.covers = { start: 0, end: 0 };
  }

  stop(): void {
    this.asked?.abort();
  }
}
