// Sentences of the timeline about events, runs, deliveries and proposals.
import type { TrailNode } from '@tatami/sdk/client';
import { exactTime } from '../../parts/issue/symbols.tsx';
import { text as common, wordsOfName } from '../../text/common.ts';
import { eventPhrases, fieldNames, text } from '../../text/issue.ts';

type FieldChange = TrailNode['fields'][number];

/** Fields that change with another one, such as the state. They are shown only if nothing else is. */
const derived = new Set([
  'identifier',
  'number',
  'url',
  'startedAt',
  'completedAt',
  'canceledAt',
  'statusSince',
  'stateSince',
  'slaDueAt',
  'subOrder',
  'createdAt',
  'updatedAt',
  'deletedAt',
  'descriptionHtml',
  'version',
]);

export function sentenceOf(node: TrailNode): string {
  const { run, delivery, proposal, kind, type, actor } = node;
  if (run) return text.run(run.plugin, run.handler ?? '', run.error ?? run.status);
  if (delivery) return text.delivery(delivery.status, type ?? '');
  if (proposal) return text.proposal(proposal.title ?? node.id, proposal.status);
  const by = actor ?? text.somebody;
  if (kind === 'undo') return text.by(by, text.undid);
  const phrases = phrasesOf(node);
  return phrases.length === 0 ? text.did(by, type ?? kind) : text.by(by, phrases.join('; '));
}

/** Returns an empty list for an event of an unknown type without changed fields. */
function phrasesOf({ type, types, name, fields }: TrailNode): readonly string[] {
  const named = [...new Set([...(type === null ? [] : [type]), ...types])].flatMap((one) => {
    const phrase = eventPhrases[one] ?? [];
    return name !== null && typeof phrase === 'string' ? text.about(phrase, name) : phrase;
  });
  const chosen = fields.filter(({ field }) => !derived.has(field));
  const changes = chosen.flatMap(changesOf);
  if (named.length + changes.length > 0) return [...named, ...changes];
  return fields.length > 0 ? fields.flatMap(changesOf) : plainPhrase(type);
}

/** An event about a field whose change is not visible still has a phrase. */
const plainPhrase = (type: string | null): readonly string[] =>
  type !== null && updates.has(type) ? [text.updated] : [];

const updates = new Set(['issue.updated', 'issue.state_changed', 'issue.assigned', 'issue.labeled']);

function changesOf({ field, from, to }: FieldChange): readonly string[] {
  const name = fieldNames[field] ?? wordsOfName(field);
  if (Array.isArray(from) && Array.isArray(to)) return listChanges(name, from, to);
  if (!isShown(from) || !isShown(to)) return [text.changedText(name)];
  const [before, after] = [wordsOf(field, from), wordsOf(field, to)];
  // A team has its own states, which may have the names of those of another team.
  if (before === after && before !== null) return [];
  if (before === null) return after === null ? [text.changedText(name)] : [text.set(name, after)];
  return [after === null ? text.unset(name, before) : text.changed(name, before, after)];
}

function listChanges(name: string, from: readonly unknown[], to: readonly unknown[]): readonly string[] {
  const [before, after] = [from, to].map((list) => list.map((value) => wordsOf('', value) ?? common.none));
  const added = after!.filter((value) => !before!.includes(value));
  const removed = before!.filter((value) => !after!.includes(value));
  if (added.length + removed.length === 0) return [text.changedText(name)];
  return [
    ...(added.length > 0 ? [text.added(name, added.join(', '))] : []),
    ...(removed.length > 0 ? [text.removed(name, removed.join(', '))] : []),
  ];
}

const longText = 80;

/** False for a value that is too long for a sentence, or has no name. */
function isShown(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= longText && !value.includes('\n');
  return typeof value !== 'object' || value === null || 'name' in value || 'identifier' in value;
}

const dayOf = (date: string): string =>
  new Date(date).toLocaleDateString('en', { dateStyle: 'medium', timeZone: 'UTC' });

/** Returns null for no value. */
function wordsOf(field: string, value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value === 'object') {
    const { name, identifier } = value as { readonly name?: unknown; readonly identifier?: unknown };
    return String(name ?? identifier);
  }
  const words = String(value);
  if (field === 'priority' && words in common.priorities)
    return common.priorities[words as keyof typeof common.priorities];
  if (field === 'title') return `“${words}”`;
  if (/^\d{4}-\d\d-\d\d$/.test(words)) return dayOf(words);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(words) ? exactTime(words) : words;
}
