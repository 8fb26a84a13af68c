// ISO 8601 duration of one unit as a number and a unit.
import type { ReactNode } from 'react';
import { FieldGroup, SelectField, TextField } from '../../../parts/fields.tsx';
import { text } from '../../../text/automations.ts';

type Unit = keyof typeof text.durationUnits;

const pattern = /^P(?:T(\d+)(H)|(\d+)([DW]))$/;

export const isDuration = (value: unknown): boolean => typeof value === 'string' && pattern.test(value);

const durationOf = (count: number, unit: Unit): string => (unit === 'H' ? `PT${count}H` : `P${count}${unit}`);

interface DurationProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function DurationField({ label, name, value, onChange }: DurationProps): ReactNode {
  const [, hours, hour, days, day] = pattern.exec(value) ?? [];
  const count = Number(hours ?? days ?? 1);
  const unit = (hour ?? day ?? 'D') as Unit;
  return (
    <FieldGroup label={label.replace(/ as an ISO 8601 duration$/, '')} name={name}>
      <div className="row wrap">
        <TextField
          label={text.durationCount}
          type="number"
          min={1}
          max={999}
          required
          value={count}
          onChange={({ target }) => onChange(durationOf(Math.max(1, Math.trunc(Number(target.value))), unit))}
        />
        <SelectField
          label={text.durationUnit}
          value={unit}
          options={Object.entries(text.durationUnits)}
          onPick={(picked) => onChange(durationOf(count, picked as Unit))}
        />
      </div>
    </FieldGroup>
  );
}
