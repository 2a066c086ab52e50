/**
 * The rows of a timeline from top to bottom, of which there may be a million:
 * sections of equal rows, so that a place is found without looking at each.
 */

/** Block is some rows of equal height. */
export interface Block<T> {
  readonly key: string;
  readonly count: number;
  readonly height: number;
  /** what is in them. */
  readonly of: T;
}

/** Place is a row with where it lies. */
export interface Place<T> {
  readonly block: Block<T>;
  /** index is the row's number in its block, row its number among all. */
  readonly index: number;
  readonly row: number;
  readonly y: number;
}

/** Rows is where blocks lie one below the other. */
export class Rows<T> {
  private readonly tops: number[] = [];
  private readonly firsts: number[] = [];
  readonly height: number;
  readonly count: number;

  constructor(readonly blocks: readonly Block<T>[]) {
    let y = 0, n = 0;
    for (const b of blocks) {
      this.tops.push(y);
      this.firsts.push(n);
      y += b.count * b.height;
      n += b.count;
    }
    this.height = y;
    this.count = n;
  }

  /** within returns the rows of which a part lies between two heights. */
  within(from: number, to: number): Place<T>[] {
    const out: Place<T>[] = [];
    for (let k = this.find(this.tops, from); k < this.blocks.length && this.tops[k]! < to; k++) {
      const b = this.blocks[k]!;
      if (b.count === 0) continue;
      const first = Math.max(0, Math.floor((from - this.tops[k]!) / b.height));
      for (let i = first; i < b.count; i++) {
        const y = this.tops[k]! + i * b.height;
        if (y >= to) break;
        out.push({ block: b, index: i, row: this.firsts[k]! + i, y });
      }
    }
    return out;
  }

  /** at is the row at a height, null outside. */
  at(y: number): Place<T> | null {
    return y < 0 || y >= this.height ? null : this.within(y, y + 0.5)[0] ?? null;
  }

  /** nth is row number n, null outside. */
  nth(n: number): Place<T> | null {
    if (n < 0 || n >= this.count) return null;
    const k = this.find(this.firsts, n), b = this.blocks[k]!, i = n - this.firsts[k]!;
    return { block: b, index: i, row: n, y: this.tops[k]! + i * b.height };
  }

  /** place is where a row of a block lies, null when there is no such. */
  place(key: string, index: number): Place<T> | null {
    const k = this.blocks.findIndex((b) => b.key === key);
    return k < 0 || index >= this.blocks[k]!.count ? null : this.nth(this.firsts[k]! + index);
  }

  /** find is the last block that begins at or before a value and is not empty. */
  private find(list: readonly number[], v: number): number {
    let low = 0, high = list.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (list[middle]! <= v) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
