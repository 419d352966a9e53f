// Streamlit names the state of its connection on its outermost element, and disables every widget while it is
// cut. Why it is cut is asked of /connected, as long as it is.

const STATE = "data-test-connection-state";
const FLICKER = 800; // milliseconds of a cut that nobody needs to hear of
const ASK_AGAIN = 3000;
const AWAY = 503; // said by our own gate; a proxy whose server is gone says 502 or 504
const KEEPS = "Nothing can be saved meanwhile. Leave this page open: what you have typed stays, and it goes on by itself.";

async function reason(since) {
  try {
    const answer = await fetch("/connected", { cache: "no-store", signal: AbortSignal.timeout(8000) });
    if (answer.status === AWAY) return `The database has been away since ${since}. ${KEEPS}`;
    if (answer.status < 500) return "Connecting again …";
  } catch {
    // no answer at all
  }
  return `The server has not answered since ${since}. ${KEEPS}`;
}

class Strip {
  constructor(root, app) {
    this.root = root;
    this.cut = false;
    this.watch = new MutationObserver(() => this.look(app));
    this.watch.observe(app, { attributeFilter: [STATE] });
    this.hideOnClick = () => !this.cut && this.hide();
    document.addEventListener("click", this.hideOnClick, { capture: true });
  }

  show(text) {
    if (this.root.textContent !== text) this.root.textContent = text; // the same again would be read out again
    this.root.hidden = false;
  }

  hide() {
    this.root.hidden = true;
    this.root.textContent = "";
  }

  /** Say why it is cut, and ask again until it is not. */
  async explain(since) {
    const text = await reason(since);
    if (!this.cut) return;
    this.show(text);
    this.timer = setTimeout(() => this.explain(since), ASK_AGAIN);
  }

  look(app) {
    const cut = app.getAttribute(STATE) !== "CONNECTED";
    if (cut === this.cut) return;
    this.cut = cut;
    clearTimeout(this.timer);
    if (cut) {
      const since = new Date().toLocaleTimeString("en-GB");
      this.timer = setTimeout(() => this.explain(since), FLICKER);
    } else {
      this.hide();
      this.ask("back", Date.now());
    }
  }

  /** What the shell says; it says it once, and the runs after that say nothing. */
  tell(text) {
    if (text && text !== this.told) this.show(text);
    this.told = text || this.told;
  }

  end() {
    this.watch.disconnect();
    clearTimeout(this.timer);
    document.removeEventListener("click", this.hideOnClick, { capture: true });
    this.root.remove();
  }
}

const strips = new WeakMap();

function begin(parent) {
  const root = document.createElement("div");
  root.className = "strip";
  root.setAttribute("role", "alert");
  root.hidden = true;
  parent.append(root);
  return new Strip(root, document.querySelector(`[${STATE}]`));
}

/** Streamlit's call, at each run; what it gets back is called when the page goes. */
export default function ({ parentElement, data, setTriggerValue }) {
  const strip = strips.get(parentElement) ?? begin(parentElement);
  strips.set(parentElement, strip);
  strip.ask = setTriggerValue;
  strip.tell(data?.told);
  return () => {
    strip.end();
    strips.delete(parentElement);
  };
}
