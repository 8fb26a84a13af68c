// Compact storage of attempt headers: values that can be derived from the delivery and the time are omitted and restored
// exactly. Headers that would not restore exactly are stored in full.

export type SentHeaders = Readonly<Record<string, string>>;

interface HeaderContext {
  readonly delivery: { readonly id: string; readonly event_id: string; readonly event_type: string };
  /** Time of sending, in Unix milliseconds. */
  readonly at: number;
}

/** User agent, signature values per secret in base64, and traceparent. */
type Rest = readonly [agent: string, tagged: readonly string[], standard: readonly string[], trace?: string];

const contentType = 'application/json';

/** Returns JSON: an object of all headers, or a list of the values that cannot be derived from `known`. */
export function packHeaders(headers: SentHeaders, known: HeaderContext): string {
  const whole = JSON.stringify(headers);
  const rest = restOf(headers);
  return JSON.stringify(headersOf(rest, known)) === whole ? JSON.stringify(rest) : whole;
}

export function unpackHeaders(text: string, known: HeaderContext): SentHeaders {
  const stored = JSON.parse(text) as Rest | SentHeaders;
  return isRest(stored) ? headersOf(stored, known) : stored;
}

function headersOf([agent, tagged, standard, trace]: Rest, { delivery, at }: HeaderContext): SentHeaders {
  const seconds = String(Math.floor(at / 1000));
  return {
    'Content-Type': contentType,
    'User-Agent': agent,
    'X-Webhook-Event': delivery.event_type,
    'X-Webhook-Signature': [
      ...tagged.map((hash) => `v1=${recode(hash, 'base64', 'hex')}`),
      `t=${seconds}`,
    ].join(','),
    'X-Webhook-Delivery': delivery.id,
    'webhook-id': delivery.event_id,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.map((hash) => `v1,${hash}`).join(' '),
    ...(trace === undefined ? {} : { traceparent: trace }),
  };
}

function restOf(headers: SentHeaders): Rest {
  const { 'User-Agent': agent = '', traceparent } = headers;
  const hashes = (name: string): string[] =>
    [...(headers[name] ?? '').matchAll(/v1[=,](\S+?)(?=[, ]|$)/g)].map(([, hash = '']) => hash);
  const tagged = hashes('X-Webhook-Signature').map((hash) => recode(hash, 'hex', 'base64'));
  const rest = [agent, tagged, hashes('webhook-signature')] as const;
  return traceparent === undefined ? rest : [...rest, traceparent];
}

const isRest = (stored: Rest | SentHeaders): stored is Rest => Array.isArray(stored);

const recode = (text: string, from: 'hex' | 'base64', to: 'hex' | 'base64'): string =>
  Buffer.from(text, from).toString(to);
