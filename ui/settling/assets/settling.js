// The settling form: one instance a mount. It goes from dispute to dispute by its own requests; Streamlit is told
// only when there is no further one.

import { clockTime, counted, growing, h, keycap } from "./dom.js";
import { mounted } from "./mounted.js";
import { MovingForm } from "./moving.js";
import { Picks } from "./picks.js";
import { speakFor } from "./send.js";
import { makeViewer } from "./viewers.js";

const button = (text, key, act, more = {}) => h("button", { type: "button", onclick: act, ...more }, text, key ? keycap(key) : null);

const KEYS = [
  ["1, 2, …", "take that reviewer's verdict whole"],
  ["0", "the machine's question stands as it is"],
  ["X", "reject the question"],
  ["W", "write the reason (Esc leaves the text)"],
  ["Enter", "settle and go on"],
  ["K / J", "previous, next dispute"],
  ["T", "try again, when something was not saved"],
  ["?", "this list; the viewer's own keys work too"],
];

class SettlingForm extends MovingForm {
  constructor(parent) {
    super(parent, { name: "settling", viewer: makeViewer({ changed: () => {}, drawn: () => {} }) });
  }

  /** Streamlit's call. What a later run of the script brings is older than what this form has got itself. */
  update({ data, setTriggerValue }) {
    this.trigger = setTriggerValue;
    const same = data && this.data && data.batch === this.data.batch && data.question === this.asked;
    if (data && !same) {
      this.asked = data.question;
      this.show(data);
    }
  }

  show(data) {
    this.data = data;
    speakFor(data.person);
    this.busy = false;
    this.root.classList.remove("saving");
    this.reason = growing({ rows: 2, "aria-label": "Reason", placeholder: "why it is settled so", maxlength: 20000, oninput: () => this.keepReason() });
    this.reason.value = localStorage.getItem(this.reasonKey) ?? "";
    this.picks = new Picks({ data, changed: () => this.changed(), boxes: (whose) => this.showBoxes(whose) });
    this.build();
    this.showBoxes(null);
    this.fit();
    const { settled } = data;
    this.note(settled ? `Settled at ${clockTime(settled.at)}: ${settled.decision}, because: ${settled.reason} Saving settles it anew; both stay on record.` : "");
    if (!this.root.contains(this.root.getRootNode().activeElement)) this.root.focus({ preventScroll: true });
  }

  get reasonKey() {
    const { person, batch, question, revision } = this.data;
    return `overread-settling-${person}-${batch}-${question}-${revision}`;
  }

  keepReason() {
    if (this.reason.value) localStorage.setItem(this.reasonKey, this.reason.value);
    else localStorage.removeItem(this.reasonKey);
  }

  build() {
    const { data } = this;
    const words = [data.patient.age, data.patient.sex, data.radiographs.map(({ view }) => view).join(" + ")].filter(Boolean);
    const text = `${counted(data.place.settled)} of ${counted(data.place.total)} settled`;
    this.save = button("Settle", "Enter", () => this.settle(), { class: "primary" });
    this.root.replaceChildren(
      h(
        "header",
        { class: "top" },
        h("b", { class: "batch" }, `Disputes of ${data.batchName}`),
        h("span", { class: "progress-text" }, text),
        h("span", { class: "about" }, `disagreed on: ${data.about.join(", ") || "nothing any more"}`),
        h("span", { class: "spring" }),
        this.savedLine,
        button("Keys", "?", () => this.showKeys(), { class: "quiet" }),
      ),
      h(
        "div",
        { class: "columns" },
        h("section", { class: "left", "aria-label": "Radiographs" }, h("p", { class: "patient" }, h("span", {}, words.join(" · ")), h("span", { class: "indication" }, h("span", { class: "label" }, "Indication "), data.patient.indication || "not given")), this.radiographs.root),
        h(
          "section",
          { class: "right" },
          h("div", { class: "scroll" }, this.question(), this.verdicts(), this.picks.root, h("label", { class: "reason" }, h("span", { class: "label" }, "Reason", keycap("W")), this.reason)),
          this.message,
          h("div", { class: "lower" }, button("Previous", "K", () => this.go(data.previous), { class: "quiet", disabled: data.previous === null }), button("Next", "J", () => this.go(data.next), { class: "quiet", disabled: data.next === null }), h("span", { class: "spring" }), this.save),
        ),
      ),
    );
    this.changed();
  }

  question() {
    const { data } = this;
    return h(
      "div",
      { class: "machine" },
      h("h3", {}, "The machine's question"),
      h("p", { class: "stem" }, data.stem),
      data.options.length ? h("ol", { type: "A", class: "plain-options" }, data.options.map((text) => h("li", {}, text))) : null,
      h("p", {}, h("span", { class: "label" }, "Key "), data.key),
      data.explanation ? h("p", { class: "explanation-text" }, data.explanation) : null,
    );
  }

  verdicts() {
    return h(
      "div",
      { class: "sides" },
      this.data.reviewers.map((each, place) =>
        h(
          "div",
          { class: `side ${each.decision}` },
          h("h4", {}, each.called, h("span", { class: "decision" }, each.decision)),
          each.errors.length ? h("p", {}, each.errors.join(", ")) : null,
          each.texts.map((text) => h("p", { class: "said" }, text)),
          h("p", { class: "ratings" }, Object.entries(each.ratings).map(([name, value]) => `${name} ${value}`).join(" · ")),
          button(each.decision === "reject" ? "Reject, as here" : "Take this whole", String(place + 1), () => this.take(place)),
        ),
      ),
    );
  }

  take(place) {
    if (this.data.reviewers[place]) this.picks.take(place);
  }

  /** The boxes that are looked at: everybody's, or the adjudicator's own to be drawn. */
  showBoxes(start) {
    const { data } = this;
    const own = start !== null;
    const radiographs = data.radiographs.map((each) => (each.rows ? { ...each, boxes: own ? each.sides[String(start)] : each.overlay, touched: own } : each));
    this.radiographs.show({ ...data, radiographs, asks: { boxes: own } });
    this.fit();
  }

  changed() {
    this.note("");
  }

  async settle() {
    const { data } = this;
    if (this.busy) return;
    const lack = this.picks.missing() ?? (this.reason.value.trim() ? null : "Say why it is settled so (W).");
    if (lack) {
      this.note(lack);
      return;
    }
    this.setBusy(true);
    await this.radiographs.settled?.();
    const body = { batch: data.batch, question: data.question, revision: data.revision, ...this.picks.said(), drawings: this.picks.drawsBoxes ? this.radiographs.drawings() : null, reason: this.reason.value };
    const kept = this.reasonKey;
    await this.sending("/settling/adjudication", body, (saved) => {
      localStorage.removeItem(kept);
      this.savedLine.textContent = `saved ${clockTime(saved.at)}`;
    });
  }

  async go(to) {
    if (this.busy || to === null) return;
    await this.sending("/settling/turn", { batch: this.data.batch, to });
  }

  over() {
    this.setBusy(false);
    super.over();
  }

  pressed(key, event) {
    if (event.repeat || this.dialog?.open) return false;
    if (this.radiographs.key?.(event, true)) return true;
    if (/^[1-9]$/.test(key) && this.data.reviewers[Number(key) - 1]) this.take(Number(key) - 1);
    else if (key === "0") this.picks.take("machine");
    else if (key === "x") this.picks.reject();
    else if (key === "w") this.reason.focus();
    else if (key === "k") this.go(this.data.previous);
    else if (key === "j") this.go(this.data.next);
    else if (key === "t" && this.last) this.tryAgain();
    else if (key === "?") this.showKeys();
    else if (key === "Enter" && !(event.composedPath()[0] instanceof HTMLButtonElement)) this.settle();
    else return this.radiographs.key?.(event, false) ?? false;
    return true;
  }

  showKeys() {
    this.dialog?.remove();
    const rows = [...KEYS, ...(this.radiographs.sheet ?? [])].map(([key, what]) => h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, what)));
    this.dialog = h("dialog", { class: "sheet", "aria-label": "Keys" }, h("table", {}, rows), button("Close", "Esc", () => this.dialog.close()));
    this.root.append(this.dialog);
    this.dialog.showModal();
  }
}

export default mounted(SettlingForm);
