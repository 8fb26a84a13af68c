// Labeled form fields, and the frame of a small form.
import { useState, type ComponentProps, type ReactNode } from 'react';
import { text } from '../text/common.ts';
import { Button } from './button.tsx';

interface Labeled {
  readonly label: string;
}

export function TextField({ label, ...props }: Labeled & ComponentProps<'input'>): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <input type="text" {...props} />
    </label>
  );
}

export function TextArea({ label, ...props }: Labeled & ComponentProps<'textarea'>): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <textarea rows={4} {...props} />
    </label>
  );
}

interface SelectProps extends Labeled, Omit<ComponentProps<'select'>, 'onChange' | 'value'> {
  readonly value: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly onPick: (value: string) => void;
}

export function SelectField({ label, options, onPick, ...props }: SelectProps): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <select onChange={({ target }) => onPick(target.value)} {...props}>
        {options.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FormProps {
  readonly submit: string;
  /** Returns null if the write failed, which the person was told; the form stays open then. */
  readonly onSubmit: (fields: FormData) => Promise<unknown>;
  /** Absent for a form that is part of a screen, and has no cancel button. */
  readonly onDone?: () => void;
  readonly children: ReactNode;
}

/** Form of a dialog. It cannot be sent twice at once, and keeps what was typed if the write fails. */
export function Form({ submit, onSubmit, onDone, children }: FormProps): ReactNode {
  const [isSending, setSending] = useState(false);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        setSending(true);
        void onSubmit(new FormData(event.currentTarget))
          .then((result) => result !== null && onDone?.())
          .finally(() => setSending(false));
      }}
    >
      {children}
      <div className="row">
        <Button type="submit" look="primary" disabled={isSending}>
          {submit}
        </Button>
        {onDone && <Button onClick={onDone}>{text.cancel}</Button>}
      </div>
    </form>
  );
}

/** Returns a field of a form as text without surrounding space. */
export function textOf(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** Returns a date of a form; null if it is empty. */
export function dateOf(fields: FormData, name: string): string | null {
  const value = textOf(fields, name);
  return value === '' ? null : value;
}
