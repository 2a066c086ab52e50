import { Lanes } from "../../tracks/lanes.tsx";
import type { PanelProps } from "../panel.ts";

const lanes = ["phases", "latency", "rps", "heap", "gc", "goroutines", "procs", "samples", "cpu", "rss", "states"];

export function Overview({ source }: PanelProps) {
  return <><h1 class="unseen">Overview</h1><Lanes source={source.id} keys={lanes} label="Over time" /></>;
}
