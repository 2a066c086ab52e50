/** What fills the memory of the program of a core, what holds it, and what has grown between two. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { CoreEnd } from "../../api/types.ts";
import { isFile } from "../../api/held.ts";
import { localCommands } from "../../model/commands.ts";
import { param, set } from "../../model/route.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { CoreSelect } from "../../widgets/cores.tsx";
import { Table } from "../../widgets/table.tsx";
import { Tabs } from "../../widgets/tabs.tsx";
import type { PanelProps } from "../panel.ts";
import { Held } from "./held.tsx";

export function Heap({ source }: PanelProps) {
  const ends = useAnswer("core/ends", { s: source.id });
  return (
    <div class="heap">
      <h1>Heap</h1>
      <Answer of={ends} source={source.id}>{(all) => <Shown source={source.id} cores={all ?? []} />}</Answer>
    </div>
  );
}

function Shown({ source, cores }: { source: string; cores: readonly CoreEnd[] }) {
  const core = param("core") || cores[0]?.path || "", hold = param("hold"), several = cores.length > 1;
  const tabs = [{ id: "types", name: "Types" }, { id: "texts", name: "Texts" }, ...(several ? [{ id: "growth", name: "Growth" }] : [])];
  const tab = tabs.find((t) => t.id === param("tab"))?.id ?? "types";
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    localCommands.value = [
      { name: "Who holds a type or an address", run: () => field.current?.focus() },
      { name: "Types with what they retain", run: () => set({ tab: undefined, retained: "1" }) },
      { name: "Long strings and duplicates", run: () => set({ tab: "texts" }) },
      ...(several ? [{ name: "What grew between two cores", run: () => set({ tab: "growth" }) }] : []),
    ];
    return () => (localCommands.value = []);
  }, [several]);
  return (
    <>
      <div class="gocontrols">
        {tab === "growth" ? null : <CoreSelect source={source} label="Heap of" value={core} onChange={(path) => set({ core: path, hold: undefined })} />}
        <Ask field={field} asked={hold} />
      </div>
      <Tabs label="what of the heap" value={tab} onChange={(id) => set({ tab: id === "types" ? undefined : id })} of={tabs} />
      {tab === "growth" ? <Growth source={source} cores={cores} /> : tab === "texts" ? <Texts source={source} core={core} /> : <Types source={source} core={core} />}
      {hold ? <Held source={source} core={tab === "growth" ? newer(cores) : core} what={hold} key={core + hold} /> : null}
    </>
  );
}

/** Ask asks by typing what holds something. */
function Ask({ field, asked }: { field: { current: HTMLInputElement | null }; asked: string }) {
  const [text, setText] = useState<string | null>(null);
  return (
    <form class="gofilter" onSubmit={(e) => {
      e.preventDefault();
      set({ hold: (text ?? asked).trim() || undefined });
      setText(null);
    }}>
      <label><span class="unseen">what holds</span>
        <input type="search" ref={field} placeholder="What holds … a type: server.Session, or an address: 0xc000123400; then Enter" value={text ?? asked} onInput={(e) => setText(e.currentTarget.value)} onBlur={() => setText(null)} /></label>
    </form>
  );
}

/** opens makes a row ask what holds the thing that one of its columns names. */
const opens = (t: { columns: readonly { key: string }[] | null; values: readonly (readonly unknown[] | null)[] | null }, key: string) => (row: number): void => {
  const value = String(t.values?.[row]?.[(t.columns ?? []).findIndex((c) => c.key === key)] ?? "");
  set({ hold: param("hold") === value ? undefined : value });
};

function Types({ source, core }: { source: string; core: string }) {
  const retained = param("retained");
  const page = useAnswer("heap/types", { s: source, core, retained });
  return (
    <>
      <h2 class="unseen">Types</h2>
      <Answer of={page} source={source}>
        {(p) => p && (
          <>
            {p.sums ? <Table of={p.sums} label="objects" bare rows={3} /> : null}
            {(p.doubts ?? []).map((d) => <p class="ov-cut" key={d}>▲ {d}</p>)}
            {p.holders || isFile ? null : <p><button type="button" onClick={() => set({ retained: "1" })}>Compute what each type retains</button> <span class="muted">and what holds the most. This reads the heap again: a few seconds per gigabyte.</span></p>}
            {p.types ? (
              <Table of={p.types} label="types" rows={p.holders ? 14 : 22} onRow={opens(p.types, "type")}
                selected={param("hold") ? (p.types.values ?? []).findIndex((r) => r?.[r.length - 1] === param("hold")) : null}
                cell={(r, c, shown) => (p.types!.columns?.[c]?.key === "share" ? <Share of={Number(p.types!.values?.[r]?.[c] ?? 0)} shown={shown} /> : shown)} />
            ) : null}
            {p.holders ? <><h2>What holds the most</h2><p class="muted">Global variables, and goroutines grouped by their first function: what would become free without them.</p><Table of={p.holders} label="what holds most" rows={12} /></> : null}
          </>
        )}
      </Answer>
    </>
  );
}

/** Share is a part of the whole, as a number and as long as it is. */
function Share({ of, shown }: { of: number; shown: string }) {
  return <span class="heapshare"><span aria-hidden="true"><i style={{ width: Math.max(of > 0 ? 1 : 0, 64 * of) + "px" }} /></span>{shown}</span>;
}

/** Texts are what the program knew: asked for when somebody looks, and not before. */
function Texts({ source, core }: { source: string; core: string }) {
  const page = useAnswer("heap/strings", { s: source, core });
  return (
    <>
      <h2 class="unseen">Texts</h2>
      <p class="note">This is the program's memory and may contain passwords. It is shown as Go literals and is not included in exported pages.</p>
      <Answer of={page} source={source}>
        {(p) => p && (
          <>
            {p.sums ? <Table of={p.sums} label="texts" bare rows={3} /> : null}
            {p.repeated?.shown?.length ? <><h2>Duplicates</h2><Table of={p.repeated} label="duplicate strings" rows={12} /></> : null}
            {p.longest?.shown?.length ? <><h2>Longest</h2><Table of={p.longest} label="longest strings" rows={12} onRow={opens(p.longest, "addr")} /></> : null}
          </>
        )}
      </Answer>
    </>
  );
}

const older = (cores: readonly CoreEnd[]): string => param("vs") || cores[0]?.path || "";
const newer = (cores: readonly CoreEnd[]): string => param("new") || cores.at(-1)?.path || "";

/** Growth compares two cores. */
function Growth({ source, cores }: { source: string; cores: readonly CoreEnd[] }) {
  const vs = older(cores), core = newer(cores);
  const page = useAnswer("heap/diff", { s: source, core, vs });
  return (
    <>
      <h2 class="unseen">Growth</h2>
      <div class="gocontrols">
        <CoreSelect source={source} label="From" value={vs} onChange={(path) => set({ vs: path })} />
        <CoreSelect source={source} label="to" value={core} onChange={(path) => set({ new: path })} />
      </div>
      <Answer of={page} source={source}>
        {(p) => p && (
          <>
            <p class="gototal">{p.growth}</p>
            {(p.doubts ?? []).map((d) => <p class="ov-cut" key={d}>▲ {d}</p>)}
            {p.types?.shown?.length ? <><h2>What grew</h2><Table of={p.types} label="types that have changed" rows={14} onRow={opens(p.types, "type")} cell={signed(p.types)} /></> : <p>No type has more or fewer objects.</p>}
            {p.roots?.shown?.length ? <><h2>What holds it</h2><Table of={p.roots} label="what holds more or less" rows={12} cell={signed(p.roots)} /></> : null}
          </>
        )}
      </Answer>
    </>
  );
}

/** signed tells more from less also by colour. */
const signed = (t: { columns: readonly { head: string }[] | null }) => (_: number, c: number, shown: string) =>
  t.columns?.[c]?.head.endsWith("more") && shown !== "+0" ? <span class={shown.startsWith("-") ? "gobetter" : "goworse"}>{shown}</span> : shown;
