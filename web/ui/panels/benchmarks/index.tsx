/** The benchmarks view: outputs of go test -bench, as benchstat lays them side by side. */
import { useEffect } from "preact/hooks";
import type { BenchView } from "../../api/types.ts";
import { count } from "../../base/units.ts";
import { localCommands } from "../../model/commands.ts";
import { param, range, set } from "../../model/route.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { BenchTables } from "../../widgets/benchtable.tsx";
import { Tabs } from "../../widgets/tabs.tsx";
import type { PanelProps } from "../panel.ts";

export function Benchmarks({ source }: PanelProps) {
  const asked = useAnswer("benchmarks/tables", { s: source.id, ignore: param("ignore"), filter: param("filter") });
  return (
    <>
      <h1>Benchmarks</h1>
      <Answer of={asked} source={source.id}>{(v) => v && <Shown of={v} />}</Answer>
    </>
  );
}

function Shown({ of: v }: { of: BenchView }) {
  const units = [...new Set((v.tables ?? []).map((t) => t.unit))], files = v.files ?? [];
  const ignored = param("ignore").split(",").filter(Boolean), varying = [...new Set([...(v.varying ?? []), ...ignored])];
  const unit = units.includes(param("unit")) ? param("unit") : "";
  useEffect(() => {
    localCommands.value = [{ name: "Benchmarks: all units", run: () => set({ unit: undefined }) }, ...units.map((u) => ({ name: "Benchmarks: " + u, run: () => set({ unit: u }) }))];
    return () => { localCommands.value = []; };
  }, [v]);
  return (
    <>
      <p class="muted">
        {count(v.results)} results of {files.length === 1 ? files[0] : `${files.length} files; the others are compared with ${files[0]}`}. Medians with their intervals at 95%; “~” is a difference that may be chance (Mann and Whitney's test, p &gt; 0.05). The figures are those of benchstat.
        {range.value ? " Benchmarks have no timestamps: the selected range does not apply." : ""}
      </p>
      <div class="benchbar">
        <input type="search" aria-label="filter benchmarks by name" placeholder="Filter" value={param("q")} onInput={(e) => set({ q: e.currentTarget.value }, true)} />
        {varying.length ? (
          <fieldset>
            <legend>Tables differ in</legend>
            {varying.map((k) => (
              <label key={k}><input type="checkbox" checked={!ignored.includes(k)} onChange={(e) => set({ ignore: (e.currentTarget.checked ? ignored.filter((x) => x !== k) : [...ignored, k]).join(",") })} /> {k}</label>
            ))}
          </fieldset>
        ) : null}
      </div>
      {units.length > 1 ? <Tabs label="unit" of={[{ id: "", name: "All units" }, ...units.map((u) => ({ id: u, name: u }))]} value={unit} onChange={(u) => set({ unit: u })} /> : null}
      <BenchTables of={v} unit={unit} query={param("q")} />
    </>
  );
}
