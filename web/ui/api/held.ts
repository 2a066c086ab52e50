/** The answers that a file holds which is read without a server: loupe report -format html, and the page's own export. */

/** Held is an answer: a value, or why there is none. */
interface Held {
  readonly v?: unknown;
  readonly e?: string;
  readonly m?: boolean;
}

interface Data {
  readonly made: string;
  readonly version: string;
  readonly answers: Readonly<Record<string, Held>>;
  /** tiles has where the tiles of a source begin and end in the bytes behind the JSON. */
  readonly tiles: Readonly<Record<string, readonly [number, number]>>;
}

interface HeldLanes {
  total: number;
  lanes: { kind: string; name: string; subject: number; group: number }[] | null;
}

let data: Data | null = null;

/** behind is what follows the JSON. */
let behind: Uint8Array<ArrayBuffer> = new Uint8Array(0);

/** isFile tells that the page is such a file. */
export const isFile = typeof document !== "undefined" && document.getElementById("held") !== null;

/** unpack reads what the file holds. */
export async function unpack(): Promise<void> {
  const text = document.getElementById("held")!.textContent ?? "";
  const packed = bytesOf(text);
  const all = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  const end = 4 + new DataView(all).getUint32(0, true);
  data = JSON.parse(new TextDecoder().decode(new Uint8Array(all, 4, end - 4))) as Data;
  behind = new Uint8Array(all, end);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const raw = atob(base64.trim()), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

/** fineness are parameters that do not change what is true; web/export.go has the same. */
const fineness = new Set(["width", "w", "columns", "version", "since", "keys"]);

/** key names a question as web/export.go does. */
export function key(name: string, q: URLSearchParams): string {
  const parts = [...q].filter(([k, v]) => v !== "" && !fineness.has(k)).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return name + "?" + parts.map(([k, v]) => k + "=" + v).join("&");
}

const absent = "This exported file contains only the initial state of each view. Open the recording with loupe open to see this.";

/** heldAnswer answers a question from the file, as the server would. */
export function heldAnswer(url: string, init: RequestInit): Response {
  const [path = "", query = ""] = url.split("?", 2);
  const name = path.replace(/^api\//, ""), q = new URLSearchParams(query);
  const problem = (error: string, missing: boolean): Response => Response.json({ error, missing }, { status: missing ? 404 : 500 });
  if (name === "timeline/tiles") return tilesOf(q.get("s") ?? "", init.body);
  if (name === "timeline/lanes") return lanesOf(q) ?? problem(absent, true);
  const a = data?.answers[key(name, q)];
  if (!a) return problem(absent, true);
  if (a.e !== undefined) return problem(a.e, a.m ?? false);
  if (name === "lanes") {
    const all = a.v as { span: unknown; lanes: { key: string }[] }, keys = (q.get("keys") ?? "").split(",");
    return Response.json({ ...all, lanes: keys.flatMap((k) => all.lanes.filter((l) => l.key === k || k === "vars" && l.key.startsWith("var:"))) });
  }
  return Response.json(a.v);
}

/** lanesOf lists lanes of those that the file holds. */
function lanesOf(q: URLSearchParams): Response | null {
  const s = q.get("s") ?? "", kinds = q.get("kinds")?.split(",") ?? [];
  const few = data?.answers[key("timeline/lanes", new URLSearchParams({ s, n: "1000", kinds: "proc,thread,gc,counter,latency" }))];
  const most = data?.answers[key("timeline/lanes", new URLSearchParams({ s, n: "400", order: "spans" }))];
  if (few?.e !== undefined) return Response.json({ error: few.e, missing: few.m ?? false }, { status: few.m ? 404 : 500 });
  if (!few || !most || most.e !== undefined) return null;
  const base = few.v as HeldLanes, others = most.v as HeldLanes;
  const of = (k: string): boolean => kinds.length === 0 || kinds.includes(k);
  const fixed = new Set(["proc", "thread", "gc", "counter", "latency"]);
  let list = [...(base.lanes ?? []), ...(others.lanes ?? []).filter((l) => !fixed.has(l.kind))].filter((l) => of(l.kind));
  const wanted = (q.get("q") ?? "").toLowerCase(), group = q.get("group");
  if (wanted) list = list.filter((l) => l.name.toLowerCase().includes(wanted) || "g" + l.subject === wanted);
  if (group) list = list.filter((l) => String(l.group) === group);
  const from = Number(q.get("from") ?? 0), n = Number(q.get("n") ?? 100);
  return Response.json({ ...base, total: list.length, lanes: list.slice(from, from + n) });
}

const headBytes = 16;

/** spansForm is that of a tile of spans, as they are: model/tiles.ts has all forms. */
const spansForm = 2;

/** indexes has, for each source, where its tiles are. */
const indexes = new Map<string, { bytes: Uint8Array<ArrayBuffer>; at: Map<string, number> }>();

function index(source: string): { bytes: Uint8Array<ArrayBuffer>; at: Map<string, number> } {
  const have = indexes.get(source);
  if (have) return have;
  const [from, to] = data?.tiles[source] ?? [0, 0], bytes = behind.slice(from, to), at = new Map<string, number>(), view = new DataView(bytes.buffer);
  for (let i = 4; i + headBytes <= bytes.length; i += headBytes + view.getUint32(i + 12, true)) {
    at.set([view.getUint32(i, true), view.getUint8(i + 8), view.getUint32(i + 4, true)].join(" "), i);
  }
  const made = { bytes, at };
  indexes.set(source, made);
  return made;
}

/** tilesOf answers with the finest tiles that the file holds, which is what the server does where there is no finer one. Spans have no level. */
function tilesOf(source: string, body: BodyInit | null | undefined): Response {
  const ids = new Uint32Array(body as ArrayBuffer), { bytes, at } = index(source), view = new DataView(bytes.buffer);
  const parts: Uint8Array<ArrayBuffer>[] = [new Uint8Array(new Uint32Array([ids.length / 3]).buffer)];
  for (let i = 0; i + 2 < ids.length; i += 3) {
    const lane = ids[i]!;
    let found = -1;
    for (let level = ids[i + 1]!, n = ids[i + 2]!; level < 64 && found < 0; level++, n >>>= 1) found = at.get([lane, level, n].join(" ")) ?? -1;
    if (found >= 0) {
      const tile = bytes.slice(found, found + headBytes + view.getUint32(found + 12, true));
      if (tile[9] === spansForm) { // the spans of a coarser tile are those of this one, and more
        const head = new DataView(tile.buffer);
        head.setUint32(4, ids[i + 2]!, true);
        head.setUint8(8, ids[i + 1]!);
      }
      parts.push(tile);
      continue;
    }
    const head = new DataView(new ArrayBuffer(headBytes)); // the lane has nothing there
    head.setUint32(0, lane, true);
    head.setUint32(4, ids[i + 2]!, true);
    head.setUint8(8, ids[i + 1]!);
    parts.push(new Uint8Array(head.buffer));
  }
  return new Response(new Blob(parts));
}

/** madeBy says when and by what the file was made. */
export function madeBy(): string {
  return data ? "made " + new Date(data.made).toLocaleString() + " by loupe " + data.version : "";
}
