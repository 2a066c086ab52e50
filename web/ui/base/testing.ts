/** Tests of what needs no view: files that end in _test.ts, run in the browser by web/e2e. */

interface Result {
  readonly name: string;
  /** wrong is what is not as it should be. */
  readonly wrong: string[];
}

const tests: { name: string; body: () => void | Promise<void> }[] = [];
let running: Result | null = null;

/** test tells of a test. */
export function test(name: string, body: () => void | Promise<void>): void {
  tests.push({ name, body });
}

/** run runs all tests, one after the other. */
export async function run(): Promise<Result[]> {
  const all: Result[] = [];
  for (const t of tests) {
    running = { name: t.name, wrong: [] };
    all.push(running);
    try {
      await t.body();
    } catch (e) {
      running.wrong.push("it throws " + (e instanceof Error ? e.stack ?? e.message : String(e)));
    }
  }
  return all;
}

/** equal wants two values to be written alike as JSON. */
export function equal(got: unknown, want: unknown, of = ""): void {
  const a = JSON.stringify(got), b = JSON.stringify(want);
  if (a !== b) running?.wrong.push(`${of ? of + ": " : ""}got ${a}, want ${b}`);
}

/** truth wants something to hold. */
export function truth(holds: boolean, what: string): void {
  if (!holds) running?.wrong.push("not so: " + what);
}
