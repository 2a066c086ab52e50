/** The messages that lie over the page. */
import { dismiss, toasts } from "../model/toasts.ts";
import { Icon } from "./icon.tsx";

export function Toasts() {
  return (
    <div class="toasts">
      {toasts.value.map((t) => (
        <div key={t.id} class={t.bad ? "toast bad" : "toast"} role={t.bad ? "alert" : "status"}>
          <span>{t.text}</span>
          <button type="button" class="quiet" aria-label="dismiss this message" onClick={() => dismiss(t.id)}><Icon of="close" /></button>
        </div>
      ))}
    </div>
  );
}
