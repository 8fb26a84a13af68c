// What a change of several issues would do.
import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issues.ts';
import type { Preview } from './bulk-preview.tsx';

const shownMax = 8;

interface PreviewDialogProps {
  readonly preview: Preview;
  readonly all: number;
  readonly onClose: () => void;
  readonly onApply: () => void;
}

export default function PreviewDialog({
  preview: { change, changes },
  all,
  onClose,
  onApply,
}: PreviewDialogProps): ReactNode {
  const isDeletion = change.kind === 'delete';
  return (
    <Dialog title={text.preview} isOpen onClose={onClose}>
      <p>{isDeletion ? text.wouldDelete(changes.length) : text.wouldChange(changes.length, all)}</p>
      {changes.length === 0 && <p className="soft">{text.nothingChanges}</p>}
      {changes.length > 0 && (
        <table aria-label={text.preview}>
          <thead>
            <tr>
              <th scope="col">{text.issue}</th>
              {!isDeletion && <th scope="col">{text.from}</th>}
              {!isDeletion && <th scope="col">{text.to}</th>}
            </tr>
          </thead>
          <tbody>
            {changes.slice(0, shownMax).map(({ id, identifier, changes: fields }) => (
              <tr key={id}>
                <th scope="row">{identifier}</th>
                {!isDeletion && (
                  <td>
                    {Object.values(fields)
                      .map(({ from }) => valueText(from))
                      .join(', ')}
                  </td>
                )}
                {!isDeletion && (
                  <td>
                    {Object.values(fields)
                      .map(({ to }) => valueText(to))
                      .join(', ')}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {changes.length > shownMax && <p className="soft">{text.moreChanges(changes.length - shownMax)}</p>}
      <div className="row">
        <Button look={isDeletion ? 'danger' : 'primary'} disabled={changes.length === 0} onClick={onApply}>
          {isDeletion ? text.deleteSelected : text.apply}
        </Button>
        <Button onClick={onClose}>{common.cancel}</Button>
      </div>
    </Dialog>
  );
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return common.none;
  if (Array.isArray(value)) return value.length === 0 ? common.none : value.map(valueText).join(', ');
  if (typeof value !== 'object') return String(value);
  return 'name' in value ? String(value.name) : JSON.stringify(value);
}
