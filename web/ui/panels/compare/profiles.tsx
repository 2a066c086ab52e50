/** Two profiles of one kind, function by function, and what of the difference is more than chance. */
import type { CompareSide } from "../../api/types.ts";
import { param, set } from "../../model/route.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { FactPage } from "../../widgets/facts.tsx";

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
          </div>
          {d.page ? <div class="cmp-facts"><FactPage of={d.page} /></div> : null}
        </>
      )}
    </Answer>
  );
}
