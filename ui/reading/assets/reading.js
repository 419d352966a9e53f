// The reading form: one instance a mount. It goes from case to case by its own requests; Streamlit is told only
// when there is no further case.

import { Answer } from "./answer.js";
import { LookClock } from "./clock.js";
import { clockTime, h, minutes } from "./dom.js";
import { Entry } from "./entry.js";
import { boxLine, breakSheet, feedbackPart, keySheet, lowerBar, toldLine, topLine } from "./frame.js";
import { mounted, on } from "./mounted.js";
import { MovingForm } from "./moving.js";
import { pictureTools } from "./page.js";
import { post, speakFor } from "./send.js";
import { makeViewer } from "./viewers.js";

const JUST_SHOWN = 500; // milliseconds in which nothing is saved of a case that nobody has touched

class ReadingForm extends MovingForm {
  constructor(parent) {
    // The viewer draws, and says that a box has changed, only after it has been shown a case: `this` is there by then.
    super(parent, { name: "reading", viewer: makeViewer({ changed: () => this.boxesChanged(), drawn: () => this.imageDrawn() }) });
    this.light = { brightness: 1, contrast: 1, invert: false };
    this.clockLine = h("span", { class: "clock", title: "time of looking at this case" });
    this.ends.push(
      on(window, "pagehide", () => this.leave()),
      on(document, "visibilitychange", () => document.hidden && this.entry?.flush()),
    );
    this.seconds = setInterval(() => this.paintClock(), 1000);
  }

  /** Streamlit's call. What a later run of the script brings is older than what this form has got itself. */
  update({ data, setTriggerValue }) {
    this.trigger = setTriggerValue;
    if (data && data.study !== this.data?.study) this.show(data);
  }

  show(data) {
    this.entry?.leave();
    this.entry?.close();
    this.data = data;
    speakFor(data.person);
    this.untouchedSince = performance.now();
    this.busy = false;
    this.root.classList.remove("saving");
    this.veil?.remove();
    this.veil = null;
    this.clock ??= new LookClock({ report: (times) => this.tellTime(times), idleAfter: data.idleSeconds });
    this.clock.idleAfter = data.idleSeconds;
    this.clock.start(data.times);
    if (!data.open) this.clock.stop();
    this.answer = new Answer({ data, changed: () => this.changed(), save: () => this.save() });
    this.entry = new Entry({ where: { study: data.study, position: data.position }, revision: data.draftRevision, body: () => this.body(), told: (problem) => this.draftTold(problem) });
    this.build();
    this.radiographs.show(data);
    this.radiographs.setLabel?.("evidence");
    this.paintBoxes();
    this.fit();
    this.note(this.opening());
    if (!this.root.contains(this.root.getRootNode().activeElement)) this.root.focus({ preventScroll: true });
    this.rightColumn.scrollTop = 0;
  }

  build() {
    const { data } = this;
    const act = this.actions();
    this.boxPlace = h("div", {});
    this.rightColumn = h("div", { class: "scroll" }, this.answer.root, feedbackPart(data));
    const tools = this.radiographs.hasControls ? null : pictureTools(data, act);
    this.root.replaceChildren(
      topLine(data, act, { saved: this.savedLine, clock: this.clockLine }),
      h(
        "div",
        { class: "columns" },
        h("section", { class: "left", "aria-label": "Radiographs" }, h("div", { class: "above" }, toldLine(data)), tools, this.radiographs.root, this.boxPlace),
        h("section", { class: "right" }, this.rightColumn, this.message, lowerBar(data, act)),
      ),
    );
  }

  actions() {
    const pictures = this.radiographs;
    return {
      save: () => this.save(),
      next: () => this.goOn(),
      previous: () => this.data.previous !== null && this.go(this.data.previous),
      pause: () => this.pause(),
      keys: () => this.showKeys(),
      draw: () => pictures.setEditing(false),
      move: () => pictures.setEditing(true),
      undo: () => pictures.undo(),
      invert: () => this.setLight("invert", !this.light.invert),
      light: (name, value) => this.setLight(name, value),
      lightOf: (name) => this.light[name],
      zoom: (by) => pictures.setZoom(by === 0 ? 1 : pictures.zoom * (by > 0 ? 1.5 : 1 / 1.5)),
    };
  }

  opening() {
    const { data } = this;
    if (data.feedback) return "A training case: it counts nowhere. Press Enter for the next one.";
    if (data.answeredAt) return `You answered this case at ${clockTime(data.answeredAt)}. Saving changes the answer; both stay on record.`;
    if (data.entry) return "What you had entered is back.";
    if (data.training) return "A training case: it counts nowhere, and you see the key after your answer.";
    return "";
  }

  // ------------------------------------------------------------------ changes

  body() {
    return { ...this.answer.entry(), drawings: this.data.asks.boxes ? this.radiographs.drawings() : null };
  }

  changed() {
    this.untouchedSince = -Infinity;
    this.note("");
    if (this.data.open) this.entry.changed();
  }

  boxesChanged() {
    if (!this.data?.open) return;
    this.untouchedSince = -Infinity;
    this.paintBoxes();
    this.entry.changed(this.radiographs.draftAfter);
  }

  draftTold(problem) {
    if (!problem) {
      if (this.draftProblem) this.note("");
      this.draftProblem = false;
      return;
    }
    this.draftProblem = true;
    this.note(`What you entered is not kept yet: ${problem.message}`, true);
  }

  // ------------------------------------------------------------------- saving

  /** The second half of a double press that answered the case before: nobody has seen this one yet. */
  get isTooSoon() {
    return performance.now() - this.untouchedSince < JUST_SHOWN;
  }

  async save() {
    const { data } = this;
    if (this.busy || this.isTooSoon || !data.open) return;
    const lack = this.answer.missing();
    if (lack) {
      this.note(lack);
      return;
    }
    this.setBusy(true);
    await this.radiographs.settled?.();
    await this.entry.hold();
    await this.sending("/reading/answer", { study: data.study, position: data.position, revision: data.revision, ...this.body(), ...this.clock.totals() }, (saved) => {
      this.entry.close();
      this.savedLine.textContent = `saved ${clockTime(saved.at)}`;
    });
  }

  /** The case at a place of the order, or the one that is next. */
  async go(to) {
    if (this.busy) return;
    this.setBusy(true);
    await this.entry.flush();
    this.clock.tell();
    await this.sending("/reading/turn", { study: this.data.study, to });
  }

  goOn() {
    const { data } = this;
    if (this.isTooSoon) return;
    if (data.feedback) this.go(null);
    else if (data.answeredAt) this.go(data.next);
  }

  over() {
    this.clock.stop();
    this.note("");
    super.over();
  }

  tellTime(times) {
    if (!this.data?.open || this.isOver) return;
    post("/reading/time", { study: this.data.study, position: this.data.position, ...times }, { keepalive: true }).catch(() => {});
  }

  leave() {
    this.entry?.leave();
    this.clock?.tell();
  }

  // --------------------------------------------------------------------- keys

  pressed(key, event) {
    if (!this.data || !this.root.isConnected) return false;
    if (this.veil) {
      if (["Escape", "Enter", "?", "p"].includes(key)) this.closeVeil();
      return true;
    }
    // Between two cases a letter is nobody's: neither the old one's nor the next one's.
    if (this.busy) return key.length === 1 || key === "Enter";
    const target = event.composedPath()[0];
    const onButton = target instanceof HTMLButtonElement && !this.answer.root.contains(target);
    // Enter saves, whatever box is chosen: a label is not asked for.
    if (key === "Enter" && !onButton && !event.repeat && this.answer.key(key)) return true;
    if (this.radiographs.key?.(event, true)) return true;
    if (event.repeat && !["+", "-"].includes(key)) return true;
    if ((onButton && key === "Enter") || (target instanceof HTMLButtonElement && key === " ")) return false;
    if (event.shiftKey ? false : this.answer.key(key)) return true;
    if (this.radiographs.key?.(event, false)) return true;
    const act = this.actions();
    const command = { Enter: act.next, k: act.previous, ArrowLeft: act.previous, j: act.next, ArrowRight: act.next, p: act.pause, "?": act.keys, t: () => this.tryAgain(), l: () => this.radiographs.next(), i: act.invert, "+": () => act.zoom(1), "-": () => act.zoom(-1), 0: () => act.zoom(0), u: () => (event.shiftKey ? this.radiographs.redo() : this.radiographs.undo()), Delete: () => this.radiographs.deleteSelected() }[key];
    command?.();
    return Boolean(command);
  }

  showKeys() {
    this.openVeil(keySheet(() => this.closeVeil(), this.radiographs.sheet));
  }

  pause() {
    if (!this.data.open || this.busy) return;
    this.entry.flush();
    this.clock.pause(true);
    const { place } = this.data;
    this.openVeil(breakSheet(() => this.closeVeil(), `${place.done} of ${place.total} cases are read`));
  }

  openVeil(veil) {
    this.veil?.remove();
    this.veil = veil;
    this.root.append(veil);
    veil.firstChild.focus();
  }

  closeVeil() {
    this.veil?.remove();
    this.veil = null;
    if (this.clock.paused) this.clock.pause(false);
    this.root.focus({ preventScroll: true });
  }

  // ----------------------------------------------------------------- painting

  paintBoxes() {
    this.boxPlace.replaceChildren(boxLine(this.data, this.radiographs));
  }

  setLight(name, value) {
    this.light[name] = value;
    const { brightness, contrast, invert } = this.light;
    this.radiographs.stage?.style.setProperty("--light", `brightness(${brightness}) contrast(${contrast}) invert(${invert ? 1 : 0})`);
  }

  imageDrawn() {
    this.clock?.imageDrawn();
    if (!this.radiographs.fetchesAhead) for (const url of this.data?.prefetch ?? []) new Image().src = url;
  }

  paintClock() {
    if (this.data && this.clock) this.clockLine.textContent = minutes(this.clock.totals().seconds_looking);
  }

  fit() {
    this.answer?.fit();
    super.fit();
  }

  end() {
    this.leave();
    this.entry?.close();
    clearInterval(this.seconds);
    this.clock?.end();
    super.end();
  }
}

export default mounted(ReadingForm);
