// Files that are attached to an issue once it is created.
import { useRef, type ClipboardEvent, type DragEvent, type ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { text } from '../../text/create.ts';

interface FilesProps {
  readonly files: readonly File[];
  readonly onChange: (files: readonly File[]) => void;
}

export function Files({ files, onChange }: FilesProps): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <div>
        <Button onClick={() => input.current?.click()}>{text.attach}</Button>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          onChange={({ target }) => {
            onChange([...files, ...(target.files ?? [])]);
            // The same file can be chosen again.
            target.value = '';
          }}
        />
      </div>
      {files.length > 0 && (
        <ul aria-label={text.files}>
          {files.map((file, at) => (
            <li key={`${at} ${file.name}`} className="row">
              <span className="grow cut">{file.name}</span>
              <Button
                look="plain"
                isIcon
                aria-label={text.removeFile(file.name)}
                onClick={() => onChange(files.toSpliced(at, 1))}
              >
                <Icon name="close" />
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Handlers of an element that takes files by drag and by paste. */
export function takesFiles(take: (files: readonly File[]) => void) {
  return {
    onDragOver: (event: DragEvent) => event.preventDefault(),
    onDrop: (event: DragEvent) => {
      if (event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      take([...event.dataTransfer.files]);
    },
    onPaste: (event: ClipboardEvent) => {
      // Some programs copy a picture of a text with it.
      const { files, types } = event.clipboardData;
      if (files.length === 0 || types.includes('text/plain')) return;
      event.preventDefault();
      take([...files]);
    },
  };
}
