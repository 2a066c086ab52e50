import { equal, test } from "../base/testing.ts";
import { follow } from "./trail.ts";

test("follow remembers the ranges around", () => {
  const a = { start: 0, end: 100 }, b = { start: 10, end: 50 }, c = { start: 20, end: 30 }, other = { start: 60, end: 70 };
  let t = follow([], a);
  t = follow(t, b);
  t = follow(t, c);
  equal(t, [a, b, c]);
  equal(follow(t, b), [a, b], "out again");
  equal(follow(t, other), [a, other], "aside");
  equal(follow(t, null), []);
  equal(follow(follow(follow(t, { start: 21, end: 29 }), { start: 22, end: 28 }), { start: 23, end: 27 }).length, 4, "no more than four");
});
