/** A file and a line; it opens the editor where there is one. */
import { post } from "../../api/client.ts";
import { list } from "../../model/source.ts";
import { failed } from "../../model/toasts.ts";

export function Place({ file, line }: { file: string; line: number }) {
  if (!file) return null;
  const shown = file.split(/[/\\]/).slice(-2).join("/") + (line > 0 ? ":" + line : "");
  if (!list.value?.editor || !/^([/\\]|[A-Za-z]:)/.test(file)) return <span class="muted" title={file}>{shown}</span>;
  return <button type="button" class="tl-go" title={"open " + file + " in the editor"} onClick={() => void post("edit", { file, line }).catch(failed)}>{shown}</button>;
}
