// Dialog for the owner of an automation, and for the limits beyond which it steps down.
import type { Automation } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useMembers } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { Form, SelectField, TextField, textOf } from '../../parts/fields.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/automations.ts';
import { refresh } from './use-changes.ts';

interface SettingsProps {
  readonly automation: Automation;
  readonly onClose: () => void;
}

export default function SettingsDialog({ automation, onClose }: SettingsProps): ReactNode {
  const { id, name, owner, stepDown } = automation;
  const client = useClient();
  const members = useMembers();
  const [ownerId, setOwner] = useState(owner?.id ?? '');
  const save = async (fields: FormData): Promise<void> => {
    const numberOf = (field: string): number => Number(textOf(fields, field));
    await client.automations.update(id, {
      ...(ownerId !== (owner?.id ?? '') && { ownerId }),
      stepDown: {
        share: numberOf('stepDown.share') / 100,
        least: numberOf('stepDown.least'),
        days: numberOf('stepDown.days'),
      },
    });
    notify(text.saved);
    await refresh();
  };
  const missing = owner && members.every((member) => member.id !== owner.id) ? [owner] : [];
  const choices = [...missing, ...members].map((member) => [member.id, member.name] as const);
  return (
    <Dialog title={text.settingsTitle(name)} isOpen onClose={onClose}>
      <Form submit={common.save} onSubmit={save} onDone={onClose}>
        <SelectField
          label={text.owner}
          name="ownerId"
          value={ownerId}
          options={owner ? choices : [['', ''], ...choices]}
          onPick={setOwner}
        />
        <p className="soft">{text.ownerHint}</p>
        <StepDownFields stepDown={stepDown} />
      </Form>
    </Dialog>
  );
}

const limits = { share: 100, least: 1000, days: 90 } as const;

function StepDownFields({ stepDown }: Pick<Automation, 'stepDown'>): ReactNode {
  const values = { ...stepDown, share: Math.round(stepDown.share * 100) };
  return (
    <fieldset className="field">
      <legend>{text.stepDown}</legend>
      {(['share', 'least', 'days'] as const).map((field) => (
        <TextField
          key={field}
          label={text.stepDownFields[field]}
          name={`stepDown.${field}`}
          type="number"
          min={1}
          max={limits[field]}
          required
          defaultValue={values[field]}
        />
      ))}
    </fieldset>
  );
}
