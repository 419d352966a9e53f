// Requests to the app's own routes.

import type { Route, Routes } from "./api";

const TIMEOUT = 10_000; // milliseconds until a request counts as unanswered
/** Characters of a body that the browser still sends after its page is closed: it allows 64 KiB in all at once. */
const SENT_AFTER_CLOSING = 8_000;

/** A request that was refused or not answered. `kind` is the server's name for the reason. */
export class RequestError extends Error {
  constructor(
    message: string,
    readonly kind = "unreachable",
  ) {
    super(message);
  }

  /** The server could not be asked, or could not do it now; the request itself is in order. */
  get isTemporary(): boolean {
    return ["unreachable", "unreadable", "NotNow", "Fault"].includes(this.kind);
  }

  static from(problem: unknown): RequestError {
    return problem instanceof RequestError ? problem : new RequestError(String(problem), "unexpected");
  }
}

let person = 0;

/** Whose page this is: the server saves nothing of it for anybody else who signs in in another tab. */
export function setPerson(id: number): void {
  person = id;
}

/**
 * POST, and the JSON of the answer; throws a RequestError. With `keepalive` the request outlives the page and is not
 * timed out; a small body outlives it anyway, so accepting and closing the tab at once still accepts.
 */
export async function post<R extends Route>(route: R, body: Routes[R]["request"], { keepalive = false } = {}): Promise<Routes[R]["answer"]> {
  const text = JSON.stringify(body);
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), TIMEOUT);
  let response: Response;
  try {
    response = await fetch(route, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-Overread": "1", "X-Overread-Person": String(person) },
      body: text,
      keepalive: keepalive || text.length <= SENT_AFTER_CLOSING,
      ...(keepalive ? {} : { signal: timeout.signal }),
    });
  } catch {
    throw new RequestError("The server did not answer.");
  } finally {
    clearTimeout(timer);
  }
  const general = `The server answered with ${response.status}.`;
  let answer: unknown;
  try {
    answer = await response.json();
  } catch {
    throw response.status === 401 ? new RequestError("You are signed out.", "NotSignedIn") : new RequestError(general, "unreadable");
  }
  if (response.ok) return answer as Routes[R]["answer"];
  const { error, kind } = answer as { error?: string; kind?: string };
  throw new RequestError(withoutPrefix(error) || general, kind);
}

/** The reason, without the "Not saved" that the form adds itself. */
function withoutPrefix(text = ""): string {
  const reason = text.replace(/^Not saved[:.] */, "");
  return reason.charAt(0).toUpperCase() + reason.slice(1);
}
