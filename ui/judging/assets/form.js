// The judging form: one instance a mount, called by Streamlit whenever its data change.
//
// A key or click changes the state here at once. Drafts go to the server as they come; a verdict goes by a
// request of its own, and the next question is asked for only when the server has answered with the row.

import { Radiographs } from "./boxes.js";
import { LookClock } from "./clock.js";
import { clockTime, h, minutes } from "./dom.js";
import { Judgement } from "./judgement.js";
import { pressed } from "./commands.js";
import { Errand } from "./errand.js";
import { listen } from "./keys.js";
import { begin, correctionOf, missing, opinionOf } from "./model.js";
import { OwnAnswer } from "./own.js";
import { boxList, decisionBar, keySheet, labelList, patientLine, pictureTools, skipPanel, topLine } from "./page.js";
import { corrections, QuestionView } from "./question.js";
import { Drafts, post } from "./send.js";
import { fillWindow } from "./window.js";

class JudgingForm {
  constructor(parent) {
    this.root = h("div", { class: "judging", tabindex: "-1" });
    parent.querySelector(".judging-root").replaceChildren(this.root);
    this.errand = new Errand(this);
    this.light = { brightness: 1, contrast: 1, invert: false };
    this.radiographs = new Radiographs({ changed: () => this.boxesChanged(), drawn: () => this.imageDrawn() });
    this.clock = new LookClock({ report: (times) => this.tellLook(times) });
    this.savedLine = h("span", { class: "saved", role: "status" });
    this.clockLine = h("span", { class: "clock", title: "time of looking at this question" });
    this.message = h("div", { class: "message", role: "alert" });
    this.panel = h("div", { class: "panel-place" });
    this.ends = [
      listen((key, event) => pressed(this, key, event)),
      fillWindow(this.root, () => this.fit()),
      this.on(document, "pointerup", () => this.radiographs.pointerReleased(), { capture: true }),
      this.on(window, "pagehide", () => this.leave()),
      this.on(document, "visibilitychange", () => document.hidden && this.drafts?.flush()),
    ];
    this.seconds = setInterval(() => this.paintClock(), 1000);
  }

  on(target, name, act, options) {
    target.addEventListener(name, act, options);
    return () => target.removeEventListener(name, act, options);
  }

  /** Streamlit's call. A run of the script that brings nothing new must not touch what is being typed. */
  update({ data, setTriggerValue }) {
    this.trigger = setTriggerValue;
    if (!data) return;
    const key = `${data.batch}:${data.question}:${data.blind}`;
    if (this.errand.answeredBy(data) || (!this.errand.away && key !== this.shown)) this.show(data, key);
  }

  show(data, key) {
    this.errand.arrived();
    this.drafts?.close();
    this.data = data;
    this.shown = key;
    this.skipping = false;
    this.drafts = new Drafts({
      batch: data.batch,
      question: data.question,
      revisions: Object.fromEntries(Object.entries(data.drafts).map(([part, draft]) => [part, draft.revision])),
      told: (problem) => this.errand.draftTold(problem),
    });
    this.clock.start(data.look);
    this.state = data.blind ? null : begin(data);
    this.build();
    this.radiographs.show(data);
    this.paintBoxes();
    this.paintChanges();
    this.fit();
    this.note(this.opening());
    this.savedLine.textContent = this.errand.lastSaved;
    if (!this.root.contains(this.root.getRootNode().activeElement)) this.root.focus({ preventScroll: true });
    this.rightColumn.scrollTop = 0;
  }

  /** What should be known before one begins. */
  opening() {
    const { data } = this;
    if (!data.open) return "This batch is closed: it can be read, not changed. A coordinator can open it again.";
    if (data.skipped) return `You skipped this question: ${data.skipped}`;
    if (data.last) return `Your verdict of ${clockTime(data.last.at)}: ${data.last.decision}. Saving makes revision ${data.revision}, which supersedes it.`;
    if (data.drafts.form && !data.blind) return "What you had entered is back.";
    return "";
  }

  build() {
    const { data } = this;
    const act = this.actions();
    const right = [];
    if (data.blind) {
      this.own = new OwnAnswer({ data, changed: () => this.ownChanged(), commit: () => this.commit() });
      this.question = this.judgement = null;
      right.push(this.own.root);
    } else {
      this.own = null;
      const may = { texts: data.open && data.asks.texts, key: data.open && data.asks.key };
      this.question = new QuestionView({ data, state: this.state, may, changed: () => this.changed() });
      this.judgement = new Judgement({ data, state: this.state, changed: (more) => this.changed(more) });
      right.push(this.ownLine(), this.question.root, this.judgement.root, this.reportPart());
    }
    this.changesPlace = h("div", { class: "changes-place", "data-step": "changes" });
    this.boxPlace = h("div", {});
    this.rightColumn = h("div", { class: "scroll" }, right);
    this.pictureTools = pictureTools(data, act);
    this.root.replaceChildren(
      topLine(data, { ...act, savedLine: this.savedLine, clockLine: this.clockLine }),
      h(
        "div",
        { class: "columns" },
        h("section", { class: "left", "aria-label": "Radiographs" }, patientLine(data), this.pictureTools, this.radiographs.root, this.boxPlace),
        h("section", { class: "right" }, this.rightColumn, this.changesPlace, this.message, this.panel, decisionBar(data, act)),
      ),
    );
    this.panel.replaceChildren();
    this.datalist = labelList(data.words.labels);
  }

  actions() {
    const pictures = this.radiographs;
    return {
      batch: (id) => this.go({ batch: id }),
      guideline: () => this.guideline(),
      keys: () => this.toggleKeys(),
      draw: () => this.setEditing(false),
      move: () => this.setEditing(true),
      undo: () => pictures.undo(),
      invert: () => this.setLight("invert", !this.light.invert),
      light: (name, value) => this.setLight(name, value),
      zoom: (by) => pictures.setZoom(by === 0 ? 1 : pictures.zoom * (by > 0 ? 1.5 : 1 / 1.5)),
      decide: (decision) => this.decide(decision),
      commit: () => this.commit(),
      skip: () => this.askSkip(),
      last: () => this.go({ to: "last" }),
      previous: () => this.data.previous !== null && this.go({ to: this.data.previous }),
      next: () => this.data.next !== null && this.go({ to: this.data.next }),
    };
  }

  ownLine() {
    const { ownAnswer } = this.data;
    return ownAnswer ? h("p", { class: "own-line" }, h("span", { class: "label" }, "Your own answer "), ownAnswer.text, ` (confidence ${ownAnswer.confidence})`) : null;
  }

  /** The report: offered once image alignment has been rated, which is fixed by opening it. */
  reportPart() {
    const { data } = this;
    if (!data.report) return null;
    if (data.report.text !== null) return h("section", { class: "report", "aria-label": "Report" }, h("span", { class: "label" }, "Report"), h("p", {}, data.report.text));
    this.reportButton = h("button", { type: "button", class: "quiet", onclick: () => this.openReport() }, "Open the report ", h("kbd", {}, "P"));
    this.reportHint = h("span", { class: "hint" });
    this.paintReport();
    return h("section", { class: "report" }, this.reportButton, this.reportHint);
  }

  paintReport() {
    if (!this.reportButton || !this.data.report || this.data.report.text !== null) return;
    const rated = this.state.ratings.image_alignment ?? null;
    this.reportButton.disabled = rated === null || !this.data.open;
    this.reportHint.textContent = rated === null ? "after image alignment is rated" : `fixes image alignment at ${rated}`;
  }

  // ---------------------------------------------------------------- changes

  changed({ note = "" } = {}) {
    this.note(note);
    this.paintChanges();
    this.paintReport();
    if (this.data.open) this.drafts.changed("form", () => opinionOf(this.state, this.data.full));
  }

  ownChanged() {
    this.note("");
    if (this.data.open) this.drafts.changed("own", () => this.own.draft());
  }

  boxesChanged() {
    this.paintBoxes();
    this.paintChanges();
    this.note("");
    const drawings = () => ({ drawings: this.radiographs.drawings() ?? {} });
    if (this.data.open) this.drafts.changed("boxes", drawings);
  }

  paintBoxes() {
    this.boxPlace.replaceChildren(boxList(this.data, this.radiographs, { datalist: this.datalist }));
  }

  paintChanges() {
    if (!this.state) return;
    const boxes = this.data.asks.boxes ? this.radiographs.changes() : { added: [], gone: [] };
    const list = corrections(this.data, this.state, { boxes, resetBoxes: () => this.radiographs.reset() });
    this.correctedBoxes = boxes.added.length + boxes.gone.length > 0;
    const line = ({ label, nodes, reset, name }) =>
      h(
        "li",
        {},
        h("b", {}, `${label}: `),
        nodes,
        " ",
        h("button", { type: "button", class: "quiet", "aria-label": `reset ${label}`, onclick: () => this.resetField(name, reset) }, "reset"),
      );
    this.changesPlace.replaceChildren(...(list.length ? [h("section", { class: "changes", "aria-label": "Corrections" }, h("span", { class: "label" }, "Corrections"), h("ul", {}, list.map(line)))] : []));
    this.root.querySelector('[data-decision="accept"]')?.classList.toggle("dim", list.length > 0);
    this.root.querySelector('[data-decision="revise"]')?.classList.toggle("dim", list.length === 0);
  }

  resetField(name, reset) {
    reset();
    if (name !== "boxes") {
      const fresh = new QuestionView({ data: this.data, state: this.state, may: this.question.may, changed: () => this.changed() });
      this.question.root.replaceWith(fresh.root);
      this.question = fresh;
      fresh.fit();
    }
    this.changed();
  }

  // ----------------------------------------------------------------- saving

  async decide(decision) {
    const { data } = this;
    if (this.errand.busy || !data.open || data.blind) return;
    await this.radiographs.settled();
    const drawings = this.radiographs.drawings();
    this.paintChanges();
    const lack = missing(decision, data, this.state, { boxesChanged: this.correctedBoxes });
    if (lack) {
      this.note(lack.text);
      this.pointTo(lack.at);
      return;
    }
    const { why, ...opinion } = opinionOf(this.state, data.full);
    const body = { batch: data.batch, question: data.question, revision: data.revision, decision, opinion, drawings, why, ...this.clock.totals() };
    await this.errand.save("verdict", body, { told: (saved) => `${saved.decision} saved ${clockTime(saved.at)}`, last: true });
  }

  async commit() {
    const { data, own } = this;
    if (!own || this.errand.busy || !data.open) return;
    const lack = own.missing();
    if (lack) {
      this.note(lack);
      return;
    }
    const body = { batch: data.batch, question: data.question, answer: own.answer(), confidence: own.confidence };
    await this.errand.save("own-answer", body, { told: (saved) => `answer saved ${clockTime(saved.at)}`, then: { to: data.question } });
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

  async skip(reason) {
    const { data } = this;
    this.stopSkipping();
    await this.drafts.flush();
    await this.errand.save("skip", { batch: data.batch, question: data.question, reason }, { told: (saved) => `skipped ${clockTime(saved.at)}` });
  }

  async openReport() {
    const rated = this.state?.ratings.image_alignment ?? null;
    if (rated === null || !this.data.report || this.data.report.text !== null) return;
    await this.drafts.flush();
    const { batch, question } = this.data;
    await this.errand.save("report", { batch, question, image_alignment: rated }, { then: { to: question } });
  }

  tellLook(times) {
    if (!this.data || !this.data.open) return;
    post("look", { batch: this.data.batch, question: this.data.question, ...times }, { keepalive: true }).catch(() => {});
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
    if (this.data.guideline) this.trigger("guideline", { turn: Date.now() });
  }

  toggleKeys() {
    this.keysShown = !this.keysShown;
    this.veil?.remove();
    if (this.keysShown) {
      this.veil = keySheet(() => this.toggleKeys());
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
    for (const url of this.data?.prefetch ?? []) new Image().src = url;
  }

  paintClock() {
    if (this.data) this.clockLine.textContent = minutes(this.clock.totals().seconds_looking);
  }

  note(text) {
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
    this.leave();
    this.drafts?.close();
    this.errand.arrived();
    clearInterval(this.seconds);
    this.clock.end();
    this.radiographs.end();
    for (const end of this.ends) end();
  }
}

const forms = new WeakMap();

export default function judging(component) {
  const { parentElement } = component;
  let form = forms.get(parentElement);
  if (!form) {
    form = new JudgingForm(parentElement);
    forms.set(parentElement, form);
  }
  form.update(component);
  return () => {
    forms.delete(parentElement);
    form.end();
  };
}
