// Messages about the parts of a rule that the server rejects, by the code of the issue and the path of the part.
import type { ApiCallError } from '@tatami/sdk/client';
import { text as editor } from './automation-editor.ts';
import { text as words } from './automation-rule.ts';

type Detail = ApiCallError['details'][number];

/** Instructions for empty parts, by the name at the end of the path. */
const missing: Readonly<Record<string, string>> = {
  name: 'Write a name.',
  event: 'Choose an event.',
  cron: 'Write a schedule.',
  actions: 'Add an action.',
  fields: 'Add a field.',
  values: 'Choose a label.',
  body: 'Write a text.',
  members: 'Choose a member.',
  team: 'Choose a team.',
  issues: 'Add an issue.',
  title: 'Write a title.',
  issue: 'Write the identifier of an issue.',
  board: 'Choose a board.',
  column: 'Write a column.',
  cycle: 'Choose a cycle.',
  release: 'Choose a release.',
  host: 'Choose a host.',
  path: 'Write a path.',
  plugin: 'Write the id of a plugin.',
  action: 'Write the name of an action.',
};

/** Ranges of numbers, by path. */
const ranges: Readonly<Record<string, string>> = {
  'trigger.days': 'Write a number from 1 to 365.',
  'issues.limit': 'Write a number from 1 to 50.',
};

const lastName = (path: string): string => path.split('.').findLast((name) => !/^\d+$/.test(name)) ?? '';

/** Returns true for a part that is empty. */
export const isMissing = ({ path, issue }: Detail): boolean =>
  issue === 'required' || issue === 'too_short' || (path === 'name' && issue === 'invalid_format');

/** Returns what to do about a part. */
export function fixWords(detail: Detail): string {
  const { path, fix = editor.invalid } = detail;
  // A rule without an issue is explained by the server, because the reason is elsewhere in the rule.
  if (path === 'issues') return fix;
  return (isMissing(detail) ? missing[lastName(path)] : ranges[path]) ?? fix;
}

const blocks: Readonly<Record<string, string>> = {
  ...editor.blocks,
  issues: editor.actsOn,
  name: editor.name,
  description: editor.description,
};

/** Returns the part that a path names, such as "Action 2, Comment". */
function placeOf(path: string, actions: readonly Readonly<Record<string, unknown>>[]): string | undefined {
  const [block = '', at = ''] = path.split('.');
  const action = block === 'actions' ? actions[Number(at)] : undefined;
  if (!action || at === '') return blocks[block];
  const type = String(action.type);
  return editor.actionAt(Number(at) + 1, words.actions[type as keyof typeof words.actions] ?? type);
}

interface Actions {
  readonly actions: readonly Readonly<Record<string, unknown>>[];
}

/** Returns what to do about a part, with its name, such as "Action 2, Comment: Write a text." */
export function problemWords(detail: Detail, { actions }: Actions): string {
  const place = placeOf(detail.path, actions);
  return place === undefined ? fixWords(detail) : `${place}: ${fixWords(detail)}`;
}
