import { equal, test, truth } from "../../base/testing.ts";
import { askOf, bridged, clockMarks, serviceOf, shownValue } from "./model.ts";

test("the range of an address", () => {
  equal(askOf({}), { last: 3600e3 });
  equal(askOf({ last: "7d", select: "{a=\"b\"}" }), { select: "{a=\"b\"}", last: 7 * 24 * 3600e3 });
  equal(askOf({ from: "1000", until: "5000" }), { from: 1000, until: 5000 });
  equal(askOf({ from: "5000", until: "1000" }), { last: 3600e3 });
  equal(askOf({ from: "x", until: "5000", last: "nonsense" }), { last: 3600e3 });
});

test("values have their unit", () => {
  equal(shownValue(0.5, "CPUs"), "0.500 CPUs");
  equal(shownValue(2048, "B"), "2.00 KiB");
  equal(shownValue(2048, "B/s"), "2.00 KiB/s");
  equal(shownValue(12, ""), "12.0");
});

test("marks of an axis have room", () => {
  for (const hours of [0.25, 1, 6, 24, 24 * 7, 24 * 365, 24 * 365 * 40]) {
    for (const width of [200, 640, 1400]) {
      const from = Date.UTC(2026, 10, 24, 7, 13), until = from + hours * 3600e3, all = clockMarks(from, until, width);
      truth(all.length <= width / 90 + 1, `${hours} h in ${width} px have ${all.length} marks`);
      truth(all.every((m) => m.at >= from && m.at <= until), "a mark lies outside");
    }
  }
});

test("missing rounds are drawn over, longer gaps are not", () => {
  equal(bridged([1, null, 2, null, null, null, 3], 1), [[[0, 1], [2, 2]], [[6, 3]]]);
  equal(bridged([null, null], 1), []);
});

test("a selector of one service", () => {
  equal(serviceOf("{service_name=\"shop\"}"), "shop");
  equal(serviceOf("{service_name=\"a\\\"b\"}"), "a\"b");
  equal(serviceOf("{service_name=\"shop\",pod=\"a\"}"), "");
  equal(serviceOf("{service_name=~\"shop\"}"), "");
});
