import { EVENT_TYPES } from '@tatami/sdk/webhooks';
import type { ReactNode } from 'react';
import { SelectField, TextArea, TextField } from '../../parts/fields.tsx';
import { MultiPicker } from '../../parts/picker.tsx';
import { text } from '../../text/developers.ts';
import type { WebhookDraft } from './draft.ts';

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
        type="url"
        value={draft.url}
        onChange={({ target }) => onChange({ ...draft, url: target.value })}
        required
      />
      <TextField
        label={text.description}
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
      <TextArea
        label={text.eventFilter}
        value={draft.filter}
        placeholder={'{"priority": "high"}'}
        spellCheck={false}
        onChange={({ target }) => onChange({ ...draft, filter: target.value })}
      />
      <SelectField
        label={text.ordering}
        value={draft.ordering}
        options={Object.entries(text.orderings)}
        onPick={(ordering) => onChange({ ...draft, ordering: ordering === 'entity' ? 'entity' : 'none' })}
      />
    </>
  );
}
