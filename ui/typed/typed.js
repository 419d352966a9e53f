// Kept: what is typed into a page's long texts, as long as the field does not show it saved. Offered: what was
// kept of a field that stands there with another text and has not been touched. Nothing is put back unasked.

const KEPT = "overread-typed:";
const FIELDS = '[data-testid="stMain"] textarea, [data-testid="stMain"] input[type="text"]';
const DONE = '[data-testid="stAlertContentSuccess"]';
const LONG = 20; // characters; shorter ones (names, search words) are typed again sooner than looked for

const nameOf = (field) => {
  const keyed = field.closest('[class*="st-key-"]');
  return keyed && [...keyed.classList].find((each) => each.startsWith("st-key-"));
};
const clock = (at) => new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

class Typed {
  constructor(root, person) {
    this.root = root;
    this.mine = `${KEPT}${person}:`;
    this.touched = new WeakSet();
    for (const key of this.keys(KEPT)) if (!key.startsWith(this.mine)) sessionStorage.removeItem(key);
    this.heard = ({ target }) => target instanceof Element && target.matches(FIELDS) && this.keep(target);
    document.addEventListener("input", this.heard);
    this.watch = new MutationObserver((changes) => this.changed(changes));
    this.watch.observe(document.querySelector('[data-testid="stApp"]'), { childList: true, subtree: true });
    this.look();
  }

  /** The page was drawn anew, in part. */
  changed(changes) {
    const isDone = (node) => node instanceof Element && node.querySelector(DONE);
    if (changes.some((change) => [...change.addedNodes].some(isDone))) setTimeout(() => this.saved(), 500);
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.look(), 300);
  }

  keys(beginning) {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(beginning));
  }

  /** The key of a field of the page that is open. */
  keyOf(field) {
    const name = nameOf(field);
    return name && `${this.mine}${location.pathname}:${name}`;
  }

  keep(field) {
    const key = this.keyOf(field);
    if (!key) return;
    this.touched.add(field);
    if (field.value.length < LONG) sessionStorage.removeItem(key);
    else this.store(key, field.value);
    this.look();
  }

  store(key, text) {
    try {
      sessionStorage.setItem(key, JSON.stringify({ text, at: Date.now() }));
    } catch {
      // No room: the text is in its field, as it was before.
    }
  }

  /** Offer what was kept of the fields that are there. */
  look() {
    const offers = [];
    for (const field of document.querySelectorAll(FIELDS)) {
      const key = this.keyOf(field);
      const kept = key && !this.touched.has(field) && JSON.parse(sessionStorage.getItem(key));
      if (!kept) continue;
      if (kept.text === field.value) sessionStorage.removeItem(key); // as it was saved
      else if (field.offsetParent) offers.push({ field, key, ...kept });
    }
    const shown = JSON.stringify(offers.map(({ key, at }) => [key, at]));
    if (shown === this.shown) return;
    this.shown = shown;
    this.root.replaceChildren(...offers.map((each) => this.offer(each)));
  }

  offer({ field, key, text, at }) {
    const place = document.createElement("div");
    place.className = "offer";
    const said = document.createElement("p");
    const begins = text.length > 60 ? `${text.slice(0, 60)} …` : text;
    said.textContent = `${field.getAttribute("aria-label") || "A text"}: typed at ${clock(at)} and not saved. “${begins}”`;
    const back = this.button("Put it back", () => this.putBack(field, text));
    const forget = this.button("Forget it", () => sessionStorage.removeItem(key));
    place.append(said, back, forget);
    return place;
  }

  button(text, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", () => {
      act();
      this.look();
    });
    return made;
  }

  /** As if it were typed: React hears of a value only from its own setter and an event. */
  putBack(field, text) {
    const kind = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
    field.focus();
    Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(field, text);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.scrollIntoView({ block: "center" });
  }

  /** Something of this page was saved: what was typed into fields that are gone with that needs no keeping. */
  saved() {
    const there = new Set([...document.querySelectorAll(FIELDS)].map((field) => this.keyOf(field)));
    for (const key of this.keys(`${this.mine}${location.pathname}:`)) if (!there.has(key)) sessionStorage.removeItem(key);
  }

  end() {
    document.removeEventListener("input", this.heard);
    this.watch.disconnect();
    clearTimeout(this.soon);
    this.root.remove();
  }
}

const found = new WeakMap();

function begin(parent, person) {
  const root = document.createElement("div");
  root.className = "typed";
  root.setAttribute("role", "status");
  parent.append(root);
  return new Typed(root, person);
}

/** Streamlit's call, at each run; what it gets back is called when the page goes. */
export default function ({ parentElement, data }) {
  const typed = found.get(parentElement) ?? begin(parentElement, data.person);
  found.set(parentElement, typed);
  return () => {
    typed.end();
    found.delete(parentElement);
  };
}
