import { csv, tsv } from "./csv.ts";
import { equal, test } from "./testing.ts";

test("csv quotes as Go does", () => {
  equal(csv([["a", "b"], [1, null], ['say "x"', "1,5"], [["main", "f"], " lead"], ["two\nlines", "\\."], [true, 0.5]]),
    'a,b\n1,\n"say ""x""","1,5"\nmain;f," lead"\n"two\nlines","\\."\ntrue,0.5\n');
});

test("tsv keeps cells in their places", () => {
  equal(tsv([["a\tb", "c\r\nd"]]), "a b\tc d\n");
});
