// What each control and key does, by the names that toolbar.ts and keys.ts have for it.

import type { Hand } from "./hand";
import type { Pane } from "./pane";
import type { Wall } from "./wall";
import { fitted, mirrored, turned, upright } from "./transform";

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
  setHidden: (on: boolean) => void;
  edits: {
    remove: (id: number) => void;
    copyToOtherSide: (id: number, pane: Pane) => void;
    nudge: (id: number, direction: string, by: number, view: Pane["view"]) => boolean;
  };
}

type Command = (room: Commanded, pane: Pane) => void;

const onChosen = (act: (room: Commanded, id: number, pane: Pane) => void): Command => (room, pane) => {
  if (room.selected !== null) act(room, room.selected, pane);
};

const looking = (act: (pane: Pane) => void): Command => (room, pane) => {
  act(pane);
  room.wall.moved(pane);
};

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
