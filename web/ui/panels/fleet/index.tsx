/** The fleet view: the services whose profiles are kept, what they cost, and the way to their profiles. */
import { useEffect, useState } from "preact/hooks";
import type { FleetServices } from "../../api/types.ts";
import { localCommands } from "../../model/commands.ts";
import { param, route, set } from "../../model/route.ts";
import { Answer, Empty, useAnswer } from "../../widgets/ask.tsx";
import { Functions } from "./functions.tsx";
import { Incidents } from "./incidents.tsx";
import { Lines } from "./lines.tsx";
import { askOf, clock, lasts, serviceOf, total, usual, type Ask } from "./model.ts";
import { Pins } from "./pins.tsx";
import { Regressions } from "./regressions.tsx";
import { Services } from "./services.tsx";
import { Spread } from "./spread.tsx";
import { Targets } from "./targets.tsx";

/** every is how often what ends now is asked for again, in ms. */
const every = 15e3;

export function Fleet() {
  const ask = askOf(route.value.params), [n, setN] = useState(0);
  useEffect(() => {
    if (ask.last === undefined) return;
    const timer = setInterval(() => document.visibilityState === "visible" && setN((n) => n + 1), every);
    return () => clearInterval(timer);
  }, [ask.last]);
  useEffect(() => {
    localCommands.value = [{ name: "Fleet: all services", run: () => set({ select: undefined, by: undefined, base: undefined }) }, ...lasts.map((l) => ({ name: "Fleet: " + l.name, run: () => goLast(l.id) }))];
    return () => { localCommands.value = []; };
  }, []);
  const { select, ...range } = ask;
  const services = useAnswer("fleet/services", { ...range, n });
  return (
    <>
      <h1>Fleet</h1>
      <Bar ask={ask} />
      <Answer of={services}>
        {(v) => v && (v.services?.length ? (
          <>
            <Services of={v} chosen={serviceOf(select ?? "")} />
            <Regressions ask={ask} n={n} />
            <Lines ask={ask} n={n} />
            <Pins ask={ask} />
            {select ? <Functions ask={ask} n={n} /> : null}
            {select ? <Spread ask={ask} /> : null}
          </>
        ) : <None of={v} />)}
      </Answer>
      <Incidents n={n} />
      <Targets n={n} />
    </>
  );
}

function goLast(id: string): void {
  set({ last: id === usual ? undefined : id, from: undefined, until: undefined });
}

/** Bar is where range and labels are chosen. */
function Bar({ ask }: { ask: Ask }) {
  const [text, setText] = useState(ask.select ?? "");
  useEffect(() => setText(ask.select ?? ""), [ask.select]);
  const own = ask.from !== undefined && ask.until !== undefined ? `${clock(ask.from, Infinity)} to ${clock(ask.until, Infinity)}` : "";
  return (
    <form class="fleet-bar" onSubmit={(e) => { e.preventDefault(); set({ select: text.trim() || undefined, base: undefined }); }}>
      <label>Time <select value={own ? "own" : param("last", usual)} onChange={(e) => goLast(e.currentTarget.value)}>
        {own ? <option value="own">{own}</option> : null}
        {lasts.map((l) => <option key={l.id} value={l.id}>{l.name}</option>)}
      </select></label>
      <label class="fleet-select">Labels <input type="search" value={text} placeholder={'{service_name="shop",pod=~"a|b"}'} spellcheck={false} autocomplete="off" onInput={(e) => setText(e.currentTarget.value)}
        onKeyDown={(e) => { if (e.key === "Enter") { e.preventDefault(); e.currentTarget.form?.requestSubmit(); } }} /></label>
      <button type="submit">Select</button>
      {ask.select ? <button type="button" class="quiet" onClick={() => set({ select: undefined, by: undefined, base: undefined })}>All services</button> : null}
    </form>
  );
}

/** None says how profiles come here. */
function None({ of: v }: { of: FleetServices }) {
  return (
    <Empty>
      <p>No profile began in this range ({total(Math.round((v.until_ms - v.from_ms) / 60e3), "minute")}). Profiles come in one of these ways:</p>
      <dl class="fleet-ways">
        <dt>Programs on this machine that serve /debug/pprof</dt><dd><code>loupe serve -local</code></dd>
        <dt>Services elsewhere, or those that Prometheus finds</dt><dd><code>loupe serve -targets api-1:6060,api-2:6060</code> <code>loupe serve -targets prometheus.yml</code></dd>
        <dt>A file, from CI for example</dt><dd><code>loupe push -to {location.origin} -service shop cpu.pb.gz</code></dd>
        <dt>pyroscope-go, Alloy, OpenTelemetry</dt><dd>their server's address is <code>{location.origin}</code></dd>
      </dl>
    </Empty>
  );
}
