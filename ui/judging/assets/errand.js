// The way to the server and back: saving, and asking for another question.
//
// Nothing on the form changes until the server has answered with what it keeps. What it did not keep, or not
// answer, stays on the form, is said plainly, and can be sent again.

import { h } from "./dom.js";
import { post } from "./send.js";

const PATIENCE = 4000; // milliseconds until the next question is asked for once more

export class Errand {
  constructor(form) {
    this.form = form;
    this.turn = 0;
    this.lastSaved = "";
    this.saving = false;
    this.away = false; // another question has been asked for and is not there yet
  }

  get busy() {
    return this.saving || this.away;
  }

  /**
   * One request, and then on to `then`. `told(answer)` is what is said of it, with its time; `last` when no
   * draft may follow it.
   */
  async save(what, body, { told = null, then = { to: "next" }, last = false } = {}) {
    if (this.busy) return;
    const { form } = this;
    const { shown: question, drafts } = form;
    this.saving = true;
    this.problem = null;
    form.note("");
    form.savedLine.textContent = "saving …";
    form.root.classList.add("saving");
    try {
      if (last) await drafts.hold();
      const sent = post(what, body);
      if (then.to === "next") form.radiographs.leaving?.();
      const answer = await sent;
      if (last) drafts.close();
      if (told) this.lastSaved = told(answer);
      if (form.shown !== question) return;
      form.savedLine.textContent = this.lastSaved;
      form.clock.stop();
      this.saving = false;
      this.go(then);
    } catch (problem) {
      this.saving = false;
      form.savedLine.textContent = "not saved";
      if (form.shown === question) this.show(problem, () => this.save(what, body, { told, then, last }));
      if (last) drafts.flush();
    } finally {
      form.root.classList.remove("saving");
    }
  }

  /** Say what was not saved, and offer the way out. */
  show(problem, again) {
    const { form } = this;
    this.problem = { again };
    const retry = h("button", { type: "button", class: "primary", onclick: () => this.tryAgain() }, "Try again ", h("kbd", {}, "T"));
    const reload = h("button", { type: "button", class: "primary", onclick: () => this.go({ to: form.data.question }) }, "Show what is saved");
    const lines = [h("b", {}, "Not saved. "), problem.message, " "];
    if (problem.kind === "StaleRevision") {
      // The text names both versions; the saved one is shown on demand, and this one stays until then.
      lines.push(reload);
    } else if (problem.kind === "NotSignedIn") {
      lines.push(h("a", { href: "/sign-in", target: "_blank", rel: "noopener" }, "Sign in in another tab"), ", then: ", retry);
    } else if (problem.kind === "unreachable" || problem.kind === "unreadable") {
      lines.push("Everything is kept in this window. ", retry);
    } else {
      lines.push(retry);
    }
    form.message.replaceChildren(...lines);
    form.message.classList.add("problem");
  }

  tryAgain() {
    if (this.problem) this.problem.again();
    return Boolean(this.problem);
  }

  draftTold(problem) {
    const { form } = this;
    if (this.busy) return;
    if (!problem) {
      if (this.draftProblem) form.note("");
      this.draftProblem = false;
      form.savedLine.textContent = "draft kept";
      return;
    }
    this.draftProblem = true;
    form.savedLine.textContent = "draft not kept";
    this.show(problem, () => form.drafts.flush());
  }

  /** Ask for another question, or this one anew; once more if none comes. */
  async go(where) {
    if (this.busy) return;
    const { form } = this;
    this.away = true;
    form.clock.tell();
    await Promise.race([form.drafts.flush(), new Promise((done) => setTimeout(done, 1500))]);
    this.turn += 1;
    const { batch, question } = form.data;
    const ask = () => form.trigger("go", { ...where, turn: this.turn, from: batch, after: question });
    ask();
    this.asking = setInterval(() => {
      form.note("The next question has not come yet; asking again …");
      ask();
    }, PATIENCE);
  }

  answeredBy(data) {
    return this.away && data.turn === this.turn;
  }

  /** A question is there: what was under way for the one before is over. */
  arrived() {
    clearInterval(this.asking);
    this.away = false;
    this.saving = false;
    this.problem = null;
    this.draftProblem = false;
  }
}
