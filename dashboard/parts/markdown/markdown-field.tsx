// Text area for Markdown source, with a preview.
import { useId, useState, type KeyboardEvent, type ReactNode, type Ref } from 'react';
import { text } from '../../text/create.ts';
import { Button } from '../button.tsx';
import { Markdown } from './markdown.tsx';
import { MentionArea } from './mentions.tsx';

interface MarkdownFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly rows?: number;
  readonly ref?: Ref<HTMLTextAreaElement>;
}

export function MarkdownField({
  label,
  value,
  onChange,
  onKeyDown,
  rows = 5,
  ref,
}: MarkdownFieldProps): ReactNode {
  const id = useId();
  const [isPreview, setPreview] = useState(false);
  return (
    <div className="field">
      <div className="row">
        <label className="grow" htmlFor={id}>
          {label}
        </label>
        <Button look="plain" aria-pressed={isPreview} onClick={() => setPreview(!isPreview)}>
          {isPreview ? text.write : text.preview}
        </Button>
      </div>
      {isPreview ? (
        <div className="card">{value === '' ? text.nothing : <Markdown source={value} />}</div>
      ) : (
        <MentionArea id={id} ref={ref} rows={rows} value={value} onChange={onChange} onKeyDown={onKeyDown} />
      )}
    </div>
  );
}
