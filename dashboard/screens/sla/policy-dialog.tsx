// Form for a new SLA policy or a present one.
import { useQuery } from '@tanstack/react-query';
import type { SlaPolicy, SlaPolicyCreate } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { FieldGroup, Form, SelectField, TextField, textOf } from '../../parts/fields.tsx';
import { MultiPicker } from '../../parts/picker.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/planning.ts';
import { stateTypeChoices, useStateChoices } from '../../parts/filter/choices.tsx';
import { FilterBar } from '../../parts/filter/filter-bar.tsx';
import type { FilterTree } from '../../parts/filter/filter.ts';

interface PolicyProps {
  /** Null for a new one. */
  readonly policy: SlaPolicy | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

type Kind = SlaPolicy['kind'];
const minutesMax = 366 * 1_440;
const positionMax = 1_000;

/** Returns a number of a form; null if it is empty. */
function numberOf(fields: FormData, name: string): number | null {
  const value = textOf(fields, name);
  return value === '' ? null : Number(value);
}

export default function PolicyDialog({ policy, onClose, onSaved }: PolicyProps): ReactNode {
  const client = useClient();
  const [kind, setKind] = useState<Kind>('resolution');
  const [filter, setFilter] = useState<FilterTree | undefined>(policy?.filter as FilterTree | undefined);
  const [pausedIn, setPausedIn] = useState<readonly string[]>(policy?.pausedIn ?? []);
  const save = async (fields: FormData): Promise<void> => {
    const position = numberOf(fields, 'position');
    const body = {
      name: textOf(fields, 'name'),
      enabled: fields.has('enabled'),
      filter: (filter ?? {}) as NonNullable<SlaPolicyCreate['filter']>,
      targetMinutes: Number(textOf(fields, 'targetMinutes')),
      atRiskMinutes: numberOf(fields, 'atRiskMinutes'),
      calendarId: textOf(fields, 'calendarId') || null,
      pausedIn,
      ...(position !== null && { position }),
    };
    if (policy) await client.slaPolicies.update(policy.id, body);
    else await client.slaPolicies.create({ ...body, kind });
    onSaved();
  };
  return (
    <Dialog title={policy ? text.editPolicy(policy.name) : text.newPolicy} isOpen onClose={onClose}>
      <Form submit={common.save} onSubmit={save} onDone={onClose}>
        <TextField label={text.name} name="name" defaultValue={policy?.name} maxLength={120} required />
        {!policy && (
          <SelectField
            label={text.clock}
            name="kind"
            value={kind}
            options={Object.entries(text.clockKinds)}
            onPick={(picked) => setKind(picked as Kind)}
          />
        )}
        <Minutes policy={policy} />
        <FieldGroup label={text.policyFilter} name="filter">
          <FilterBar filter={filter} onChange={setFilter} />
        </FieldGroup>
        <Counting policy={policy} pausedIn={pausedIn} onPaused={setPausedIn} />
      </Form>
    </Dialog>
  );
}

function Minutes({ policy }: Pick<PolicyProps, 'policy'>): ReactNode {
  const numeric = { type: 'number', min: 1, max: minutesMax } as const;
  return (
    <>
      <TextField
        label={text.targetMinutes}
        name="targetMinutes"
        {...numeric}
        defaultValue={policy?.targetMinutes}
        required
      />
      <TextField
        label={text.atRiskMinutes}
        name="atRiskMinutes"
        {...numeric}
        defaultValue={policy?.atRiskMinutes ?? ''}
      />
    </>
  );
}

interface CountingProps extends Pick<PolicyProps, 'policy'> {
  readonly pausedIn: readonly string[];
  readonly onPaused: (states: readonly string[]) => void;
}

/** Time that counts, and the order among the policies. */
function Counting({ policy, pausedIn, onPaused }: CountingProps): ReactNode {
  const client = useClient();
  const [calendar, setCalendar] = useState(policy?.calendar?.id ?? '');
  const states = useStateChoices();
  const { data: calendars = [] } = useQuery({
    queryKey: ['calendars', 'all'],
    queryFn: () => Array.fromAsync(client.calendars.list({ limit: 100 })),
  });
  return (
    <>
      <SelectField
        label={text.calendar}
        name="calendarId"
        value={calendar}
        options={[['', text.aroundTheClock], ...calendars.map(({ id, name }) => [id, name] as const)]}
        onPick={setCalendar}
      />
      <div className="field">
        <span>{text.pausedIn}</span>
        <MultiPicker
          label={text.pausedIn}
          choices={[...stateTypeChoices, ...states]}
          values={pausedIn}
          onPick={onPaused}
        />
      </div>
      <TextField
        label={text.position}
        name="position"
        type="number"
        min={0}
        max={positionMax}
        defaultValue={policy?.position}
      />
      <label className="row">
        <input type="checkbox" name="enabled" defaultChecked={policy?.enabled ?? true} />
        {text.policyEnabled}
      </label>
    </>
  );
}
