// Which viewer the form has: the reading room's, or the plain editor by choice and where that one can't start.

import { Radiographs } from "./boxes.js";
import { h } from "./dom.js";

const SETTING = "overread-viewer"; // in the browser: it is the browser that may bar the one or the other

const isPlain = () => localStorage.getItem(SETTING) === "plain";

let why = "";
const viewer = isPlain()
  ? null
  : await import("./viewer.js").catch((problem) => {
      why = String(problem);
      return null;
    });

/** `changed()` after every edit of a box; `drawn()` when the radiograph in front has been painted. */
export function makeViewer(told) {
  if (viewer) {
    try {
      return new viewer.ReadingRoom(told);
    } catch (problem) {
      why = String(problem);
    }
  }
  return new Radiographs(told);
}

/** The button to the other viewer; the page loads anew, and drafts give everything back. */
export function viewerSwitch(form) {
  const toPlain = !isPlain();
  const turn = async () => {
    localStorage.setItem(SETTING, toPlain ? "plain" : "room");
    await form.drafts?.flush();
    location.reload();
  };
  const failed = why ? h("span", { class: "hint", role: "status", title: why }, "The viewer could not start; this is the plain editor.") : null;
  const title = toPlain ? "boxes on a fixed picture, for browsers in which the viewer is slow" : "window, zoom and pixels in full";
  return h("span", { class: "viewer-switch" }, failed, h("button", { type: "button", class: "quiet", title, onclick: turn }, toPlain ? "Plain editor" : "Reading room"));
}
