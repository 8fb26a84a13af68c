// Choice of the fields that the rows of a list show. A change shows at once.
import type { ReactNode } from 'react';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/overlay/dialog.tsx';
import { text as common } from '../../../text/common.ts';
import { text } from '../../../text/issues.ts';
import { defaultFields, shownFields, textOfFields, type ShownField } from './display.ts';
import styles from '../issues.module.css';

interface FieldsDialogProps {
  readonly fields: readonly ShownField[];
  readonly onChange: (fields: readonly ShownField[]) => void;
  readonly onClose: () => void;
}

export default function FieldsDialog({ fields, onChange, onClose }: FieldsDialogProps): ReactNode {
  const toggle = (field: ShownField): void =>
    onChange(fields.includes(field) ? fields.filter((one) => one !== field) : [...fields, field]);
  return (
    <Dialog title={text.shownFields} isOpen onClose={onClose}>
      <ul>
        {shownFields.map((field) => (
          <li key={field}>
            <label className={`row ${styles.choice}`}>
              <input type="checkbox" checked={fields.includes(field)} onChange={() => toggle(field)} />
              {text.shown[field]}
            </label>
          </li>
        ))}
      </ul>
      <div className="row">
        <Button look="primary" onClick={onClose}>
          {common.close}
        </Button>
        {textOfFields(fields) !== undefined && (
          <Button onClick={() => onChange(defaultFields)}>{text.defaultFields}</Button>
        )}
      </div>
    </Dialog>
  );
}
