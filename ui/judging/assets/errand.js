// The way to the server and back: saving, and turning to another question.
//
// Nothing on the form changes until the server has answered with what it keeps. What it did not keep, or not
// answer, stays on the form, is said plainly, and can be sent again. The answer brings the next question, which is
// shown at once; the page's script is told afterwards which one it is, so that what it draws later agrees. Where the
// server has no question to give, the script is asked instead: it says why, or that all is done.

import { h } from "./dom.js";
import { post } from "./send.js";

/** What is refused may be refused because the question was taken back. */
const TAKEN_BACK = new Set(["Refused", "NotFound", "NotAllowed"]);
const PATIENCE = 4000; // milliseconds until the page's script is asked once more
const AFTERWARDS = 150; // milliseconds until it is told which question is shown: what it draws must not delay the image

/** What stands behind the path while that question is shown. */
const addressOf = ({ batch, question }) => `?batch=${batch}&question=${question}`;

export class Errand {
  constructor(form) {
    this.form = form;
    this.turn = 0;
    this.lastSaved = "";
    this.saving = false;
    this.unsaved = false; // the last save failed, and has not been tried again
    this.away = false; // the page's script has been asked for another question, which is not there yet
    this.told = null; // the turn that the page's script has not answered yet, while the form shows its question
  }

  get busy() {
    return this.saving || this.away;
  }

  /**
   * One request, and then on to the question that its answer brings, else to `then`. `told(answer)` is what is
   * said of it, with its time; `last` when no draft may follow it. `again()` is how it is tried again: with what
   * the form says by then.
   */
  async save(what, body, { told = null, then = { to: "next" }, last = false, again = null } = {}) {
    if (this.busy) return;
    const { form } = this;
    const { shown: question, drafts } = form;
    this.saving = true;
    this.problem = null;
    this.unsaved = false;
    form.note("");
    form.savedLine.textContent = "saving …";
    form.root.classList.add("saving");
    try {
      if (last) await drafts.hold();
      const sent = post(what, body);
      if (then.to === "next") form.radiographs.leaving?.();
      const answer = await sent;
      if (last) drafts.done();
      if (told) this.lastSaved = told(answer);
      if (!form.isStill(question)) return;
      form.savedLine.textContent = this.lastSaved;
      form.clock.stop();
      this.saving = false;
      if (answer.sheet) this.turnTo(answer.sheet);
      else this.ask(then);
    } catch (problem) {
      this.saving = false;
      form.savedLine.textContent = "not saved";
      if (form.isStill(question)) {
        this.unsaved = true;
        this.show(problem, again ?? (() => this.save(what, body, { told, then, last })));
      }
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
    this.checkTheirs(problem);
  }

  /** Whether the question was taken back since: then its pictures go, and there is only the way to the next one. */
  async checkTheirs(problem) {
    const { form } = this;
    if (!TAKEN_BACK.has(problem.kind) || form.isWithdrawn) return;
    const { shown, data } = form;
    const answer = await post("turn", { batch: data.batch, question: data.question, to: data.question }).catch(() => null);
    if (!answer || answer.sheet || !form.isStill(shown)) return;
    form.withdrawn();
    const on = h("button", { type: "button", class: "primary", onclick: () => this.go({ to: "next" }) }, "Go on with the next question");
    form.message.replaceChildren(h("b", {}, "Not yours any more. "), "This question was taken back or given to somebody else; nothing more is saved of it. ", on);
    form.message.classList.add("problem");
    this.problem = null;
  }

  tryAgain() {
    if (this.problem) this.problem.again();
    return Boolean(this.problem);
  }

  draftTold(problem) {
    const { form } = this;
    if (this.busy || this.unsaved) return; // that the save failed stays said, until it is done
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

  /** Turn to another question, or to this one anew: `{to: "next" | "last" | number}` or `{batch: number}`. */
  async go(where) {
    if (this.busy) return;
    const { form } = this;
    const { shown: question } = form;
    this.saving = true;
    form.clock.tell();
    await Promise.race([form.drafts.flush(), new Promise((done) => setTimeout(done, 1500))]);
    const { batch, question: left } = form.data;
    const answer = where.to ? await post("turn", { batch, question: left, to: where.to }).catch(() => null) : null;
    this.saving = false;
    if (!form.isStill(question)) return;
    if (answer?.sheet) this.turnTo(answer.sheet);
    else this.ask(where);
  }

  /** Show the question that an answer brought, and tell the page's script. */
  turnTo(sheet) {
    const { form } = this;
    const { batch, question: left } = form.data;
    form.show(sheet);
    if (addressOf(sheet) !== location.search) history.pushState({}, "", addressOf(sheet)); // F5 comes back to it
    this.turn += 1;
    this.told = this.turn;
    const tell = () => form.trigger("go", { to: sheet.question, turn: this.turn, from: batch, after: left });
    this.telling = setTimeout(() => {
      tell();
      this.asking = setInterval(tell, PATIENCE);
    }, AFTERWARDS);
  }

  /** Let the page's script find the next question; once more if none comes. */
  ask(where) {
    const { form } = this;
    clearTimeout(this.telling);
    clearInterval(this.asking);
    this.away = true;
    this.told = null;
    this.turn += 1;
    const { batch, question } = form.data;
    const ask = () => form.trigger("go", { ...where, turn: this.turn, from: batch, after: question });
    ask();
    this.asking = setInterval(() => {
      form.note("The next question has not come yet; asking again …");
      ask();
    }, PATIENCE);
  }

  /**
   * Whether what the page's script draws is to be shown: the answer to what was asked, or a question that it has by
   * itself (the way back in the browser). What it drew before it knew of a turn that the form has made is old.
   */
  takes(data, isShown) {
    if (this.away) return data.turn === this.turn;
    if (this.told !== null) {
      if (data.turn !== this.told) {
        // A run of before has set the address of its own question: a reload must come back to the one shown.
        const address = addressOf(this.form.data);
        if (location.search.startsWith("?batch=") && location.search !== address) history.replaceState({}, "", address);
        return false;
      }
      this.told = null;
      clearInterval(this.asking);
    }
    return !isShown && !this.saving;
  }

  /** Somebody goes back in the browser: the page's script has that question by itself, and is told of no other. */
  wentBack() {
    if (this.told === null) return;
    clearTimeout(this.telling);
    clearInterval(this.asking);
    this.told = null;
  }

  /** A question is there: what was under way for the one before is over. */
  arrived() {
    clearTimeout(this.telling);
    clearInterval(this.asking);
    this.away = false;
    this.saving = false;
    this.told = null;
    this.problem = null;
    this.unsaved = false;
    this.draftProblem = false;
  }
}
