// What the forms share that go from one case to the next by their own requests alone: reading and settling.
// Streamlit is told only when there is no further one. (The judging form has more errands: errand.js.)

import { h, keycap } from "./dom.js";
import { listen } from "./keys.js";
import { on } from "./mounted.js";
import { post } from "./send.js";
import { fillWindow } from "./window.js";

export class MovingForm {
  constructor(parent, { name, viewer }) {
    this.root = h("div", { class: `judging ${name}`, tabindex: "-1" });
    parent.querySelector(".judging-root").replaceChildren(this.root);
    this.radiographs = viewer;
    this.savedLine = h("span", { class: "saved", role: "status" });
    this.message = h("div", { class: "message", role: "alert" });
    this.ends = [
      listen((key, event) => this.pressed(key, event)),
      fillWindow(this.root, () => this.fit()),
      on(document, "pointerup", () => this.radiographs.pointerReleased(), { capture: true }),
      on(document, "pointercancel", () => this.radiographs.pointerReleased(), { capture: true }),
    ];
  }

  /** One request, and then on to the case that its answer brings; `told(answer)` comes before that. */
  async sending(where, body, told = () => {}) {
    this.last = () => this.sending(where, body, told);
    this.setBusy(true);
    try {
      const answer = await post(where, body);
      if (this.isOver) return;
      told(answer);
      this.last = null;
      if (answer.sheet) this.show(answer.sheet);
      else this.over();
    } catch (problem) {
      if (this.isOver) return;
      this.setBusy(false);
      const again = problem.kind === "StaleRevision" ? h("button", { type: "button", onclick: () => location.reload() }, "Reload the page") : h("button", { type: "button", onclick: () => this.tryAgain() }, "Try again", keycap("T"));
      this.note([`Not saved. ${problem.message} `, again], true);
    }
  }

  tryAgain() {
    if (!this.busy) this.last?.();
  }

  /** No further case now: the page says why, and what comes next. */
  over() {
    this.trigger("over", Date.now());
  }

  setBusy(is) {
    this.busy = is;
    this.root.classList.toggle("saving", is);
  }

  note(text, isProblem = false) {
    this.message.classList.toggle("problem", isProblem);
    this.message.replaceChildren(...[text].flat());
  }

  fit() {
    this.radiographs.fit?.();
  }

  end() {
    this.isOver = true;
    this.radiographs.end();
    for (const end of this.ends) end();
  }
}
