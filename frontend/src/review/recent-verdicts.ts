// The last verdicts of the person in this batch, as one line of marks. A click on a mark returns to its question, as does
// the shortcut followed by the digit of the mark.

import type { Decision, ReviewData } from "../shared/api";
import { DECISION_TEXTS } from "../shared/components";
import { button, formatTime, h } from "../shared/dom";
import { shortcutLabel, keyHint, readKey } from "../shared/shortcuts";

const LETTERS: Record<Decision, string> = { accept: "A", revise: "V", reject: "X" };
const LEGEND = Object.entries(LETTERS).map(([decision, letter]) => `${letter} ${DECISION_TEXTS[decision as Decision]}`).join(", ");

export class RecentVerdicts {
  /** Null without a verdict. */
  readonly root: HTMLElement | null;

  constructor(
    private readonly data: ReviewData,
    private readonly goTo: (question: number) => unknown,
    reopenLast: () => unknown,
  ) {
    const { recent, question } = data;
    const marks = recent.map((verdict, index) => {
      const position = index === 0 ? "last verdict" : `verdict ${index + 1} of the last ${recent.length}`;
      const title = `${position}: ${DECISION_TEXTS[verdict.decision]} at ${formatTime(verdict.at)}`;
      const attributes = { class: `mark ${verdict.decision}`, title, "aria-label": title, "aria-current": verdict.question === question ? "true" : null, "data-digit": digitOf(index) };
      return h("li", {}, button(LETTERS[verdict.decision], null, () => goTo(verdict.question), attributes));
    });
    const list = h("ol", { "aria-label": "Your last verdicts, newest first", title: `Your last verdicts, newest first${keyHint("recent")}. ${LEGEND}.` }, marks);
    this.root = recent.length === 0 ? null : h("div", { class: "recent" }, button("Reopen last verdict", shortcutLabel("reopen-last"), reopenLast, { class: "quiet" }), list);
  }

  get isChoosing(): boolean {
    return this.root?.classList.contains("marking") ?? false;
  }

  /** Show the digits of the marks; the next key chooses one. Returns false if there are no verdicts. */
  startChoosing(): boolean {
    this.root?.classList.add("marking");
    return this.isChoosing;
  }

  /** Go to the verdict with the pressed digit. Any other key only ends the choice. */
  choose(event: KeyboardEvent): true {
    this.root?.classList.remove("marking");
    const pressedKey = readKey(event);
    const verdict = this.data.recent.find((_, index) => digitOf(index) === pressedKey);
    if (verdict) this.goTo(verdict.question);
    return true;
  }
}

/** The digit of a mark: 1 to 9, and 0 for the tenth. */
const digitOf = (index: number): string => String((index + 1) % 10);
