// Form for the name and the visibility of a view.
import { useState, type ReactNode } from 'react';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form, SelectField, TextField, textOf } from '../../parts/fields.tsx';
import { text } from '../../text/issues.ts';

type Visibility = keyof typeof text.visibilities;

export interface ViewDetails {
  readonly name: string;
  readonly visibility: Visibility;
}

interface ViewDialogProps {
  readonly title: string;
  readonly details: ViewDetails;
  readonly onSave: (details: ViewDetails) => Promise<unknown>;
  readonly onClose: () => void;
}

export default function ViewDialog({ title, details, onSave, onClose }: ViewDialogProps): ReactNode {
  const [visibility, setVisibility] = useState(details.visibility);
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <Form
        submit={title}
        onSubmit={(fields) => onSave({ name: textOf(fields, 'name'), visibility })}
        onDone={onClose}
      >
        <TextField label={text.viewName} name="name" defaultValue={details.name} maxLength={120} required />
        <SelectField
          label={text.visibility}
          value={visibility}
          options={Object.entries(text.visibilities)}
          onPick={(value) => setVisibility(value as Visibility)}
        />
      </Form>
    </Dialog>
  );
}
