// Templates of rules. Their texts are YAML, so that `tatami rules template` prints them with comments. A
// placeholder such as `$label` is a whole value, declared below `needs`.
import { Type } from 'typebox';
import { Closed, namedSchema, nullable } from '../../platform/lib/schema.ts';
import { didYouMean } from '../../platform/lib/text/words.ts';
import { templateTexts } from './generated/templates.ts';
import type { RuleParts } from './shape.ts';

interface Need {
  readonly default?: string | number;
  readonly doc: string;
  /** True if the value is a list, which is given with commas. */
  readonly list?: boolean;
}
type Needs = Readonly<Record<string, Need>>;

interface TemplateFile extends Partial<RuleParts> {
  readonly name: string;
  readonly description: string;
  readonly needs?: Needs;
  readonly mode?: string;
}

export class TemplateError extends Error {}

const texts: Readonly<Record<string, string>> = templateTexts;

const parse = (text: string): TemplateFile => Bun.YAML.parse(text) as TemplateFile;

interface TemplateSummary {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly needs: Needs;
}

export function listTemplates(): readonly TemplateSummary[] {
  return Object.entries(texts).map(([id, text]) => {
    const { name, description, needs = {} } = parse(text);
    return { id, name, description, needs };
  });
}

/**
 * Returns the YAML of a template with its comments, without `needs`.
 * @param values replace the defaults of the placeholders
 * @throws TemplateError for an unknown template or placeholder, or a placeholder without a value
 */
export function filledTemplate(id: string, values: Readonly<Record<string, string>>): string {
  const text = texts[id];
  if (text === undefined || !Object.hasOwn(texts, id))
    throw new TemplateError(
      `There is no template ${id}. Use one of ${Object.keys(texts).join(', ')}.${didYouMean(id, Object.keys(texts))}`,
    );
  const { needs = {} } = parse(text);
  const unknown = Object.keys(values).find((name) => !Object.hasOwn(needs, name));
  if (unknown !== undefined)
    throw new TemplateError(
      `The template ${id} has no placeholder ${unknown}. ${Object.keys(needs).length === 0 ? 'It has none.' : `Use ${Object.keys(needs).join(', ')}.`}`,
    );
  const missing = Object.entries(needs).find(([name, need]) => (values[name] ?? need.default) === undefined);
  if (missing)
    throw new TemplateError(
      `The template ${id} needs a value for ${missing[0]}: ${missing[1].doc} Add --set ${missing[0]}=….`,
    );
  return withoutNeeds(text).replaceAll(/\$(\w+)/g, (placeholder, name: string) => {
    const need = Object.hasOwn(needs, name) ? needs[name] : undefined;
    return need ? scalarOf(need, (values[name] ?? need.default)!) : placeholder;
  });
}

/** Removes the block `needs`, whose lines are indented. */
const withoutNeeds = (text: string): string => text.replace(/^needs:\n(?: .*\n)+/m, '');

/** Returns a value as one line of YAML. */
function scalarOf(need: Need, value: string | number): string {
  const typed = typeof need.default === 'number' && /^\d+$/.test(String(value)) ? Number(value) : value;
  const whole = need.list
    ? String(typed)
        .split(',')
        .map((one) => one.trim())
    : typed;
  return Bun.YAML.stringify(whole);
}

/** Returns the rule of a template with its defaults; placeholders without a default remain. */
function defaultRule({
  needs = {},
  trigger,
  conditions = {},
  issues = null,
  actions = [],
  mode = 'apply',
}: TemplateFile) {
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.startsWith('$') ? (needs[value.slice(1)]?.default ?? value) : value;
    if (Array.isArray(value)) return value.map(fill);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fill(one)]));
  };
  return {
    trigger: fill(trigger),
    conditions: fill(conditions),
    issues: fill(issues),
    actions: fill(actions),
    mode,
  };
}

/** Returns the paths at which a placeholder stands, such as `conditions.issue.label`. */
function pathsOf(name: string, value: unknown, at = ''): string[] {
  if (value === `$${name}`) return [at];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, one]) => pathsOf(name, one, at === '' ? key : `${at}.${key}`));
}

/** Returns the templates for a form: rules with defaults, and the paths of the values that people adapt. */
export function templatesForForms() {
  return Object.entries(texts).map(([id, text]) => {
    const file = parse(text);
    const { name, description, needs = {}, trigger, conditions, issues, actions } = file;
    return {
      id,
      name,
      description,
      needs: Object.fromEntries(
        Object.entries(needs).map(([need, { default: value = null, doc, list = false }]) => [
          need,
          { doc, default: value, list, paths: pathsOf(need, { trigger, conditions, issues, actions }) },
        ]),
      ),
      rule: defaultRule(file),
    };
  });
}

const json = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
export const Templates = Closed({
  data: Type.Array(
    namedSchema(
      'AutomationTemplate',
      Closed({
        id: Type.String({ description: 'Id of the template.' }),
        name: Type.String({ description: 'Name of the template.' }),
        description: Type.String({ description: 'Effect of the rule.' }),
        needs: Type.Record(
          Type.String(),
          Closed({
            doc: Type.String({ description: 'Description of the value.' }),
            default: Type.Union([Type.String(), Type.Number(), Type.Null()], {
              description: 'Default; null if a value is required.',
            }),
            list: Type.Boolean({ description: 'True if the value is a list.' }),
            paths: Type.Array(Type.String(), { description: 'Paths of the value in the rule.' }),
          }),
          { description: 'Values to adapt to the workspace, by name.' },
        ),
        rule: Closed(
          {
            trigger: json('Trigger, as of an automation.'),
            conditions: json('Conditions, as of an automation.'),
            issues: nullable(json('Selection of issues; null to act on the issue of the trigger.')),
            actions: Type.Array(json('Action, as of an automation.'), { description: 'Actions in order.' }),
            mode: Type.String({ description: 'Mode of the writes.' }),
          },
          { description: 'Rule with the defaults; a required value is its placeholder, such as `$members`.' },
        ),
      }),
    ),
    { description: 'Templates by id.' },
  ),
});
