/** Questions to the server. */
import { signal } from "@preact/signals";
import { heldAnswer, isFile } from "./held.ts";
import type { Answers } from "./types.ts";

export type Params = Record<string, string | number | boolean | undefined | null>;

/** Problem is an answer that is none. Missing is no failure: there is nothing of the kind. */
export class Problem extends Error {
  constructor(message: string, readonly missing: boolean) {
    super(message);
  }
}

/** address is where a question is asked, relative to the page. */
export function address(name: string, params: Params = {}): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(params)) {
    if (v !== undefined && v !== null && v !== "") q.set(k, String(v));
  }
  const text = q.toString();
  return "api/" + name + (text ? "?" + text : "");
}

async function answered(r: Response): Promise<Response> {
  if (r.ok) return r;
  const text = await r.text();
  try {
    const p = JSON.parse(text) as { error: string; missing: boolean };
    throw new Problem(p.error, p.missing);
  } catch (e) {
    if (e instanceof Problem) throw e;
    throw new Problem(text || r.statusText, false);
  }
}

/** asking is how many questions wait for an answer. */
export const asking = signal(0);

const going = new Set<AbortController>();

/**
 * stop gives up every question that waits. What the server computes for
 * nobody it ends.
 */
export function stop(): void {
  for (const g of going) g.abort(new Problem("Cancelled.", false));
}

/** asked sends a question and reads the answer. */
async function asked<T>(url: string, init: RequestInit, read: (r: Response) => Promise<T>): Promise<T> {
  const own = new AbortController(), outer = init.signal;
  const giveUp = (): void => own.abort(outer?.reason);
  if (outer?.aborted) giveUp();
  outer?.addEventListener("abort", giveUp);
  going.add(own);
  asking.value++;
  try {
    return await read(await answered(isFile ? heldAnswer(url, init) : await fetch(url, { ...init, signal: own.signal })));
  } catch (e) {
    if (own.signal.aborted) throw own.signal.reason;
    if (e instanceof Problem) throw e;
    throw new Problem("No answer from loupe. Is it still running? Restart it with loupe open.", false);
  } finally {
    outer?.removeEventListener("abort", giveUp);
    going.delete(own);
    asking.value--;
  }
}

/** get asks a question whose answer is a value. */
export async function get<K extends keyof Answers>(name: K, params?: Params, signal?: AbortSignal): Promise<Answers[K]> {
  return asked(address(name, params), signal ? { signal } : {}, (r) => r.json() as Promise<Answers[K]>);
}

/** post asks for something that acts, or with a body. */
export async function post<K extends keyof Answers>(name: K, params?: Params, body?: BodyInit): Promise<Answers[K]> {
  return asked(address(name, params), { method: "POST", body: body ?? null }, (r) => r.json() as Promise<Answers[K]>);
}

/** binary asks a question whose answer is bytes. */
export async function binary(name: string, params?: Params, body?: BodyInit, signal?: AbortSignal): Promise<ArrayBuffer> {
  const init: RequestInit = body === undefined ? {} : { method: "POST", body };
  if (signal) init.signal = signal;
  return asked(address(name, params), init, (r) => r.arrayBuffer());
}
