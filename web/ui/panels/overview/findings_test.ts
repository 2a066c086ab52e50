import { equal, test } from "../../base/testing.ts";
import { parse, parseSpan } from "../../base/units.ts";
import type { InsightCard, InsightFinding } from "../../api/types.ts";
import { byCause, chosenBy, gainText, ofPart, requestBy } from "./findings.tsx";

test("findings stand under their causes, in the order of the cards, and none is lost", () => {
  const of = (rule: string, state = "finding"): InsightFinding => ({ rule, state } as unknown as InsightFinding);
  const all = [of("SC04"), of("AL09"), of("BE06"), of("CP01"), of("GC02", "fine")];
  const cards = [{ finding: 1, symptoms: [3], gain: { of: "CPU time", share: 0.5, low: 0.4, high: 0.6, per_request_ns: 2_000_000 } }, { finding: 0 }] as unknown as InsightCard[];
  const seen = byCause(all, cards);
  equal(seen.map((c) => c.finding.rule + ":" + c.symptoms.map((s) => s.rule)).join(" "), "AL09:CP01 SC04: BE06:");
  equal(gainText(seen[0]!.gain!), "accounts for 50.0% of the CPU time, 2.00 ms of each request");
  equal(gainText({ of: "busy time", share: 0.1, low: 0.1, high: 0.2, more: true, beyond: "what it costs elsewhere comes on top" }), "accounts for 10.0% of the busy time; what it costs elsewhere comes on top");
});

test("evidence of a stay chooses it in the timeline, by what it is about and not by its words", () => {
  const span_ns: [number, number] = [2_000_000_000, 2_012_000_000];
  const sel = chosenBy({ about: "g1042", span_ns }).sel!;
  equal(sel, "g1042@2006000000ns");
  equal(parse(sel.slice(sel.lastIndexOf("@") + 1)), 2_006_000_000);
  equal(chosenBy({ about: "gc", span_ns }).sel, "gc@2006000000ns");
  equal(JSON.stringify(chosenBy({ span_ns })), "{}");
  equal(JSON.stringify(chosenBy({ about: "g7" })), "{}");
  equal(JSON.stringify(chosenBy({ about: "request", span_ns })), "{}");
});

test("evidence of a request picks it among those of the load", () => {
  const [time, latency] = requestBy({ about: "request", span_ns: [2_000_000_000, 2_012_000_000] }).pick!.split("~").map((s) => parseSpan(s)!);
  equal(time!.start < 2_012_000_000 && time!.end > 2_012_000_000 && latency!.start < 12_000_000 && latency!.end > 12_000_000, true);
  equal(JSON.stringify(requestBy({ about: "g7", span_ns: [1, 2] })), "{}");
});

test("a range with too little data does not hide what was found in the whole", () => {
  const of = (rule: string, state: string, summary: string): InsightFinding => ({ rule, state, summary } as unknown as InsightFinding);
  const whole = [of("GC01", "finding", "whole"), of("GC03", "finding", "whole"), of("GC04", "fine", "whole"), of("AL01", "finding", "whole")];
  const part = [of("GC01", "too_little_data", "part"), of("GC03", "fine", "part"), of("GC04", "too_little_data", "part")];
  const { all, checked } = ofPart(whole, part, ["GC01", "GC03", "GC04"]);
  equal([...checked].join(" "), "GC03 GC04");
  equal(all.map((f) => f.rule + " " + f.summary).sort().join(", "), "AL01 whole, GC01 whole, GC03 part, GC04 part");
});
