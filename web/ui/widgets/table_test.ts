import { h, render } from "preact";
import type { Table as Sheet } from "../api/types.ts";
import { equal, test, truth } from "../base/testing.ts";
import { match, find } from "./chooser.tsx";
import { Table, turned } from "./table.tsx";

test("a click on a head turns the order, and back to the table's own", () => {
  const name = { key: "name", head: "", left: true }, time = { key: "time_ns", head: "", left: false };
  equal(turned("", name), "name");
  equal(turned("name", name), "-name");
  equal(turned("-name", name), "");
  equal(turned("", time), "-time_ns");
  equal(turned("-time_ns", time), "time_ns");
  equal(turned("time_ns", time), "");
  equal(turned("other", time), "-time_ns");
});

test("what is typed finds the best first", () => {
  const o = (name: string, detail = "") => ({ id: name, name, detail, run() {} });
  const all = [o("Go to Profile"), o("Print"), o("profile.pb.gz", "/var/tmp"), o("other", "profiles")];
  equal(find(all, "prof").map((f) => f.name), ["profile.pb.gz", "Go to Profile", "other"]);
  equal(find(all, "").length, 4);
  equal(match(all[0]!, "go prof") !== null, true);
  equal(match(all[0]!, "(") , null);
});

/** large is a table of 100,000 rows. */
const large: Sheet = {
  key: "large", title: "Large", notes: [],
  columns: [{ key: "name", head: "name", left: true }, { key: "time_ns", head: "time", left: false }, { key: "n", head: "n", left: false }],
  shown: Array.from({ length: 100_000 }, (_, i) => ["<b>row " + i + "</b>", (i % 1000) + " ns", String(i)]),
  values: Array.from({ length: 100_000 }, (_, i) => ["<b>row " + i + "</b>", i % 1000, i]),
};

const frame = (): Promise<void> => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

test("a table of 100,000 rows is walked through by keyboard", async () => {
  const place = document.createElement("div"), opened: number[] = [];
  const style = document.createElement("style"); // what widgets.css says of rows
  style.textContent = ".rows { overflow: auto } .rows table { border-collapse: collapse } .rows tr { height: 24px } .rows td { padding: 0; white-space: nowrap }";
  document.body.append(style, place);
  const from = performance.now();
  render(h(Table, { of: large, onRow: (r: number) => void opened.push(r) }), place);
  truth(performance.now() - from < 1000, "drawn within a second");
  const grid = place.querySelector<HTMLElement>("[role=grid]")!;
  const press = async (key: string, more: KeyboardEventInit = {}): Promise<void> => {
    grid.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
    await frame();
  };
  const here = (): string => document.getElementById(grid.getAttribute("aria-activedescendant") ?? "")?.textContent ?? "nowhere";
  truth(place.querySelectorAll("tr").length < 50, "few rows are in the page");
  equal(place.querySelectorAll("b").length, 0, "names are text");
  equal(here(), "<b>row 0</b>");
  await press("ArrowDown");
  await press("ArrowRight");
  equal(here(), "1 ns");
  await press("End", { ctrlKey: true });
  await frame();
  equal(here(), "99999");
  truth(place.querySelectorAll("tr").length < 50, "few rows are in the page at the end");
  await press("Enter");
  equal(opened, [99_999]);
  await press("Home", { ctrlKey: true });
  await press("ArrowUp");
  equal(here(), "name");
  await press("ArrowRight");
  await press("Enter");
  equal(place.querySelector("[aria-sort=descending]")?.textContent, "time ▾");
  await press("ArrowDown");
  await press("ArrowLeft");
  equal(here(), "<b>row 999</b>", "the greatest first, equal ones in their order");
  render(null, place);
  place.remove();
  style.remove();
});
