/** Two profiles of one kind, function by function, and what of the difference is more than chance. */
import type { CompareDiff, CompareSide } from "../../api/types.ts";
import { formatRoute, param, set, type Route } from "../../model/route.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { FactPage } from "../../widgets/facts.tsx";

/** flameOf is the Profile view of B with A as what it is compared with. */
function flameOf(a: CompareSide, b: CompareSide, d: CompareDiff): Route {
  const params: Record<string, string> = { p: d.paths[1]!, bp: d.paths[0]!, by: "diff", type: d.type };
  if (a.source !== b.source) params["bs"] = a.source;
  if (param("normalize")) params["norm"] = "1";
  return { source: b.source, view: "profile", params };
}

export function Profiles({ a, b }: { a: CompareSide; b: CompareSide }) {
  const asked = useAnswer("compare/profiles", { a: a.id, b: b.id, kind: param("kind"), type: param("type"), per: param("per"), normalize: param("normalize"), cum: param("cum") });
  return (
    <Answer of={asked}>
      {(d) => d && (
        <>
          <div class="benchbar">
            {(d.kinds?.length ?? 0) > 1 ? (
              <label>Profile <select value={d.kind} onChange={(e) => set({ kind: e.currentTarget.value, type: undefined })}>{d.kinds!.map((k) => <option key={k} value={k}>{k.replace("pprof.", "")}</option>)}</select></label>
            ) : null}
            {(d.types?.length ?? 0) > 1 ? (
              <label>Type <select value={d.type} onChange={(e) => set({ type: e.currentTarget.value })}>{d.types!.map((k) => <option key={k} value={k}>{k}</option>)}</select></label>
            ) : null}
            <label>Per <select value={param("per")} onChange={(e) => set({ per: e.currentTarget.value })}><option value="">nothing</option><option value="second">second</option><option value="sample">sample</option></select></label>
            <label><input type="checkbox" checked={param("normalize") !== ""} onChange={(e) => set({ normalize: e.currentTarget.checked ? "1" : undefined })} /> scaled to the total of A</label>
            <label><input type="checkbox" checked={param("cum") !== ""} onChange={(e) => set({ cum: e.currentTarget.checked ? "1" : undefined })} /> by cumulative values</label>
            <a class="button" href={formatRoute(flameOf(a, b, d))}>Flame graphs of the difference</a>
          </div>
          {d.page ? <div class="cmp-facts"><FactPage of={d.page} /></div> : null}
        </>
      )}
    </Answer>
  );
}
