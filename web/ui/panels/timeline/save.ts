/** What is seen as a file. */
import { download } from "../../base/dom.ts";
import { exactSpan } from "../../base/units.ts";
import { axisHeight } from "../../tracks/axis.tsx";
import { drawAxis, font } from "../../draw/axis.ts";
import { countsSVG, heatSVG, statesSVG, valuesSVG } from "../../draw/lanesvg.ts";
import { palette } from "../../draw/palette.ts";
import { highOf, mostOf, round } from "../../draw/states.ts";
import { SVG } from "../../draw/svg.ts";
import { classesOf, title, type Lane, type LaneKind } from "../../model/lanes.ts";
import { csv } from "../../widgets/table.tsx";
import type { Row, Stage } from "./stage.ts";
import { tableOf } from "./tell.ts";

const named = (stage: Stage, kind: string): string => {
  const s = stage.seen;
  return "timeline-" + exactSpan({ start: Math.round(s.start), end: Math.round(s.end) }) + "." + kind;
};

/** heads is how wide the names are in the picture. */
const heads = 200;

/** head is the name of a row. */
function head(r: Row): string {
  const text = r.lane ? title(r.lane) : r.block.of.type === "section" ? r.block.of.name : "";
  return text.length > 32 ? text.slice(0, 31) + "…" : text;
}

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
  for (const r of stage.rows()) c.fillText(head(r), 6, axisHeight + r.at + r.block.height / 2, heads - 10);
  out.toBlob((b) => b && download(named(stage, "png"), b, "image/png"), "image/png");
}

/** saveSVG saves the same as lines and letters. */
export function saveSVG(stage: Stage): void {
  download(named(stage, "svg"), svgOf(stage), "image/svg+xml");
}

/** svgOf is the picture of the lanes as a file that needs nothing else. */
export function svgOf(stage: Stage): string {
  const { width } = stage.view, { seen } = stage, p = palette();
  const out = new SVG(heads + width, axisHeight + stage.height, p);
  out.part(heads, 0, width, axisHeight, () => drawAxis(out, seen, width, axisHeight));
  const rows = stage.rows(), top = stage.lanes.pinned.height;
  const draw = (r: Row): void => {
    const h = r.block.height;
    if (r.block.of.type === "section") {
      out.fillStyle = p.css("surface");
      out.fillRect(0, r.at, heads + width, h);
    }
    out.fillStyle = p.css("text");
    out.fillText(head(r), 6, r.at + h / 2);
    if (r.lane) out.part(heads, r.at, width, h, () => laneSVG(out, stage, r.lane!, h));
  };
  out.part(0, axisHeight + top, heads + width, stage.height - top, () => {
    for (const r of rows) if (!r.pinned) draw({ ...r, at: r.at - top });
  });
  out.part(0, axisHeight, heads + width, top, () => {
    for (const r of rows) if (r.pinned) draw(r);
    out.fillStyle = p.css("control");
    out.fillRect(0, top - 1, heads + width, 1);
  });
  out.part(heads, axisHeight, width, stage.height, () => stage.drawOver(out));
  return out.file("Timeline, " + exactSpan({ start: Math.round(seen.start), end: Math.round(seen.end) }));
}

/** laneSVG draws one lane with its labels. */
function laneSVG(out: SVG, stage: Stage, lane: Lane, height: number): void {
  const { columns: c, pieces } = stage.drawnOf(lane), kind = lane.kind as LaneKind, list = classesOf[kind];
  let most = 0;
  switch (kind) {
    case "group":
      countsSVG(out, c, list, most = round(mostOf(c)), height);
      break;
    case "counter":
      valuesSVG(out, c, most = round(highOf(c)), height);
      break;
    case "latency":
      heatSVG(out, c, height);
      break;
    default:
      statesSVG(out, c, list, kind === "goroutine", height);
  }
  stage.label(out, lane, { most, pieces }, 0, height);
}

/** saveCSV saves what the lanes show as a table. */
export function saveCSV(stage: Stage): void {
  const t = tableOf(stage);
  download(named(stage, "csv"), csv(t, (t.shown ?? []).map((_, i) => i)), "text/csv");
}
