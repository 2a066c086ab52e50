/** The time that everything is restricted to: typed, and left step by step. */
import { useState } from "preact/hooks";
import { duration, exact, exactSpan, instant, parse, parseSpan, type Span, type Time } from "../base/units.ts";
import { range, setRange } from "../model/route.ts";
import { axis } from "../model/source.ts";
import { trail } from "../model/trail.ts";
import { Icon } from "../widgets/icon.tsx";

type Typed = { start?: string; end?: string };

export function Range() {
  const all = axis.value, chosen = range.value;
  const [typed, setTyped] = useState<Typed>({});
  const [wrong, setWrong] = useState("");
  if (!all) return null;
  const now = chosen ?? all;
  const forget = (): void => {
    setTyped({});
    setWrong("");
  };
  const enter = (): void => {
    if (typed.start === undefined && typed.end === undefined) return;
    const to = read(typed, now, all);
    if (typeof to === "string") {
      setWrong(to);
      return;
    }
    forget();
    setRange(to.start <= all.start && to.end >= all.end ? null : to);
  };
  const field = (which: keyof Typed, label: string) => (
    <input aria-label={label} autocomplete="off" spellcheck={false} value={typed[which] ?? (chosen ? exact(chosen[which]) : "")} placeholder={instant(all[which], all.end - all.start)}
      aria-invalid={wrong !== ""} aria-describedby={wrong ? "rangewrong" : undefined} title="as in 1.5s, 20ms or 1m5s"
      onInput={(e) => setTyped({ ...typed, [which]: e.currentTarget.value })}
      onKeyDown={(e) => { if (e.key === "Escape") { forget(); e.stopPropagation(); } }} />
  );
  return (
    <form class="range" aria-label="time range" onSubmit={(e) => { e.preventDefault(); enter(); }}
      onFocusOut={(e) => { if (!e.currentTarget.contains(e.relatedTarget as Node | null)) { if (typeof read(typed, now, all) === "string") forget(); else enter(); } }}>
      <Steps all={all} />
      {field("start", "from")}<span aria-hidden="true">–</span>{field("end", "to")}
      <span class="length muted" title="length of the range">{duration(now.end - now.start)}</span>
      {chosen ? <button type="button" class="quiet" aria-label="full range" title="full range" onClick={() => { forget(); setRange(null); }}><Icon of="close" /></button> : null}
      {/* A form of two fields is sent by Enter only when it has a button. */}
      <button type="submit" class="unseen" tabIndex={-1}>set</button>
      {wrong ? <span class="wrong" id="rangewrong" role="alert">{wrong}</span> : null}
    </form>
  );
}

/** read returns the range that was typed, or what is wrong with it. */
export function read(typed: Typed, now: Span, all: Span): Span | string {
  const both = parseSpan(typed.start ?? "") ?? parseSpan(typed.end ?? "");
  if (both) return both;
  const place = (text: string | undefined, held: Time, without: Time): Time | null => (text === undefined ? held : text.trim() ? parse(text) : without);
  const start = place(typed.start, now.start, all.start), end = place(typed.end, now.end, all.end);
  if (start === null || end === null) return `"${start === null ? typed.start : typed.end}" is not a time: use 1.5s, 20ms or 1m5s`;
  if (start >= end) return "The range ends before it starts.";
  return { start, end };
}

/** Steps leads back to the ranges around the one that is shown. */
function Steps({ all }: { all: Span }) {
  const around = trail.value.slice(0, -1);
  if (!range.value) return null;
  return (
    <span class="steps">
      <button type="button" class="quiet" title="show all of it" onClick={() => setRange(null)}>{duration(all.end - all.start)}</button>
      {around.map((s) => (
        <span key={exactSpan(s)}>
          <span aria-hidden="true">›</span>
          <button type="button" class="quiet" title={"back to " + exactSpan(s)} onClick={() => setRange(s)}>{duration(s.end - s.start)}</button>
        </span>
      ))}
      <span aria-hidden="true">›</span>
    </span>
  );
}
