// Drafts that the server has not taken yet, kept in this browser until it has.
//
// Each is kept for one person, question and revision. Drafts of another person are removed at once: two reviewers
// at one browser must not see each other's corrections.

const PREFIX = "overread-draft";

interface Stored {
  verdict: number;
  revision: number;
  body: object;
}

export class UnsentDrafts<Part extends string> {
  private readonly ofPerson: string;
  private readonly ofQuestion: string;

  /** `verdict` is the revision that the next verdict becomes: a draft of an earlier one is of no use. */
  constructor(
    private readonly of: { person: number; batch: number; question: number; verdict: number },
    private readonly parts: readonly Part[],
  ) {
    this.ofPerson = `${PREFIX}:${of.person}:`;
    this.ofQuestion = `${this.ofPerson}${of.batch}:${of.question}:`;
  }

  keep({ part, revision, body }: { part: Part; revision: number; body: object }): void {
    const stored: Stored = { verdict: this.of.verdict, revision, body };
    withStorage(() => localStorage.setItem(this.ofQuestion + part, JSON.stringify(stored)));
  }

  drop(part: Part): void {
    withStorage(() => localStorage.removeItem(this.ofQuestion + part));
  }

  dropAll(): void {
    for (const part of this.parts) this.drop(part);
  }

  /** The drafts of this question that are not older than what the server has; older ones are removed. */
  take(revisionOnServer: (part: Part) => number): { part: Part; body: object }[] {
    this.removeOtherPersons();
    return this.parts.flatMap((part) => {
      const stored = this.read(part);
      if (!stored) return [];
      if (stored.verdict === this.of.verdict && stored.revision === revisionOnServer(part)) return [{ part, body: stored.body }];
      this.drop(part);
      return [];
    });
  }

  private read(part: Part): Stored | null {
    try {
      return JSON.parse(localStorage.getItem(this.ofQuestion + part) ?? "null") as Stored | null;
    } catch {
      return null; // no storage, or an entry of somebody else under our name
    }
  }

  private removeOtherPersons(): void {
    withStorage(() => {
      for (const key of Object.keys(localStorage)) if (key.startsWith(`${PREFIX}:`) && !key.startsWith(this.ofPerson)) localStorage.removeItem(key);
    });
  }
}

/** Without storage, or without room in it, the draft is in this window only. */
function withStorage(act: () => void): void {
  try {
    act();
  } catch {
    // The draft is also on the form and in the next request.
  }
}
