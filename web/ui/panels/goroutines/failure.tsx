/** Why a dump was printed: the message and the goroutine that failed, before all others. */
import type { PanicView, RaceView, RegisterView } from "../../api/types.ts";
import { count } from "../../base/units.ts";
import { Frames } from "../../widgets/frames.tsx";

export function Failure({ of: p, core }: { of: PanicView; core: string | undefined }) {
  return (
    <section class="gopanic" aria-label={p.kind}>
      <h2>{p.kind}</h2>
      {p.message ? <pre tabIndex={0} aria-label="message">{p.message}</pre> : null}
      {p.values?.length && p.values.length > 1 ? (
        <>
          <h3>Panics, in order</h3>
          <ol>{p.values.map((v, i) => <li key={i}><code>{v}</code></li>)}</ol>
        </>
      ) : null}
      {p.first ? (
        <>
          <h3>{p.first.id ? "Goroutine " + p.first.id : "Thread"}, {p.first.title}</h3>
          <Frames of={p.first.frames ?? []} core={core} />
        </>
      ) : null}
      {p.threads?.length ? (
        <details>
          <summary>Registers of {count(p.threads.length)} {p.threads.length === 1 ? "thread" : "threads"}</summary>
          {p.threads.map((t, i) => (
            <section key={i}>
              <h3>{t.title}</h3>
              <Registers of={t.registers ?? []} />
            </section>
          ))}
        </details>
      ) : null}
    </section>
  );
}

export function Registers({ of }: { of: readonly RegisterView[] }) {
  return <dl class="registers">{of.map((r) => <div key={r.name}><dt>{r.name}</dt><dd>{r.value}</dd></div>)}</dl>;
}

export function Races({ of }: { of: readonly RaceView[] }) {
  if (of.length === 0) return null;
  return (
    <section class="gopanic" aria-label="data races">
      <h2>{count(of.length)} {of.length === 1 ? "data race" : "data races"}</h2>
      {of.map((r, i) => (
        <details key={i} open={i === 0}>
          <summary>Data race {i + 1}</summary>
          {(r.accesses ?? []).map((a, n) => <section key={n}><h3>{a.title}</h3><Frames of={a.frames ?? []} /></section>)}
        </details>
      ))}
    </section>
  );
}
