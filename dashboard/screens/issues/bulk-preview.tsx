// Previews a change of several issues, makes it when the person agrees, and offers to undo it.
import type { IssueBulkChanged } from '@tatami/sdk/client';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { notify, notifyProblem } from '../../parts/toast.tsx';
import { text as common } from '../../text/common.ts';
import { applyBulk, bulkMax, previewBulk, type BulkChange } from './bulk.ts';
import type { ListedIssue } from './list-data.ts';

const PreviewDialog = lazy(() => import('./preview-dialog.tsx'));

export interface Preview {
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
    <Suspense>
      <PreviewDialog
        preview={preview}
        all={Math.min(preview.issues.length, bulkMax)}
        onClose={() => setPreview(null)}
        onApply={() => void apply(preview)}
      />
    </Suspense>
  );
  return { ask, dialog };
}
