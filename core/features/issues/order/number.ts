// The number of an issue is assigned at commit. Until then its identifier and url end before the number
// (`ENG-`, `https://…/issues/ENG-`), on the issue itself and in the `issue` of other objects. See
// docs/decisions/0003.
import { appendStatement } from '../../../kernel/events/log/append.ts';
import {
  isObjectBody,
  type CommitAssignedRule,
  type ObjectBody,
} from '../../../kernel/events/log/packing.ts';

export const issueNumber: CommitAssignedRule = {
  append: appendStatement(
    'events.append_with_issue_number',
    '(SELECT number FROM issues WHERE workspace_id = :ws AND id = :learnsOf)',
  ),
  waits: /"identifier":"[A-Z0-9]+-"/,
  complete(response, number) {
    const completed: Record<string, unknown> = { ...response };
    if (isCut(response)) {
      completed.identifier = `${response.identifier}${number}`;
      if (typeof response.url === 'string') completed.url = `${response.url}${number}`;
      if (response.number === null) completed.number = number;
    }
    if (isObjectBody(response.issue)) completed.issue = issueNumber.complete(response.issue, number);
    return completed;
  },
  hide(response) {
    const hidden: Record<string, unknown> = { ...response };
    if (isCut(response)) {
      hidden.identifier = null;
      if ('url' in response) hidden.url = null;
    }
    if (isObjectBody(response.issue)) hidden.issue = issueNumber.hide(response.issue);
    return hidden;
  },
};

function isCut(response: ObjectBody): response is ObjectBody & { readonly identifier: string } {
  return typeof response.identifier === 'string' && response.identifier.endsWith('-');
}
