/** The head of the page: what is looked at, which part of its time, and what can be done. */
import { list, current } from "../model/source.ts";
import { theme, toggle } from "../model/theme.ts";
import { Icon } from "../widgets/icon.tsx";
import { isFile, madeBy } from "../api/held.ts";
import { exportPage, open } from "./commands.ts";
import { lastPart } from "./palette.tsx";
import { Range } from "./range.tsx";

export function Header() {
  const s = current.value;
  const many = (list.value?.sources?.length ?? 0) > 1;
  const title = !s ? "choose a source" : s.title === s.name ? lastPart(s.name).last : s.title;
  return (
    <header class="top">
      <a class="logo" href="#/" aria-label="loupe: all sources"><Icon of="loupe" /><span>loupe</span></a>
      {many ? (
        <button type="button" class="picker" aria-haspopup="dialog" title={s?.name} onClick={() => (open.value = "sources")}>
          <span class="unseen">source: </span><span class="name">{title}</span><Icon of="down" />
        </button>
      ) : s ? <span class="title" title={s.name}>{title}</span> : null}
      {s?.live ? <span class="chip live">being written</span> : s && !s.complete ? <span class="chip">truncated</span> : null}
      <Range />
      <div class="doings">
        <button type="button" class="command" title="search commands" aria-haspopup="dialog" onClick={() => (open.value = "palette")}>
          <Icon of="search" /><span>Search</span><kbd>Ctrl K</kbd>
        </button>
        <button type="button" class="quiet" aria-label={theme.value === "dark" ? "light theme" : "dark theme"} title={theme.value === "dark" ? "light theme" : "dark theme"} onClick={toggle}>
          <Icon of={theme.value === "dark" ? "sun" : "moon"} />
        </button>
        {isFile ? <span class="muted">{madeBy()}</span> : s ? <button type="button" class="quiet" aria-label="export as one file" title="export as one file" onClick={exportPage}><Icon of="save" /></button> : null}
        <button type="button" class="quiet" aria-label="keyboard shortcuts and help" title="keyboard shortcuts and help" aria-haspopup="dialog" onClick={() => (open.value = "help")}><Icon of="help" /></button>
      </div>
    </header>
  );
}
