// Reads the parts of a request that the endpoint needs before the SDK processes it.
import { ApiError } from '../../platform/lib/errors/errors.ts';

/** Maximum number of calls per request (a JSON-RPC batch of the earlier protocol). */
const messagesMax = 20;

type Message = Readonly<{ method?: unknown; params?: unknown }>;

export interface Body {
  /** Undefined for invalid JSON. */
  readonly parsed: unknown;
  readonly messages: readonly Message[];
}

/** @throws ApiError budget_exceeded */
export function bodyIn(bytes: Uint8Array): Body {
  const parsed = parsedIn(bytes);
  const messages = (Array.isArray(parsed) ? parsed : [parsed]).filter(
    (one): one is Message => typeof one === 'object' && one !== null,
  );
  if (messages.length > messagesMax)
    throw new ApiError('budget_exceeded', `A request can contain at most ${messagesMax} messages. Split it.`);
  return { parsed, messages };
}

function parsedIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}

export function toolsCalled({ messages }: Body): string[] {
  return messages.flatMap(({ method, params }) => {
    const { name } = (params ?? {}) as { name?: unknown };
    return method === 'tools/call' && typeof name === 'string' ? [name] : [];
  });
}

/** Returns true if a tool call waits for a decision (`wait` above 0). */
export function mayWait({ messages }: Body): boolean {
  return messages.some(({ method, params }) => {
    const { wait } = ((params ?? {}) as { arguments?: { wait?: unknown } | null }).arguments ?? {};
    return method === 'tools/call' && typeof wait === 'number' && wait > 0;
  });
}

/** Returns the URIs of the subscribed resources; null if the request is not a subscription. */
export function watchedBy({ messages: [message], parsed }: Body): readonly string[] | null {
  if (Array.isArray(parsed) || message?.method !== 'subscriptions/listen') return null;
  const { notifications } = (message.params ?? {}) as { notifications?: { resourceSubscriptions?: unknown } };
  const uris = notifications?.resourceSubscriptions;
  return Array.isArray(uris) ? uris.filter((uri): uri is string => typeof uri === 'string') : [];
}
