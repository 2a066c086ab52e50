/** What the server tells without being asked. */
import { signal } from "@preact/signals";
import type { Notice } from "./types.ts";

/** versions counts, for each source, how often it has changed. */
export const versions = signal<Readonly<Record<string, number>>>({});

/** listed counts how often sources have come. */
export const listed = signal(0);

/** jobs is what is being computed: by source and name, how much is done. */
export const jobs = signal<ReadonlyMap<string, { source: string; job: string; done: number }>>(new Map());

/** timelines are the versions of the timelines that are being read: by source. */
export const timelines = signal<Readonly<Record<string, number>>>({});

/** lost tells that the server is not there. */
export const lost = signal(false);

/**
 * listen begins to listen, whenever the page is to be seen. A page behind others
 * does not: a browser has six connections to one server, and each that listens
 * holds one.
 */
export function listen(): void {
  let stream: EventSource | null = null;
  const see = (): void => {
    if (document.visibilityState === "hidden") {
      stream?.close();
      stream = null;
    } else if (!stream) {
      stream = connect();
    }
  };
  document.addEventListener("visibilitychange", see);
  see();
}

function connect(): EventSource {
  const stream = new EventSource("api/events");
  stream.onopen = () => {
    lost.value = false;
    jobs.value = new Map(); // their ends may have been missed
  };
  stream.onerror = () => (lost.value = stream.readyState !== EventSource.OPEN);
  stream.onmessage = (m) => {
    const n = JSON.parse(m.data as string) as Notice;
    switch (n.kind) {
      case "changed":
        versions.value = { ...versions.value, [n.source!]: n.version! };
        break;
      case "timeline":
        timelines.value = { ...timelines.value, [n.source!]: n.version! };
        break;
      case "sources":
        listed.value++;
        break;
      case "job": {
        const all = new Map(jobs.value);
        const key = n.source + " " + n.job;
        if ((n.done ?? 0) >= 1) all.delete(key);
        else all.set(key, { source: n.source!, job: n.job!, done: n.done ?? 0 });
        jobs.value = all;
      }
    }
  };
  return stream;
}
