/** Where weight goes: every profile of a source and what its trace tells, as flame graph, call graph, tables and source. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { address, type Params } from "../../api/client.ts";
import type { WeightKind } from "../../api/types.ts";
import { say, typing } from "../../base/dom.ts";
import { exactSpan, parseSpan } from "../../base/units.ts";
import { localCommands } from "../../model/commands.ts";
import { keys as single } from "../../model/keys.ts";
import { param, range, rangeParams, set } from "../../model/route.ts";
import { list } from "../../model/source.ts";
import { Lanes } from "../../tracks/lanes.tsx";
import { Answer, Trouble, useAnswer, Waiting } from "../../widgets/ask.tsx";
import { Tabs } from "../../widgets/tabs.tsx";
import type { PanelProps } from "../panel.ts";
import { FlameCanvas, Legend, type Colouring } from "./flame.tsx";
import { Graph } from "./graph.tsx";
import { Differences, Labels, Peek, Top } from "./lists.tsx";
import { chainTo, change, either, exactly, share, weight } from "./model.ts";
import { Source } from "./source.tsx";

const tabs = ["flame", "graph", "top", "sandwich", "peek", "source", "labels", "diff"] as const;
const tabNames: Record<string, string> = { flame: "Flame", graph: "Graph", top: "Top", sandwich: "Sandwich", peek: "Peek", source: "Source", labels: "Labels", diff: "Differences" };
const filters = ["focus", "ignore", "hide", "show", "tagfocus", "tagignore"] as const;
const filterHelp: Record<string, string> = {
  focus: "stacks with a matching function", ignore: "no stacks with a matching function", hide: "hide matching functions; their value goes to the caller",
  show: "only matching functions", tagfocus: "samples with a matching label, key=value", tagignore: "no samples with a matching label",
};

export function Profile({ source }: PanelProps) {
  const kinds = useAnswer("profile/kinds", { s: source.id });
  return (
    <>
      <h1 class="unseen">Profile</h1>
      <Answer of={kinds} source={source.id}>{(all) => <Weights source={source.id} kinds={all ?? []} />}</Answer>
    </>
  );
}

/** params are those of every question about the weights that the address chooses. */
function params(source: string, kind: WeightKind): Params {
  const p: Record<string, string | number | undefined> = { s: source, p: kind.key, type: param("type") || kind.type, ...rangeParams() };
  for (const f of filters) p[f] = param(f) || undefined;
  if (param("bp")) {
    const r = parseSpan(param("bt"));
    Object.assign(p, { bs: param("bs") || undefined, bp: param("bp"), norm: param("norm") || undefined, bt0: r?.start, bt1: r?.end });
  }
  if (param("inlines") === "0") p["noinlines"] = "true";
  return p;
}

function Weights({ source, kinds }: { source: string; kinds: readonly WeightKind[] }) {
  const kind = kinds.find((k) => k.key === param("p")) ?? kinds.find((k) => k.kind === param("kind")) ?? kinds[0]!;
  const tab = (tabs as readonly string[]).includes(param("tab")) ? param("tab") : "flame";
  const comparing = param("bp") !== "";
  const asks = params(source, kind), f = param("f"), search = param("q");
  const [dialog, setDialog] = useState(false);
  const box = useRef<HTMLDivElement>(null);

  const choose = (name: string, to?: string): void => set({ f: name, tab: to === "flame" ? undefined : to ?? (tab === "flame" ? undefined : tab) });
  const goTab = (to: string): void => set({ tab: to === "flame" ? undefined : to });
  const onKey = (key: string, name: string): boolean => {
    const fn = name || f;
    switch (key) {
      case "f": if (fn) set({ focus: exactly(fn), at: undefined, f: fn }); else say("choose a function first"); return true;
      case "c": if (fn) set({ hide: either(param("hide"), exactly(fn)), at: undefined }); else say("choose a function first"); return true;
      case "i": set({ inv: param("inv") ? undefined : "1", at: undefined }); return true;
      case "x": if (fn) set({ f: fn, tab: "sandwich" }); else goTab("sandwich"); return true;
      case "d": setDialog(!dialog); return true;
    }
    const n = Number(key);
    if (n >= 1 && n <= (comparing ? 8 : 7)) {
      if (name) set({ f: name, tab: n === 1 ? undefined : tabs[n - 1] });
      else goTab(tabs[n - 1]!);
      return true;
    }
    return false;
  };
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const act = (key: string) => () => void latest.current(key, "");
    localCommands.value = [
      ...tabs.slice(0, 7).map((t, i) => ({ name: "Profile as " + tabNames[t]!.toLowerCase(), keys: String(i + 1), run: act(String(i + 1)) })),
      { name: "Focus on the function", keys: "f", run: act("f") },
      { name: "Collapse the function into its callers", keys: "c", run: act("c") },
      { name: "Invert the flame graph: callers below", keys: "i", run: act("i") },
      { name: "Callers and callees of the function", keys: "x", run: act("x") },
      { name: "Compare with another profile", keys: "d", run: act("d") },
      { name: "Walk through boxes: callers, callees, neighbours", keys: "arrows", run: () => document.querySelector<HTMLElement>(".pflame canvas")?.focus() },
      { name: "Zoom into a box, and out again", keys: "Enter Backspace", run: () => document.querySelector<HTMLElement>(".pflame canvas")?.focus() },
    ];
    return () => void (localCommands.value = []);
  }, []);
  const keys = (e: KeyboardEvent): void => {
    if (typing(e) || e.ctrlKey || e.metaKey || e.altKey || !single.value.on || !onKey(e.key, "")) return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div ref={box} onKeyDown={keys}>
      <Bar kind={kind} kinds={kinds} asks={asks} onCompare={() => setDialog(!dialog)} comparing={comparing} />
      {dialog || comparing ? <CompareBar source={source} kind={kind} onClose={() => setDialog(false)} /> : null}
      <Filters />
      {kind.timed ? <details open={param("lane") !== "0"} onToggle={(e) => { const shut = !e.currentTarget.open; if (shut !== (param("lane") === "0")) set({ lane: shut ? "0" : undefined }, true); }}>
        <summary class="muted">Select a time range</summary>
        <Lanes source={source} keys={["states"]} label="What goroutines did" within={kind.span.end_ns > kind.span.start_ns ? { start: kind.span.start_ns, end: kind.span.end_ns } : null} />
      </details> : range.value ? (
        <p class="note">The range {exactSpan(range.value)} does not apply: a profile has no timestamps. {kinds.some((k) => k.timed) ? <>The execution trace has: <button type="button" class="quiet" onClick={() => set({ p: "trace/running", type: undefined })}>running</button> <button type="button" class="quiet" onClick={() => set({ p: "trace/offcpu", type: undefined })}>off-CPU</button></> : "An execution trace would have them: loupe run -phases bare,trace."}</p>
      ) : null}
      <Tabs label="views of the profile" value={tab} onChange={goTab}
        of={tabs.filter((t) => t !== "diff" || comparing).map((t) => ({ id: t, name: tabNames[t]! }))} />
      {kind.error ? <p class="trouble">{kind.error}</p> :
        tab === "flame" ? <FlameTab asks={asks} f={f} search={search} onKey={onKey} choose={choose} kind={kind} /> :
        tab === "sandwich" ? <SandwichTab asks={asks} f={f} onKey={onKey} choose={choose} /> :
        tab === "graph" ? <GraphTab asks={asks} f={f} choose={choose} /> :
        tab === "top" ? <TopTab asks={asks} f={f} search={search} choose={choose} /> :
        tab === "peek" ? <PeekTab asks={asks} f={f} choose={choose} /> :
        tab === "source" ? <SourceTab asks={asks} f={f} choose={choose} /> :
        tab === "labels" ? <LabelsTab asks={asks} /> : <Differences params={asks} />}
    </div>
  );
}

function Bar({ kind, kinds, asks, comparing, onCompare }: { kind: WeightKind; kinds: readonly WeightKind[]; asks: Params; comparing: boolean; onCompare: () => void }) {
  const type = String(asks["type"]);
  const option = (k: WeightKind) => <option key={k.key} value={k.key}>{k.title}</option>;
  const plain = kinds.filter((k) => !k.timed), timed = kinds.filter((k) => k.timed);
  return (
    <div class="pbar">
      <label>Weights{" "}
        <select value={kind.key} onChange={(e) => set({ p: e.currentTarget.value, kind: undefined, type: undefined, at: undefined })}>
          {plain.length ? <optgroup label="profiles">{plain.map(option)}</optgroup> : null}
          {timed.length ? <optgroup label="from the execution trace, by range">{timed.map(option)}</optgroup> : null}
        </select>
      </label>
      {(kind.types?.length ?? 0) > 1 ? (
        <label>by{" "}
          <select value={type} onChange={(e) => set({ type: e.currentTarget.value, at: undefined })}>
            {kind.types!.map((t) => <option key={t.type} value={t.type}>{t.type}{t.total ? " (" + t.total + ")" : ""}</option>)}
          </select>
        </label>
      ) : null}
      <Search />
      <span class="grow" />
      <button type="button" aria-pressed={comparing} onClick={onCompare}>Compare …</button>
      <details class="pmenu">
        <summary>Save</summary>
        <div>
          {([["pb.gz", "as a profile (.pb.gz)"], ["html", "flame graph as one page"], ["flame.svg", "flame graph as SVG"], ["svg", "call graph as SVG"], ["csv", "functions as CSV"], ["txt", "top as text"], ["folded", "folded stacks"]] as const).map(([as, name]) => (
            <a key={as} href={address("profile/file", { ...asks, as })} download>{name}</a>
          ))}
        </div>
      </details>
    </div>
  );
}

/** Search is what is searched for in all views. It is part of the address, once typing pauses. */
function Search() {
  const [text, setText] = useState<string | null>(null);
  const timer = useRef(0);
  return (
    <input type="search" aria-label="search functions" placeholder="Search functions" value={text ?? param("q")} onBlur={() => setText(null)}
      onInput={(e) => {
        const v = e.currentTarget.value;
        setText(v);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => set({ q: v }, true), 120);
      }} />
  );
}

/** Filters shows what restricts the stacks, and takes more. */
function Filters() {
  const [name, setName] = useState("focus");
  const [text, setText] = useState("");
  const there = filters.filter((f) => param(f));
  return (
    <form class="pfilters" onSubmit={(e) => {
      e.preventDefault();
      if (!text.trim()) return;
      set({ [name]: name === "hide" || name === "ignore" ? either(param(name), text.trim()) : text.trim(), at: undefined });
      setText("");
    }}>
      <label><span class="unseen">filter</span>
        <select value={name} title={filterHelp[name]} onChange={(e) => setName(e.currentTarget.value)}>{filters.map((f) => <option key={f} value={f} title={filterHelp[f]}>{f}</option>)}</select>
      </label>
      <input aria-label={name + ": " + filterHelp[name]} placeholder={filterHelp[name]} value={text} onInput={(e) => setText(e.currentTarget.value)} />
      <button type="submit">Apply</button>
      {there.map((f) => (
        <span class="chip" key={f}>{f} <code title={param(f)}>{param(f)}</code><button type="button" class="quiet" aria-label={"remove " + f} onClick={() => set({ [f]: undefined, at: undefined })}>✕</button></span>
      ))}
    </form>
  );
}

/** CompareBar chooses what is compared with: a profile of this or another source, or another range of the trace. */
function CompareBar({ source, kind, onClose }: { source: string; kind: WeightKind; onClose: () => void }) {
  const other = param("bs") || source;
  const asked = useAnswer("profile/kinds", { s: other });
  const fitting = (asked.value ?? []).filter((k) => k.types?.some((t) => kind.types?.some((o) => o.type === t.type)) && !(other === source && k.key === kind.key && !k.timed));
  const chosen = fitting.find((k) => k.key === param("bp"));
  const sources = list.value?.sources ?? [];
  const same = kind.timed && chosen?.timed && other === source;
  return (
    <div class="pbar" role="group" aria-label="compare with">
      <span>Compared with</span>
      {sources.length > 1 ? (
        <select aria-label="source to compare with" value={other} onChange={(e) => set({ bs: e.currentTarget.value === source ? undefined : e.currentTarget.value, bp: undefined })}>
          {sources.map((s) => <option key={s.id} value={s.id}>{s.id === source ? "this source" : s.name}</option>)}
        </select>
      ) : null}
      <select aria-label="profile to compare with" value={chosen?.key ?? ""} onChange={(e) => set({ bp: e.currentTarget.value || undefined, by: e.currentTarget.value ? "diff" : undefined, at: undefined })}>
        <option value="">{asked.loading && !asked.value ? "…" : fitting.length ? "choose a profile" : "no profile of this kind"}</option>
        {fitting.map((k) => <option key={k.key} value={k.key}>{k.title}</option>)}
      </select>
      {same ? (
        <label>range{" "}
          <input key={param("bt")} defaultValue={param("bt")} placeholder="1.2s-3.4s" size={16} onChange={(e) => set({ bt: parseSpan(e.currentTarget.value) ? e.currentTarget.value : undefined })} />
        </label>
      ) : null}
      {chosen ? <label><input type="checkbox" checked={param("norm") !== ""} onChange={(e) => set({ norm: e.currentTarget.checked ? "1" : undefined })} /> as shares: scaled to the same total</label> : null}
      <button type="button" class="quiet" onClick={() => { set({ bs: undefined, bp: undefined, bt: undefined, norm: undefined, by: undefined, tab: param("tab") === "diff" ? undefined : param("tab") || undefined }); onClose(); }}>End comparison</button>
    </div>
  );
}

interface TabProps {
  readonly asks: Params;
  readonly f: string;
  readonly choose: (name: string, to?: string) => void;
}

/** Chosen names the function that is looked at, and what can be done with it. */
function Chosen({ f, choose }: { f: string; choose: (name: string, to?: string) => void }) {
  if (!f) return null;
  return (
    <div class="pchosen">
      <code>{f}</code>
      <button type="button" onClick={() => set({ focus: exactly(f), at: undefined })}>Focus</button>
      <button type="button" onClick={() => set({ hide: either(param("hide"), exactly(f)), at: undefined })}>Collapse</button>
      <button type="button" onClick={() => set({ ignore: either(param("ignore"), exactly(f)), at: undefined })}>Ignore</button>
      {(["sandwich", "peek", "source"] as const).map((t) => (param("tab") === t ? null : <button type="button" key={t} onClick={() => choose(f, t)}>{tabNames[t]}</button>))}
      <button type="button" class="quiet" aria-label="clear the function" onClick={() => set({ f: undefined })}>✕</button>
    </div>
  );
}

function About({ of: w, base, baseShown, matched }: { of: { shown: string; type: string; covers: string; part: number; part_shown: string; total: number; diff: boolean; notes: string[] | null }; base?: number; baseShown?: string; matched?: string }) {
  return (
    <p class="pabout">
      <b>{w.diff ? w.part_shown : w.shown}</b>
      {w.diff && base !== undefined ? <span>before {baseShown}, <span class={w.part > base ? "worse" : "better"}>{change(w.part, base)}</span></span> : null}
      <span>{w.type}</span>
      {!w.diff && w.part !== w.total ? <span>{w.part_shown} of it ({share(w.part, w.total)}) passes the filters</span> : null}
      {matched ? <span>{matched}</span> : null}
      <span class="muted">{w.covers}</span>
    </p>
  );
}

function Notes({ of }: { of: readonly string[] | null }) {
  return <>{(of ?? []).map((n) => <p class="note" key={n}>{n}</p>)}</>;
}

function useWidth(): [{ current: HTMLDivElement | null }, number] {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(() => setWidth(Math.ceil((ref.current?.clientWidth ?? 0) / 100) * 100));
    if (ref.current) watch.observe(ref.current);
    return () => watch.disconnect();
  }, []);
  return [ref, width];
}

function FlameTab({ asks, f, search, choose, onKey, kind }: TabProps & { search: string; onKey: (key: string, name: string) => boolean; kind: WeightKind }) {
  const [ref, width] = useWidth();
  const [hovered, setHovered] = useState("");
  const asked = useAnswer("profile/flame", { ...asks, width, zoom: param("at"), inverted: param("inv"), q: search, group: param("group") }, width > 0);
  const top = useAnswer("profile/top", asks);
  const flame = asked.value, path = flame?.path ?? [];
  const colours: Colouring = param("by") === "self" ? "self" : param("by") === "diff" && flame?.diff ? "diff" : "class";
  const pattern = useMemo(() => expression(search), [search]);
  return (
    <div ref={ref} aria-busy={asked.loading}>
      {flame ? <About of={flame} base={flame.base} baseShown={flame.base_shown} {...(search ? { matched: `${flame.matched_shown} (${share(flame.matched, flame.total)}) matches the search` } : {})} /> : null}
      <div class="pbar">
        <button type="button" aria-pressed={param("inv") !== ""} onClick={() => set({ inv: param("inv") ? undefined : "1", at: undefined })}>Inverted</button>
        <label>colours{" "}
          <select value={colours} onChange={(e) => set({ by: e.currentTarget.value === "class" ? undefined : e.currentTarget.value })}>
            <option value="class">owner of the code</option><option value="self">flat value</option>{flame?.diff ? <option value="diff">difference</option> : null}
          </select>
        </label>
        <label>boxes{" "}
          <select value={param("group")} onChange={(e) => set({ group: e.currentTarget.value, at: undefined })}>
            <option value="">functions</option><option value="recursion">recursion folded</option><option value="package">packages</option>
          </select>
        </label>
        <label><input type="checkbox" checked={param("inlines") !== "0"} onChange={(e) => set({ inlines: e.currentTarget.checked ? undefined : "0", at: undefined })} /> inlined calls</label>
        <span class="grow" />
        <button type="button" onClick={() => set({ tab: "top" })}>View as table</button>
      </div>
      {path.length ? (
        <nav aria-label="zoomed into"><ol class="pcrumbs">
          <li><button type="button" class="quiet" onClick={() => set({ at: undefined })}>all</button></li>
          {path.map((s, i) => (path.length > 8 && i > 1 && i < path.length - 4 ? (i === 2 ? <li key={s.hash} class="muted">…</li> : null) : (
            <li key={s.hash}><button type="button" class="quiet" aria-current={i === path.length - 1 ? "true" : undefined} title={s.name + " " + s.shown} onClick={() => set({ at: chainTo(param("at"), path, i) })}>{s.name.slice(s.name.lastIndexOf("/") + 1)}</button></li>
          )))}
        </ol></nav>
      ) : null}
      {flame?.lost ? <p class="note">The box that the address zooms into is not in this view.</p> : null}
      {flame?.views?.[0] ? (
        <FlameCanvas of={flame} view={0} label={(param("inv") ? "inverted flame graph of " : "flame graph of ") + kind.title} colours={colours} chosen={f} hovered={hovered} onHover={setHovered} onChoose={(n) => choose(n)} onKey={onKey}
          onZoom={(hash) => { const last = param("at").split(".").pop(); if (hash !== last) set({ at: [param("at"), hash].filter(Boolean).join(".") }); }}
          onUp={(k) => set({ at: k < 0 ? undefined : chainTo(param("at"), path, k) })} />
      ) : asked.error ? <Trouble of={asked.error} /> : <Waiting source={String(asks["s"])} />}
      {flame ? <Legend of={flame} colours={colours} /> : null}
      <Chosen f={f} choose={choose} />
      {top.value && flame ? <Top of={top.value} rows={10} chosen={f || hovered} search={pattern} onChoose={(n) => choose(n)} onHover={setHovered} /> : null}
      {flame ? <Notes of={(flame.notes ?? []).filter((n) => !top.value?.table?.notes?.includes(n))} /> : null}
    </div>
  );
}

/** expression is what is searched for, as the server reads it: capitals count when there are any. */
function expression(text: string): RegExp | null {
  if (!text) return null;
  const flags = text === text.toLowerCase() ? "i" : "";
  try {
    return new RegExp(text, flags);
  } catch {
    return new RegExp(text.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&"), flags);
  }
}

/** Wanted asks for a function where none is chosen. */
function Wanted({ asks, choose }: { asks: Params; choose: (name: string, to?: string) => void }) {
  const top = useAnswer("profile/top", asks);
  return (
    <>
      <p>Choose a function.</p>
      <Answer of={top} source={String(asks["s"])}>{(r) => <Top of={r!} rows={20} chosen="" search={null} onChoose={(n) => choose(n)} />}</Answer>
    </>
  );
}

function SandwichTab({ asks, f, choose, onKey }: TabProps & { onKey: (key: string, name: string) => boolean }) {
  const [ref, width] = useWidth();
  const [hovered, setHovered] = useState("");
  const asked = useAnswer("profile/flame", { ...asks, width, view: "sandwich", f, q: param("q") }, width > 0 && f !== "");
  const colours: Colouring = asked.value?.diff ? "diff" : "class";
  const part = (flame: NonNullable<typeof asked.value>, view: number, title: string, nobody: string) => (
    <section>
      <h2 class="ph">{title}</h2>
      {flame.views?.[view]?.name?.length ? (
        <FlameCanvas of={flame} view={view} rows={14} label={title} colours={colours} chosen="" hovered={hovered} onHover={setHovered} onChoose={(n) => choose(n)} onKey={onKey} />
      ) : <p class="muted">{nobody}</p>}
    </section>
  );
  return (
    <div ref={ref} aria-busy={asked.loading}>
      <Chosen f={f} choose={choose} />
      {!f ? <Wanted asks={asks} choose={choose} /> : (
        <Answer of={asked} source={String(asks["s"])}>
          {(flame) => (
            <>
              <About of={flame!} base={flame!.base} baseShown={flame!.base_shown} matched={`${weight(flame!.views?.[1]?.total ?? 0, flame!.unit)} (${share(flame!.views?.[1]?.total ?? 0, flame!.total)}) goes through this function`} />
              <div class="psplit">
                {part(flame!, 0, "Callers, nearest on top", "It does not occur in this view.")}
                {part(flame!, 1, "What it calls", "It does not occur in this view.")}
              </div>
              <Legend of={flame!} colours={colours} />
            </>
          )}
        </Answer>
      )}
    </div>
  );
}

function GraphTab({ asks, f, choose }: TabProps) {
  const n = Number(param("n")) || 60;
  const asked = useAnswer("profile/graph", { ...asks, n });
  return (
    <Answer of={asked} source={String(asks["s"])}>
      {(g) => (
        <>
          <About of={g!} />
          <label class="muted">at most <input type="number" min={5} max={400} step={5} value={n} onChange={(e) => set({ n: e.currentTarget.value })} /> functions</label>
          <Chosen f={f} choose={choose} />
          <Graph of={g!} chosen={f} onChoose={(name) => choose(name)} />
          <Notes of={g!.notes} />
        </>
      )}
    </Answer>
  );
}

function TopTab({ asks, f, search, choose }: TabProps & { search: string }) {
  const asked = useAnswer("profile/top", asks);
  const pattern = useMemo(() => expression(search), [search]);
  return (
    <Answer of={asked} source={String(asks["s"])}>
      {(r) => (
        <>
          <About of={r!} />
          <Chosen f={f} choose={choose} />
          <Top of={r!} rows={24} chosen={f} search={pattern} onChoose={(n) => choose(n)} />
          <Notes of={r!.notes} />
        </>
      )}
    </Answer>
  );
}

function PeekTab({ asks, f, choose }: TabProps) {
  const asked = useAnswer("profile/peek", { ...asks, f }, f !== "");
  if (!f) return <Wanted asks={asks} choose={choose} />;
  return <><Chosen f={f} choose={choose} /><Answer of={asked}>{(p) => <><About of={p!} /><Peek of={p!} onChoose={(n) => choose(n)} /></>}</Answer></>;
}

function SourceTab({ asks, f, choose }: TabProps) {
  const asked = useAnswer("profile/source", { ...asks, f }, f !== "");
  if (!f) return <Wanted asks={asks} choose={choose} />;
  return <><Chosen f={f} choose={choose} /><Answer of={asked} source={String(asks["s"])}>{(s) => <><About of={s!} /><Source of={s!} /><Notes of={s!.notes} /></>}</Answer></>;
}

function LabelsTab({ asks }: { asks: Params }) {
  const asked = useAnswer("profile/labels", asks);
  return <Answer of={asked}>{(l) => <><About of={l!} /><Labels of={l!} onFilter={(filter) => { set({ tagfocus: filter, at: undefined }); }} /></>}</Answer>;
}

