// Drafts that the server has not accepted yet, kept in this browser.
//
// Each draft belongs to one person, question and revision. Drafts of another person are removed at once: two reviewers
// at one browser must not see each other's corrections.

const PREFIX = "overread-draft";
/** The present names of fields that earlier versions stored under another name. */
const RENAMED_FIELDS = new Map([
  ["why", "change_reason"],
  ["cannot", "cannot_determine"],
]);

interface StoredDraft {
  verdict: number;
  revision: number;
  body: object;
}

export class UnsentDrafts<Part extends string> {
  private readonly personPrefix: string;
  private readonly questionPrefix: string;

  /** `verdict` is the revision of the next verdict. Drafts of an earlier revision are obsolete. */
  constructor(
    private readonly scope: { person: number; batch: number; question: number; verdict: number },
    private readonly parts: readonly Part[],
  ) {
    this.personPrefix = `${PREFIX}:${scope.person}:`;
    this.questionPrefix = `${this.personPrefix}${scope.batch}:${scope.question}:`;
  }

  store({ part, revision, body }: { part: Part; revision: number; body: object }): void {
    const stored: StoredDraft = { verdict: this.scope.verdict, revision, body };
    withStorage(() => localStorage.setItem(this.questionPrefix + part, JSON.stringify(stored)));
  }

  remove(part: Part): void {
    withStorage(() => localStorage.removeItem(this.questionPrefix + part));
  }

  removeAll(): void {
    for (const part of this.parts) this.remove(part);
  }

  /** Returns the drafts of this question that are based on the server's present revision. Others are removed. */
  restore(revisionOnServer: (part: Part) => number): { part: Part; body: object }[] {
    this.removeDraftsOfOthers();
    return this.parts.flatMap((part) => {
      const stored = this.read(part);
      if (!stored) return [];
      if (stored.verdict === this.scope.verdict && stored.revision === revisionOnServer(part)) return [{ part, body: stored.body }];
      this.remove(part);
      return [];
    });
  }

  private read(part: Part): StoredDraft | null {
    try {
      const stored = JSON.parse(localStorage.getItem(this.questionPrefix + part) ?? "null") as StoredDraft | null;
      return stored && { ...stored, body: renameOldFields(stored.body) };
    } catch {
      return null; // no storage, or a foreign entry under our key
    }
  }

  private removeDraftsOfOthers(): void {
    withStorage(() => {
      for (const key of Object.keys(localStorage)) if (key.startsWith(`${PREFIX}:`) && !key.startsWith(this.personPrefix)) localStorage.removeItem(key);
    });
  }
}

const renameOldFields = (body: object): object => Object.fromEntries(Object.entries(body).map(([name, value]) => [RENAMED_FIELDS.get(name) ?? name, value as unknown]));

/** Runs an operation on the storage. If the storage is missing or full, only this window keeps the draft. */
function withStorage(operation: () => void): void {
  try {
    operation();
  } catch {
    // The form still has the draft, and the next request sends it.
  }
}
