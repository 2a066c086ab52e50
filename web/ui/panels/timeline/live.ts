/** Keeping up with a trace: its lanes at first, and again when there is more of it. */
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../../api/client.ts";
import type { Stage } from "./stage.ts";

/** useLanes loads the lanes of a stage, and again for another version of the source; "waiting", a problem, or null when they are there. */
export function useLanes(stage: Stage, version: number): "waiting" | Problem | null {
  const [state, setState] = useState<"waiting" | Problem | null>("waiting");
  useEffect(() => {
    const abort = new AbortController();
    load(stage, abort.signal).then(() => setState(null), (e: unknown) => {
      if (!abort.signal.aborted) setState(e instanceof Problem ? e : new Problem(String(e), false));
    });
    return () => abort.abort();
  }, [stage, version]);
  return state;
}

/** load asks for the lanes. What is seen goes on with the end of the trace when that was seen. */
async function load(stage: Stage, signal: AbortSignal): Promise<void> {
  const before = stage.lanes.info?.version ?? 0, first = stage.lanes.info === null;
  const atEnd = !first && stage.seen.end >= stage.all.end, whole = atEnd && stage.seen.start <= stage.all.start;
  const info = await stage.lanes.load(signal);
  if (!info || signal.aborted) return;
  // Tiles of an earlier snapshot of the same trace are mostly what they were.
  stage.cache.renew(info.version, before > 0 && info.version > before);
  stage.cache.minLevel = info.minLevel;
  stage.cache.top = info.top;
  const grown = info.span.end_ns - stage.all.end;
  stage.all = { start: info.span.start_ns, end: info.span.end_ns };
  if (!first && grown > 0 && atEnd) {
    const v = stage.view;
    stage.show(whole ? { ...v, start: stage.all.start, perPx: (stage.all.end - stage.all.start) / v.width } : { ...v, start: v.start + grown });
  }
  stage.reshape();
}
