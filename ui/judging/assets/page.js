// The frame around the question: what stands above, beside and below it.

import { counted, h, keycap } from "./dom.js";
import { SHEET } from "./keys.js";

const button = (text, key, act, more = {}) => h("button", { type: "button", onclick: act, ...more }, text, key ? keycap(key) : null);

/** The line at the very top: batch, progress, what was saved, clock, guideline, keys. */
export function topLine(data, act) {
  const { place } = data;
  const batch =
    data.batches.length > 1
      ? h(
          "select",
          { class: "batch", "aria-label": "Batch", onchange: (event) => act.batch(Number(event.target.value)) },
          data.batches.map(({ id, name, left }) => h("option", { value: String(id), selected: id === data.batch }, `${name} (${counted(left)} left)`)),
        )
      : h("b", { class: "batch" }, data.batchName);
  const share = (count) => `${(100 * count) / Math.max(1, place.total)}%`;
  const text = [`${counted(place.done)} of ${counted(place.total)} done`, place.skipped ? `${counted(place.skipped)} skipped` : null, `${counted(place.left)} left`].filter(Boolean).join(" · ");
  return h(
    "header",
    { class: "top" },
    batch,
    h(
      "div",
      { class: "progress", role: "img", "aria-label": text, title: text },
      h("span", { class: "bar-done", style: `width:${share(place.done)}` }),
      h("span", { class: "bar-skipped", style: `width:${share(place.skipped)}` }),
    ),
    h("span", { class: "progress-text" }, text),
    button("←", "K", act.previous, { class: "quiet", disabled: data.previous === null, "aria-label": "previous question (K)" }),
    h("span", { class: "progress-text" }, `question ${counted(place.position)}`),
    button("→", "J", act.next, { class: "quiet", disabled: data.next === null, "aria-label": "next question (J)" }),
    h("span", { class: "spring" }),
    act.savedLine,
    act.clockLine,
    data.guideline ? button("Guideline", "G", act.guideline, { class: "quiet" }) : null,
    button("Keys", "?", act.keys, { class: "quiet" }),
  );
}

/** What a radiologist is told beforehand. */
export function patientLine(data) {
  const { patient } = data;
  const words = [patient.age, patient.sex, data.radiographs.map(({ view }) => view).join(" + ")].filter(Boolean);
  return h(
    "p",
    { class: "patient" },
    h("span", {}, words.join(" · ") || "age and sex not given"),
    h("span", { class: "indication" }, h("span", { class: "label" }, "Indication "), patient.indication || "not given"),
  );
}

/** The picture's own row of tools. */
export function pictureTools(data, act) {
  const slider = (name, sign, label) => h("label", { class: "small", title: label }, sign, h("input", { type: "range", min: "0.4", max: "2.5", step: "0.05", value: String(act.lightOf(name)), "aria-label": label, oninput: (event) => act.light(name, Number(event.target.value)) }));
  const locked = data.blind || !data.open || !data.asks.boxes;
  return h(
    "div",
    { class: "tools-row" },
    locked ? null : button("Draw", null, act.draw, { class: "quiet toggle", "data-tool": "draw", "aria-pressed": "true", title: "drag on the picture to draw a box" }),
    locked ? null : button("Move, resize", "B", act.move, { class: "quiet toggle", "data-tool": "move", "aria-pressed": "false", title: "drag a box or its corners; click a chosen box to relabel it" }),
    locked ? null : button("Undo", "U", act.undo, { class: "quiet" }),
    h("span", { class: "spring" }),
    slider("brightness", "☀", "Brightness"),
    slider("contrast", "◐", "Contrast"),
    button("Invert", "I", act.invert, { class: "quiet" }),
    button("−", null, () => act.zoom(-1), { class: "quiet", "aria-label": "zoom out" }),
    button("+", null, () => act.zoom(1), { class: "quiet", "aria-label": "zoom in" }),
    button("Fit", "0", () => act.zoom(0), { class: "quiet" }),
  );
}

/** The boxes as a list: label, size, whose, away with it. */
export function boxList(data, radiographs, act) {
  if (data.blind || !data.asks.boxes) return h("div", { class: "boxes" });
  const boxes = radiographs.list();
  const several = data.radiographs.length > 1;
  const line = (box) => {
    const input = h("input", {
      value: box.label,
      list: "overread-labels",
      placeholder: "label",
      "aria-label": `label of the box at ${box.x}, ${box.y}`,
      readonly: !data.open,
      onchange: () => radiographs.relabel(box.view, box.index, input.value.trim()),
    });
    return h(
      "li",
      {
        class: box.machine ? "machine" : "mine",
        "aria-current": String(Boolean(box.chosen)),
        onclick: () => {
          if (box.view !== radiographs.front) radiographs.bringForward(box.view);
          radiographs.choose?.(box.view, box.index);
        },
      },
      h("span", { class: "swatch", title: box.machine ? "as the machine drew it" : "yours" }),
      input,
      h("span", { class: "size" }, `${box.width} × ${box.height}${several ? ` ${box.view.radiograph.view}` : ""}`),
      data.open ? h("button", { type: "button", class: "quiet", "aria-label": `delete box ${box.label || "without label"} at ${box.x}, ${box.y}`, onclick: () => radiographs.remove(box.view, box.index) }, "✕") : null,
    );
  };
  const next = h("input", { value: radiographs.label, list: "overread-labels", placeholder: "label of the next box", "aria-label": "label of the next box", oninput: () => radiographs.setLabel(next.value.trim()) });
  return h(
    "div",
    { class: "boxes" },
    h("span", { class: "label count" }, boxes.length === 1 ? "1 box" : `${boxes.length} boxes`),
    data.open ? h("label", { class: "next-label" }, next) : null,
    h("ul", {}, boxes.map(line)),
    act.datalist,
  );
}

/** Mark the chosen box in the list as it stands: what is being typed in it stays. */
export function markChosen(list, radiographs) {
  const lines = [...list.querySelectorAll("li")];
  radiographs.list().forEach(({ chosen }, at) => {
    const line = lines[at];
    if (!line || line.getAttribute("aria-current") === String(Boolean(chosen))) return;
    line.setAttribute("aria-current", String(Boolean(chosen)));
    if (chosen) line.scrollIntoView({ block: "nearest" });
  });
}

export function labelList(words) {
  return h("datalist", { id: "overread-labels" }, words.map((value) => h("option", { value })));
}

/** Accept, revise, reject; skip; back and forth. */
export function decisionBar(data, act) {
  const decide = (decision, text, key) => button(text, key, () => act.decide(decision), { class: `decide ${decision}`, "data-decision": decision, disabled: !data.open });
  const main = data.blind
    ? [button("Commit my answer", "Enter", act.commit, { class: "decide accept", "data-decision": "commit", disabled: !data.open })]
    : [decide("accept", "Accept", "A"), decide("revise", "Revise", "V"), decide("reject", "Reject", "X")];
  return h(
    "div",
    { class: "bar" },
    main,
    h("span", { class: "spring" }),
    button("Skip", "S", act.skip, { class: "quiet", disabled: !data.open || Boolean(data.last) }),
    data.anyJudged ? button("Reopen last", "Z", act.last, { class: "quiet" }) : null,
  );
}

/** Asking why a question is put aside. */
export function skipPanel({ skip, cancel }) {
  const reason = h("input", { name: "reason", maxlength: "500", placeholder: "why? e.g. image not readable", "aria-label": "Reason for skipping" });
  const send = () => (reason.value.trim() ? skip(reason.value.trim()) : reason.focus());
  reason.addEventListener("keydown", (event) => {
    if (event.key === "Enter") send();
    if (event.key === "Escape") cancel();
  });
  const usual = ["image not readable", "outside my field", "want to think about it"];
  const panel = h(
    "div",
    { class: "panel", role: "group", "aria-label": "Skip this question" },
    h("b", {}, "Skip, because"),
    reason,
    button("Skip", "Enter", send, { class: "primary" }),
    button("Cancel", "Esc", cancel, { class: "quiet" }),
    h("span", { class: "usual" }, usual.map((text) => button(text, null, () => skip(text), { class: "quiet" }))),
  );
  queueMicrotask(() => reason.focus());
  return panel;
}

/** All keys; those of the viewer in place of the plain editor's. */
export function keySheet(close, viewers) {
  const own = viewers ? SHEET.filter(([, , plain]) => !plain) : SHEET;
  const list = (rows) => h("dl", {}, rows.map(([keys, what]) => [h("dt", {}, keycap(keys)), h("dd", {}, what)]));
  const sheet = h(
    "div",
    { class: "sheet", role: "dialog", "aria-label": "Keys", tabindex: "-1" },
    h("h2", {}, "Keys"),
    list(own),
    viewers ? h("h2", {}, "Radiographs") : null,
    viewers ? list(viewers) : null,
    button("Close", "Esc", close, { class: "primary" }),
  );
  return h("div", { class: "veil", onclick: (event) => event.target === event.currentTarget && close() }, sheet);
}
