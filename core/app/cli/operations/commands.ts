// Adds a command for every operation of the API. Only the noun that the arguments name gets its commands, because a start needs
// no others; the help of the program lists the nouns.
import { Option, type Command } from 'commander';
import { remote } from '../arguments/options.ts';
import { exampleOf, inputHelp, lowerFirst } from './table/help.ts';
import type { Flag, Operation } from './table/operation.ts';
import { borrowed, handwritten, nounAliases, pages, presets, verbAliases } from './table/shortcuts.ts';
import { listNouns, operationOf, operationsOf, verbsOf } from './table/table.ts';
import { waits } from './waits.ts';

/**
 * @param words arguments of the program
 * @param folder in which relative paths begin
 */
export function addOperations(program: Command, words: readonly string[], folder: string): void {
  for (const { name, singular, doc, group } of listNouns()) {
    const known = program.commands.find((command) => command.name() === name);
    const noun = known ?? program.command(name).description(lowerFirst(firstSentence(doc)));
    noun.helpGroup(`${group}:`);
    const aliases = [nounAliases[name], singular].filter((alias) => alias !== undefined && alias !== name);
    for (const alias of aliases) if (!isTaken(program, alias!)) noun.alias(alias!);
    // Commander shows the groups of the help in the order of their first commands.
    moveToEnd(program.commands as Command[], noun);
    if (words.some((word) => word === name || noun.aliases().includes(word))) addVerbs(noun, name, folder);
  }
}

function moveToEnd<T>(list: T[], item: T): void {
  list.splice(list.indexOf(item), 1);
  list.push(item);
}

const isTaken = (program: Command, name: string): boolean =>
  program.commands.some((command) => command.name() === name || command.aliases().includes(name));

const firstSentence = (text: string): string => text.replace(/\.( .*)?$/s, '');

function addVerbs(noun: Command, name: string, folder: string): void {
  const operations = operationsOf(name);
  for (const operation of operations) {
    if (handwritten[operation.id] === undefined)
      addVerb(groupFor(noun, operation, operations), operation, { isOnly: operations.length === 1, folder });
    for (const { verb, summary, body } of presets.filter(({ operation: id }) => id === operation.id))
      addCommand(noun.command(verb), { ...operation, summary, flags: [] }, folder, body);
  }
  const { args = [] } = operations.find(({ id }) => id === `${name}.get`) ?? {};
  for (const { operation, verb, summary } of borrowed[name] ?? [])
    addCommand(noun.command(verb), { ...operationOf(operation), summary, args }, folder);
}

/** Returns the command under which a verb stands: `triage` for `issues triage accept`. */
function groupFor(noun: Command, operation: Operation, operations: readonly Operation[]): Command {
  const groups = verbsOf(operation).slice(0, -1);
  return groups.reduce((parent, name) => {
    const known = parent.commands.find((command) => command.name() === name);
    return known ?? parent.command(name).description(verbsIn(groups, operations).join(', '));
  }, noun);
}

/** Returns the verbs of a group. @param groups names of the group and its parents */
function verbsIn(groups: readonly string[], operations: readonly Operation[]): string[] {
  const all = operations.map(verbsOf);
  return all.filter((verbs) => groups.every((name, at) => verbs[at] === name)).map((verbs) => verbs.at(-1)!);
}

interface Place {
  /** True for the only operation of the noun. */
  readonly isOnly: boolean;
  readonly folder: string;
}

function addVerb(parent: Command, operation: Operation, { isOnly, folder }: Place): void {
  const command = parent.command(verbsOf(operation).at(-1)!, { isDefault: isOnly || isSingleton(operation) });
  const alias = verbAliases[operation.id];
  if (alias !== undefined) command.alias(alias);
  addCommand(command, operation, folder);
}

/** Returns true for the read of an object that is not named: its verb may be omitted, as in `tatami workspace`. */
function isSingleton({ id, args, answer }: Operation): boolean {
  return /^[^.]+\.get$/.test(id) && args.length === 0 && answer === 'object';
}

function addCommand(
  command: Command,
  operation: Operation,
  folder: string,
  body?: Readonly<Record<string, unknown>>,
): void {
  const { args, flags, summary, description = '', needsKey } = operation;
  command.summary(lowerFirst(summary));
  const texts = [
    `${summary}.`,
    plain(description),
    needsKey ? 'Needs an API key: no login has the scope.' : '',
  ];
  command.description(texts.filter((text) => text !== '').join('\n\n'));
  const names = [
    ...args.map(({ key, label, doc }) => ({ key, name: argumentName(key, label, operation), doc })),
    ...fileArgument(operation),
  ];
  for (const { name, doc } of names) command.argument(`<${name}>`, plain(doc));
  for (const flag of flags) addFlag(command, flag);
  addCommonOptions(command, operation);
  command.addHelpText(
    'after',
    () => `${inputHelp(flags)}\nExample:\n  ${exampleOf(operation, wordsOf(command))}`,
  );
  command.action(async (...given: unknown[]) => {
    const values = Object.fromEntries(names.map(({ key }, index) => [key, [given[index]].flat().join(' ')]));
    const { perform } = await import('./perform.ts');
    await perform({ operation, args: values, options: command.opts(), folder, ...(body ? { body } : {}) });
  });
}

const wordsOf = (command: Command): string[] =>
  command.parent ? [...wordsOf(command.parent), command.name()] : [];

/** Words of a search need no quotes: an argument that is not part of the path takes all that follow. */
function argumentName(key: string, label: string, { path }: Operation): string {
  const name = label.toLowerCase().replaceAll(' ', '-');
  return path.includes(`{${key}}`) ? name : `${name}...`;
}

const fileArgument = ({ answer }: Operation): { key: string; name: string; doc: string }[] =>
  answer === 'upload' ? [{ key: 'file', name: 'file', doc: 'Path of the file.' }] : [];

/** Returns a text of the documentation for a terminal. */
const plain = (text: string): string => text.replaceAll('`', '');

function addFlag(
  command: Command,
  { name, type, doc, values, isRequired, isNullable, isSecret }: Flag,
): void {
  // Secrets have no flag: arguments appear in the history of the shell.
  if (isSecret) return;
  const text = [
    `${plain(doc).replace(/\.$/, '')}${isRequired ? ' (required)' : ''}`,
    ...(isNullable ? ['null clears it'] : []),
    ...(type === 'boolean' ? [`--no-${name} for false`] : []),
  ].join('; ');
  const option = new Option(
    `--${name}${type === 'boolean' ? '' : ` <${placeholderOf(type, values)}>`}`,
    text,
  );
  if (type === 'list' || type === 'map')
    option.argParser((one: string, all: string[] | undefined) => [...(all ?? []), one]);
  // Shown in the help and completed by shells. The values of lists are not checked, because the server does it.
  if (values && ['text', 'list'].includes(type)) option.argChoices = [...values];
  command.addOption(option);
  if (type === 'boolean') command.addOption(new Option(`--no-${name}`).hideHelp());
}

const shortValuesMax = 6;

function placeholderOf(type: Flag['type'], values: readonly string[] | undefined): string {
  if (type === 'text' && values && values.length <= shortValuesMax) return values.join('|');
  const words = {
    text: 'text',
    number: 'number',
    integer: 'n',
    boolean: '',
    list: 'list',
    time: 'time',
    map: 'name=value',
    json: 'json',
  };
  return words[type];
}

function addCommonOptions(command: Command, operation: Operation): void {
  const { answer, flags, simulates, takesVersion, destroys } = operation;
  if (flags.some(({ isLong }) => isLong))
    command.option('-e, --editor', 'write the long text in VISUAL or EDITOR');
  if (answer === 'page') {
    command.option('--limit <n>', 'items to show; default: 50');
    command.option('--all', 'show all items');
  }
  if (answer === 'file') {
    command.option('--out <file>', 'file to write; default: standard output');
    command.option('--force', 'replace the file if it exists');
  }
  if (simulates) command.option('--dry-run', 'show the result without writing');
  if (simulates || answer === 'upload')
    command.option(
      '--idempotency-key <key>',
      'key of an earlier attempt, so that the write takes effect once',
    );
  if (takesVersion) command.option('--if-version <n>', 'write only if the object still has this version');
  if (destroys) command.option('-y, --yes', 'do not ask for confirmation');
  addOutputOptions(command, operation);
}

function addOutputOptions(command: Command, { id, fields = [] }: Operation): void {
  if (waits[id]) command.option('--no-wait', 'do not wait for the end');
  if (pages[id] !== undefined)
    command.option('--web', 'open the page in a browser; without one, print its URL');
  if (fields.length > 0) command.option('--fields <list>', 'fields to show, such as id,name or state.name');
  remote(command);
}
