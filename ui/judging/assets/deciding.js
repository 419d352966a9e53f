// Saving what the reviewer says: a verdict, their own answer first, or why the question is put aside.

import { clockTime } from "./dom.js";
import { missing, opinionOf } from "./model.js";

/** Accept, revise or reject, and on to the next question; what is missing is named, and nothing is saved. */
export async function decide(form, decision) {
  const { data } = form;
  if (form.errand.busy || form.isTooSoon || !data.open || data.blind) return;
  await form.radiographs.settled();
  const drawings = form.radiographs.drawings();
  form.paintChanges();
  const lack = missing(decision, data, form.state, { boxesChanged: form.corrected.boxes });
  if (lack) {
    form.note(lack.text);
    form.pointTo(lack.at);
    return;
  }
  const { why, ...opinion } = opinionOf(form.state, data.full);
  const body = { batch: data.batch, question: data.question, revision: data.revision, decision, opinion, drawings, why, ...form.clock.totals() };
  await form.errand.save("verdict", body, { told: (saved) => `${saved.decision} saved ${clockTime(saved.at)}`, last: true, again: () => form.decide(decision) });
}

/** The reviewer's own answer; the same question comes again, with its key. */
export async function commit(form) {
  const { data, own } = form;
  if (!own || form.errand.busy || form.isTooSoon || !data.open) return;
  const lack = own.missing();
  if (lack) {
    form.note(lack);
    return;
  }
  const body = { batch: data.batch, question: data.question, answer: own.answer(), confidence: own.confidence };
  await form.errand.save("own-answer", body, { told: (saved) => `answer saved ${clockTime(saved.at)}`, then: { to: data.question }, again: () => form.commit() });
}

/** Put the question aside, and on to the next one. */
export async function skip(form, reason) {
  const { batch, question } = form.data;
  form.stopSkipping();
  await form.drafts.flush();
  await form.errand.save("skip", { batch, question, reason }, { told: (saved) => `skipped ${clockTime(saved.at)}` });
}
