// The radiographs of the exam, each with its canvas, and the boxes on them.
//
// The canvas is streamlit-drawable-canvas, called as Streamlit would call it. Its own undo is left aside: it
// forgets everything when a drawing is set from outside, which deleting from the list and relabelling do.

import mountCanvas from "./canvas.js";
import { h, keycap } from "./dom.js";
import { same } from "./drawings.js";

const SEND = '[aria-label="Update the app with this drawing"]';
const EDIT = '[aria-label="Edit"]';
const DELETE = '[aria-label="Delete selected"]';

export class Radiographs {
  /** `changed()` after every edit; `drawn()` when the picture in sight has been painted. */
  constructor({ changed, drawn }) {
    this.changed = changed;
    this.drawn = drawn;
    this.views = new Map(); // address of the picture -> view; kept from question to question of one exam
    this.order = [];
    this.zoom = 1;
    this.editing = false;
    this.label = "";
    this.stage = h("div", { class: "stage" });
    this.strip = h("div", { class: "strip", role: "group", "aria-label": "Radiographs of the exam" });
    this.root = h("div", { class: "radiographs" }, this.stage, this.strip);
    this.resize = new ResizeObserver(() => this.fit());
    this.resize.observe(this.stage);
  }

  /** Show a question's exam: its pictures, the machine's boxes, and what was drawn before. */
  show(data) {
    this.locked = data.blind || !data.open || !data.asks.boxes;
    this.question = `${data.batch}:${data.question}:${data.blind}`;
    const wanted = data.radiographs.map((radiograph) => radiograph.url ?? `none:${radiograph.id}`);
    for (const [url, view] of this.views) {
      if (!wanted.includes(url)) {
        view.end?.();
        view.host.remove();
        this.views.delete(url);
      }
    }
    this.order = data.radiographs.map((radiograph, index) => {
      const url = wanted[index];
      const view = this.views.get(url) ?? this.newView(url);
      view.radiograph = radiograph;
      view.past = [];
      view.future = [];
      view.machine = radiograph.machine ?? [];
      view.objects = radiograph.canvas?.initialDrawing.objects ?? [];
      view.touched = Boolean(radiograph.touched);
      if (radiograph.canvas) this.load(view, view.objects);
      return view;
    });
    if (!this.order.includes(this.front)) this.zoom = 1;
    const keep = this.order.includes(this.front) ? this.front : this.order[0];
    this.setEditing(false);
    this.bringForward(keep);
  }

  /** The question is not the person's any more: nothing of its exam is to be seen. */
  withdrawn() {
    this.locked = true;
    for (const view of this.views.values()) {
      view.end?.();
      view.host.remove();
    }
    this.views.clear();
    this.order = [];
    this.front = null;
    this.stage.replaceChildren(h("p", { class: "no-picture" }, "This question is not assigned to you any more."));
    this.strip.replaceChildren();
  }

  newView(url) {
    const host = h("div", { class: "canvas-host" }, h("div", { class: "canvas-root" }));
    const view = { url, host, painted: false, loads: 0 };
    host.addEventListener("pointerdown", () => (view.down = true));
    if (!url.startsWith("none:")) {
      const probe = new Image(); // the canvas itself says nothing when its picture can't be had
      probe.addEventListener("error", () => host.append(h("p", { class: "no-picture" }, "The picture could not be loaded. Reload the page; if it stays away, tell a coordinator.")));
      probe.src = url;
    }
    this.views.set(url, view);
    return view;
  }

  /** Set a drawing from outside. The number in it keeps the canvas from taking two questions for one. */
  load(view, objects) {
    view.objects = objects;
    view.loads += 1;
    const data = view.radiograph.canvas;
    const question = this.question;
    view.data = { ...data, label: this.label, disabled: this.locked, initialDrawing: { objects, background: "", overread: `${question}:${view.loads}` } };
    view.setStateValue = (name, value) => {
      if (name === "backgroundFit" && value) this.painted(view);
      if (name === "drawing" && question === this.question) this.arrived(view, value.raw.objects);
    };
    view.end = mountCanvas({ data: view.data, parentElement: view.host, setStateValue: view.setStateValue, key: view.url, name: "canvas" });
    if (this.editing) queueMicrotask(() => this.pressEdit(view, true));
  }

  painted(view) {
    view.painted = true;
    if (view === this.front) this.drawn();
  }

  /** The canvas says what is on it: after each edit, and when it is asked. */
  arrived(view, objects) {
    if (this.locked) return;
    const real = objects.filter((object) => object.type === "LabeledRect");
    const kept = real.filter((object) => !this.isSpeck(view, object));
    if (!same(kept, view.objects)) {
      view.past.push(view.objects);
      view.future = [];
      view.touched = true;
      view.objects = kept;
      this.changed();
    }
    if (kept.length < real.length) this.load(view, kept);
  }

  /** What a click or a twitch leaves behind; a machine's box of that size is none. */
  isSpeck(view, object) {
    const limit = 2 * view.data.strokeWidth + 0.01;
    const [width, height] = [object.width * object.scaleX, object.height * object.scaleY];
    const near = (a, b) => Math.abs(a - b) < 0.05;
    return width <= limit && height <= limit && !view.machine.some((box) => near(box.width, width) && near(box.height, height));
  }

  /** Every drawing as it is this instant, an edit of a moment ago included. */
  drawings() {
    for (const view of this.order) if (view.painted && !this.locked) view.host.querySelector(SEND)?.click();
    if (!this.order.some((view) => view.touched)) return null;
    return Object.fromEntries(this.order.filter((view) => view.radiograph.canvas).map((view) => [view.radiograph.id, view.objects]));
  }

  /** Resolves when no box is in the middle of being drawn. */
  async settled() {
    const until = performance.now() + 5000;
    while (this.order.some((view) => view.down) && performance.now() < until) await new Promise((done) => setTimeout(done, 16));
    await new Promise((done) => setTimeout(done, 0));
  }

  pointerReleased() {
    for (const view of this.order) view.down = false;
  }

  /** All boxes for the list: where, label, corners in pixels of the matrix, whose. */
  list() {
    return this.order.flatMap((view) =>
      view.objects.map((object, index) => {
        const { rows, columns, canvas } = view.radiograph;
        const [sx, sy] = [columns / canvas.canvasWidth, rows / canvas.canvasHeight];
        return {
          view,
          index,
          label: object.label ?? "",
          width: Math.round(object.width * object.scaleX * sx),
          height: Math.round(object.height * object.scaleY * sy),
          x: Math.round(object.left * sx),
          y: Math.round(object.top * sy),
          machine: view.machine.some((box) => same([box], [object])),
        };
      }),
    );
  }

  /** Machine's boxes that are no longer there as they were, and boxes that are new: for the list of changes. */
  changes() {
    const now = this.list();
    const gone = this.order.flatMap((view) =>
      view.machine.filter((box) => !view.objects.some((object) => same([box], [object]))).map(({ label }) => ({ label })),
    );
    return { added: now.filter((box) => !box.machine), gone };
  }

  relabel(view, index, label) {
    this.edit(view, view.objects.map((object, at) => (at === index ? { ...object, label } : object)));
  }

  remove(view, index) {
    this.edit(view, view.objects.filter((_, at) => at !== index));
  }

  reset() {
    for (const view of this.order) {
      if (!view.radiograph.canvas || same(view.objects, view.machine)) continue;
      this.edit(view, view.machine);
    }
  }

  edit(view, objects) {
    view.past.push(view.objects);
    view.future = [];
    view.touched = true;
    this.load(view, objects);
    this.changed();
  }

  undo() {
    const view = this.front;
    if (!view?.past?.length) return false;
    view.future.push(view.objects);
    this.load(view, view.past.pop());
    this.changed();
    return true;
  }

  redo() {
    const view = this.front;
    if (!view?.future?.length) return false;
    view.past.push(view.objects);
    this.load(view, view.future.pop());
    this.changed();
    return true;
  }

  /** The label that the next box is drawn with. */
  setLabel(label) {
    this.label = label;
    for (const view of this.order) {
      if (!view.data) continue;
      view.data = { ...view.data, label };
      mountCanvas({ data: view.data, parentElement: view.host, setStateValue: view.setStateValue });
    }
  }

  /** Draw new boxes, or move and resize those that are there. */
  setEditing(on) {
    this.editing = on && !this.locked;
    for (const view of this.order) this.pressEdit(view, this.editing);
  }

  pressEdit(view, on) {
    const button = view.host.querySelector(EDIT);
    if (button && (button.getAttribute("aria-pressed") === "true") !== on) button.click();
  }

  deleteSelected() {
    const button = this.front?.host.querySelector(DELETE);
    if (!this.editing || !button || button.disabled) return false;
    button.click();
    return true;
  }

  next() {
    if (this.order.length > 1) this.bringForward(this.order[(this.order.indexOf(this.front) + 1) % this.order.length]);
  }

  bringForward(view) {
    this.front = view;
    const { radiograph } = view;
    if (radiograph.canvas) this.stage.replaceChildren(view.host);
    else this.stage.replaceChildren(h("p", { class: "no-picture" }, `No pixels of ${radiograph.id} (${radiograph.view}) are in the workspace.`));
    this.strip.replaceChildren(...(this.order.length > 1 ? this.order.map((each, index) => this.thumbnail(each, index)) : []));
    this.fit();
    if (view.painted || !radiograph.canvas) this.drawn();
  }

  thumbnail(view, index) {
    const front = view === this.front;
    return h(
      "button",
      { type: "button", class: "thumbnail", "aria-pressed": String(front), onclick: () => this.bringForward(view) },
      view.radiograph.url ? h("img", { src: view.radiograph.url.replace(/longest=\d+/, "longest=300"), alt: "", loading: "lazy" }) : null,
      h("span", {}, `${index + 1}. ${view.radiograph.view}`, front ? null : keycap("L")),
    );
  }

  setZoom(zoom) {
    this.zoom = Math.min(4, Math.max(1, zoom));
    this.fit();
  }

  /** The whole picture in the room there is, times the zoom; the canvas itself keeps its size. */
  fit() {
    const canvas = this.front?.radiograph.canvas;
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (!canvas || width < 10 || height < 10) return;
    const scale = Math.min(width / canvas.canvasWidth, height / canvas.canvasHeight) * this.zoom;
    const { host } = this.front;
    const { stage } = this;
    const middle = [(stage.scrollLeft + width / 2) / Math.max(1, stage.scrollWidth), (stage.scrollTop + height / 2) / Math.max(1, stage.scrollHeight)];
    host.style.width = `${Math.floor(canvas.canvasWidth * scale)}px`;
    host.style.height = `${Math.floor(canvas.canvasHeight * scale)}px`;
    host.style.setProperty("--scale", String(scale));
    stage.classList.toggle("zoomed", this.zoom > 1);
    stage.scrollTo(middle[0] * stage.scrollWidth - width / 2, middle[1] * stage.scrollHeight - height / 2);
  }

  end() {
    this.resize.disconnect();
    for (const view of this.views.values()) view.end?.();
    this.views.clear();
  }
}
