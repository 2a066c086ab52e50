import { equal, test } from "../base/testing.ts";
import { formatRoute, parseRoute } from "./route.ts";

test("formatRoute and parseRoute are inverse", () => {
  const nasty = ["", "a b", "%", "%zz", "?", "#/x", "a&b=c", "<script>alert(1)</script>", "\u202eabc", "ü/ö", "1.2s-3s", "state:sync >1ms"];
  for (const v of nasty) {
    const r = { source: "2", view: "timeline", params: { q: v, t: "1s-2s" } };
    equal(parseRoute(formatRoute(r)), r, v);
  }
  equal(parseRoute(formatRoute({ source: "a/b?c#d", view: "", params: {} })), { source: "a/b?c#d", view: "", params: {} });
});

test("parseRoute takes anything", () => {
  equal(parseRoute(""), { source: "", view: "", params: {} });
  equal(parseRoute("#/"), { source: "", view: "", params: {} });
  equal(parseRoute("#/%E0%A4/x"), { source: "%E0%A4", view: "x", params: {} });
  equal(parseRoute("#/1/profile?q=a?b"), { source: "1", view: "profile", params: { q: "a?b" } });
});
