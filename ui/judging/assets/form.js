// The judging form: one instance a mount, called by Streamlit whenever its data change.
//
// A key or click changes the state here at once. Drafts go to the server as they come; a verdict goes by a
// request of its own, and the next question is asked for only when the server has answered with the row.

import { LookClock } from "./clock.js";
import { pressed } from "./commands.js";
import { showCorrections } from "./corrections.js";
import { commit, decide, skip } from "./deciding.js";
import { h, minutes } from "./dom.js";
import { Errand } from "./errand.js";
import { listen } from "./keys.js";
import { actions, build } from "./layout.js";
import { begin, opening, opinionOf } from "./model.js";
import { mounted, on } from "./mounted.js";
import { boxList, keySheet, markChosen, skipPanel } from "./page.js";
import { QuestionView } from "./question.js";
import { Drafts, post, speakFor } from "./send.js";
import { makeViewer } from "./viewers.js";
import { fillWindow } from "./window.js";

const JUST_SHOWN = 500; // milliseconds in which nothing is saved of a question that nobody has touched

/** What tells one state of a question from another that must be built anew. */
const keyOf = ({ batch, question, blind }) => `${batch}:${question}:${blind}`;

class JudgingForm {
  constructor(parent) {
    this.root = h("div", { class: "judging", tabindex: "-1" });
    parent.querySelector(".judging-root").replaceChildren(this.root);
    this.errand = new Errand(this);
    this.light = { brightness: 1, contrast: 1, invert: false };
    this.radiographs = makeViewer({ changed: () => this.boxesChanged(), chosen: () => markChosen(this.boxPlace, this.radiographs), drawn: () => this.imageDrawn() });
    this.boxPlace = h("div", {});
    this.clock = new LookClock({ report: (times) => this.tellLook(times) });
    this.savedLine = h("span", { class: "saved", role: "status" });
    this.clockLine = h("span", { class: "clock", title: "time of looking at this question" });
    this.message = h("div", { class: "message", role: "alert" });
    this.panel = h("div", { class: "panel-place" });
    this.ends = [
      listen((key, event) => pressed(this, key, event)),
      fillWindow(this.root, () => this.fit()),
      on(document, "pointerup", () => this.radiographs.pointerReleased(), { capture: true }),
      on(document, "pointercancel", () => this.radiographs.pointerReleased(), { capture: true }),
      on(window, "popstate", () => this.errand.wentBack()),
      on(window, "pagehide", () => this.leave()),
      on(document, "visibilitychange", () => document.hidden && this.drafts?.flush()),
    ];
    this.seconds = setInterval(() => this.paintClock(), 1000);
  }

  actions() {
    return actions(this);
  }

  /** Streamlit's call. A run of the script that brings nothing new must not touch what is being typed. */
  update({ data, setTriggerValue }) {
    this.trigger = setTriggerValue;
    if (!data) return;
    if (this.errand.takes(data, keyOf(data) === this.shown)) this.show(data);
  }

  show(data) {
    this.errand.arrived();
    this.drafts?.leave();
    this.drafts?.close();
    this.data = data;
    speakFor(data.person);
    this.shown = keyOf(data);
    this.untouchedSince = performance.now();
    this.skipping = false;
    this.isWithdrawn = false;
    if (this.keysShown) this.toggleKeys();
    this.drafts = new Drafts({
      batch: data.batch,
      question: data.question,
      revisions: Object.fromEntries(Object.entries(data.drafts).map(([part, draft]) => [part, draft.revision])),
      verdict: data.revision,
      told: (problem) => this.errand.draftTold(problem),
    });
    if (data.open) this.takeUp(this.drafts.takeUp(data));
    this.clock.start(data.look);
    this.state = data.blind ? null : begin(data);
    this.radiographs.setLabel(""); // of the next box: another question has other findings
    build(this);
    this.radiographs.show(data);
    this.paintBoxes();
    this.paintChanges();
    this.fit();
    this.note(opening(data));
    this.savedLine.textContent = this.errand.lastSaved;
    if (!this.root.contains(this.root.getRootNode().activeElement)) this.root.focus({ preventScroll: true });
    this.rightColumn.scrollTop = 0;
  }

  /** What a server that was away had not taken, it has by now; boxes of the plain editor are to be shown yet. */
  async takeUp(isToShow) {
    const { drafts } = this;
    if ((await isToShow) && this.drafts === drafts && !this.isOver) this.go({ to: this.data.question });
  }

  /** Whether that question is before the reviewer still. */
  isStill(question) {
    return !this.isOver && this.shown === question;
  }

  /** The second half of a double click that judged the question before: nobody has seen this one yet. */
  get isTooSoon() {
    return performance.now() - this.untouchedSince < JUST_SHOWN;
  }

  // ---------------------------------------------------------------- changes

  changed({ note = "" } = {}) {
    this.untouchedSince = -Infinity;
    this.note(note);
    this.paintChanges();
    this.report?.paint();
    if (this.data.open) this.drafts.changed("form", () => opinionOf(this.state, this.data.full));
  }

  ownChanged() {
    this.untouchedSince = -Infinity;
    this.note("");
    if (this.data.open) this.drafts.changed("own", () => this.own.draft());
  }

  boxesChanged() {
    this.untouchedSince = -Infinity;
    this.paintBoxes();
    this.paintChanges();
    this.note("");
    const drawings = () => ({ drawings: this.radiographs.drawings() ?? {} });
    if (this.data.open) this.drafts.changed("boxes", drawings, this.radiographs.draftAfter);
  }

  paintBoxes() {
    this.boxPlace.replaceChildren(boxList(this.data, this.radiographs, { datalist: this.datalist }));
  }

  paintChanges() {
    if (this.state) this.corrected = showCorrections(this);
  }

  /** A field set back from outside: its text area is made anew. */
  refreshQuestion() {
    const { data, state } = this;
    const fresh = new QuestionView({ data, state, may: this.question.may, changed: () => this.changed() });
    this.question.root.replaceWith(fresh.root);
    this.question = fresh;
    fresh.fit();
  }

  // ----------------------------------------------------------------- saving

  decide(decision) {
    return decide(this, decision);
  }

  commit() {
    return commit(this);
  }

  askSkip() {
    if (!this.data.open || this.data.last || this.errand.busy) return;
    this.skipping = true;
    this.panel.replaceChildren(skipPanel({ skip: (reason) => this.skip(reason), cancel: () => this.stopSkipping() }));
  }

  stopSkipping() {
    this.skipping = false;
    this.panel.replaceChildren();
    this.root.focus({ preventScroll: true });
  }

  skip(reason) {
    return skip(this, reason);
  }

  tellLook(times) {
    if (!this.data || !this.data.open) return;
    const { shown } = this;
    const told = post("look", { batch: this.data.batch, question: this.data.question, ...times }, { keepalive: true });
    told.catch((problem) => this.isStill(shown) && this.errand.checkTheirs(problem));
  }

  /** The question was taken back: what was entered stays to be read, the pictures go. */
  withdrawn() {
    this.isWithdrawn = true;
    this.data = { ...this.data, open: false };
    this.radiographs.withdrawn();
    this.boxPlace.replaceChildren();
  }

  leave() {
    this.drafts?.leave();
    this.clock.tell();
  }

  // --------------------------------------------------------------- elsewhere

  /** Ask for another question: `{to: "next" | "last" | number}` or `{batch: number}`. */
  go(where) {
    return this.errand.go(where);
  }

  guideline() {
    if (document.fullscreenElement) document.exitFullscreen(); // the dialog is not the form's: nobody would see it
    if (this.data.guideline) this.trigger("guideline", { turn: Date.now() });
  }

  toggleKeys() {
    this.keysShown = !this.keysShown;
    this.veil?.remove();
    if (this.keysShown) {
      this.veil = keySheet(() => this.toggleKeys(), this.radiographs.sheet);
      this.root.append(this.veil);
      this.veil.firstChild.focus();
    }
  }

  // --------------------------------------------------------------- painting

  setEditing(on) {
    if (this.data.blind || !this.data.open || !this.data.asks.boxes) return;
    this.radiographs.setEditing(on);
    for (const tool of this.pictureTools.querySelectorAll("[data-tool]")) tool.setAttribute("aria-pressed", String((tool.dataset.tool === "move") === on));
  }

  setLight(name, value) {
    this.light[name] = value;
    const { brightness, contrast, invert } = this.light;
    this.radiographs.stage.style.setProperty("--light", `brightness(${brightness}) contrast(${contrast}) invert(${invert ? 1 : 0})`);
  }

  imageDrawn() {
    this.clock.imageDrawn();
    if (!this.radiographs.fetchesAhead) for (const url of this.data?.prefetch ?? []) new Image().src = url;
  }

  paintClock() {
    if (this.data) this.clockLine.textContent = minutes(this.clock.totals().seconds_looking);
  }

  note(text) {
    if (this.isWithdrawn) return; // what is said of that stays
    if (!text && this.errand.unsaved) return;
    this.message.classList.remove("problem");
    this.message.replaceChildren(text);
  }

  pointTo(at) {
    if (this.judgement.point(at)) return;
    if (at === "changes") this.changesPlace.scrollIntoView({ block: "nearest" });
    else this.question.root.scrollIntoView({ block: "nearest" });
  }

  fit() {
    this.question?.fit();
    this.judgement?.fit();
    this.own?.fit();
    this.radiographs.fit();
  }

  end() {
    this.isOver = true;
    this.leave();
    this.drafts?.close();
    this.errand.arrived();
    clearInterval(this.seconds);
    this.clock.end();
    this.radiographs.end();
    for (const end of this.ends) end();
  }
}

export default mounted(JudgingForm);
