import { equal, test, truth } from "../base/testing.ts";
import { arrange, order, window } from "./rows.ts";

test("order puts what is unknown last, whichever way", () => {
  equal([3, null, 1, "", 2].sort((a, b) => order(a, b, false)), [1, 2, 3, null, ""]);
  equal([3, null, 1, "", 2].sort((a, b) => order(a, b, true)), [3, 2, 1, null, ""]);
  equal(["g10", "g9", "g100"].sort((a, b) => order(a, b, false)), ["g9", "g10", "g100"]);
});

test("arrange keeps the order of equal rows", () => {
  const values = Array.from({ length: 1000 }, (_, i) => [i % 3, "row " + i]);
  const shown = values.map((v) => v.map(String));
  const up = arrange(shown, values, "", 0, false), down = arrange(shown, values, "", 0, true);
  for (const list of [up, down]) {
    for (let i = 1; i < list.length; i++) {
      const a = list[i - 1]!, b = list[i]!;
      if (values[a]![0] === values[b]![0]) truth(a < b, `row ${a} before ${b}`);
    }
  }
  equal(arrange(shown, values, " ROW 99", -1, false), [99, 990, 991, 992, 993, 994, 995, 996, 997, 998, 999]);
});

test("arrange takes 100,000 rows", () => {
  const values = Array.from({ length: 100_000 }, (_, i) => [(i * 7919) % 100_003]);
  const from = performance.now();
  equal(arrange(values.map((v) => v.map(String)), values, "", 0, true).length, 100_000);
  truth(performance.now() - from < 3000, "sorted within 3 s");
});

test("window stays within the rows", () => {
  equal(window(10, 0, 24, 20), { first: 0, last: 10 });
  equal(window(100_000, 0, 24, 20), { first: 0, last: 32 });
  equal(window(100_000, 24 * 50_000, 24, 20), { first: 49_995, last: 50_027 });
  equal(window(100_000, 24 * 1e9, 24, 20), { first: 99_968, last: 100_000 });
  equal(window(0, 0, 24, 20), { first: 0, last: 0 });
});
