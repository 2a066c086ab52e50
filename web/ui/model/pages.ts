/** A long list of which the server gives pages: those that are looked at are fetched. */

/** Page is a part of a list, and how long all of it is. */
export interface Page<T> {
  readonly total: number;
  readonly items: readonly T[];
}

/** pageSize is how many items are fetched at once. */
export const pageSize = 200;

/** Pages keeps the pages of one list. */
export class Pages<T> {
  private readonly pages = new Map<number, readonly T[]>();
  private readonly going = new Set<number>();
  private readonly abort = new AbortController();
  /** total is how many items there are, -1 before the first page has come. */
  total = -1;
  /** failed is why there is nothing. */
  failed: string | null = null;

  constructor(private readonly ask: (from: number, n: number, signal: AbortSignal) => Promise<Page<T>>, private readonly arrived: () => void) {
    this.fetch(0);
  }

  /** get is an item, null when it is still to come. */
  get(i: number): T | null {
    const n = Math.floor(i / pageSize), page = this.pages.get(n);
    if (!page) {
      this.fetch(n);
      return null;
    }
    return page[i - n * pageSize] ?? null;
  }

  /** seen are the items that are here, with their numbers. */
  *seen(): Iterable<[number, T]> {
    for (const [n, page] of this.pages) {
      for (let i = 0; i < page.length; i++) yield [n * pageSize + i, page[i]!];
    }
  }

  /** stop forgets what is awaited. */
  stop(): void {
    this.abort.abort();
  }

  private fetch(n: number): void {
    if (this.going.has(n) || this.pages.has(n) || this.failed) return;
    this.going.add(n);
    this.ask(n * pageSize, pageSize, this.abort.signal).then((p) => {
      this.going.delete(n);
      this.total = p.total;
      this.pages.set(n, p.items);
      // A list of a million is not kept whole.
      if (this.pages.size > 50) this.pages.delete(this.pages.keys().next().value!);
      this.arrived();
    }, (e: unknown) => {
      this.going.delete(n);
      if (this.abort.signal.aborted) return;
      this.failed = e instanceof Error ? e.message : String(e);
      this.arrived();
    });
  }
}
