// What each control and key does, by the names that toolbar.ts and keys.ts have for it.

import { held } from "./boxes";
import type { Hand } from "./hand";
import type { Pane } from "./pane";
import type { Corners } from "./types";
import type { Wall } from "./wall";
import { boxToMatrix, fitted, mirrored, panned, turned, upright } from "./transform";
import { windowStep } from "./windows";

/** What the commands need of the viewer. */
export interface Commanded {
  readonly hand: Hand;
  readonly wall: Wall;
  selected: number | null;
  chooseWindow: (at: number) => void;
  select: (id: number | null) => void;
  step: (direction: "undo" | "redo") => void;
  fullScreen: () => void;
  editLabel: (id: number) => void;
  draw: (pane: Pane, box: Corners) => void;
  setHidden: (on: boolean) => void;
  edits: {
    remove: (id: number) => void;
    copyToOtherSide: (id: number, pane: Pane) => void;
    nudge: (id: number, direction: string, by: number, view: Pane["view"]) => boolean;
    grow: (id: number, direction: string, by: number, view: Pane["view"]) => boolean;
  };
}

const PAN = 60; // CSS pixels
const PANS: Record<string, [number, number]> = { left: [PAN, 0], right: [-PAN, 0], up: [0, PAN], down: [0, -PAN] };

type Command = (room: Commanded, pane: Pane) => void;

const onChosen = (act: (room: Commanded, id: number, pane: Pane) => void): Command => (room, pane) => {
  if (room.selected !== null) act(room, room.selected, pane);
};

const looking = (act: (pane: Pane) => void): Command => (room, pane) => {
  act(pane);
  room.wall.moved(pane);
};

const windowing = (brighter: number, wider: number): Command =>
  looking((pane) => pane.voi && pane.picture && pane.setVoi(windowStep(pane.voi, pane.picture, pane.invert, brighter, wider)));

/** A quarter of what is shown, each way, in its middle. */
function middle({ view }: Pane): Corners {
  const [x, y] = [view.width / 2, view.height / 2];
  return held(boxToMatrix(view, [0.75 * x, 0.75 * y, 1.25 * x, 1.25 * y]), view);
}

const COMMANDS: Record<string, Command> = {
  in: looking((pane) => pane.zoomBy(1.5, pane.pointer ?? undefined)),
  out: looking((pane) => pane.zoomBy(1 / 1.5, pane.pointer ?? undefined)),
  fit: looking((pane) => pane.setView(fitted(pane.view))),
  one: looking((pane) => pane.oneToOne()),
  invert: looking((pane) => pane.voi && pane.setVoi(pane.voi, !pane.invert)),
  turn: looking((pane) => pane.setView(turned(pane.view))),
  mirror: looking((pane) => pane.setView(mirrored(pane.view))),
  upright: looking((pane) => pane.setView(upright(pane.view))),
  boxes: ({ hand }) => hand.take("boxes"),
  toggle: ({ hand }) => hand.take(hand.tool === "boxes" ? "window" : "boxes"),
  window: ({ hand }) => hand.take("window", true),
  region: ({ hand }) => hand.take("region", true),
  pan: ({ hand }) => hand.take("pan", true),
  ruler: ({ hand }) => hand.take("ruler", true),
  magnify: ({ wall }) => wall.toggle("magnify"),
  together: ({ wall }) => wall.toggle("together"),
  link: ({ wall }) => wall.toggle("linked"),
  full: (room) => room.fullScreen(),
  next: ({ wall }) => wall.next(),
  new: (room, pane) => room.draw(pane, middle(pane)),
  darker: windowing(-0.05, 0),
  brighter: windowing(0.05, 0),
  harder: windowing(0, -0.1),
  softer: windowing(0, 0.1),
  undo: (room) => room.step("undo"),
  redo: (room) => room.step("redo"),
  remove: onChosen((room, id) => room.edits.remove(id)),
  other: onChosen((room, id, pane) => room.edits.copyToOtherSide(id, pane)),
  label: onChosen((room, id) => room.editLabel(id)),
  hide: (room) => room.setHidden(true),
  space: ({ hand }) => hand.setSpace(true),
};

/** Says whether there was anything to do. */
export function carryOut(room: Commanded, action: string, event?: KeyboardEvent): boolean {
  const pane = room.wall.front;
  if (!pane) return false;
  if (action === "escape") return letGo(room);
  if (action.startsWith("arrow")) return room.selected !== null && room.edits.nudge(room.selected, action.slice(5), event?.shiftKey ? 10 : 1, pane.view);
  if (action.startsWith("size-")) return room.selected !== null && room.edits.grow(room.selected, action.slice(5), event?.shiftKey ? 10 : 1, pane.view);
  if (action.startsWith("pan-")) {
    const [dx, dy] = PANS[action.slice(4)] ?? [0, 0];
    pane.setView(panned(pane.view, dx, dy));
    room.wall.moved(pane);
    return true;
  }
  if (action.startsWith("window-")) {
    room.chooseWindow(Number(action.slice(7)) - 1);
    return true;
  }
  const command = COMMANDS[action];
  command?.(room, pane);
  return Boolean(command);
}

/** Escape: what is being drawn, else the chosen box, else the tool. */
function letGo(room: Commanded): boolean {
  const { hand } = room;
  if (hand.cancel()) return true;
  if (room.selected !== null) room.select(null);
  else if (hand.tool !== hand.usual) hand.take("boxes");
  else return false;
  return true;
}
