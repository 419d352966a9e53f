// Drafts that the server has not taken yet, kept in this browser until it has.
//
// Each is kept for one person, question and revision, and only while it is nowhere else. What belongs to another
// person is removed at once: two reviewers at one browser must not come upon each other's corrections.

const PREFIX = "overread-draft";

export class Left {
  /** `verdict` is the revision that the next verdict becomes: a draft of an earlier one is of no use. */
  constructor({ person, batch, question, verdict }) {
    this.of = `${PREFIX}:${person}:`;
    this.here = `${this.of}${batch}:${question}:`;
    this.verdict = verdict;
  }

  keep(part, revision, body) {
    this.store(part, JSON.stringify({ verdict: this.verdict, revision, body }));
  }

  drop(part) {
    this.store(part, null);
  }

  /** What is left of this question, [{part, body}]: all that is not older than what the server has. */
  take(revisions) {
    this.forgetOthers();
    const found = [];
    for (const part of ["own", "form", "boxes"]) {
      const left = this.read(part);
      if (!left) continue;
      if (left.verdict === this.verdict && left.revision === (revisions[part] ?? 0)) found.push({ part, body: left.body });
      else this.drop(part);
    }
    return found;
  }

  read(part) {
    try {
      return JSON.parse(localStorage.getItem(this.here + part));
    } catch {
      return null; // a browser without storage, or somebody's own entry under our name
    }
  }

  store(part, text) {
    try {
      if (text === null) localStorage.removeItem(this.here + part);
      else localStorage.setItem(this.here + part, text);
    } catch {
      // No storage, or no room in it: the draft is in this window, as it was before.
    }
  }

  forgetOthers() {
    try {
      for (const key of Object.keys(localStorage)) if (key.startsWith(`${PREFIX}:`) && !key.startsWith(this.of)) localStorage.removeItem(key);
    } catch {
      // Without storage there is nothing of anybody's.
    }
  }
}
