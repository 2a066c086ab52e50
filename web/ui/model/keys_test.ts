import { equal, test } from "../base/testing.ts";
import { readKeys, standard, writeKeys } from "./keys.ts";

test("readKeys reads what writeKeys writes", () => {
  const changed = { on: false, of: { ...standard, undo: "u" } };
  equal(readKeys(writeKeys(changed)), changed);
  equal(writeKeys({ on: true, of: standard }), "");
  for (const bad of [null, "", "x", "[]", '{"undo":7}', '{"undo":"long"}', "null"]) equal(readKeys(bad), { on: true, of: standard }, String(bad));
});
