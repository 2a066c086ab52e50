/** The names beside the lanes: only those of lanes that are seen are in the page. */
import { count } from "../../base/units.ts";
import { about, short, title, type Lane } from "../../model/lanes.ts";
import { Icon } from "../../widgets/icon.tsx";
import type { Row, Stage } from "./stage.ts";

export interface HeadProps {
  readonly stage: Stage;
  readonly open: readonly string[];
  readonly pins: readonly string[];
  readonly chosen: string;
  readonly onToggle: (id: string) => void;
  readonly onPin: (key: string) => void;
  readonly onLane: (lane: Lane) => void;
}

export function Heads(p: HeadProps) {
  p.stage.shape.value; // drawn again when other rows are seen
  const top = p.stage.lanes.pinned.height;
  const rows = p.stage.rows();
  return (
    <div class="tl-heads" style={{ height: p.stage.height + "px" }}>
      {rows.map((r) => <Head key={r.block.key + r.index + (r.pinned ? "^" : "")} row={r} hidden={!r.pinned && r.at < top - r.block.height / 2} {...p} />)}
    </div>
  );
}

function Head({ row, hidden, open, pins, chosen, onToggle, onPin, onLane }: HeadProps & { row: Row; hidden: boolean }) {
  const { of } = row.block, { lane } = row;
  const style = { top: row.at + "px", height: row.block.height + "px" };
  if (hidden) return null;
  if (of.type === "section") {
    return (
      <button type="button" class="tl-section" style={style} aria-expanded={of.open} onClick={() => onToggle(of.id)}>
        <span class={of.open ? "tl-turn open" : "tl-turn"}><Icon of="down" /></span>
        {of.name} {of.total >= 0 ? <span class="muted">{count(of.total)}</span> : null}
      </button>
    );
  }
  if (of.type === "note") return <div class="tl-head note" style={style} title={of.text}>{of.text}</div>;
  if (row.block.height < 14) return lane ? <div class={lane.key === chosen ? "tl-head chosen" : "tl-head"} style={style} title={about(lane)} onClick={() => onLane(lane)} /> : null;
  if (!lane) return <div class="tl-head muted" style={style}>…</div>;
  const opened = lane.kind === "group" && open.includes(lane.key), pinned = pins.includes(lane.key);
  const indent = of.type === "lanes" && of.indent;
  return (
    <div class={["tl-head", indent ? "indent" : "", lane.key === chosen ? "chosen" : "", lane.kind].join(" ")} style={style} title={about(lane)}>
      {lane.kind === "group" ? (
        <button type="button" class="quiet tl-open" aria-expanded={opened} aria-label={"goroutines of " + (lane.name || "unknown")} onClick={() => onToggle(lane.key)}>
          <span class={opened ? "tl-turn open" : "tl-turn"}><Icon of="down" /></span>
        </button>
      ) : null}
      <span class="tl-name" onClick={() => onLane(lane)}>
        {lane.kind === "group" ? <bdi>{short(lane.name) || "unknown"}</bdi> : <bdi>{title(lane)}</bdi>}
        {lane.kind === "goroutine" && !indent ? <span class="muted"> <bdi>{short(lane.name)}</bdi></span> : null}
      </span>
      {lane.kind === "group" ? <span class="muted tl-many">×{count(lane.members)}</span> : null}
      {row.block.height >= 24 || pinned ? (
        <button type="button" class={pinned ? "quiet tl-pin on" : "quiet tl-pin"} aria-pressed={pinned} aria-label={(pinned ? "unpin " : "pin ") + title(lane)} title={pinned ? "unpin (p)" : "pin (p)"}
          onClick={() => onPin(lane.key)}>{pinned ? "◆" : "◇"}</button>
      ) : null}
    </div>
  );
}
