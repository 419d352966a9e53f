// Drafts: unsaved input, stored on the server as it changes.

import { sleep } from "./dom";
import { RequestError } from "./http";
import type { UnsentDrafts } from "./unsent-drafts";

const SEND_AFTER = 400; // milliseconds without a change before a draft is sent
const RETRY_AFTER = 3000;
const MAX_WAIT = 1500; // milliseconds to wait for a draft that is being sent

interface DraftOptions<Part extends string> {
  /** The revision of each part that the server has. */
  revisions: Partial<Record<Part, number>>;
  send: (draft: { part: Part; revision: number; body: object }, options?: { keepalive: boolean }) => Promise<{ revision: number }>;
  /** Called after every attempt; null when the draft is on the server. */
  onResult: (problem: RequestError | null) => void;
  /** Browser storage for drafts that the server did not accept. */
  unsent?: UnsentDrafts<Part>;
}

/** The drafts of one question or case. Each part has its own revision numbers. */
export class DraftStore<Part extends string> {
  private readonly pending = new Map<Part, () => object>();
  private readonly timers = new Map<Part, ReturnType<typeof setTimeout>>();
  private sending = Promise.resolve();
  private closed = false;

  constructor(private readonly options: DraftOptions<Part>) {}

  revision(part: Part): number {
    return this.options.revisions[part] ?? 0;
  }

  get hasPending(): boolean {
    return this.pending.size > 0;
  }

  /** Send the part `delay` milliseconds after its last change. `body()` is called then, so the newest state is sent. */
  change(part: Part, body: () => object, delay = SEND_AFTER): void {
    if (this.closed) return;
    this.pending.set(part, body);
    this.schedule(part, delay);
  }

  /** Send pending drafts now. Resolves even if this fails. */
  flush(part?: Part): Promise<void> {
    const parts = part ? [part] : [...this.pending.keys()];
    for (const name of parts) clearTimeout(this.timers.get(name));
    this.sending = this.sending.then(async () => {
      for (const name of parts) await this.sendPart(name);
    });
    return this.sending;
  }

  /** Send pending drafts with requests that outlive the closing page. */
  sendOnLeave(): void {
    if (this.closed) return;
    for (const [part, body] of this.pending) {
      const draft = { part, revision: this.revision(part), body: body() };
      this.options.unsent?.store(draft);
      this.options.send(draft, { keepalive: true }).catch(() => undefined);
    }
  }

  /** Stop the timers and wait for the current request: no draft may arrive after its verdict. */
  async stopSending(): Promise<void> {
    for (const timer of this.timers.values()) clearTimeout(timer);
    await Promise.race([this.sending, sleep(MAX_WAIT)]);
  }

  /** Load drafts that the server did not accept earlier. The next flush sends them. */
  restoreUnsent(): { part: Part; body: object }[] {
    const drafts = this.options.unsent?.restore((part) => this.revision(part)) ?? [];
    for (const { part, body } of drafts) this.pending.set(part, () => body);
    return drafts;
  }

  /** Delete all drafts after a save. */
  discard(): void {
    this.close();
    this.options.unsent?.removeAll();
  }

  /** Send nothing more. */
  close(): void {
    this.closed = true;
    this.pending.clear();
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private schedule(part: Part, milliseconds: number): void {
    clearTimeout(this.timers.get(part));
    this.timers.set(part, setTimeout(() => void this.flush(part), milliseconds));
  }

  private async sendPart(part: Part): Promise<void> {
    const body = this.pending.get(part);
    if (!body || this.closed) return;
    this.pending.delete(part);
    const { options } = this;
    try {
      const saved = await options.send({ part, revision: this.revision(part), body: body() });
      options.revisions[part] = saved.revision;
      options.unsent?.remove(part);
      if (!this.isClosed()) options.onResult(null);
    } catch (error) {
      if (this.isClosed()) return;
      const problem = RequestError.from(error);
      const newest = this.pending.get(part) ?? body;
      this.pending.set(part, newest);
      options.unsent?.store({ part, revision: this.revision(part), body: newest() });
      options.onResult(problem);
      if (problem.isTemporary) this.schedule(part, RETRY_AFTER);
    }
  }

  private isClosed(): boolean {
    return this.closed; // may have changed while a draft was being sent
  }
}
