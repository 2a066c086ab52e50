/** What is seen as a file. */
import { download } from "../../base/dom.ts";
import { exactSpan } from "../../base/units.ts";
import { axisHeight } from "../../tracks/axis.tsx";
import { drawAxis, font } from "../../draw/axis.ts";
import { palette } from "../../draw/palette.ts";
import { title } from "../../model/lanes.ts";
import { csv } from "../../widgets/table.tsx";
import type { Stage } from "./stage.ts";
import { tableOf } from "./tell.ts";

const named = (stage: Stage, kind: string): string => {
  const s = stage.seen;
  return "timeline-" + exactSpan({ start: Math.round(s.start), end: Math.round(s.end) }) + "." + kind;
};

/** heads is how wide the names are in the picture. */
const heads = 200;

/** savePNG saves the lanes with their names and the axis. */
export function savePNG(stage: Stage): void {
  const shown = document.querySelectorAll<HTMLCanvasElement>(".tl-picture canvas"), first = shown[0];
  if (!first) return;
  const ratio = first.width / stage.view.width, out = document.createElement("canvas"), p = palette();
  out.width = (stage.view.width + heads) * ratio;
  out.height = (stage.height + axisHeight) * ratio;
  const c = out.getContext("2d")!;
  c.scale(ratio, ratio);
  c.fillStyle = p.css("bg");
  c.fillRect(0, 0, out.width, out.height);
  c.save();
  c.translate(heads, 0);
  drawAxis(c, stage.seen, stage.view.width, axisHeight);
  c.restore();
  for (const one of shown) c.drawImage(one, heads, axisHeight, stage.view.width, stage.height);
  c.font = font;
  c.textBaseline = "middle";
  c.fillStyle = p.css("text");
  for (const r of stage.rows()) {
    const text = r.lane ? title(r.lane) : r.block.of.type === "section" ? r.block.of.name : "";
    c.fillText(text.length > 32 ? text.slice(0, 31) + "…" : text, 6, axisHeight + r.at + r.block.height / 2, heads - 10);
  }
  out.toBlob((b) => b && download(named(stage, "png"), b, "image/png"), "image/png");
}

/** saveCSV saves what the lanes show as a table. */
export function saveCSV(stage: Stage): void {
  const t = tableOf(stage);
  download(named(stage, "csv"), csv(t, (t.shown ?? []).map((_, i) => i)), "text/csv");
}
