// What the judging form imports.

export { ReadingRoom } from "./room";
