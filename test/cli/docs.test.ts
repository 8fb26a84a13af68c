// docs/cli.md lists every command of the program, below a handwritten introduction; `UPDATE_DOCS=1 bun test test/cli/docs`
// writes the list.
import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { runBy } from '../../core/app/cli/completion.ts';
import { listNouns } from '../../core/app/cli/operations/table/table.ts';
import { createProgram } from '../../core/app/cli/tatami.ts';
import { capital } from '../../core/platform/lib/text/words.ts';

const file = join(import.meta.dir, '../../docs/cli.md');
const marker = '<!-- Generated below this line by test/cli/docs.test.ts. -->';

const { program } = createProgram(
  listNouns().map(({ name }) => name),
  '/',
);

const subcommandsOf = (command: Command): Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help');
/** A command with subcommands may also run by itself, as `doctor` does. */
const runsItself = (command: Command): boolean =>
  command.commands.length === 0 || command.options.length > 0 || command.registeredArguments.length > 0;
const withSubcommands = (command: Command): Command[] => [
  command,
  ...subcommandsOf(command).flatMap(withSubcommands),
];
const commands = subcommandsOf(program).flatMap(withSubcommands).filter(runsItself);

const optionsOf = (command: Command): Option[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help');

/** Flags that are listed once, unless a command gives them another meaning. */
const sharedFlags = [
  ...['--server', '--token', '--json', '--fields', '--data-dir'],
  ...['--limit', '--all', '--after', '--deleted', '--as-of', '--out', '--force'],
  ...['--editor', '--dry-run', '--idempotency-key', '--if-version', '--yes', '--no-wait'],
];

const textOf = ({ flags, description }: Option): string => `${flags}\0${description}`;
const shared: readonly Option[] = sharedFlags.map((flag) => {
  const all = commands.flatMap(optionsOf).filter(({ long }) => long === flag);
  const [most] = [...Map.groupBy(all, textOf).values()].toSorted((a, b) => b.length - a.length);
  return most![0]!;
});
const isShared = (option: Option): boolean => shared.some((one) => textOf(one) === textOf(option));

const code = (text: string): string => `\`${text}\``;
const escaped = (text: string): string =>
  text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll(/[<*|]/g, String.raw`\$&`) : part))
    .join('`');
/** A name such as `endCursor` keeps its spelling. */
const sentence = (text: string): string =>
  `${/^[a-z]+\b/.test(text) ? capital(escaped(text)) : escaped(text)}`.replace(/\.?$/, '.');
const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
const aliasesOf = (command: Command): string =>
  command.aliases().length === 0 ? '' : ` Also ${command.aliases().map(code).join(', ')}.`;
const omissionOf = (command: Command): string =>
  command.parent && runBy(command.parent) === command ? ' The verb can be omitted.' : '';

function linesOf(command: Command): string[] {
  const help = command.createHelp();
  const args = command.registeredArguments;
  const words = args.map((argument) => help.argumentTerm(argument));
  const usage = [nameOf(command), ...args.map((argument, index) => wordOf(argument.required, words[index]!))];
  return [
    `**${code(usage.join(' '))}**: ${sentence(command.summary() || command.description())}${aliasesOf(command)}${omissionOf(command)}`,
    '',
    ...args
      .filter(({ description }) => description !== '')
      .map(
        (argument) =>
          `- ${code(argument.name().toUpperCase())}: ${sentence(help.argumentDescription(argument))}`,
      ),
    ...optionsOf(command)
      .filter((option) => !isShared(option))
      .map((option) => `- ${code(help.optionTerm(option))}: ${sentence(help.optionDescription(option))}`),
    '',
  ];
}

const wordOf = (isRequired: boolean, name: string): string =>
  isRequired ? name.toUpperCase() : `[${name.toUpperCase()}]`;

function nounLines(command: Command): string[] {
  const own = withSubcommands(command).filter(runsItself);
  const about = runsItself(command) ? [] : [`${sentence(command.description())}${aliasesOf(command)}`, ''];
  return [`### ${command.name()}`, '', ...about, ...own.flatMap(linesOf)];
}

function reference(): string {
  const groups = Map.groupBy(subcommandsOf(program), (command) => command.helpGroup() || 'Commands:');
  return [
    '## Common flags',
    '',
    '| Flag | Effect |',
    '|---|---|',
    ...shared.map(
      ({ flags, description }) =>
        `| ${code(flags).replaceAll('|', String.raw`\|`)} | ${sentence(description)} |`,
    ),
    '',
    ...[...groups].flatMap(([group, nouns]) => [
      `## ${group.replace(/:$/, '')}`,
      '',
      ...nouns.flatMap(nounLines),
    ]),
  ]
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n');
}

test('docs/cli.md lists every command with its arguments and flags', () => {
  const [introduction] = readFileSync(file, 'utf8').split(marker);
  const text = `${introduction}${marker}\n\n${reference().trimEnd()}\n`;
  if (process.env.UPDATE_DOCS) writeFileSync(file, text);
  expect(readFileSync(file, 'utf8')).toBe(text);
});
