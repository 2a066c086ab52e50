/** The frame of the page: header, navigation, the view, and what lies over it. */
import { Component, type ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { get, Problem } from "../api/client.ts";
import { listed, lost, versions } from "../api/events.ts";
import type { SourceList } from "../api/types.ts";
import { say } from "../base/dom.ts";
import { exactSpan } from "../base/units.ts";
import { go, range, route } from "../model/route.ts";
import { current, list } from "../model/source.ts";
import { Sources } from "../panels/sources/index.tsx";
import { Trouble, Waiting } from "../widgets/ask.tsx";
import { Tips } from "../widgets/tip.tsx";
import { Toasts } from "../widgets/toasts.tsx";
import { open, press } from "./commands.ts";
import { Header } from "./header.tsx";
import { Navigation } from "./navigation.tsx";
import { Help, Palette, SourcePicker } from "./palette.tsx";
import { Progress } from "./progress.tsx";
import { views, wholeView } from "./views.ts";

export function Shell() {
  const { source, view } = route.value;
  const problem = useSources(source);
  const shownView = views.find((v) => v.id === view);

  useEffect(() => {
    const key = (e: KeyboardEvent): void => {
      if (!e.defaultPrevented && press(e)) e.preventDefault();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);

  useEffect(() => {
    document.title = [shownView?.name, source ? current.value?.title : "", "loupe"].filter(Boolean).join(" · ");
  });

  // Another view begins at its top, and with what the keyboard and the screen
  // reader read on from.
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    const main = document.getElementById("main");
    if (main && !main.contains(document.activeElement)) main.focus({ preventScroll: true });
    scrollTo(0, 0);
    say(shownView?.name ?? (list.value?.fleet ? "Fleet" : "all sources"));
  }, [source, view]);

  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to content</a>
      <Header />
      <Progress />
      <div class="frame">
        <Navigation />
        <main id="main" tabIndex={-1} key={source + view}>
          <PrintHead />
          {lost.value ? <div class="trouble" role="alert"><p>loupe has stopped responding. The page shows the last data received; restart loupe to continue.</p></div> : null}
          <Contained><View problem={problem} /></Contained>
        </main>
      </div>
      {open.value === "palette" ? <Palette /> : open.value === "sources" ? <SourcePicker /> : open.value === "help" ? <Help /> : null}
      <Toasts />
      <Tips />
    </>
  );
}

/** useSources keeps the list of the sources, and what the one that is looked at is. */
function useSources(source: string): Problem | null {
  const [problem, setProblem] = useState<Problem | null>(null);
  const version = versions.value[source] ?? 0;
  useEffect(() => {
    if (listed.value === 0 && list.value) return; // the page was sent with it
    const abort = new AbortController();
    get("sources", {}, abort.signal).then((l) => {
      list.value = l;
      goToOnly(l);
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
    else if (current.value.version >= version) return; // the page was sent with it
    const abort = new AbortController();
    get("source", { s: source }, abort.signal).then((s) => {
      current.value = s;
    }, (e: unknown) => !abort.signal.aborted && setProblem(e as Problem));
    return () => abort.abort();
  }, [source, version]);
  return problem;
}

/** goToOnly goes to the only source there is, which need not be chosen, where the address names none. */
export function goToOnly(list: SourceList | null | undefined): void {
  const only = list?.sources?.[0];
  if (only && list.sources?.length === 1 && !list.fleet && !route.value.source && !wholeView(route.value.view)) go({ source: only.id, view: "overview", params: {} }, true);
}

/** View is what the address names. */
function View({ problem }: { problem: Problem | null }) {
  const { source, view } = route.value;
  if (problem) return <Trouble of={problem} />;
  const Whole = views.find((v) => v.id === (view || (list.value?.fleet && !source ? "fleet" : "")))?.whole;
  if (Whole) return <Whole />;
  if (!source) return <Sources />;
  if (!current.value) return <Waiting source={source} />;
  const Panel = views.find((v) => v.id === (view || "overview"))?.panel;
  return Panel ? <Panel source={current.value} /> : <Trouble of={new Problem(`There is no view "${view}".`, true)} />;
}

/** Contained keeps a mistake in a view from taking the frame with it. */
class Contained extends Component<{ children: ComponentChildren }, { mistake: string | null }> {
  override state = { mistake: null };

  static override getDerivedStateFromError(e: unknown): { mistake: string } {
    return { mistake: e instanceof Error ? e.message : String(e) };
  }

  override componentDidCatch(e: unknown): void {
    reportError(e); // the browser's console and the tests hear of it
  }

  render() {
    if (this.state.mistake === null) return this.props.children;
    return <Trouble of={new Problem("A bug in loupe: this view failed: " + this.state.mistake, false)} again={() => this.setState({ mistake: null })} />;
  }
}

/** PrintHead says on paper what the head of the page says on the screen. */
function PrintHead() {
  const s = current.value, r = range.value;
  return s ? <p class="printhead">loupe · {s.title}{s.start ? " · " + s.start.slice(0, 19).replace("T", " ") : ""}{r ? " · " + exactSpan(r) : ""}</p> : null;
}
