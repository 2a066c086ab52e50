/** What is chosen, in full. */
import type { Time } from "../../base/units.ts";
import { duration, parse, type Span } from "../../base/units.ts";
import { classesOf, type Lane, type LaneKind } from "../../model/lanes.ts";
import { Drawer } from "../../widgets/drawer.tsx";
import type { Arrow } from "./overlay.ts";
import type { Stage } from "./stage.ts";

/** Selected is a lane and an instant. */
export interface Selected {
  readonly key: string;
  readonly t: Time;
}

/** Choice is what is chosen, with what the picture shows of it. */
export interface Choice {
  readonly key: string;
  readonly span: Span | null;
  readonly arrows: readonly Arrow[];
}

/** chosenOf reads what is chosen from the address: "g1042@12.41s". */
export function chosenOf(text: string): Selected | null {
  const at = text.lastIndexOf("@"), t = at > 0 ? parse(text.slice(at + 1)) : null;
  return t === null ? null : { key: text.slice(0, at), t };
}

/** addressed says what a lane does in a span. */
export function addressed(lane: Lane, k: number, s: Span): string {
  return (classesOf[lane.kind as LaneKind][k]?.name ?? "") + " " + duration(s.end - s.start);
}

export function Details({ of, onClose }: {
  stage: Stage; of: Selected; onChoice: (c: Choice | null) => void; onClose: () => void; onGo: (key: string, t: Time) => void; onFit: (s: Span) => void; onPin: (key: string) => void; pinned: readonly string[];
}) {
  return <Drawer title={of.key} onClose={onClose}>…</Drawer>;
}
