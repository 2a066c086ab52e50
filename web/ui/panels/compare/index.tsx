/** The compare view: two of anything that is open, side by side, with verdicts. */
import { useEffect } from "preact/hooks";
import type { CompareSide } from "../../api/types.ts";
import { localCommands } from "../../model/commands.ts";
import { param, range, set } from "../../model/route.ts";
import { Answer, Empty, useAnswer } from "../../widgets/ask.tsx";
import { BenchTables } from "../../widgets/benchtable.tsx";
import { FactPage } from "../../widgets/facts.tsx";
import { Tabs } from "../../widgets/tabs.tsx";
import type { PanelProps } from "../panel.ts";
import { Figures, LoadRuns } from "./figures.tsx";
import { Aligned } from "./aligned.tsx";
import { Profiles } from "./profiles.tsx";

/** sort tells whether a side has entries of a kind; "pprof." stands for all profiles. */
const sort = (s: CompareSide, kind: string): boolean => (s.kinds ?? []).some((k) => k === kind || kind.endsWith(".") && k.startsWith(kind));

/** recorded tells whether there are rounds or findings to lay side by side, as in a recording. */
const recorded = (s: CompareSide): boolean => (s.kinds ?? []).some((k) => k !== "benchmarks") && !s.id.includes("/");

const parts: readonly { id: string; name: string; both: (s: CompareSide) => boolean }[] = [
  { id: "figures", name: "Figures and findings", both: recorded },
  { id: "loads", name: "Load", both: (s) => sort(s, "load") },
  { id: "profiles", name: "Profiles", both: (s) => sort(s, "pprof.") },
  { id: "traces", name: "Traces", both: (s) => sort(s, "exectrace") },
  { id: "benchmarks", name: "Benchmarks", both: (s) => sort(s, "benchmarks") },
  { id: "time", name: "Over time", both: recorded },
];

export function Compare({ source }: PanelProps) {
  const sides = useAnswer("compare/sides", { s: source.id, a: param("a"), b: param("b") });
  return (
    <>
      <h1>Compare</h1>
      <Answer of={sides}>{(list) => list && <Pair of={list} source={source.id} />}</Answer>
    </>
  );
}

/** alike is what two sides have in common. */
const alike = (a: CompareSide, b: CompareSide): typeof parts => parts.filter((p) => p.both(a) && p.both(b));

function Pair({ of: list, source }: { of: readonly CompareSide[]; source: string }) {
  const usable = list.filter((s) => !s.broken);
  const named = (id: string): CompareSide | undefined => usable.find((s) => s.id === id) ?? usable.find((s) => s.source === id);
  // What was opened first is taken to be the older one.
  const here = usable.find((s) => s.id === source) ?? usable.find((s) => s.source === source);
  const partner = here && usable.find((s) => s.id !== here.id && alike(here, s).length > 0);
  const first = here && partner ? (usable.indexOf(here) < usable.indexOf(partner) ? [here, partner] : [partner, here]) : [here, partner];
  const a = named(param("a")) ?? (param("b") ? usable.find((s) => s.id !== param("b")) : first[0]);
  const b = named(param("b")) ?? (a && a !== first[1] ? first[1] : usable.find((s) => s.id !== a?.id));
  const both = a && b ? alike(a, b) : [];
  const tab = both.find((p) => p.id === param("tab")) ?? both[0];
  const ids = { a: a?.id ?? "", b: b?.id ?? "" };
  const swap = (): void => set({ a: ids.b, b: ids.a });
  useEffect(() => {
    localCommands.value = [{ name: "Compare: swap A and B", run: swap }, ...both.map((p) => ({ name: "Compare: " + p.name, run: () => set({ tab: p.id }) }))];
    return () => { localCommands.value = []; };
  }, [ids.a, ids.b]);
  if (usable.length < 2) {
    return <Empty><p>There is nothing to compare this with. Open two or more: <code>loupe open before after</code>, <code>loupe open old.pb.gz new.pb.gz</code>, or a folder of recordings.</p></Empty>;
  }
  const pick = (which: "a" | "b", value: CompareSide | undefined): preact.JSX.Element => (
    <label class="cmp-pick">
      <span><b>{which.toUpperCase()}</b> {which === "a" ? "before" : "after"}</span>
      <select value={value?.id ?? ""} onChange={(e) => set({ ...ids, [which]: e.currentTarget.value })}>
        {list.map((s) => <option key={s.id} value={s.id} disabled={!!s.broken}>{s.name}{s.broken ? " (cannot be opened)" : ""}</option>)}
      </select>
    </label>
  );
  return (
    <>
      <div class="cmp-pair">
        {pick("a", a)}
        <button type="button" onClick={swap} aria-label="swap A and B" title="swap A and B">⇄</button>
        {pick("b", b)}
      </div>
      {!a || !b || a === b ? <p class="muted">Select two different sources.</p> : both.length === 0 ? (
        <Empty><p>These two have nothing in common that could be compared: one has {words(a)}, the other {words(b)}.</p></Empty>
      ) : (
        <>
          {both.length > 1 ? <Tabs label="what is compared" of={both} value={tab!.id} onChange={(id) => set({ tab: id })} /> : null}
          {range.value && tab!.id !== "time" ? <p class="note">Two recordings have separate time axes: each is compared as a whole, and the selected range does not apply.</p> : null}
          <div role={both.length > 1 ? "tabpanel" : undefined} aria-label={both.length > 1 ? tab!.name : undefined} key={ids.a + " " + ids.b}>
            <h2 class="unseen">{tab!.name}</h2>
            {tab!.id === "figures" ? <Figures a={a} b={b} /> : null}
            {tab!.id === "loads" ? <LoadRuns a={a} b={b} /> : null}
            {tab!.id === "profiles" ? <Profiles a={a} b={b} /> : null}
            {tab!.id === "traces" ? <Traces {...ids} /> : null}
            {tab!.id === "benchmarks" ? <Benchmarks {...ids} /> : null}
            {tab!.id === "time" ? <Aligned a={a} b={b} /> : null}
          </div>
        </>
      )}
    </>
  );
}

const words = (s: CompareSide): string => {
  const all = [...new Set((s.kinds ?? []).map((k) => k.startsWith("pprof.") ? "profiles" : k === "exectrace" ? "an execution trace" : k === "stderr" ? "a log of the runtime" : k === "load" ? "a load run" : k))];
  return all.length ? all.join(", ") : "nothing";
};

function Traces({ a, b }: { a: string; b: string }) {
  const asked = useAnswer("compare/traces", { a, b });
  return <Answer of={asked}>{(page) => page && <div class="cmp-facts"><FactPage of={page} /></div>}</Answer>;
}

function Benchmarks({ a, b }: { a: string; b: string }) {
  const asked = useAnswer("compare/benchmarks", { a, b, ignore: param("ignore") });
  return <Answer of={asked}>{(v) => v && <BenchTables of={v} unit="" query="" />}</Answer>;
}
