/** Keeping up with a trace: its lanes at first, and again when there is more of it. */
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../../api/client.ts";
import type { Stage } from "./stage.ts";

/** wait is how long after an answer the next one is asked for, while the trace is read: it is read for as long as somebody asks. */
const wait = 700;

/** useLanes loads the lanes of a stage, and again when news says that there are others; "waiting", a problem, or null when they are there. */
export function useLanes(stage: Stage, news: string): "waiting" | Problem | null {
  const [state, setState] = useState<"waiting" | Problem | null>("waiting");
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    const turn = (): void => {
      load(stage, abort.signal).then((done) => {
        setState(null);
        if (done < 1 && !abort.signal.aborted) timer = setTimeout(turn, wait);
      }, (e: unknown) => {
        if (!abort.signal.aborted) setState(e instanceof Problem ? e : new Problem(String(e), false));
      });
    };
    // News may come faster than it can be shown.
    timer = setTimeout(turn, stage.lanes.info ? 150 : 0);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [stage, news]);
  return state;
}

/** load asks for the lanes, and returns how much of the trace is read. What is seen goes on with the end of the trace when that was seen. */
async function load(stage: Stage, signal: AbortSignal): Promise<number> {
  const before = stage.lanes.info, atEnd = before !== null && stage.seen.end >= stage.all.end, whole = atEnd && stage.seen.start <= stage.all.start;
  const info = await stage.lanes.load(signal);
  if (!info || signal.aborted) return 1;
  stage.done.value = info.done;
  if (before && before.version === info.version && before.span.end_ns === info.span.end_ns) return info.done;
  // Tiles of an earlier version of the same trace are mostly what they were.
  stage.cache.renew(info.version, before !== null && before.version > 0 && info.version > before.version);
  stage.runs.forget();
  stage.cache.minLevel = info.minLevel;
  stage.cache.top = info.top;
  const grown = info.span.end_ns - stage.all.end;
  stage.all = { start: info.span.start_ns, end: info.span.end_ns };
  if (before && grown > 0 && atEnd) {
    const v = stage.view;
    stage.show(whole ? { ...v, start: stage.all.start, perPx: (stage.all.end - stage.all.start) / v.width } : { ...v, start: v.start + grown });
  }
  stage.reshape();
  return info.done;
}
