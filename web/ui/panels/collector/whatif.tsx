/** What another GOGC or GOMEMLIMIT would do: the knobs, what they are predicted to do, and memory against CPU time. */
import { useState } from "preact/hooks";
import { isFile } from "../../api/held.ts";
import type { WhatIfPage } from "../../api/types.ts";
import { percent } from "../../base/units.ts";
import { param, rangeParams, set } from "../../model/route.ts";
import { TradeOffs } from "../../tracks/charts.tsx";
import { Answer, Trouble, useAnswer } from "../../widgets/ask.tsx";
import { Table } from "../../widgets/table.tsx";

/** steps are where the slider stops; the field takes any number. */
const steps = ["25", "50", "75", "100", "150", "200", "300", "400", "600", "800", "1600", "off"];

export function WhatIf({ source }: { source: string }) {
  const page = useAnswer("gc/whatif", { s: source, ...rangeParams(), gogc: param("gogc"), limit: param("memlimit"), container: param("container") });
  const wrong = page.error && !page.error.missing ? page.error : null;
  return (
    <section aria-label="What if" class="gc-whatif">
      <h2>What another GOGC or GOMEMLIMIT would do</h2>
      {page.error?.missing ? <p class="muted">{page.error.message}</p> : (
        <>
          {isFile ? null : <Knobs wrong={!!wrong} />}
          {wrong ? <Trouble of={wrong} /> : <Answer of={page} source={source}>{(p) => p && <Predicted of={p} />}</Answer>}
        </>
      )}
    </section>
  );
}

function Knobs({ wrong }: { wrong: boolean }) {
  const gogc = param("gogc", "200");
  const near = steps.reduce((best, s, i) => (distance(s, gogc) < distance(steps[best]!, gogc) ? i : best), 0);
  return (
    <div class="gc-knobs">
      <label>GOGC <input type="range" min={0} max={steps.length - 1} value={near} aria-valuetext={steps[near]} aria-label="GOGC"
        onInput={(e) => set({ gogc: steps[Number(e.currentTarget.value)] }, true)} /></label>
      <Field name="gogc" label="GOGC, typed" shown={gogc} wrong={wrong} size={5} />
      <Field name="memlimit" label="GOMEMLIMIT" shown={param("memlimit")} hint="400MiB" wrong={wrong} size={8} />
      <Field name="container" label="recommend for a container of" shown={param("container")} hint="512MiB" wrong={wrong} size={8} />
    </div>
  );
}

/** distance says how far a setting is from a step; off is beyond every number. */
function distance(step: string, text: string): number {
  const value = (t: string): number => Math.log(t === "off" ? 1e6 : Math.max(1, Number(t) || 100));
  return Math.abs(value(step) - value(text));
}

/** Field is a setting that is typed, and asked about when it is left or entered. */
function Field({ name, label, shown, hint, wrong, size }: { name: string; label: string; shown: string; hint?: string; wrong: boolean; size: number }) {
  const [text, setText] = useState<string | null>(null);
  const enter = (typed: string): void => {
    if (typed.trim() !== shown) set({ [name]: typed.trim() });
    setText(null);
  };
  return (
    <form onSubmit={(e) => { e.preventDefault(); enter((e.currentTarget.elements.namedItem(name) as HTMLInputElement).value); }}>
      <label>{name === "gogc" ? <span class="unseen">{label}</span> : label} <input name={name} size={size} value={text ?? shown} placeholder={hint ?? ""} autocomplete="off" spellcheck={false}
        aria-invalid={wrong && shown !== ""} onInput={(e) => setText(e.currentTarget.value)} onBlur={(e) => enter(e.currentTarget.value)} /></label>
    </form>
  );
}

function Predicted({ of: p }: { of: WhatIfPage }) {
  return (
    <>
      <p role="status">{p.said}</p>
      {p.choice ? <p><strong>{p.choice}</strong></p> : null}
      <TradeOffs of={p} label={`Peak heap against the GC share of the Ps: recorded ${Math.round(p.recorded.heap_mb)} MB and ${percent(p.recorded.share)}, ${p.chosen.settings} ${Math.round(p.chosen.heap_mb)} MB and ${percent(p.chosen.share)}. The table has the values.`} />
      <p class="muted">Predicted from phase {p.title}; <code>loupe gc -what-if … -verify</code> runs the program to check.</p>
      {p.table ? <Table of={p.table} rows={9} label="Predictions" /> : null}
    </>
  );
}
