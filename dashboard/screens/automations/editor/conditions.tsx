// If: conditions of a rule, and the issues that it acts on.
import type { ReactNode } from 'react';
import { useMembers } from '../../../data/directory.ts';
import { Button } from '../../../parts/button.tsx';
import { FieldGroup, SelectField, TextField } from '../../../parts/fields.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { Menu, MenuItem } from '../../../parts/overlay/menu.tsx';
import { text } from '../../../text/automation-editor.ts';
import { text as words } from '../../../text/automation-rule.ts';
import { partOf, textOf, textsOf, withMember, type Draft, type Part } from '../rule/rule.ts';
import { hasIssue } from '../rule/events.ts';
import { FilterField, ListField, ownZone, ZoneField } from './inputs.tsx';

interface PartProps {
  readonly part: Part;
  /** Name of the field in the request, which errors name. */
  readonly at: string;
  readonly onChange: (part: Part) => void;
}

const newMatch: Part = { match: 'all', filter: {} };

type Kind = keyof typeof text.conditions;

/** Conditions as they are when a person adds them, and their fields. */
const kinds: Readonly<Record<Kind, readonly [initial: Part, fields: (props: PartProps) => ReactNode]>> = {
  parent: [{ exists: true }, ParentFields],
  subIssues: [newMatch, SubIssueFields],
  relations: [{ match: 'any', filter: {} }, RelationFields],
  actor: [{ kinds: ['user'] }, ActorFields],
  time: [
    { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:00', until: '17:00', timeZone: ownZone },
    TimeFields,
  ],
};
const names = Object.keys(kinds) as readonly Kind[];

/** Moves the focus from a button that disappears to the menu that adds conditions. */
const focusMenu = (button: HTMLElement): void =>
  button
    .closest('[name=conditions]')
    ?.querySelector<HTMLElement>(':scope > div > [aria-haspopup=menu]')
    ?.focus();

interface ConditionsProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

export function ConditionFields({ draft, onChange }: ConditionsProps): ReactNode {
  const { conditions } = draft;
  const change = (name: string, value: unknown): void =>
    onChange({ ...draft, conditions: withMember(conditions, name, value) });
  return (
    <>
      <FilterField
        label={text.issueMatches}
        name="conditions.issue"
        filter={partOf(conditions, 'issue')}
        onChange={(filter) => change('issue', filter)}
      />
      {names.map((name) => {
        const part = partOf(conditions, name);
        const [, Fields] = kinds[name];
        return (
          part && (
            <div key={name} className="card">
              <FieldGroup label={text.conditions[name]} name={`conditions.${name}`}>
                <Fields part={part} at={`conditions.${name}`} onChange={(next) => change(name, next)} />
                <div>
                  <Button
                    look="plain"
                    onClick={({ currentTarget }) => {
                      focusMenu(currentTarget);
                      change(name, undefined);
                    }}
                  >
                    <Icon name="close" /> {text.removeCondition(text.conditions[name])}
                  </Button>
                </div>
              </FieldGroup>
            </div>
          )
        );
      })}
      <div>
        <Menu button={`+ ${text.addCondition}`}>
          {names
            .filter((name) => !(name in conditions))
            .map((name) => (
              <MenuItem key={name} onSelect={() => change(name, kinds[name][0])}>
                {text.conditions[name]}
              </MenuItem>
            ))}
        </Menu>
      </div>
      <SelectionFields draft={draft} onChange={onChange} />
    </>
  );
}

function ParentFields({ part, at, onChange }: PartProps): ReactNode {
  const subIssues = partOf(part, 'subIssues');
  const isMatched = 'filter' in part || subIssues !== undefined;
  const exists = part.exists === false ? 'none' : 'any';
  const pick = (value: string): void =>
    onChange(value === 'matches' ? { filter: {} } : { exists: value === 'any' });
  return (
    <>
      <SelectField
        label={text.parent}
        name={`${at}.exists`}
        value={isMatched ? 'matches' : exists}
        options={Object.entries(text.parents)}
        onPick={pick}
      />
      {isMatched && (
        <>
          <FilterField
            label={text.parentMatches}
            name={`${at}.filter`}
            filter={partOf(part, 'filter')}
            onChange={(filter = {}) => onChange({ ...part, filter })}
          />
          <label className="row">
            <input
              type="checkbox"
              checked={subIssues !== undefined}
              onChange={({ target }) =>
                onChange(withMember(part, 'subIssues', target.checked ? newMatch : undefined))
              }
            />
            {text.siblings}
          </label>
          {subIssues && (
            <MatchFields
              part={subIssues}
              at={`${at}.subIssues`}
              onChange={(next) => onChange({ ...part, subIssues: next })}
            />
          )}
        </>
      )}
    </>
  );
}

function MatchFields({ part, at, onChange }: PartProps): ReactNode {
  return (
    <>
      <SelectField
        label={text.match}
        name={`${at}.match`}
        value={textOf(part, 'match')}
        options={Object.entries(text.matchSubIssues)}
        onPick={(match) => onChange({ ...part, match })}
      />
      <FilterField
        label={text.theirFilter}
        name={`${at}.filter`}
        filter={partOf(part, 'filter')}
        onChange={(filter = {}) => onChange({ ...part, filter })}
      />
    </>
  );
}

function SubIssueFields(props: PartProps): ReactNode {
  return <MatchFields {...props} />;
}

function RelationFields(props: PartProps): ReactNode {
  const { part, at, onChange } = props;
  return (
    <>
      <SelectField
        label={text.relation}
        name={`${at}.type`}
        value={textOf(part, 'type')}
        options={[['', text.anyRelation], ...Object.entries(words.relations)]}
        onPick={(type) => onChange(withMember(part, 'type', type === '' ? undefined : type))}
      />
      <MatchFields {...props} />
    </>
  );
}

const orNone = (list: readonly string[]): readonly string[] | undefined =>
  list.length > 0 ? list : undefined;

function ActorFields({ part, at, onChange }: PartProps): ReactNode {
  const members = useMembers();
  return (
    <>
      <SelectField
        label={text.actor}
        name={`${at}.not`}
        value={part.not === true ? 'not' : 'is'}
        options={Object.entries(text.actors)}
        onPick={(picked) => onChange(withMember(part, 'not', picked === 'not' ? true : undefined))}
      />
      <ListField
        label={text.actorKinds}
        name={`${at}.kinds`}
        choices={Object.entries(text.kinds).map(([id, name]) => ({ id, name }))}
        values={textsOf(part, 'kinds')}
        onPick={(list) => onChange(withMember(part, 'kinds', orNone(list)))}
      />
      <ListField
        label={text.actorMembers}
        name={`${at}.ids`}
        choices={members.map(({ id, name }) => ({ id, name }))}
        values={textsOf(part, 'ids')}
        onPick={(list) => onChange(withMember(part, 'ids', orNone(list)))}
      />
    </>
  );
}

function TimeFields({ part, at, onChange }: PartProps): ReactNode {
  const change = (name: string, value: string): void =>
    onChange(withMember(part, name, value === '' ? undefined : value));
  return (
    <>
      <ListField
        label={text.daysOfWeek}
        name={`${at}.days`}
        empty={text.anyDay}
        choices={Object.entries(text.weekdays).map(([id, name]) => ({ id, name }))}
        values={textsOf(part, 'days')}
        onPick={(list) => onChange(withMember(part, 'days', orNone(list)))}
      />
      {(['from', 'until'] as const).map((side) => (
        <TextField
          key={side}
          label={text[`${side}Time`]}
          name={`${at}.${side}`}
          type="time"
          value={textOf(part, side)}
          onChange={({ target }) => change(side, target.value)}
        />
      ))}
      <ZoneField
        name={`${at}.timeZone`}
        value={textOf(part, 'timeZone')}
        onChange={(zone) => change('timeZone', zone)}
      />
    </>
  );
}

const limitMax = 50;

/** A trigger without an issue needs a selection, and others can have one. */
function SelectionFields({ draft, onChange }: ConditionsProps): ReactNode {
  const { issues, trigger } = draft;
  const isOfIssue =
    trigger.type === 'unchanged' ||
    trigger.type === 'manual' ||
    (trigger.type === 'event' && hasIssue(textOf(trigger, 'event')));
  return (
    <>
      <SelectField
        label={text.actsOn}
        name="issues"
        value={issues ? 'selected' : 'event'}
        options={[
          ['event', isOfIssue ? text.actsOnEvent : text.actsOnNone],
          ['selected', text.actsOnSelected],
        ]}
        onPick={(picked) => onChange({ ...draft, issues: picked === 'event' ? null : { filter: {} } })}
      />
      {issues && (
        <>
          <FilterField
            label={text.selection}
            name="issues.filter"
            filter={partOf(issues, 'filter')}
            onChange={(filter = {}) => onChange({ ...draft, issues: { ...issues, filter } })}
          />
          <TextField
            label={text.limit}
            name="issues.limit"
            type="number"
            min={1}
            max={limitMax}
            value={typeof issues.limit === 'number' ? issues.limit : limitMax}
            onChange={({ target }) =>
              onChange({ ...draft, issues: { ...issues, limit: Number(target.value) } })
            }
          />
        </>
      )}
    </>
  );
}
