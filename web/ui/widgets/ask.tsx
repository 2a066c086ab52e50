/** Asking the server from a component: loading, errors and emptiness in plain words. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { get, Problem, type Params } from "../api/client.ts";
import { jobs, versions } from "../api/events.ts";
import type { Answers } from "../api/types.ts";

/** Asked is the state of a question. An older answer stays while a newer one is awaited. */
export interface Asked<T> {
  readonly value: T | null;
  readonly error: Problem | null;
  readonly loading: boolean;
  /** again asks once more, after a failure. */
  readonly again?: () => void;
}

/**
 * useAsked runs something that can be cancelled whenever its key changes, and
 * cancels it when the component goes. A null key asks nothing.
 */
export function useAsked<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Asked<T> {
  const [state, setState] = useState<Asked<T>>({ value: null, error: null, loading: key !== null });
  const [tries, setTries] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (key === null) {
      setState({ value: null, error: null, loading: false });
      return;
    }
    const abort = new AbortController();
    setState((s) => ({ ...s, loading: true }));
    latest.current(abort.signal).then(
      (value) => !abort.signal.aborted && setState({ value, error: null, loading: false }),
      (e: unknown) => {
        if (abort.signal.aborted) return;
        setState({ value: null, error: e instanceof Problem ? e : new Problem(String(e), false), loading: false });
      },
    );
    return () => abort.abort();
  }, [key, tries]);
  return { ...state, again: () => setTries(tries + 1) };
}

/**
 * useAnswer asks the server a question about a source, and again when the
 * source or the parameters have changed.
 */
export function useAnswer<K extends keyof Answers>(name: K, params: Params = {}, when = true): Asked<Answers[K]> {
  const version = versions.value[String(params["s"] ?? "")] ?? 0;
  const key = when ? name + " " + JSON.stringify(params) + " " + version : null;
  return useAsked(key, (signal) => get(name, params, signal));
}

/** Answer shows the answer to a question, or what is in its way. */
export function Answer<T>({ of, children, source }: { of: Asked<T>; children: (value: T) => ComponentChildren; source?: string }) {
  if (of.value !== null) {
    return (
      <div class={of.loading ? "retrying" : "asked"} aria-busy={of.loading}>
        {children(of.value)}
      </div>
    );
  }
  if (of.error) return <Trouble of={of.error} {...(of.again ? { again: of.again } : {})} />;
  return of.loading ? <Waiting {...(source !== undefined ? { source } : {})} /> : null;
}

/** Trouble says why there is nothing to see. */
export function Trouble({ of, again }: { of: Problem; again?: () => void }) {
  return (
    <div class={of.missing ? "empty" : "trouble"} role={of.missing ? "note" : "alert"}>
      <p><Prose>{of.message}</Prose></p>
      {again && !of.missing ? <p><button type="button" onClick={again}>Try again</button></p> : null}
    </div>
  );
}

/** Prose sets the commands in a text apart: "Record one: loupe run -phases bare,trace ./cmd/server". */
function Prose({ children }: { children: string }) {
  const at = /^(.*?: )((?:loupe (?:run|load|open|attach|watch|stacks|core|trace|pprof|why|compare)|go test) .+?)(\.?)$/s.exec(children);
  return at ? <>{at[1]}<code>{at[2]}</code>{at[3]}</> : <>{children}</>;
}

/** Empty says in plain words that there is nothing, and what would give something. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty" role="note">{children}</div>;
}

/** Waiting shows that something goes on, after half a second how far it is. */
export function Waiting({ source }: { source?: string }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 500);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return <div class="waiting" aria-busy="true" />;
  const going = [...jobs.value.values()].filter((j) => source === undefined || j.source === source);
  return (
    <div class="waiting" role="status">
      {going.length === 0 ? <progress aria-label="working" /> : going.map((j) => (
        <label key={j.job}>
          {j.job} {j.done > 0 ? <progress value={j.done} /> : <progress />}
        </label>
      ))}
    </div>
  );
}
