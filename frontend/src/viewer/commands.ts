// The commands of controls and keys, by the action names of toolbar.ts and keys.ts.

import { clampBox } from "./boxes";
import type { PointerTools } from "./pointer-tools";
import type { Pane } from "./pane";
import type { Corners } from "./types";
import type { PaneGrid } from "./pane-grid";
import { boxToMatrix, fitView, mirrorView, panView, rotateView, resetOrientation } from "./transform";
import { stepWindow } from "./windows";

/** The part of the viewer that commands use. */
export interface CommandTarget {
  readonly pointerTools: PointerTools;
  readonly paneGrid: PaneGrid;
  selected: number | null;
  chooseWindow: (index: number) => void;
  select: (id: number | null) => void;
  stepHistory: (direction: "undo" | "redo") => void;
  toggleFullScreen: () => void;
  editLabel: (id: number) => void;
  addBox: (pane: Pane, box: Corners) => void;
  setBoxesHidden: (hidden: boolean) => void;
  edits: {
    remove: (id: number) => void;
    copyToOtherSide: (id: number, pane: Pane) => void;
    nudge: (id: number, direction: string, distance: number, view: Pane["view"]) => boolean;
    moveEdge: (id: number, direction: string, distance: number, view: Pane["view"]) => boolean;
  };
}

const PAN_STEP = 60; // CSS pixels
const PAN_OFFSETS: Record<string, [number, number]> = { left: [PAN_STEP, 0], right: [-PAN_STEP, 0], up: [0, PAN_STEP], down: [0, -PAN_STEP] };

type Command = (viewer: CommandTarget, pane: Pane) => void;

const withSelectedBox = (action: (viewer: CommandTarget, id: number, pane: Pane) => void): Command => (viewer, pane) => {
  if (viewer.selected !== null) action(viewer, viewer.selected, pane);
};

const viewCommand = (action: (pane: Pane) => void): Command => (viewer, pane) => {
  action(pane);
  viewer.paneGrid.paneChanged(pane);
};

const windowCommand = (brighter: number, wider: number): Command =>
  viewCommand((pane) => pane.voi && pane.picture && pane.setVoi(stepWindow(pane.voi, pane.picture, pane.invert, brighter, wider)));

/** A box in the middle of the view, a quarter of its width and height. */
function buildCentralBox({ view }: Pane): Corners {
  const [x, y] = [view.width / 2, view.height / 2];
  return clampBox(boxToMatrix(view, [0.75 * x, 0.75 * y, 1.25 * x, 1.25 * y]), view);
}

const COMMANDS: Record<string, Command> = {
  "zoom-in": viewCommand((pane) => pane.zoomBy(1.5, pane.pointer ?? undefined)),
  "zoom-out": viewCommand((pane) => pane.zoomBy(1 / 1.5, pane.pointer ?? undefined)),
  fit: viewCommand((pane) => pane.setView(fitView(pane.view))),
  "actual-size": viewCommand((pane) => pane.showActualSize()),
  invert: viewCommand((pane) => pane.voi && pane.setVoi(pane.voi, !pane.invert)),
  rotate: viewCommand((pane) => pane.setView(rotateView(pane.view))),
  mirror: viewCommand((pane) => pane.setView(mirrorView(pane.view))),
  "reset-orientation": viewCommand((pane) => pane.setView(resetOrientation(pane.view))),
  boxes: ({ pointerTools }) => pointerTools.toggleTool("boxes"),
  "toggle-tool": ({ pointerTools }) => pointerTools.toggleTool(pointerTools.tool === "boxes" || pointerTools.locked ? "window" : "boxes"),
  window: ({ pointerTools }) => pointerTools.toggleTool("window"),
  region: ({ pointerTools }) => pointerTools.toggleTool("region"),
  pan: ({ pointerTools }) => pointerTools.toggleTool("pan"),
  ruler: ({ pointerTools }) => pointerTools.toggleTool("ruler"),
  "heart-ratio": ({ pointerTools }) => pointerTools.toggleTool("heart-ratio"),
  angle: ({ pointerTools }) => pointerTools.toggleTool("angle"),
  magnify: ({ paneGrid }) => paneGrid.toggle("isMagnifying"),
  "side-by-side": ({ paneGrid }) => paneGrid.toggle("isSideBySide"),
  link: ({ paneGrid }) => paneGrid.toggle("isLinked"),
  "full-screen": (viewer) => viewer.toggleFullScreen(),
  "next-radiograph": ({ paneGrid }) => paneGrid.showNext(),
  "new-box": (viewer, pane) => viewer.addBox(pane, buildCentralBox(pane)),
  darker: windowCommand(-0.05, 0),
  brighter: windowCommand(0.05, 0),
  "more-contrast": windowCommand(0, -0.1),
  "less-contrast": windowCommand(0, 0.1),
  undo: (viewer) => viewer.stepHistory("undo"),
  redo: (viewer) => viewer.stepHistory("redo"),
  remove: withSelectedBox((viewer, id) => viewer.edits.remove(id)),
  "mirror-box": withSelectedBox((viewer, id, pane) => viewer.edits.copyToOtherSide(id, pane)),
  label: withSelectedBox((viewer, id) => viewer.editLabel(id)),
  hide: (viewer) => viewer.setBoxesHidden(true),
  space: ({ pointerTools }) => pointerTools.setSpace(true),
};

/** Run an action. Returns whether it had an effect. */
export function runCommand(viewer: CommandTarget, action: string, event?: KeyboardEvent): boolean {
  const pane = viewer.paneGrid.front;
  if (!pane) return false;
  if (action === "escape") return handleEscape(viewer);
  if (action.startsWith("arrow")) return viewer.selected !== null && viewer.edits.nudge(viewer.selected, action.slice(5), event?.shiftKey ? 10 : 1, pane.view);
  if (action.startsWith("size-")) return viewer.selected !== null && viewer.edits.moveEdge(viewer.selected, action.slice(5), event?.shiftKey ? 10 : 1, pane.view);
  if (action.startsWith("pan-")) {
    const [dx, dy] = PAN_OFFSETS[action.slice(4)] ?? [0, 0];
    pane.setView(panView(pane.view, dx, dy));
    viewer.paneGrid.paneChanged(pane);
    return true;
  }
  if (action.startsWith("window-")) {
    viewer.chooseWindow(Number(action.slice(7)) - 1);
    return true;
  }
  const command = COMMANDS[action];
  command?.(viewer, pane);
  return Boolean(command);
}

/** Escape cancels the current drag, else the selection, else the tool. */
function handleEscape(viewer: CommandTarget): boolean {
  const { pointerTools } = viewer;
  if (pointerTools.cancel()) return true;
  if (viewer.selected !== null) viewer.select(null);
  else if (pointerTools.tool !== pointerTools.defaultTool) pointerTools.selectDefault();
  else return false;
  return true;
}
