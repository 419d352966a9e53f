// The form's layout for one question, and what its buttons do.

import { h } from "./dom.js";
import { Judgement } from "./judgement.js";
import { OwnAnswer } from "./own.js";
import { decisionBar, labelList, patientLine, pictureTools, topLine } from "./page.js";
import { viewerSwitch } from "./viewers.js";
import { QuestionView } from "./question.js";
import { Report } from "./report.js";

/** Everything of one question, anew; what the form paints into is kept on the form. */
export function build(form) {
  const { data } = form;
  const act = actions(form);
  const right = [];
  if (data.blind) {
    form.own = new OwnAnswer({ data, changed: () => form.ownChanged(), commit: () => form.commit() });
    form.question = form.judgement = form.report = null;
    right.push(form.own.root);
  } else {
    form.own = null;
    const may = { texts: data.open && data.asks.texts, key: data.open && data.asks.key };
    form.question = new QuestionView({ data, state: form.state, may, changed: () => form.changed() });
    form.judgement = new Judgement({ data, state: form.state, changed: (more) => form.changed(more) });
    form.report = data.report ? new Report(form) : null;
    right.push(ownLine(data), form.question.root, form.judgement.root, form.report?.root);
  }
  form.changesPlace = h("div", { class: "changes-place", "data-step": "changes" });
  form.boxPlace.replaceChildren();
  form.rightColumn = h("div", { class: "scroll" }, right);
  form.pictureTools = form.radiographs.hasControls ? h("span") : pictureTools(data, act);
  form.root.replaceChildren(
    topLine(data, { ...act, savedLine: form.savedLine, clockLine: form.clockLine }),
    h(
      "div",
      { class: "columns" },
      h("section", { class: "left", "aria-label": "Radiographs" }, h("div", { class: "above" }, patientLine(data), viewerSwitch(form)), form.pictureTools, form.radiographs.root, form.boxPlace),
      h("section", { class: "right" }, form.rightColumn, form.changesPlace, form.message, form.panel, decisionBar(data, act)),
    ),
  );
  form.panel.replaceChildren();
  form.datalist = labelList(data.words.labels);
}

/** What the buttons and the keys do. */
export function actions(form) {
  const pictures = form.radiographs;
  return {
    batch: (id) => form.go({ batch: id }),
    guideline: () => form.guideline(),
    keys: () => form.toggleKeys(),
    draw: () => form.setEditing(false),
    move: () => form.setEditing(true),
    undo: () => pictures.undo(),
    invert: () => form.setLight("invert", !form.light.invert),
    light: (name, value) => form.setLight(name, value),
    lightOf: (name) => form.light[name],
    zoom: (by) => pictures.setZoom(by === 0 ? 1 : pictures.zoom * (by > 0 ? 1.5 : 1 / 1.5)),
    decide: (decision) => form.decide(decision),
    commit: () => form.commit(),
    skip: () => form.askSkip(),
    last: () => form.go({ to: "last" }),
    previous: () => form.data.previous !== null && form.go({ to: form.data.previous }),
    next: () => form.data.next !== null && form.go({ to: form.data.next }),
  };
}

function ownLine({ ownAnswer }) {
  return ownAnswer ? h("p", { class: "own-line" }, h("span", { class: "label" }, "Your own answer "), ownAnswer.text, ` (confidence ${ownAnswer.confidence})`) : null;
}
