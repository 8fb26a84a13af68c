// What a handler returned, as the sandbox hands it over: text that the guest says is JSON.
import { ApiError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';
import { plainText } from '../../lib/printable.ts';
import type { HandlerKind } from '../handler-kinds.ts';
import { answerOf } from '../inbound/answer.ts';

const partsMax = 5_000;

/** Why it cannot be given to whoever waits for it; null when it can. */
export function unfitResult(kind: HandlerKind, text: string): string | null {
  try {
    const result = parseJson(text, partsMax);
    if (kind !== 'route') return null;
    const answer = answerOf(result);
    return 'unsendable' in answer ? plainText(answer.unsendable) : null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `What the handler returned cannot be answered: ${error.message.replace('The body', 'It')}`;
  }
}
