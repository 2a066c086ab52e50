/** The way to the views. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { formatRoute, go, route } from "../model/route.ts";
import { store, stored } from "../model/prefs.ts";
import { Icon } from "../widgets/icon.tsx";
import { routeOf, there, type View } from "./views.ts";

/** folded is a navigation of pictures alone. */
const folded = signal(stored("nav") === "folded");

export function Navigation() {
  const { source, view } = route.value;
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // On a narrow page the views are a row that is longer than the page.
    const ul = list.current, here = ul?.querySelector<HTMLElement>("[aria-current]");
    if (ul && here && ul.scrollWidth > ul.clientWidth) ul.scrollLeft = here.offsetLeft - (ul.clientWidth - here.offsetWidth) / 2;
  }, [view]);
  const item = (v: View, first: boolean) => {
    const inside = <><Icon of={v.icon} /><span class="name">{v.name}</span></>;
    return (
      <li key={v.id} class={first ? "first" : ""}>
        {!source && v.panel ? <span class="off" title="select a source first">{inside}</span> : (
          <a href={formatRoute(routeOf(v))} aria-current={v.id === view || v.group === "fleet" && !source && !view ? "page" : undefined} title={v.name} onClick={(e) => {
            if (e.ctrlKey || e.metaKey || e.shiftKey) return;
            e.preventDefault();
            go(routeOf(v));
          }}>{inside}</a>
        )}
      </li>
    );
  };
  return (
    <nav aria-label="views" class={folded.value ? "folded" : ""}>
      <ul ref={list}>{there().map((v, i, all) => item(v, i > 0 && all[i - 1]!.group !== v.group))}</ul>
      <button type="button" class="quiet fold" aria-label={folded.value ? "expand the sidebar" : "collapse the sidebar"} aria-expanded={!folded.value}
        onClick={() => { folded.value = !folded.value; store("nav", folded.value ? "folded" : ""); }}><Icon of={folded.value ? "unfold" : "fold"} /></button>
    </nav>
  );
}
