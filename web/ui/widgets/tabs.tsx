/** A row of choices of which one holds: views of one thing. */
export interface Choice {
  readonly id: string;
  readonly name: string;
  /** off says why it cannot be chosen. */
  readonly off?: string | undefined;
}

export function Tabs({ of, value, onChange, label }: { of: readonly Choice[]; value: string; onChange: (id: string) => void; label: string }) {
  const step = (e: KeyboardEvent): void => {
    const n = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (n === 0) return;
    e.preventDefault();
    e.stopPropagation();
    const open = of.filter((c) => !c.off);
    const to = open[(open.findIndex((c) => c.id === value) + n + open.length) % open.length];
    if (to) {
      onChange(to.id);
      (e.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-id="${to.id}"]`)?.focus();
    }
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={step}>
      {of.map((c) => (
        <button type="button" key={c.id} data-id={c.id} role="tab" aria-selected={c.id === value} tabIndex={c.id === value ? 0 : -1}
          disabled={!!c.off} title={c.off} onClick={() => onChange(c.id)}>
          {c.name}
        </button>
      ))}
    </div>
  );
}
