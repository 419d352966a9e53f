// The strip at the top of every page while the server or its database does not answer.
//
// Streamlit shows the state of its connection as an attribute of its outermost element, and disables all widgets while
// the connection is interrupted. The route /connected gives the cause.

import { h, listen } from "../shared/dom";
import { mountOnce, type StreamlitComponent, type Trigger } from "../shared/mount";

const STATE_ATTRIBUTE = "data-test-connection-state";
const SHOW_AFTER = 800; // milliseconds of a lost connection before it is reported
const RETRY_AFTER = 3000;
const DATABASE_UNAVAILABLE = 503; // answered by the app's own gate; a proxy answers 502 or 504 if it does not reach the server
const INPUT_KEPT_TEXT = "Nothing can be saved until it is back. Keep this page open: your input is kept, and the page reconnects automatically.";

async function describeOutage(since: string): Promise<string> {
  try {
    const { status } = await fetch("/connected", { cache: "no-store", signal: AbortSignal.timeout(8000) });
    if (status === DATABASE_UNAVAILABLE) return `The database has been unavailable since ${since}. ${INPUT_KEPT_TEXT}`;
    if (status < 500) return "Reconnecting …";
  } catch {
    // no answer
  }
  return `The server has been unreachable since ${since}. ${INPUT_KEPT_TEXT}`;
}

interface ConnectionData {
  /** The outcome of a click during a lost connection; sent once. */
  message: string | null;
}

class ConnectionStrip {
  private readonly root = h("div", { class: "strip", role: "alert", hidden: true });
  private readonly cleanups: (() => void)[];
  private isDisconnected = false;
  private lastText: string | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    parent: HTMLElement,
    private notifyScript: Trigger,
  ) {
    parent.append(this.root);
    const app = document.querySelector(`[${STATE_ATTRIBUTE}]`);
    const observer = new MutationObserver(() => app && this.checkConnection(app));
    if (app) observer.observe(app, { attributeFilter: [STATE_ATTRIBUTE] });
    const hideOnClick = (): void => {
      if (!this.isDisconnected) this.hide();
    };
    this.cleanups = [() => observer.disconnect(), listen(document, "click", hideOnClick, { capture: true })];
  }

  /** Show the page's message once. */
  update({ data, setTriggerValue }: StreamlitComponent<ConnectionData>): void {
    this.notifyScript = setTriggerValue;
    if (!data.message) return;
    if (data.message !== this.lastText) this.show(data.message);
    this.lastText = data.message;
  }

  end(): void {
    clearTimeout(this.timer);
    for (const end of this.cleanups) end();
    this.root.remove();
  }

  private checkConnection(app: Element): void {
    const isDisconnected = app.getAttribute(STATE_ATTRIBUTE) !== "CONNECTED";
    if (isDisconnected === this.isDisconnected) return;
    this.isDisconnected = isDisconnected;
    clearTimeout(this.timer);
    if (isDisconnected) {
      const since = new Date().toLocaleTimeString("en-GB");
      this.timer = setTimeout(() => void this.explain(since), SHOW_AFTER);
    } else {
      this.hide();
      this.notifyScript("back", Date.now());
    }
  }

  /** Show why the connection is lost. Repeats until the connection is back. */
  private async explain(since: string): Promise<void> {
    const text = await describeOutage(since);
    if (!this.isDisconnected) return;
    this.show(text);
    this.timer = setTimeout(() => void this.explain(since), RETRY_AFTER);
  }

  private show(text: string): void {
    if (this.root.textContent !== text) this.root.textContent = text; // screen readers would repeat an unchanged text
    this.root.hidden = false;
  }

  private hide(): void {
    this.root.hidden = true;
    this.root.textContent = "";
  }
}

export default mountOnce<ConnectionData>(({ parentElement, setTriggerValue }) => new ConnectionStrip(parentElement, setTriggerValue));
