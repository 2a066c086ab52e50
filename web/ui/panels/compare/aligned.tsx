/** Both over time, one above the other, each from its own start and on one scale. */
import { useRef } from "preact/hooks";
import type { CompareSide, Lane } from "../../api/types.ts";
import type { Span } from "../../base/units.ts";
import { axis } from "../../model/source.ts";
import { LaneStack } from "../../tracks/lanes.tsx";
import { useWidth } from "../../tracks/axis.tsx";
import { Answer, useAnswer } from "../../widgets/ask.tsx";

/** keys are the lanes that tell most of two runs. */
const keys = "latency,rps,heap,gc,goroutines,cpu";

export function Aligned({ a, b }: { a: CompareSide; b: CompareSide }) {
  const infos = [useAnswer("source", { s: a.source }), useAnswer("source", { s: b.source })];
  const spans = infos.map((i) => i.value?.axis).filter((s) => !!s);
  if (spans.length < 2) return <Answer of={infos.find((i) => !i.value) ?? infos[0]!}>{() => null}</Answer>;
  const span: Span = { start: Math.min(...spans.map((s) => s.start_ns)), end: Math.max(...spans.map((s) => s.end_ns), 1) };
  return (
    <>
      <p class="note">Each begins at its own start; both have the same scale of time.{axis.value ? "" : " This source has no time."}</p>
      <Stack side={a} name={"A " + a.name} span={span} />
      <Stack side={b} name={"B " + b.name} span={span} />
    </>
  );
}

function Stack({ side, name, span }: { side: CompareSide; name: string; span: Span }) {
  const box = useRef<HTMLDivElement>(null), width = useWidth(box);
  const points = Math.ceil(Math.max(200, width) / 100) * 100;
  const asked = useAnswer("lanes", { s: side.source, keys, w: points, t0: Math.round(span.start), t1: Math.round(span.end) }, width > 0);
  return (
    <div ref={box} class="lanebox">
      <Answer of={asked} source={side.source}>{(v) => v && <LaneStack lanes={(v.lanes ?? []).filter((l): l is Lane => l !== null)} span={{ start: v.span.start_ns, end: v.span.end_ns }} label={name} />}</Answer>
    </div>
  );
}
