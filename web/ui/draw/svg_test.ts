import { equal, test, truth } from "../base/testing.ts";
import { Area, safe, SVG } from "./svg.ts";
import { palette } from "./palette.ts";

test("names in an SVG are text", () => {
  equal(safe(`</text><script>alert("1")</script>`), "&#60;/text&#62;&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;");
  equal(safe("a\u0000b\u001bc\ufffed\ud800e\u{1f600}"), "a\ufffdb\ufffdc\ufffdd\ufffde\u{1f600}");
  const out = new SVG(100, 20, palette()), name = `x" onload='a' & <g>\u0007`;
  out.fillText(name, 1, 2);
  const page = new DOMParser().parseFromString(out.file(name), "image/svg+xml");
  truth(page.querySelector("parsererror") === null, "it is XML");
  equal(page.querySelector("text")?.textContent, name.replace("\u0007", "\ufffd"));
  equal(page.querySelectorAll("g, [onload], script").length, 0);
});

test("columns that are alike become one area", () => {
  const a = new Area();
  for (const [x, top, bottom] of [[0, 2, 8], [1, 2, 8], [2, 3, 8], [4, 3, 8], [5, 1, 1]] as const) a.put(x, top, bottom);
  equal(a.done(), "M0 2H2V8H0zM2 3H3V8H2zM4 3H5V8H4z");
});
