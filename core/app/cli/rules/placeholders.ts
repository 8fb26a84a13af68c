// Values of the placeholders of a template, checked before the server sees the rule.
import { listTemplates } from '../../../features/automations/offline.ts';
import { checkCron } from '../../../platform/lib/time/cron.ts';
import { checkZone, relativeDay } from '../../../platform/lib/time/time.ts';
import { didYouMean, listed } from '../../../platform/lib/text/words.ts';
import { usage } from '../lib/flags.ts';
import { operationOf } from '../operations/table/table.ts';

type Need = ReturnType<typeof listTemplates>[number]['needs'][string];

/**
 * Reads `--set name=value`. A list is given with commas, as JSON, or by repetition.
 * @throws CommandError
 */
export function placeholdersOf(template: string, set: readonly string[]): Record<string, string> {
  const { needs = {} } = listTemplates().find(({ id }) => id === template) ?? {};
  const given = Map.groupBy(set.map(pairOf), ([name]) => name);
  return Object.fromEntries(
    [...given].map(([name, pairs]) => {
      const need = Object.hasOwn(needs, name) ? needs[name] : undefined;
      const texts = pairs.map(([, text]) => text);
      return [name, need?.list ? listOf(name, texts) : valueOf(name, texts, need)];
    }),
  );
}

function pairOf(text: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw usage(`--set takes name=value, not "${text}".`);
  return [name, value];
}

/** Returns the items with commas, as a template takes them. */
function listOf(name: string, texts: readonly string[]): string {
  const items = texts.flatMap((text) => (text.trim().startsWith('[') ? jsonItems(name, text) : [text]));
  return items.join(',');
}

function jsonItems(name: string, text: string): string[] {
  const value = parsed(text);
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
    throw usage(`--set ${name} takes a JSON list of texts, such as '["Ana","Ben"]', or Ana,Ben.`);
  const withComma = value.find((one) => one.includes(','));
  if (withComma !== undefined)
    throw usage(`--set ${name}: "${withComma}" has a comma, which separates items. Give its id.`);
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const daysMax = 365;

/** Returns the problem of a value as a sentence; null if there is none. By placeholder, in all templates. */
const checks: Readonly<Record<string, (value: string) => string | null>> = {
  cron: (value) => checkCron(value, undefined),
  timeZone: checkZone,
  before: (value) =>
    relativeDay(value) ? null : 'Give an ISO 8601 duration of days, weeks or months, such as P1D or P1W.',
  priority(value) {
    const { values = [] } = operationOf('issues.create').flags.find(({ name }) => name === 'priority') ?? {};
    return values.includes(value) ? null : `Use ${listed(values, 'or')}.${didYouMean(value, values)}`;
  },
};

function valueOf(name: string, texts: readonly string[], need: Need | undefined): string {
  const [value = '', ...others] = texts;
  if (others.length > 0) throw usage(`--set ${name} takes one value. Give it once.`);
  if (need === undefined) return value;
  if (typeof need.default === 'number' && !(/^[1-9]\d*$/.test(value) && Number(value) <= daysMax))
    throw usage(`--set ${name} must be a whole number from 1 to ${daysMax}, not "${value}".`);
  const problem = Object.hasOwn(checks, name) ? checks[name]!(value) : null;
  if (problem !== null) throw usage(`--set ${name} cannot be "${value}". ${problem}`);
  return value;
}
