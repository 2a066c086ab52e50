/** Both over time, one above the other, each from its own start and on one scale. */
import { useRef } from "preact/hooks";
import type { CompareSide, Lane } from "../../api/types.ts";
import type { Span } from "../../base/units.ts";
import { axis } from "../../model/source.ts";
import { oneScale } from "../../draw/lanes.ts";
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
  return <Pair a={a} b={b} span={span} />;
}

/** Pair asks for the lanes of both, and draws them when it knows how high both go. */
function Pair({ a, b, span }: { a: CompareSide; b: CompareSide; span: Span }) {
  const box = useRef<HTMLDivElement>(null), width = useWidth(box);
  const points = Math.ceil(Math.max(200, width) / 100) * 100;
  const of = (side: CompareSide) => useAnswer("lanes", { s: side.source, keys, w: points, t0: Math.round(span.start), t1: Math.round(span.end) }, width > 0);
  const asked = [of(a), of(b)] as const;
  const lanes = asked.map((x) => (x.value?.lanes ?? []).filter((l): l is Lane => l !== null));
  const ready = asked.every((x) => x.value || x.error);
  const scaled = oneScale(lanes[0]!, lanes[1]!, span);
  return (
    <div ref={box} class="lanebox">
      <p class="note">Each starts at its own beginning; both use the same time scale, and each lane of A has the scale of its counterpart in B.{axis.value ? "" : " This source has no timestamps."}</p>
      {[a, b].map((side, i) => (
        <Answer key={i} of={asked[i]!} source={side.source}>{(v) => v && ready && <LaneStack lanes={scaled[i]!} span={{ start: v.span.start_ns, end: v.span.end_ns }} label={"AB"[i] + " " + side.name} />}</Answer>
      ))}
    </div>
  );
}
