import type { Lane } from "../api/types.ts";
import { equal, test } from "../base/testing.ts";
import { classesOf } from "../model/lanes.ts";
import { inkOf, oneScale, topOf } from "./lanes.ts";

const span = { start: 0, end: 100 };

/** lane is one line of values, one each ns from 1 on. */
const lane = (key: string, ...mean: number[]): Lane =>
  ({ key, title: key, unit: "count", shape: "lines", source: "", lines: [{ key, title: key, at: mean.map((_, i) => i + 1), mean }] }) as unknown as Lane;

test("lanes of two sources go as high as the higher one", () => {
  const [a, b] = oneScale([lane("heap", 1, 2, 3, 0), lane("gc", 1, 0)], [lane("heap", 30, 1, 0)], span);
  equal(topOf(a[0]!, span), topOf(b[0]!, span));
  equal(topOf(a[0]!, span) >= 30, true);
  equal(topOf(a[1]!, span), 1);
});

test("light purple is sweeping alone", () => {
  const sweep = classesOf.gc.find((c) => c.name === "sweep")!.colour;
  equal(classesOf.proc.find((c) => c.name === "sweep")!.colour, sweep);
  equal(inkOf("idlemark").colour === sweep, false);
  equal(inkOf("idlemark").colour, inkOf("dedicated").colour); // both mark
  for (const [kind, classes] of Object.entries(classesOf)) {
    for (const c of classes) equal(c.colour === sweep, c.name === "sweep", kind + " " + c.name);
  }
});
