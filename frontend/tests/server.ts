// A fake of the app's routes: records requests and returns the responses of a test.

import { vi } from "vitest";

type Body = Record<string, unknown>;
type Handler = (body: Body) => unknown;

export interface Sent {
  route: string;
  body: Body;
  keepalive: boolean;
}

/** A response with an error status. */
export class Refusal {
  constructor(
    readonly status: number,
    readonly body: { error: string; kind: string },
  ) {}
}

export const AWAY = new Refusal(503, { error: "Not saved: the database could not be reached.", kind: "NotNow" });

/** No response at all. */
export const OFFLINE = new TypeError("Failed to fetch");

export class FakeServer {
  readonly sent: Sent[] = [];
  /** Milliseconds until a response. */
  latency = 0;
  private readonly handlers = new Map<string, Handler>();
  private draftRevision = 0;

  constructor() {
    const keepDraft: Handler = () => ({ revision: (this.draftRevision += 1), at: NOW });
    for (const route of ["/review/draft", "/reading/draft"]) this.on(route, keepDraft);
    for (const route of ["/review/viewing-times", "/reading/viewing-times"]) this.on(route, () => ({ at: NOW }));
    vi.stubGlobal("fetch", (route: string, init: RequestInit) => this.respond(route, init));
  }

  /** Set what a route returns from now on: a body, a Refusal, or OFFLINE. */
  on(route: string, handler: Handler): void {
    this.handlers.set(route, handler);
  }

  bodiesSentTo(route: string): Body[] {
    return this.sent.filter((request) => request.route === route).map(({ body }) => body);
  }

  private async respond(route: string, { body, keepalive = false, signal }: RequestInit): Promise<Response> {
    const requestBody = JSON.parse(body as string) as Body;
    this.sent.push({ route, body: requestBody, keepalive });
    const result = this.handlers.get(route)?.(requestBody) ?? { next: null };
    await new Promise<void>((resolve, reject) => {
      setTimeout(resolve, this.latency);
      signal?.addEventListener("abort", () => reject(new Error("aborted")));
    });
    if (result === OFFLINE) throw OFFLINE;
    return result instanceof Refusal ? Response.json(result.body, { status: result.status }) : Response.json(result);
  }
}

export const NOW = "2026-11-22T10:00:00+00:00";
