// Forms of the single actions, by type.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useCycles, useLabels, useMembers, useTeams } from '../../../data/directory.ts';
import { useClient } from '../../../data/provider.tsx';
import { Button } from '../../../parts/button.tsx';
import { SelectField, TextField } from '../../../parts/fields.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { text } from '../../../text/automation-editor.ts';
import { text as words } from '../../../text/automation-rule.ts';
import { isTree } from '../../../parts/filter/filter.ts';
import { textOf, textsOf, withMember, type Part } from '../rule/rule.ts';
import { JsonField, ListField, TemplateField, type AliasedChoice } from './inputs.tsx';
import { fieldsOf, SetFields } from './set-fields.tsx';

interface ActionProps {
  readonly action: Part;
  /** Name of the action in the request, such as `actions.0`. */
  readonly at: string;
  readonly onChange: (action: Part) => void;
}

const named = ({ id, name }: { readonly id: string; readonly name: string }): AliasedChoice => ({
  id,
  name,
  alias: name,
});

function SetForm({ action, at, onChange }: ActionProps): ReactNode {
  return (
    <SetFields
      fields={fieldsOf(action)}
      at={`${at}.fields`}
      onChange={(fields) => onChange({ ...action, fields })}
    />
  );
}

function LabelForm({ action, at, onChange }: ActionProps): ReactNode {
  return (
    <ListField
      label={text.labels}
      name={`${at}.values`}
      choices={useLabels().map(named)}
      values={textsOf(action, 'values')}
      onPick={(values) => onChange({ ...action, values })}
    />
  );
}

function CommentForm({ action, at, onChange }: ActionProps): ReactNode {
  return (
    <>
      <TemplateField
        label={text.comment}
        name={`${at}.body`}
        value={textOf(action, 'body')}
        isLong
        onChange={(body) => onChange({ ...action, body })}
      />
      <label className="row">
        <input
          type="checkbox"
          name={`${at}.once`}
          checked={action.once === true}
          onChange={({ target }) => onChange(withMember(action, 'once', target.checked || undefined))}
        />
        {text.once}
      </label>
    </>
  );
}

function MembersField({ action, at, onChange }: ActionProps): ReactNode {
  return (
    <ListField
      label={text.members}
      name={`${at}.members`}
      choices={useMembers().map(named)}
      values={textsOf(action, 'members')}
      onPick={(members) => onChange({ ...action, members })}
    />
  );
}

function AssignForm(props: ActionProps): ReactNode {
  const { action, at, onChange } = props;
  return (
    <>
      <SelectField
        label={text.how}
        name={`${at}.how`}
        value={textOf(action, 'how')}
        options={Object.entries(text.hows)}
        onPick={(how) => onChange({ ...action, how })}
      />
      <MembersField {...props} />
    </>
  );
}

interface ChoiceProps extends ActionProps {
  readonly label: string;
  readonly member: string;
  readonly choices: readonly AliasedChoice[];
  /** Name of the choice for null; absent if a value is required. */
  readonly none?: string;
}

/** Value of the choice for null, which no id has. */
const noneId = 'none';

/** One value of a list. A value that the list lacks, such as a name, is offered too. */
function ChoiceSelect({ action, at, onChange, label, member, choices, none }: ChoiceProps): ReactNode {
  const value = action[member] === null ? noneId : textOf(action, member);
  const known = choices.find(({ id, alias }) => id === value || alias === value);
  const options = choices.map(({ id, name }) => [id, name] as const);
  const isUnset = none === undefined || value === '';
  return (
    <SelectField
      label={label}
      name={`${at}.${member}`}
      value={known?.id ?? value}
      options={[
        ...(isUnset ? [['', text.choose] as const] : []),
        ...(none === undefined ? [] : [[noneId, none] as const]),
        ...options,
        ...(known || value === '' || value === noneId ? [] : [[value, value] as const]),
      ]}
      onPick={(picked) => onChange({ ...action, [member]: picked === noneId ? null : picked })}
      required
    />
  );
}

function MoveForm(props: ActionProps): ReactNode {
  const teams = useTeams().map(({ key, name }) => ({ id: key, name }));
  return (
    <>
      <ChoiceSelect {...props} label={text.team} member="team" choices={teams} />
      <PlainField {...props} label={text.teamState} member="state" isOptional />
    </>
  );
}

interface PlainProps extends ActionProps {
  readonly label: string;
  readonly member: string;
  readonly isOptional?: boolean;
}

function PlainField({ action, at, onChange, label, member, isOptional = false }: PlainProps): ReactNode {
  return (
    <TextField
      label={label}
      name={`${at}.${member}`}
      value={textOf(action, member)}
      onChange={({ target: { value } }) =>
        onChange(withMember(action, member, isOptional && value === '' ? undefined : value))
      }
      required={!isOptional}
    />
  );
}

const issuesOf = ({ issues }: Part): readonly Part[] => (Array.isArray(issues) ? issues.filter(isTree) : []);

function CreateForm({ action, at, onChange }: ActionProps): ReactNode {
  const issues = issuesOf(action);
  const change = (next: readonly Part[]): void => onChange({ ...action, issues: next });
  return (
    <>
      <SelectField
        label={text.createAs}
        name={`${at}.as`}
        value={textOf(action, 'as') || 'sub_issue'}
        options={Object.entries(text.createsAs)}
        onPick={(as) => onChange({ ...action, as })}
      />
      {issues.map((issue, index) => (
        <div key={index} className="row">
          <div className="grow">
            <TemplateField
              label={text.issueTitle(index + 1)}
              name={`${at}.issues.${index}`}
              value={textOf(issue, 'title')}
              onChange={(title) => change(issues.with(index, { ...issue, title }))}
            />
          </div>
          {issues.length > 1 && (
            <Button
              look="plain"
              isIcon
              aria-label={text.removeIssue(index + 1)}
              onClick={() => change(issues.toSpliced(index, 1))}
            >
              <Icon name="close" />
            </Button>
          )}
        </div>
      ))}
      <div>
        <Button onClick={() => change([...issues, { title: '' }])}>{text.addIssue}</Button>
      </div>
    </>
  );
}

function RelateForm(props: ActionProps): ReactNode {
  const { action, at, onChange } = props;
  return (
    <>
      <SelectField
        label={text.relation}
        name={`${at}.relation`}
        value={textOf(action, 'relation')}
        options={Object.entries(words.relations)}
        onPick={(relation) => onChange({ ...action, relation })}
      />
      <TemplateField
        label={text.issue}
        name={`${at}.issue`}
        value={textOf(action, 'issue')}
        onChange={(issue) => onChange({ ...action, issue })}
      />
    </>
  );
}

function BoardForm(props: ActionProps): ReactNode {
  const client = useClient();
  const { data: boards = [] } = useQuery({
    queryKey: ['boards', 'all'],
    queryFn: () => Array.fromAsync(client.boards.list({ limit: 100 })),
  });
  return (
    <>
      <ChoiceSelect {...props} label={text.board} member="board" choices={boards.map(named)} />
      <PlainField {...props} label={text.column} member="column" />
    </>
  );
}

function CycleForm(props: ActionProps): ReactNode {
  const ways = Object.entries(words.cycles).map(([id, name]) => ({ id, name }));
  const cycles = useCycles().map(({ id, name, team }) => ({ id, name: `${team}: ${name}` }));
  return (
    <ChoiceSelect
      {...props}
      label={text.cycle}
      member="cycle"
      choices={[...ways, ...cycles]}
      none={text.noCycle}
    />
  );
}

function ReleaseForm(props: ActionProps): ReactNode {
  const client = useClient();
  const { data: releases = [] } = useQuery({
    queryKey: ['releases', 'all'],
    queryFn: () => Array.fromAsync(client.releases.list({ limit: 100 })),
  });
  return (
    <ChoiceSelect
      {...props}
      label={text.release}
      member="release"
      choices={releases.map(named)}
      none={text.noRelease}
    />
  );
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

function HttpForm(props: ActionProps): ReactNode {
  const { action, at, onChange } = props;
  const client = useClient();
  const { data: hosts = [] } = useQuery({
    queryKey: ['automation-hosts', 'all'],
    queryFn: () => Array.fromAsync(client.automationHosts.list({ limit: 100 })),
  });
  const choices = hosts.map(({ name }) => ({ id: name, name }));
  return (
    <>
      <ChoiceSelect {...props} label={text.host} member="host" choices={choices} />
      <SelectField
        label={text.method}
        name={`${at}.method`}
        value={textOf(action, 'method') || 'POST'}
        options={methods.map((method) => [method, method] as const)}
        onPick={(method) => onChange({ ...action, method })}
      />
      <PlainField {...props} label={text.path} member="path" />
      <JsonField
        label={text.body}
        name={`${at}.body`}
        value={action.body}
        onChange={(body) => onChange(withMember(action, 'body', body))}
      />
    </>
  );
}

function PluginForm(props: ActionProps): ReactNode {
  const { action, at, onChange } = props;
  return (
    <>
      <PlainField {...props} label={text.plugin} member="plugin" />
      <PlainField {...props} label={text.pluginAction} member="action" />
      <JsonField
        label={text.input}
        name={`${at}.input`}
        value={action.input}
        onChange={(input) => onChange(withMember(action, 'input', input))}
      />
    </>
  );
}

export type ActionType = keyof typeof words.actions;

/** Actions as they are when a person adds them, and their forms. */
export const actionForms: Readonly<
  Record<ActionType, readonly [initial: Part, form: (props: ActionProps) => ReactNode]>
> = {
  set: [{ type: 'set', fields: { priority: 'high' } }, SetForm],
  add: [{ type: 'add', field: 'labels', values: [] }, LabelForm],
  remove: [{ type: 'remove', field: 'labels', values: [] }, LabelForm],
  comment: [{ type: 'comment', body: '' }, CommentForm],
  assign: [{ type: 'assign', how: 'fixed', members: [] }, AssignForm],
  subscribe: [{ type: 'subscribe', members: [] }, MembersField],
  move: [{ type: 'move', team: '' }, MoveForm],
  create: [{ type: 'create', issues: [{ title: '' }] }, CreateForm],
  relate: [{ type: 'relate', relation: 'relates_to', issue: '' }, RelateForm],
  board: [{ type: 'board', board: '', column: '' }, BoardForm],
  cycle: [{ type: 'cycle', cycle: 'current' }, CycleForm],
  release: [{ type: 'release', release: '' }, ReleaseForm],
  http: [{ type: 'http', host: '', method: 'POST', path: '/' }, HttpForm],
  plugin: [{ type: 'plugin', plugin: '', action: '' }, PluginForm],
};
