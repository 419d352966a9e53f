// The strip at the top of every page while the server or its database does not answer.
//
// Streamlit names the state of its connection on its outermost element, and disables every widget while it is cut. Why it
// is cut is asked of /connected.

import { h, listen } from "../shared/dom";
import { mountOnce, type StreamlitComponent, type Trigger } from "../shared/mount";

const STATE = "data-test-connection-state";
const FLICKER = 800; // milliseconds of a cut that nobody needs to know of
const ASK_AGAIN = 3000;
const AWAY = 503; // answered by our own gate; a proxy whose server is gone answers 502 or 504
const KEEPS = "Nothing can be saved until it is back. Keep this page open: your input is kept, and the page reconnects automatically.";

async function reasonOfCut(since: string): Promise<string> {
  try {
    const { status } = await fetch("/connected", { cache: "no-store", signal: AbortSignal.timeout(8000) });
    if (status === AWAY) return `The database has been unavailable since ${since}. ${KEEPS}`;
    if (status < 500) return "Reconnecting …";
  } catch {
    // no answer at all
  }
  return `The server has been unreachable since ${since}. ${KEEPS}`;
}

interface ConnectionData {
  /** What became of a click while the connection was cut; a text that comes once. */
  told: string | null;
}

class ConnectionStrip {
  private readonly root = h("div", { class: "strip", role: "alert", hidden: true });
  private readonly ends: (() => void)[];
  private isCut = false;
  private lastText: string | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    parent: HTMLElement,
    private trigger: Trigger,
  ) {
    parent.append(this.root);
    const app = document.querySelector(`[${STATE}]`);
    const observer = new MutationObserver(() => app && this.look(app));
    if (app) observer.observe(app, { attributeFilter: [STATE] });
    const hideOnClick = (): void => {
      if (!this.isCut) this.hide();
    };
    this.ends = [() => observer.disconnect(), listen(document, "click", hideOnClick, { capture: true })];
  }

  /** What the page says is shown once; later runs say nothing. */
  update({ data, setTriggerValue }: StreamlitComponent<ConnectionData>): void {
    this.trigger = setTriggerValue;
    if (!data.told) return;
    if (data.told !== this.lastText) this.show(data.told);
    this.lastText = data.told;
  }

  end(): void {
    clearTimeout(this.timer);
    for (const end of this.ends) end();
    this.root.remove();
  }

  private look(app: Element): void {
    const isCut = app.getAttribute(STATE) !== "CONNECTED";
    if (isCut === this.isCut) return;
    this.isCut = isCut;
    clearTimeout(this.timer);
    if (isCut) {
      const since = new Date().toLocaleTimeString("en-GB");
      this.timer = setTimeout(() => void this.explain(since), FLICKER);
    } else {
      this.hide();
      this.trigger("back", Date.now());
    }
  }

  /** Show why it is cut, and ask again until it is not. */
  private async explain(since: string): Promise<void> {
    const text = await reasonOfCut(since);
    if (!this.isCut) return;
    this.show(text);
    this.timer = setTimeout(() => void this.explain(since), ASK_AGAIN);
  }

  private show(text: string): void {
    if (this.root.textContent !== text) this.root.textContent = text; // the same again would be read out again
    this.root.hidden = false;
  }

  private hide(): void {
    this.root.hidden = true;
    this.root.textContent = "";
  }
}

export default mountOnce<ConnectionData>(({ parentElement, setTriggerValue }) => new ConnectionStrip(parentElement, setTriggerValue));
