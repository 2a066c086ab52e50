/** The frame of the page: header, navigation, the view, and what lies over it. */
import { useEffect, useState } from "preact/hooks";
import { get, Problem } from "../api/client.ts";
import { listed, lost, versions } from "../api/events.ts";
import { exactSpan, duration, parseSpan } from "../base/units.ts";
import { formatRoute, go, range, route, setRange, viewRoute } from "../model/route.ts";
import { axis, current, list } from "../model/source.ts";
import { theme, toggle } from "../model/theme.ts";
import { Rules } from "../panels/rules/index.tsx";
import { Sources } from "../panels/sources/index.tsx";
import { Trouble, Waiting } from "../widgets/ask.tsx";
import { open, press } from "./commands.ts";
import { Help, Palette } from "./palette.tsx";
import { views } from "./views.ts";

export function Shell() {
  const { source, view } = route.value;
  const [problem, setProblem] = useState<Problem | null>(null);
  const version = versions.value[source] ?? 0;

  useEffect(() => {
    const abort = new AbortController();
    get("sources", {}, abort.signal).then((l) => {
      list.value = l;
      const first = l?.sources?.[0];
      if (!route.value.source && route.value.view !== "rules" && l?.sources?.length === 1 && first) go({ source: first.id, view: "overview", params: {} }, true);
    }, (e: unknown) => !abort.signal.aborted && setProblem(e as Problem));
    return () => abort.abort();
  }, [listed.value]);

  useEffect(() => {
    setProblem(null);
    if (!source) {
      current.value = null;
      return;
    }
    if (current.value?.id !== source) current.value = null;
    const abort = new AbortController();
    get("source", { s: source }, abort.signal).then((s) => {
      current.value = s;
    }, (e: unknown) => !abort.signal.aborted && setProblem(e as Problem));
    return () => abort.abort();
  }, [source, version]);

  useEffect(() => {
    const key = (e: KeyboardEvent): void => {
      if (!e.defaultPrevented && press(e)) e.preventDefault();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);

  const shownView = views.find((v) => v.id === view);
  useEffect(() => {
    document.title = [shownView?.name, current.value?.title, "loupe"].filter(Boolean).join(" · ");
  });
  const Panel = shownView?.panel;
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>To the content</a>
      <Header />
      <div class="frame">
        <Navigation />
        <main id="main" tabIndex={-1} key={source + view}>
          {lost.value ? <div class="trouble" role="alert"><p>loupe does not answer any more. What is shown is what it was; start it again to ask more.</p></div> : null}
          {problem ? <Trouble of={problem} /> :
            view === "rules" ? <Rules /> :
            !source ? <Sources /> :
            !current.value ? <Waiting source={source} /> :
            Panel ? <Panel source={current.value} /> : <Trouble of={new Problem("There is no view " + view + ".", true)} />}
        </main>
      </div>
      {open.value === "palette" ? <Palette /> : open.value === "help" ? <Help /> : null}
    </>
  );
}

function Header() {
  const s = current.value;
  const sources = list.value?.sources ?? [];
  return (
    <header class="top">
      <a class="logo" href="#/" aria-label="loupe: all sources">loupe</a>
      {sources.length > 1 ? (
        <select aria-label="source" value={route.value.source} onChange={(e) => go(viewRoute(route.value.view || "overview", {}, e.currentTarget.value))}>
          {route.value.source ? null : <option value="">choose …</option>}
          {sources.map((s) => <option key={s.id} value={s.id}>{s.name}</option>)}
        </select>
      ) : s ? <span class="title" title={s.name}>{s.title}</span> : null}
      {s?.live ? <span class="chip live">being written</span> : null}
      <RangeField />
      <span class="grow" />
      <button type="button" class="quiet" onClick={() => (open.value = "palette")}>Search <kbd>Ctrl K</kbd></button>
      <button type="button" class="quiet" aria-label={theme.value === "dark" ? "light colours" : "dark colours"} onClick={toggle}>{theme.value === "dark" ? "☀" : "☾"}</button>
      <button type="button" class="quiet" aria-label="keys and help" onClick={() => (open.value = "help")}>?</button>
    </header>
  );
}

/** RangeField shows the part of the axis that everything is restricted to, and takes one typed. */
function RangeField() {
  const all = axis.value, chosen = range.value;
  const [text, setText] = useState<string | null>(null);
  if (!all) return null;
  const bad = text !== null && text.trim() !== "" && parseSpan(text) === null;
  const enter = (): void => {
    if (text === null || bad) return;
    setRange(text.trim() ? parseSpan(text) : null);
    setText(null);
  };
  return (
    <form class="range" onSubmit={(e) => { e.preventDefault(); enter(); }}>
      <label>
        <span class="unseen">time range</span>
        <input value={text ?? (chosen ? exactSpan(chosen) : "")} placeholder={"all of " + duration(all.end - all.start)} aria-invalid={bad} title="as in 1.2s-3.5s"
          onInput={(e) => setText(e.currentTarget.value)} onBlur={() => { enter(); setText(null); }} />
      </label>
      {chosen ? <button type="button" class="quiet" aria-label="the whole time" onClick={() => setRange(null)}>✕</button> : null}
    </form>
  );
}

function Navigation() {
  const { source, view } = route.value;
  return (
    <nav aria-label="views">
      <ul>
        {views.map((v) => {
          const off = !source && v.id !== "rules";
          return (
            <li key={v.id}>
              {off ? <span class="off">{v.name}</span> : (
                <a href={formatRoute(viewRoute(v.id))} aria-current={v.id === view ? "page" : undefined} onClick={(e) => {
                  if (e.ctrlKey || e.metaKey || e.shiftKey) return;
                  e.preventDefault();
                  go(viewRoute(v.id));
                }}>{v.name}</a>
              )}
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
