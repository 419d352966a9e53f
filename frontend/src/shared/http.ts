// Requests to the app's own routes.

import type { Route, Routes } from "./api";

const TIMEOUT = 10_000; // milliseconds until a request counts as unanswered
/** The longest body sent with keepalive, in characters. The browser allows 64 KiB for all pending keepalive requests together. */
const MAX_KEEPALIVE_LENGTH = 8_000;

/** A request that was refused or not answered. `kind` is the server's name for the reason. */
export class RequestError extends Error {
  constructor(
    message: string,
    readonly kind = "unreachable",
  ) {
    super(message);
  }

  /** Whether the server was unreachable or unavailable, so that the same request may succeed later. */
  get isTemporary(): boolean {
    return ["unreachable", "unreadable", "NotNow", "Fault"].includes(this.kind);
  }

  static from(problem: unknown): RequestError {
    return problem instanceof RequestError ? problem : new RequestError(String(problem), "unexpected");
  }
}

let personId = 0;

/** Set the id of the signed-in person. The server refuses requests when another person has signed in in another tab. */
export function setPersonId(id: number): void {
  personId = id;
}

/**
 * Send a POST request and return the JSON of the response; throws a RequestError. With `keepalive` the request outlives the page and
 * is not timed out. A request with a small body always outlives the page, so a verdict is saved if the tab is closed right after Accept.
 */
export async function post<R extends Route>(route: R, body: Routes[R]["request"], { keepalive = false } = {}): Promise<Routes[R]["response"]> {
  const text = JSON.stringify(body);
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), TIMEOUT);
  let response: Response;
  try {
    response = await fetch(route, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-Overread": "1", "X-Overread-Person": String(personId) },
      body: text,
      keepalive: keepalive || text.length <= MAX_KEEPALIVE_LENGTH,
      ...(keepalive ? {} : { signal: timeout.signal }),
    });
  } catch {
    throw new RequestError("The server did not answer.");
  } finally {
    clearTimeout(timer);
  }
  const fallbackMessage = `The server answered with ${response.status}.`;
  let payload: unknown;
  try {
    payload = await response.json();
  } catch {
    throw response.status === 401 ? new RequestError("You are signed out.", "NotSignedIn") : new RequestError(fallbackMessage, "unreadable");
  }
  if (response.ok) return payload as Routes[R]["response"];
  const { error, kind } = payload as { error?: string; kind?: string };
  throw new RequestError(removePrefix(error) || fallbackMessage, kind);
}

/** The reason, without the "Not saved" that the form adds itself. */
function removePrefix(text = ""): string {
  const reason = text.replace(/^Not saved[:.] */, "");
  return reason.charAt(0).toUpperCase() + reason.slice(1);
}
