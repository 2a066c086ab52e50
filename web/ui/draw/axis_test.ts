import { equal, test } from "../base/testing.ts";
import { fits, shorten } from "./axis.ts";

/** ruler is a canvas whose letters have ten pixels. */
const ruler = { measureText: (text: string) => ({ width: 10 * text.length }) as TextMetrics };

test("texts that are too wide lose their end", () => {
  equal(fits(ruler, "alert", 50), true);
  equal(fits(ruler, "alert", 49), false);
  equal(shorten(ruler, "alert rss>50%", 130), "alert rss>50%");
  equal(shorten(ruler, "alert rss>50%", 129), "alert rss>5…");
  equal(shorten(ruler, "alert rss>50%", 30), "al…");
  equal(shorten(ruler, "alert rss>50%", 19), "");
  equal(shorten(ruler, "alert rss>50%", 60, 5), "");
});
