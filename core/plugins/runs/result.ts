// What a handler returned, as the sandbox hands it over: text that the guest says is JSON.
import { ApiError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';

const partsMax = 5_000;

/** Why it cannot be shown to whoever waits for it; null when it can. */
export function unreadableResult(text: string): string | null {
  try {
    parseJson(text, partsMax);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `What the handler returned cannot be answered: ${error.message.replace('The body', 'It')}`;
  }
}
