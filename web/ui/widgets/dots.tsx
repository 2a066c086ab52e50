/** Single values as dots on a line, with their median and its interval: how much what was measured spreads. */
export interface DotSet {
  readonly values: readonly number[];
  readonly center?: number | undefined;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

/** extent is the least and the greatest of what sets of dots show. */
export function extent(sets: readonly DotSet[]): [number, number] {
  const all = sets.flatMap((s) => [...s.values, ...(s.low !== undefined ? [s.low] : []), ...(s.high !== undefined ? [s.high] : [])]).filter(Number.isFinite);
  return all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
}

/** marks are the forms of the first, second … set: they differ without colour too. */
const radius = 2.5;

export function Dots({ sets, label, width = 160, from, to, zero }: { sets: readonly DotSet[]; label: string; width?: number; from?: number; to?: number; /** zero draws a line at a value. */ zero?: number }) {
  const [least, most] = extent(sets);
  const low = from ?? least, high = to ?? most, line = 9, height = Math.max(1, sets.length) * line + 2;
  const x = (v: number): number => high > low ? 4 + Math.min(1, Math.max(0, (v - low) / (high - low))) * (width - 8) : width / 2;
  return (
    <svg class="dots" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      {zero !== undefined ? <line class="zero" x1={x(zero)} x2={x(zero)} y1="0" y2={height} /> : null}
      {sets.map((s, i) => {
        const y = i * line + line / 2 + 1;
        return (
          <g key={i} class={"set" + i % 4}>
            {s.low !== undefined && s.high !== undefined ? <rect class="interval" x={x(s.low)} width={Math.max(1, x(s.high) - x(s.low))} y={y - 2} height="4" /> : null}
            {s.values.slice(0, 200).map((v, k) => i % 2 === 0 ? <circle key={k} cx={x(v)} cy={y} r={radius} /> : <path key={k} d={`M${x(v)} ${y - 3}l3 3l-3 3l-3 -3z`} />)}
            {s.center !== undefined && s.values.length > 0 ? <line class="center" x1={x(s.center)} x2={x(s.center)} y1={y - 4.500} y2={y + 4.500} /> : null}
          </g>
        );
      })}
    </svg>
  );
}

/** Verdict is a word with a sign, so that it needs no colour. */
export function Verdict({ of }: { of: string }) {
  const sign: Record<string, string> = { better: "▲", worse: "▼", changed: "◆", same: "=", undecided: "?" };
  return of ? <span class={"verdict " + of}><span aria-hidden="true">{sign[of] ?? ""}</span> {of}</span> : <span class="muted">–</span>;
}
