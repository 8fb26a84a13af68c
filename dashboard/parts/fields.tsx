// Labeled form fields, and the frame of a small form.
import { ApiCallError } from '@tatami/sdk/client';
import {
  createContext,
  use,
  useEffect,
  useId,
  useRef,
  useState,
  type ComponentProps,
  type ReactNode,
} from 'react';
import { text } from '../text/common.ts';
import { Button } from './button.tsx';
import { messageOf } from './states.tsx';
import { notifyProblem } from './overlay/toast.tsx';

interface Labeled {
  readonly label: string;
}

/** Messages by the name of the field that the server rejected. */
type FieldProblems = Readonly<Record<string, string>>;
const ProblemContext = createContext<FieldProblems>({});

type ProblemProperties = Pick<ComponentProps<'input'>, 'aria-invalid' | 'aria-describedby'>;

/** Returns the properties of a field that refer to its message, and the message. */
function useProblem(name: string | undefined): readonly [ProblemProperties, message: ReactNode] {
  const id = useId();
  const problem = use(ProblemContext)[name ?? ''];
  if (problem === undefined) return [{}, null];
  return [
    { 'aria-invalid': true, 'aria-describedby': id },
    <p key={id} id={id} className="problem-text">
      {problem}
    </p>,
  ];
}

export function TextField({ label, ...props }: Labeled & ComponentProps<'input'>): ReactNode {
  const [properties, message] = useProblem(props.name);
  return (
    <>
      <label className="field">
        <span>{label}</span>
        <input type="text" {...props} {...properties} />
      </label>
      {message}
    </>
  );
}

export function TextArea({ label, ...props }: Labeled & ComponentProps<'textarea'>): ReactNode {
  const [properties, message] = useProblem(props.name);
  return (
    <>
      <label className="field">
        <span>{label}</span>
        <textarea rows={4} {...props} {...properties} />
      </label>
      {message}
    </>
  );
}

interface SelectProps extends Labeled, Omit<ComponentProps<'select'>, 'onChange' | 'value'> {
  readonly value: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly onPick: (value: string) => void;
}

export function SelectField({ label, options, onPick, ...props }: SelectProps): ReactNode {
  const [properties, message] = useProblem(props.name);
  return (
    <>
      <label className="field">
        <span>{label}</span>
        <select onChange={({ target }) => onPick(target.value)} {...props} {...properties}>
          {options.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {message}
    </>
  );
}

interface GroupProps extends Labeled {
  readonly name: string;
  readonly children: ReactNode;
}

/** Field of several controls. It takes the focus if the server rejects its value. */
export function FieldGroup({ label, name, children }: GroupProps): ReactNode {
  const [{ 'aria-invalid': _, ...properties }, message] = useProblem(name);
  return (
    <fieldset name={name} tabIndex={-1} className="field" {...properties}>
      <legend>{label}</legend>
      {children}
      {message}
    </fieldset>
  );
}

type Detail = ApiCallError['details'][number];

interface ProblemWords {
  /** Returns what to do about a field, beside the field. */
  readonly atField: (detail: Detail) => string;
  /** Returns the same with the name of the field. */
  readonly named: (detail: Detail) => string;
}

interface FormProps {
  readonly submit: string;
  /**
   * Returns null if the write failed, which the person was told; the form stays open then. A rejection is shown at the
   * fields that it names, or else above the buttons.
   */
  readonly onSubmit: (fields: FormData) => Promise<unknown>;
  /** Absent for a form that is part of a screen, and has no cancel button. */
  readonly onDone?: () => void;
  /** Returns true for a field that was edited since the form was sent; its message is hidden. */
  readonly isEdited?: (name: string) => boolean;
  /** Words for what the server rejected; its own ones by default. */
  readonly wordsOf?: ProblemWords;
  readonly children: ReactNode;
}

/** Form of a dialog. It cannot be sent twice at once, and keeps what was typed if the write fails. */
export function Form({ submit, onSubmit, onDone, isEdited, wordsOf, children }: FormProps): ReactNode {
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem>(noProblem);
  const button = useRef<HTMLButtonElement>(null);
  const wasSending = useRef(false);
  useEffect(() => {
    // A disabled button loses the focus.
    if (wasSending.current && !isSending && document.activeElement === document.body) button.current?.focus();
    wasSending.current = isSending;
  }, [isSending]);
  const shown = Object.entries(problem.fields).filter(([name]) => isEdited?.(name) !== true);
  const finish = (result: unknown): void => {
    if (result === null) return;
    setProblem(noProblem);
    onDone?.();
  };
  const explain = (error: unknown, form: HTMLFormElement): void => {
    const found = problemOf(error, form, wordsOf);
    setProblem(found);
    const [first] = Object.keys(found.fields);
    if (first !== undefined) form.querySelector<HTMLElement>(`[name="${CSS.escape(first)}"]`)?.focus();
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        // React passes the event on to the form of an outer dialog.
        event.stopPropagation();
        const form = event.currentTarget;
        setSending(true);
        void onSubmit(new FormData(form))
          .then(finish)
          .catch((error: unknown) => explain(error, form))
          .finally(() => setSending(false));
      }}
    >
      <ProblemContext value={Object.fromEntries(shown)}>{children}</ProblemContext>
      <p role="alert" hidden={problem.other === ''} className="notice problem">
        {problem.other}
      </p>
      <div className="row">
        <Button ref={button} type="submit" look="primary" disabled={isSending}>
          {submit}
        </Button>
        {onDone && <Button onClick={onDone}>{text.cancel}</Button>}
      </div>
    </form>
  );
}

interface Problem {
  readonly fields: FieldProblems;
  /** Empty if the fields explain everything. */
  readonly other: string;
}

const noProblem: Problem = { fields: {}, other: '' };

/** Sorts what the server rejected by the fields of a form. */
function problemOf(error: unknown, form: HTMLFormElement, wordsOf?: ProblemWords): Problem {
  if (error instanceof ApiCallError && error.code === 'recent_sign_in_required') {
    notifyProblem(error);
    return noProblem;
  }
  const details = error instanceof ApiCallError ? error.details : [];
  const named = details.flatMap((detail) => {
    const name = fieldOf(detail.path ?? '', form);
    return name === null ? [] : [[name, wordsOf?.atField(detail) ?? detail.fix ?? messageOf(error)] as const];
  });
  const all = wordsOf && details.length > 0 ? details.map(wordsOf.named).join(' ') : messageOf(error);
  const isExplained = named.length > 0 && named.length === details.length;
  // The first message of a field stays.
  return { fields: Object.fromEntries(named.toReversed()), other: isExplained ? '' : all };
}

/** Returns the name of the field at a path, or of the nearest one that contains it, such as `actions.0` for `actions.0.body`. */
function fieldOf(path: string, form: HTMLFormElement): string | null {
  const parts = path.split('.');
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join('.');
    if (form.elements.namedItem(name) !== null) return name;
  }
  return null;
}

/** Returns the error of a field that the form itself rejects. */
export const fieldError = (name: string, fix: string): ApiCallError =>
  new ApiCallError(422, { message: fix, details: [{ path: name, issue: 'invalid_format', fix }] });

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
