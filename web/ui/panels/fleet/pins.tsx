/** What is kept in full for ever: the list of pins, and the form that adds what is shown. */
import { useState } from "preact/hooks";
import type { FleetPin } from "../../api/types.ts";
import { post } from "../../api/client.ts";
import { set } from "../../model/route.ts";
import { useAnswer } from "../../widgets/ask.tsx";
import { clock, total, type Ask } from "./model.ts";

export function Pins({ ask }: { ask: Ask }) {
  const [changed, setChanged] = useState(0), [failed, setFailed] = useState("");
  const pins = useAnswer("fleet/pins", { n: changed });
  const act = (what: Promise<boolean>) => what.then(() => { setFailed(""); setChanged((n) => n + 1); return true; }, (e: unknown) => { setFailed(e instanceof Error ? e.message : String(e)); return false; });
  const list = pins.value?.pins ?? [];
  return (
    <section class="fleet-pins">
      <h2>{list.length ? total(list.length, "pin") : "Pins"}</h2>
      <p class="muted">Pinned profiles are never downsampled or dropped, whatever their age and -keep.</p>
      {list.length ? <Table pins={list} unpin={(name) => void act(post("fleet/unpin", { name }))} /> : null}
      <New ask={ask} pin={(name, reason) => act(post("fleet/pin", { ...ask, name, reason }))} />
      {failed ? <p class="bad" role="alert">{failed}</p> : null}
    </section>
  );
}

function Table({ pins, unpin }: { pins: readonly FleetPin[]; unpin: (name: string) => void }) {
  return (
    <div class="rows fleet-table" role="region" aria-label="pins" tabIndex={0}>
      <table>
        <thead><tr><th scope="col" class="left named">pin</th><th scope="col" class="left">labels</th><th scope="col" class="left">from</th><th scope="col" class="left">until</th><th scope="col" class="left">reason</th><td></td></tr></thead>
        <tbody>
          {pins.map((p) => (
            <tr key={p.name}>
              <td class="left named"><button type="button" class="quiet" title="show this selection" onClick={() => set({ select: p.select === "{}" ? undefined : p.select, from: String(p.from_ms), until: String(p.until_ms), last: undefined })}>{p.name}</button></td>
              <td class="left" title={p.select}>{p.select}</td><td class="left">{p.from_ms ? clock(p.from_ms, Infinity) : "open"}</td><td class="left">{p.until_ms ? clock(p.until_ms, Infinity) : "open"}</td><td class="left" title={p.reason}>{p.reason}</td>
              <td class="left"><button type="button" class="quiet" aria-label={"Unpin " + p.name} onClick={() => unpin(p.name)}>Unpin</button></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** New pins what is shown: the labels and the range above. */
function New({ ask, pin }: { ask: Ask; pin: (name: string, reason: string) => Promise<boolean> }) {
  const [name, setName] = useState(""), [reason, setReason] = useState("");
  const done = (ok: boolean) => { if (ok) { setName(""); setReason(""); } };
  return (
    <form class="fleet-bar" onSubmit={(e) => { e.preventDefault(); void pin(name.trim(), reason.trim()).then(done); }}>
      <label>Name <input type="text" required maxLength={100} value={name} autocomplete="off" onInput={(e) => setName(e.currentTarget.value)} /></label>
      <label>Reason <input type="text" value={reason} autocomplete="off" onInput={(e) => setReason(e.currentTarget.value)} /></label>
      <button type="submit">Pin {ask.select ? "this selection" : "all services"} in this range</button>
    </form>
  );
}
