// Input of the forms of a webhook.
import type { EventFilter, EventPattern, Webhook, WebhookCreate, WebhookPatch } from '@tatami/sdk/client';
import { fieldError } from '../../parts/fields.tsx';
import { isTree, type FilterTree } from '../../parts/filter/filter.ts';
import { text } from '../../text/developers.ts';

export interface WebhookDraft {
  readonly url: string;
  readonly description: string;
  readonly events: readonly string[];
  /** JSON; empty for all events. */
  readonly filter: string;
  readonly ordering: Webhook['ordering'];
}

export const emptyWebhook: WebhookDraft = {
  url: '',
  description: '',
  events: ['issue.*'],
  filter: '',
  ordering: 'none',
};

export function draftOf({ url, description, events, filter, ordering }: Webhook): WebhookDraft {
  return {
    url,
    description,
    events,
    filter: filter === null ? '' : JSON.stringify(filter, null, 2),
    ordering,
  };
}

/** @throws ApiCallError for a filter that is not a JSON object */
export function bodyOf({ url, description, events, filter, ordering }: WebhookDraft): WebhookCreate {
  return {
    url: url.trim(),
    description: description.trim(),
    events: events as readonly EventPattern[],
    filter: filterOf(filter),
    ordering,
  };
}

/**
 * The API shows values in the query of a URL as `…`, and refuses to write them, so a URL is only sent if it was
 * changed.
 */
export function addressPatchOf(draft: WebhookDraft, { url: shown }: Pick<Webhook, 'url'>): WebhookPatch {
  const [url, description] = [draft.url.trim(), draft.description.trim()];
  return { description, ...(url !== shown && { url }) };
}

/** @throws ApiCallError for a filter that is not a JSON object */
export function eventsPatchOf(draft: WebhookDraft): WebhookPatch {
  const { events, filter, ordering } = bodyOf(draft);
  return { events, filter, ordering };
}

/**
 * Removes a new URL with a user or a query, which may contain a secret. The person enters it again.
 * @param shown URL without secrets, as the API shows it
 */
export function withoutSecrets(draft: WebhookDraft, shown = ''): WebhookDraft {
  return draft.url !== shown && /[?#@]/.test(draft.url) ? { ...draft, url: '' } : draft;
}

/** @returns null for text that is not a JSON object; `{}` for no text */
export function treeOf(json: string): FilterTree | null {
  if (json.trim() === '') return {};
  try {
    const tree: unknown = JSON.parse(json);
    return isTree(tree) ? tree : null;
  } catch {
    return null;
  }
}

function filterOf(json: string): EventFilter | null {
  const tree = treeOf(json);
  if (tree === null) throw fieldError('filter', text.badFilter);
  return Object.keys(tree).length === 0 ? null : tree;
}
