import { equal, test } from "./testing.ts";
import * as units from "./units.ts";

// What is printed is held against Go's package unit by TestUnits of web/e2e.
Object.assign(globalThis, { units });

test("exact and parse are inverse", () => {
  for (const t of [0, 1, 13, 999, 1000, 1001, 7_000, 12_500_000, 1_250_000_000, 60_500_812_780, 86_400e9, -5_000_001]) {
    equal(units.parse(units.exact(t)), t, units.exact(t));
  }
});

test("parse reads what people write", () => {
  const f = (text: string, want: number | null): void => equal(units.parse(text), want, text);
  f("1.25s", 1.25e9);
  f("2", 2e9);
  f("12ms", 12e6);
  f(" 12 ms ", 12e6);
  f("7µs", 7e3);
  f("7μs", 7e3);
  f("7us", 7e3);
  f("13ns", 13);
  f("1m5s", 65e9);
  f("1h", 3600e9);
  f("-3s", -3e9);
  f("", null);
  f("s", null);
  f("5x", null);
  f("1e3", null);
  f("--1s", null);
  f("1s2", null);
});

test("parseSpan wants a start before an end", () => {
  const f = (text: string, want: unknown): void => equal(units.parseSpan(text), want, text);
  f("1s-2s", { start: 1e9, end: 2e9 });
  f("1.5ms - 2ms", { start: 1.5e6, end: 2e6 });
  f("-1s-2s", { start: -1e9, end: 2e9 });
  f("2s-1s", null);
  f("1s-1s", null);
  f("1s", null);
  f("", null);
  f("<script>-1s", null);
  for (const s of [{ start: 0, end: 1 }, { start: -7, end: 123_456_789_012 }]) equal(units.parseSpan(units.exactSpan(s)), s);
});

test("instant has the digits that a window needs", () => {
  equal(units.instant(12_304_000_000, 100e6), "12.304 s");
  equal(units.instant(1_500_000, 1e6), "1.50 ms");
});
