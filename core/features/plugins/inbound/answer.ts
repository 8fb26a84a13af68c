// Validates the response of a plugin's route, so that it cannot imitate a page of this server or set browser
// state.
import type { RawAnswer } from '../../../kernel/http/route.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';

const headersMax = 20;
const valueMax = 1_000;
const types = ['text/plain', 'application/json'];
/**
 * Headers that a plugin can set in addition to `content-type`. An allowlist is used because reverse proxies
 * act on header names that no denylist would cover completely (`x-accel-redirect`, `x-litespeed-location`,
 * `x-reproxy-url`).
 */
const headerName =
  /^(cache-control|etag|last-modified|retry-after|x-slack-no-retry|x-plugin-[a-z0-9-]{1,50})$/;
const headerValue = /^[\t\x20-\x7e]*$/;
const members = new Set(['status', 'headers', 'body']);

interface Refused {
  readonly unsendable: string;
}

/** Error for an invalid member of a response; the message names the member and says what is valid. */
class Unsendable extends Error {
  constructor(member: string, fix: string) {
    super(`${member.slice(0, 80)}: ${fix}`);
  }
}

/** @returns the response, or the reason that it cannot be sent */
export function answerOf(result: unknown): RawAnswer | Refused {
  try {
    return sendable(result);
  } catch (error) {
    if (!(error instanceof Unsendable)) throw error;
    return { unsendable: `The response of the route is invalid. ${error.message}` };
  }
}

function sendable(result: unknown): RawAnswer {
  if (result === null) return { status: 204, contentType: typed('text/plain'), body: '' };
  if (!isRecord(result))
    throw new Unsendable('result', 'Return { status, headers?, body? }, or nothing for status 204.');
  const { status, headers = {}, body = '' } = result;
  for (const name of Object.keys(result))
    if (!members.has(name)) throw new Unsendable(name, 'Return only status, headers and body.');
  if (!isStatus(status)) throw new Unsendable('status', 'Use a whole number from 200 to 599.');
  if (typeof body !== 'string')
    throw new Unsendable('body', 'Return a string; use JSON.stringify for other values.');
  const { contentType, ...rest } = headersOf(headers);
  return { status, contentType, body: bodiless.has(status) ? '' : body, ...rest };
}

function headersOf(input: unknown): { contentType: string; headers: Record<string, string> } {
  if (!isRecord(input) || Object.keys(input).length > headersMax)
    throw new Unsendable('headers', `Return an object with at most ${headersMax} headers.`);
  const headers: Record<string, string> = {};
  let contentType = typed('text/plain');
  for (const [written, value] of Object.entries(input)) {
    const name = written.toLowerCase();
    const at = `headers.${written}`;
    if (typeof value !== 'string' || value.length > valueMax || !headerValue.test(value))
      throw new Unsendable(at, `Use a string of at most ${valueMax} printable ASCII characters.`);
    if (name === 'content-type') contentType = typed(takenType(at, value));
    else if (headerName.test(name)) headers[name] = value;
    else
      throw new Unsendable(
        at,
        'Set only content-type, cache-control, etag, last-modified, retry-after, x-slack-no-retry and names that begin with x-plugin-.',
      );
  }
  return { contentType, headers };
}

/** Statuses whose responses have no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

const isStatus = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 200 && value <= 599;
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const typed = (type: string): string => (type === 'text/plain' ? 'text/plain; charset=utf-8' : type);

function takenType(at: string, value: string): string {
  const type = value.toLowerCase().split(';')[0]?.trim() ?? '';
  if (!types.includes(type)) throw new Unsendable(at, `Use ${types.join(' or ')}.`);
  return type;
}

/**
 * Limit of waiting requests, with fair shares by workspace and by member or install. A request beyond its share gets an immediate
 * response, and the client polls.
 */
const waitingMax = 1_000;

/** Lets a request wait for the end of the run that it started. */
export interface RunEnds {
  /** Resolves when the run has ended, or after `ms`. */
  wait(billingAccount: BillingAccount, runId: string, ms: number): Promise<void>;
  /** Resolves the waiter; call once the end of the run is stored. */
  note(runId: string): void;
}

export function createRunEnds(clock: Clock): RunEnds {
  const quota = new FairQuota(waitingMax);
  const waiting = new Map<string, () => void>();
  return {
    wait(billingAccount, runId, ms) {
      if (!quota.hasCapacityFor(billingAccount, 1)) return Promise.resolve();
      const releaseSlot = quota.reserve(billingAccount, 1);
      return new Promise((resolve) => {
        const done = (): void => {
          waiting.delete(runId);
          releaseSlot();
          stop();
          resolve();
        };
        const stop = clock.after(ms, done);
        waiting.set(runId, done);
      });
    },
    note: (runId) => waiting.get(runId)?.(),
  };
}
