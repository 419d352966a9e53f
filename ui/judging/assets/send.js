// Requests to the app's own routes, and the drafts that are kept as one types.

import { Left } from "./left.js";

const PATIENCE = 10_000; // milliseconds until a request counts as unanswered
const PAUSE = 400; // milliseconds of quiet before a draft is sent
const AWAY = new Set(["unreachable", "unreadable", "NotNow", "Fault"]); // no fault of the draft's: it is sent again

/** What a request that was refused or not answered is thrown as. `kind` is the server's name for it. */
export class NotDone extends Error {
  constructor(message, { kind = "unreachable", body = null } = {}) {
    super(message);
    this.kind = kind;
    this.body = body;
  }
}

let person = 0; // the number of the person that this page was opened for

/** Whose page it is: the server saves nothing of it for anybody else, should they sign in in another tab. */
export function speakFor(number) {
  person = number;
}

/** Characters of a body that the browser still sends when its page is closed: it allows 64 KiB in all at once. */
const SENT_ANYHOW = 8_000;

/**
 * POST to /judging/`what`, or to an address of its own ("/reading/answer"); the answer's JSON, or throws NotDone.
 * Who accepts and closes the tab in the same moment has accepted: what is small enough goes out all the same.
 */
export async function post(what, body, { keepalive = false } = {}) {
  let response;
  const text = JSON.stringify(body);
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), PATIENCE);
  try {
    response = await fetch(what.startsWith("/") ? what : `/judging/${what}`, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-Overread": "1", "X-Overread-Person": String(person) },
      body: text,
      keepalive: keepalive || text.length <= SENT_ANYHOW,
      signal: keepalive ? undefined : patience.signal,
    });
  } catch {
    throw new NotDone("The server did not answer.");
  } finally {
    clearTimeout(timer);
  }
  let answer = null;
  try {
    answer = await response.json();
  } catch {
    throw new NotDone(response.status === 401 ? "You are signed out." : `The server answered with ${response.status}.`, {
      kind: response.status === 401 ? "NotSignedIn" : "unreadable",
    });
  }
  if (!response.ok) throw new NotDone(reason(answer.error) ?? `The server answered with ${response.status}.`, { kind: answer.kind, body: answer });
  return answer;
}

/** Why, without the "not saved" that the form says itself. */
function reason(text) {
  const why = text?.replace(/^Not saved[:.] */, "");
  return why && why[0].toUpperCase() + why.slice(1);
}

/** Put a draft that was left into the data; false for the plain editor's boxes, which only the server can place. */
function showAgain(data, { part, body }, revisions) {
  if (part !== "boxes") {
    data.drafts[part] = { revision: revisions[part] ?? 0, body };
    return true;
  }
  const drawn = Object.values(body.drawings ?? {}).flat();
  if (!drawn.every((each) => each.type === "Box")) return false;
  for (const radiograph of data.radiographs) {
    if (body.drawings[radiograph.id]) Object.assign(radiograph, { boxes: body.drawings[radiograph.id], touched: true });
  }
  return true;
}

/** Keeps one question's drafts on the server, each part in its own line of revisions. */
export class Drafts {
  constructor({ batch, question, revisions, verdict, told }) {
    this.where = { batch, question };
    this.revisions = { ...revisions };
    this.left = new Left({ person, batch, question, verdict });
    this.told = told; // told(problem or null)
    this.waiting = new Map(); // part -> () => body
    this.timers = new Map();
    this.last = Promise.resolve();
    this.closed = false;
  }

  /** `body()` is asked when it is sent, so it is always the newest; sent after `pause` milliseconds of quiet. */
  changed(part, body, pause = PAUSE) {
    if (this.closed) return;
    this.waiting.set(part, body);
    clearTimeout(this.timers.get(part));
    this.timers.set(part, setTimeout(() => this.flush(part), pause));
  }

  /** Send what waits now; the promise is kept whether it went well or not. */
  flush(part) {
    const parts = part ? [part] : [...this.waiting.keys()];
    for (const each of parts) clearTimeout(this.timers.get(each));
    this.last = this.last.then(async () => {
      for (const each of parts) await this.sendPart(each);
    });
    return this.last;
  }

  async sendPart(part) {
    const body = this.waiting.get(part);
    if (!body || this.closed) return;
    this.waiting.delete(part);
    try {
      const kept = await post("draft", { ...this.where, part, revision: this.revisions[part] ?? 0, body: body() });
      this.revisions[part] = kept.revision;
      this.left.drop(part);
      this.told(null);
    } catch (problem) {
      if (this.closed) return;
      if (!this.waiting.has(part)) this.waiting.set(part, body);
      this.left.keep(part, this.revisions[part] ?? 0, this.waiting.get(part)());
      this.told(problem);
      if (AWAY.has(problem.kind)) this.timers.set(part, setTimeout(() => this.flush(part), 3000));
    }
  }

  /** The page is going: one last try that outlives it. */
  leave() {
    for (const [part, body] of this.waiting) {
      this.left.keep(part, this.revisions[part] ?? 0, body());
      post("draft", { ...this.where, part, revision: this.revisions[part] ?? 0, body: body() }, { keepalive: true }).catch(() => {});
    }
  }

  /** Send nothing more for now, and wait for what is under way: no draft may come in after its verdict. */
  async hold() {
    for (const timer of this.timers.values()) clearTimeout(timer);
    await Promise.race([this.last, new Promise((done) => setTimeout(done, 1500))]);
  }

  /**
   * Put what the server had not taken, when this question was open before, into the question's data, and send it.
   * Gives back whether the question must be asked for once more to show all of it.
   */
  async takeUp(data) {
    const left = this.left.take(this.revisions);
    for (const { part, body } of left) this.waiting.set(part, () => body);
    const shown = left.filter((each) => showAgain(data, each, this.revisions));
    await this.flush();
    return shown.length < left.length && this.waiting.size === 0;
  }

  /** Its verdict is in: what is left of it anywhere is of no use any more. */
  done() {
    this.close();
    for (const part of ["own", "form", "boxes"]) this.left.drop(part);
  }

  /** Nothing more is sent of this question. */
  close() {
    this.closed = true;
    this.waiting.clear();
    for (const timer of this.timers.values()) clearTimeout(timer);
  }
}
