import { EVENT_TYPES } from '@tatami/sdk/webhooks';
import { useState, type ReactNode } from 'react';
import { FieldGroup, SelectField, TextArea, TextField } from '../../parts/fields.tsx';
import { fieldsOfEvents } from '../../parts/filter/event-fields.ts';
import { FilterBar } from '../../parts/filter/filter-bar.tsx';
import { chipFields } from '../../parts/filter/filter.ts';
import { MultiPicker } from '../../parts/picker.tsx';
import { text } from '../../text/developers.ts';
import { treeOf, type WebhookDraft } from './draft.ts';

/** All events, those of each resource, and each type. */
const patterns = ['*', ...new Set(EVENT_TYPES.map((type) => `${type.split('.')[0]}.*`)), ...EVENT_TYPES].map(
  (id) => ({ id, name: id }),
);

interface WebhookFieldsProps {
  readonly draft: WebhookDraft;
  readonly onChange: (draft: WebhookDraft) => void;
}

export function AddressFields({ draft, onChange }: WebhookFieldsProps): ReactNode {
  return (
    <>
      <TextField
        label={text.url}
        name="url"
        type="url"
        value={draft.url}
        onChange={({ target }) => onChange({ ...draft, url: target.value })}
        required
      />
      <TextField
        label={text.description}
        name="description"
        value={draft.description}
        maxLength={500}
        onChange={({ target }) => onChange({ ...draft, description: target.value })}
      />
    </>
  );
}

export function EventFields({ draft, onChange }: WebhookFieldsProps): ReactNode {
  return (
    <>
      <MultiPicker
        label={text.chooseEvents}
        choices={patterns}
        values={draft.events}
        onPick={(events) => onChange({ ...draft, events })}
      />
      <FilterField draft={draft} onChange={onChange} />
      <SelectField
        label={text.ordering}
        value={draft.ordering}
        options={Object.entries(text.orderings)}
        onPick={(ordering) => onChange({ ...draft, ordering: ordering === 'entity' ? 'entity' : 'none' })}
      />
    </>
  );
}

/** Chips for the fields that all chosen events have, and JSON for those that only some of them have. */
function FilterField({ draft, onChange }: WebhookFieldsProps): ReactNode {
  const { events, filter } = draft;
  const fields = fieldsOfEvents(events);
  const tree = treeOf(filter);
  const isWhole = fields.length === chipFields.length && tree !== null;
  const change = (json: string): void => onChange({ ...draft, filter: json });
  return (
    <FieldGroup label={text.eventFilter} name="filter">
      {fields.length > 0 && tree && (
        <FilterBar
          filter={tree}
          onChange={(next) => change(next ? JSON.stringify(next) : '')}
          fields={fields}
        />
      )}
      {!isWhole && <JsonFilter json={filter} onChange={change} isOpen={fields.length === 0} />}
    </FieldGroup>
  );
}

interface JsonFilterProps {
  readonly json: string;
  readonly onChange: (json: string) => void;
  /** True to show a present filter from the start. */
  readonly isOpen: boolean;
}

function JsonFilter({ json, onChange, isOpen }: JsonFilterProps): ReactNode {
  const [wasOpen] = useState(isOpen && json !== '');
  return (
    <details open={wasOpen}>
      <summary>{text.jsonFilter}</summary>
      <TextArea
        label={text.jsonFilterLabel}
        value={json}
        placeholder={'{"role": "admin"}'}
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
      />
    </details>
  );
}
