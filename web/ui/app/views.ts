/** The views, in the order of the navigation. */
import type { ComponentType } from "preact";
import { Benchmarks } from "../panels/benchmarks/index.tsx";
import { Collector } from "../panels/collector/index.tsx";
import { Compare } from "../panels/compare/index.tsx";
import { Goroutines } from "../panels/goroutines/index.tsx";
import { Load } from "../panels/load/index.tsx";
import { Overview } from "../panels/overview/index.tsx";
import type { PanelProps } from "../panels/panel.ts";
import { Profile } from "../panels/profile/index.tsx";
import { Rules } from "../panels/rules/index.tsx";
import { Scheduler } from "../panels/scheduler/index.tsx";
import { Timeline } from "../panels/timeline/index.tsx";

export interface View {
  readonly id: string;
  readonly name: string;
  /** key is pressed after g to come here. */
  readonly key: string;
  readonly panel: ComponentType<PanelProps>;
}

export const views: readonly View[] = [
  { id: "overview", name: "Overview", key: "o", panel: Overview },
  { id: "timeline", name: "Timeline", key: "t", panel: Timeline },
  { id: "profile", name: "Profile", key: "p", panel: Profile },
  { id: "gc", name: "GC", key: "g", panel: Collector },
  { id: "scheduler", name: "Scheduler", key: "s", panel: Scheduler },
  { id: "load", name: "Load", key: "l", panel: Load },
  { id: "goroutines", name: "Goroutines", key: "r", panel: Goroutines },
  { id: "benchmarks", name: "Benchmarks", key: "b", panel: Benchmarks },
  { id: "compare", name: "Compare", key: "c", panel: Compare },
  { id: "rules", name: "Rules", key: "u", panel: Rules },
];
