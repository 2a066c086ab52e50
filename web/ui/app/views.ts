/** The views, in the order of the navigation. */
import type { ComponentType } from "preact";
import { Benchmarks } from "../panels/benchmarks/index.tsx";
import { Collector } from "../panels/collector/index.tsx";
import { Compare } from "../panels/compare/index.tsx";
import { Goroutines } from "../panels/goroutines/index.tsx";
import { Heap } from "../panels/heap/index.tsx";
import { Load } from "../panels/load/index.tsx";
import { Overview } from "../panels/overview/index.tsx";
import type { PanelProps } from "../panels/panel.ts";
import { Profile } from "../panels/profile/index.tsx";
import { Requests } from "../panels/requests/index.tsx";
import { Rules } from "../panels/rules/index.tsx";
import { Scheduler } from "../panels/scheduler/index.tsx";
import { Timeline } from "../panels/timeline/index.tsx";
import { Fleet } from "./fleet.tsx";
import { has, list } from "../model/source.ts";
import { viewRoute, type Route } from "../model/route.ts";
import type { IconName } from "../widgets/icon.tsx";

export interface View {
  readonly id: string;
  readonly name: string;
  readonly icon: IconName;
  /** key is pressed after g to come here. */
  readonly key: string;
  /** group sets a store of many services apart, what one recording shows apart from what is seen over several, and from what is of loupe itself. */
  readonly group: "fleet" | "one" | "several" | "loupe";
  /** panel is the view of a source. */
  readonly panel?: ComponentType<PanelProps>;
  /** whole is a view that wants no source. */
  readonly whole?: ComponentType;
  /** of is the kind of entry without which there is nothing of the view: it is then left out. */
  readonly of?: string;
  /** when tells whether this server has the view. */
  readonly when?: () => boolean;
}

export const views: readonly View[] = [
  { id: "fleet", name: "Fleet", icon: "fleet", key: "f", group: "fleet", whole: Fleet, when: () => list.value?.fleet ?? false },
  { id: "overview", name: "Overview", icon: "overview", key: "o", group: "one", panel: Overview },
  { id: "timeline", name: "Timeline", icon: "timeline", key: "t", group: "one", panel: Timeline },
  { id: "profile", name: "Profile", icon: "profile", key: "p", group: "one", panel: Profile },
  { id: "gc", name: "GC", icon: "gc", key: "g", group: "one", panel: Collector },
  { id: "scheduler", name: "Scheduler", icon: "scheduler", key: "s", group: "one", panel: Scheduler },
  { id: "requests", name: "Requests", icon: "requests", key: "q", group: "one", panel: Requests, of: "exectrace" },
  { id: "load", name: "Load", icon: "load", key: "l", group: "one", panel: Load },
  { id: "goroutines", name: "Goroutines", icon: "goroutines", key: "r", group: "one", panel: Goroutines },
  { id: "heap", name: "Heap", icon: "heap", key: "h", group: "one", panel: Heap, of: "core" },
  { id: "benchmarks", name: "Benchmarks", icon: "benchmarks", key: "b", group: "one", panel: Benchmarks },
  { id: "compare", name: "Compare", icon: "compare", key: "c", group: "several", panel: Compare },
  { id: "rules", name: "Rules", icon: "rules", key: "u", group: "loupe", whole: Rules },
];

/** there are the views that the source has something for. */
export const there = (): View[] => views.filter((v) => (!v.of || has(v.of)) && (v.when?.() ?? true));

/** wholeView tells whether a view wants no source. */
export const wholeView = (id: string): boolean => views.some((v) => v.id === id && v.whole);

/** routeOf is the address of a view: what is seen over all services is of no source. */
export const routeOf = (v: View): Route => (v.group === "fleet" ? { source: "", view: v.id, params: {} } : viewRoute(v.id));
