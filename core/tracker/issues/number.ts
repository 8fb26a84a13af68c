// The number of an issue is assigned at commit. Until then its identifier and url end before the number (`ENG-`, `https://…/issues/ENG-`),
// on the issue itself and in the `issue` of other objects. See docs/decisions/0003.
import { appendStatement } from '../../events/append.ts';
import { isShown, type Learning, type Shown } from '../../events/learning.ts';

export const issueNumber: Learning = {
  append: appendStatement(
    'events.append_with_issue_number',
    '(SELECT number FROM issues WHERE workspace_id = :ws AND id = :learnsOf)',
  ),
  waits: /"identifier":"[A-Z0-9]+-"/,
  complete(shown, number) {
    const completed: Record<string, unknown> = { ...shown };
    if (isCut(shown)) {
      completed.identifier = `${shown.identifier}${number}`;
      if (typeof shown.url === 'string') completed.url = `${shown.url}${number}`;
      if (shown.number === null) completed.number = number;
    }
    if (isShown(shown.issue)) completed.issue = issueNumber.complete(shown.issue, number);
    return completed;
  },
  hide(shown) {
    const hidden: Record<string, unknown> = { ...shown };
    if (isCut(shown)) {
      hidden.identifier = null;
      if ('url' in shown) hidden.url = null;
    }
    if (isShown(shown.issue)) hidden.issue = issueNumber.hide(shown.issue);
    return hidden;
  },
};

function isCut(shown: Shown): shown is Shown & { readonly identifier: string } {
  return typeof shown.identifier === 'string' && shown.identifier.endsWith('-');
}
