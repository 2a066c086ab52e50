/** What another GOGC or GOMEMLIMIT would do: the knobs, what they are predicted to do, and memory against CPU time. */
import { useRef, useState } from "preact/hooks";
import { isFile } from "../../api/held.ts";
import type { Advised, Knob, WhatIfPage } from "../../api/types.ts";
import { percent } from "../../base/units.ts";
import { param, rangeParams, set } from "../../model/route.ts";
import { TradeOffs } from "../../tracks/charts.tsx";
import { Answer, Trouble, useAnswer } from "../../widgets/ask.tsx";
import { Table } from "../../widgets/table.tsx";

export function WhatIf({ source }: { source: string }) {
  const page = useAnswer("gc/whatif", { s: source, ...rangeParams(), gogc: param("gogc"), limit: param("memlimit"), container: param("container") });
  const wrong = page.error && !page.error.missing ? page.error : null;
  const knobs = useRef<readonly Knob[]>([]); // they stay while what is typed is wrong
  if (page.value) knobs.current = page.value.knobs ?? [];
  return (
    <section aria-label="What if" class="gc-whatif">
      <h2>What another GOGC or GOMEMLIMIT would do</h2>
      {page.error?.missing ? <p class="muted">{page.error.message}</p> : (
        <>
          {isFile ? null : <Knobs of={knobs.current} wrong={!!wrong} />}
          {wrong ? <Trouble of={wrong} /> : <Answer of={page} source={source}>{(p) => p && <Predicted of={p} />}</Answer>}
        </>
      )}
    </section>
  );
}

/** keys are the names of the settings in the address of the page. */
const keys: Record<string, string> = { gogc: "gogc", limit: "memlimit" };

function Knobs({ of: knobs, wrong }: { of: readonly Knob[]; wrong: boolean }) {
  return (
    <div class="gc-knobs">
      {knobs.map((k) => <Slider key={k.name} of={k} wrong={wrong} />)}
      <Field name="container" label="recommend for a container of" shown={param("container")} hint="512MiB" wrong={wrong} size={8} />
    </div>
  );
}

/** Slider is a setting: a slider through the usual values, and a field that takes any. */
function Slider({ of: k, wrong }: { of: Knob; wrong: boolean }) {
  const steps = k.steps ?? [], name = keys[k.name] ?? k.name;
  const typed = param(name), chosen = steps[k.at] ?? "";
  // What is in the address counts before its answer has come.
  const named = steps.indexOf(typed), at = named >= 0 ? named : k.at;
  return (
    <div class="gc-knob" role="group" aria-label={k.label}>
      <label>{k.label} <input type="range" min={0} max={steps.length - 1} value={at} aria-valuetext={steps[at]} aria-label={k.label}
        onInput={(e) => set({ [name]: steps[Number(e.currentTarget.value)] }, true)} /></label>
      <Field name={name} label={k.label + ", typed"} shown={typed || chosen} wrong={wrong && typed !== ""} size={8} unseen />
    </div>
  );
}

/** Field is a setting that is typed, and asked about when it is left or entered. */
function Field({ name, label, shown, hint, wrong, size, unseen }: { name: string; label: string; shown: string; hint?: string; wrong: boolean; size: number; unseen?: boolean }) {
  const [text, setText] = useState<string | null>(null);
  const enter = (typed: string): void => {
    if (typed.trim() !== shown) set({ [name]: typed.trim() });
    setText(null);
  };
  return (
    <form onSubmit={(e) => { e.preventDefault(); enter((e.currentTarget.elements.namedItem(name) as HTMLInputElement).value); }}>
      <label>{unseen ? <span class="unseen">{label}</span> : label} <input name={name} size={size} value={text ?? shown} placeholder={hint ?? ""} autocomplete="off" spellcheck={false}
        aria-invalid={wrong && shown !== ""} onInput={(e) => setText(e.currentTarget.value)} onBlur={(e) => enter(e.currentTarget.value)} /></label>
    </form>
  );
}

function Predicted({ of: p }: { of: WhatIfPage }) {
  return (
    <>
      {p.advice ? <Advice of={p.advice} /> : null}
      <p role="status">{p.said}</p>
      <div class="gc-predicted">
        {p.figures ? <Table of={p.figures} rows={7} label={"Predicted for " + p.chosen.settings} bare /> : null}
        <p class={p.refused ? "gc-refused" : "muted"} role={p.refused ? "note" : undefined}>{p.grade}</p>
      </div>
      <TradeOffs of={p} label={`Peak heap against the GC share of the Ps: recorded ${Math.round(p.recorded.heap_mb)} MB and ${percent(p.recorded.share)}${p.refused ? "" : `, ${p.chosen.settings} ${Math.round(p.chosen.heap_mb)} MB and ${percent(p.chosen.share)}`}. The table has the values.`} />
      <p class="muted">Predicted from phase {p.title}; <code>loupe gc -what-if … -verify</code> runs the program to check, <code>loupe run -tune gc</code> tries what is recommended.</p>
      {p.table ? <Table of={p.table} rows={9} label="Predictions" /> : null}
    </>
  );
}

/** Advice is what to set in a container, and a button that sets it above; or why there is none. */
function Advice({ of: a }: { of: Advised }) {
  return (
    <p class="gc-advice">
      <strong>{a.said}</strong>{" "}
      {a.gogc && !isFile ? <button type="button" onClick={() => set({ gogc: a.gogc, memlimit: a.limit })}>Show GOGC={a.gogc} GOMEMLIMIT={a.limit}</button> : null}
    </p>
  );
}
