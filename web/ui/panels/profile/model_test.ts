import { equal, test } from "../../base/testing.ts";
import { at, chainTo, change, either, exactly, hashOf, layout, step, weight } from "./model.ts";
import type { FlameView } from "../../api/types.ts";

const view: FlameView = {
  name: [0, 1, 2, 1, 3], depth: [0, 1, 2, 1, 0], weight: [80, 50, 20, 20, 15], self: [10, 30, 20, 20, 15], base: null,
  inline: [2], narrow: [3, 0, 0, 0, 0], narrow_weight: [10, 0, 0, 0, 0], top: 2, top_weight: 5, total: 100, width: 100,
};

test("boxes lie side by side below their callers", () => {
  const l = layout(view);
  equal([...l.x].map((x) => Math.round(x * 100)), [0, 0, 0, 50, 80]);
  equal([...l.parent], [-1, 0, 1, 0, -1]);
  equal(l.hidden.map((h) => [Math.round(h.x * 100), Math.round(h.w * 100), h.depth, h.count]), [[70, 10, 1, 3], [95, 5, 0, 2]]);
  equal([at(l, 1, 0.6), at(l, 1, 0.75), at(l, 0, 0.9), at(l, 2, 0.3)], [3, -1, 4, -1]);
  equal([step(l, 0, "ArrowDown"), step(l, 3, "ArrowUp"), step(l, 1, "ArrowRight"), step(l, 3, "ArrowRight"), step(l, 2, "ArrowDown")], [1, 0, 3, 3, 2]);
});

test("hashes are those of the server", () => {
  equal(hashOf(0, "main.main").toString(36), "8evtfv");
  equal(hashOf(12345, "größe.λ").toString(36), "dbv7y2");
});

test("expressions are exact", () => {
  equal(exactly("net/http.(*conn).serve"), "^net/http\\.\\(\\*conn\\)\\.serve$");
  equal(exactly("slices.Sort[...]"), "^slices\\.Sort\\[.*\\]$");
  equal(either("^a$", "^b$"), "^a$|^b$");
  equal(either("^a$|^b$", "^b$"), "^a$|^b$");
});

test("a step of the path keeps the links above it", () => {
  const path = [{ hash: "a" }, { hash: "b" }, { hash: "c" }, { hash: "d" }];
  equal(chainTo("b.d", path, 2), "b.c");
  equal(chainTo("b.d", path, 0), "a");
});

test("weights have their units", () => {
  equal(weight(1.5e9, "nanoseconds"), "1.50 s");
  equal(weight(1 << 20, "bytes"), "1.00 MiB");
  equal(weight(12345, "count"), "12,345");
  equal(change(150, 100), "+50.0%");
  equal(change(0, 100), "−gone");
});
