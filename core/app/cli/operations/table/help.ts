// Texts of the help that derive from operations.
import { quoted } from '../../../../platform/lib/text/printable.ts';
import type { Argument, Flag, Operation } from './operation.ts';
import { verbsOf } from './table.ts';

export const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text;

/** Returns the ways to give values, which no flag tells. */
export function inputHelp(flags: readonly Flag[]): string {
  const isInBody = flags.some((flag) => flag.in === 'body' && flag.type !== 'boolean');
  const hasTime = flags.some(({ type }) => type === 'time');
  const lines = [
    ...(isInBody
      ? ['Values: @FILE is the content of a file, - standard input; @@ begins a text with @.']
      : []),
    ...(hasTime ? ['Times: ISO 8601, 2h for two hours ago, +2h for in two hours.'] : []),
  ];
  return lines.length === 0 ? '' : `\n${lines.join('\n')}\n`;
}

/** Arguments of examples, by label. Objects without a name are given by a shortened id. */
const samples: Readonly<Record<string, string>> = {
  issue: 'ENG-12',
  team: 'ENG',
  plugin: 'auto-triage',
  member: 'ana@acme.example',
  q: 'crash',
};

const commandOf = (operation: Operation): string[] => [operation.id.split('.')[0]!, ...verbsOf(operation)];

/** Returns a command line with the example of the API: `tatami labels create --name regression --color '#b60205'`. */
export function exampleOf(operation: Operation, command = commandOf(operation)): string {
  const { args, flags, example = {}, destroys, answer } = operation;
  const words = [
    'tatami',
    ...command,
    ...args.map(sampleOf),
    ...(answer === 'upload' ? ['screenshot.png'] : []),
    ...flags.flatMap((flag) => flagWords(flag, example)),
    ...(destroys ? ['--yes'] : []),
  ];
  const input = flags.some(({ isSecret }) => isSecret) ? ' < secret.txt' : '';
  return words.map((word) => quoted(word)).join(' ') + input;
}

function sampleOf({ label }: Argument): string {
  return samples[label] ?? label.replaceAll(' ', '-').toUpperCase();
}

function flagWords(flag: Flag, example: Readonly<Record<string, unknown>>): string[] {
  const key = [flag.key, ...(flag.also ?? [])].find((one) => example[one] !== undefined);
  if (key === undefined || flag.isSecret) return [];
  const value = example[key];
  const name = `--${flag.name}`;
  if (typeof value === 'boolean') return [value ? name : `--no-${flag.name}`];
  if (flag.type === 'map')
    return Object.entries(value as object).flatMap(([part, one]) => [name, `${part}=${textOf(one)}`]);
  if (Array.isArray(value) && flag.type === 'list') return [name, value.join(',')];
  return [name, textOf(value)];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
