// Validates the result of a handler, which the guest passes as unchecked JSON text.
import { ApiError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';
import { plainText } from '../../lib/printable.ts';
import type { HandlerKind } from '../handler-kinds.ts';
import { answerOf } from '../inbound/answer.ts';

const partsMax = 5_000;

/** Returns why the result cannot be sent to the waiting caller; null if it can. */
export function unfitResult(kind: HandlerKind, text: string): string | null {
  try {
    const result = parseJson(text, partsMax);
    if (kind !== 'route') return null;
    const answer = answerOf(result);
    return 'unsendable' in answer ? plainText(answer.unsendable) : null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `The result of the handler is invalid. ${error.message.replace('The body', 'The result')}`;
  }
}
