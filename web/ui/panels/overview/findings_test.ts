import { equal, test } from "../../base/testing.ts";
import { parse } from "../../base/units.ts";
import { chosenBy } from "./findings.tsx";

test("evidence of a stay chooses it in the timeline", () => {
  const e = { text: "goroutine 1,042 waited here for 12 ms, 2.00 s after the trace began", span_ns: [2_000_000_000, 2_012_000_000] };
  const sel = chosenBy(e).sel!;
  equal(sel, "g1042@2006000000ns");
  equal(parse(sel.slice(sel.lastIndexOf("@") + 1)), 2_006_000_000);
  equal(JSON.stringify(chosenBy({ text: "3 goroutines wait", span_ns: [1, 2] })), "{}");
  equal(JSON.stringify(chosenBy({ text: "goroutine 7 waits" })), "{}");
});
