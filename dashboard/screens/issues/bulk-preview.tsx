// Previews a change of several issues, makes it when the person agrees, and offers to undo it.
import type { IssueBulkChanged } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { notify, notifyProblem } from '../../parts/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issues.ts';
import { applyBulk, bulkMax, previewBulk, type BulkChange } from './bulk.ts';
import type { ListedIssue } from './list-data.ts';

interface Preview {
  readonly issues: readonly ListedIssue[];
  readonly change: BulkChange;
  readonly changes: IssueBulkChanged['data'];
}

interface Bulk {
  ask(issues: readonly ListedIssue[], change: BulkChange): void;
  /** Dialog with the preview, while there is one. */
  readonly dialog: ReactNode;
}

/** @param onDeleted called after issues were deleted */
export function useBulk(onDeleted: () => void): Bulk {
  const client = useClient();
  const [preview, setPreview] = useState<Preview | null>(null);
  const ask = (issues: readonly ListedIssue[], change: BulkChange): void =>
    void previewBulk(client, issues, change)
      .then((changes) => setPreview({ issues, change, changes }))
      .catch(notifyProblem);
  const apply = async ({ issues, change }: Preview): Promise<void> => {
    setPreview(null);
    try {
      const { message, undo } = await applyBulk(client, issues, change);
      notify(message, { label: common.undo, run: () => void undo().catch(notifyProblem) });
      if (change.kind === 'delete') onDeleted();
    } catch (error) {
      notifyProblem(error);
    }
  };
  const dialog = preview && (
    <PreviewDialog
      preview={preview}
      all={Math.min(preview.issues.length, bulkMax)}
      onClose={() => setPreview(null)}
      onApply={() => void apply(preview)}
    />
  );
  return { ask, dialog };
}

const shownMax = 8;

interface PreviewDialogProps {
  readonly preview: Preview;
  readonly all: number;
  readonly onClose: () => void;
  readonly onApply: () => void;
}

function PreviewDialog({
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
