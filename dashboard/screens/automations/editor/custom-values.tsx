// Values of custom fields that an action sets.
import type { Field } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { Button } from '../../../parts/button.tsx';
import { FieldGroup } from '../../../parts/fields.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { FieldInput, type FieldValue } from '../../../parts/issue/field-input.tsx';
import { text } from '../../../text/automation-editor.ts';
import { isExpression, withMember, type Part } from '../rule/rule.ts';
import { TemplateField } from './inputs.tsx';

interface CustomValuesProps {
  readonly values: Part;
  readonly at: string;
  readonly fields: readonly Field[];
  readonly onChange: (values: Part) => void;
}

export function CustomValues({ values, at, fields, onChange }: CustomValuesProps): ReactNode {
  return Object.entries(values).map(([key, value]) => {
    const field = fields.find((one) => one.key === key);
    const label = field?.name ?? key;
    const set = (next: unknown): void => onChange({ ...values, [key]: next });
    return (
      <div key={key} className="row wrap" role="group" aria-label={label}>
        <div className="grow">
          {field && !isExpression(value) ? (
            <FieldGroup label={label} name={`${at}.${key}`}>
              <FieldInput field={field} value={(value ?? undefined) as FieldValue | undefined} onSet={set} />
            </FieldGroup>
          ) : (
            <TemplateField label={label} name={`${at}.${key}`} value={String(value ?? '')} onChange={set} />
          )}
        </div>
        <Button
          look="plain"
          isIcon
          aria-label={text.removeField(label)}
          onClick={() => onChange(withMember(values, key, undefined))}
        >
          <Icon name="close" />
        </Button>
      </div>
    );
  });
}
