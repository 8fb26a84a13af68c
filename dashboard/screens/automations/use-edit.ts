// Unsaved changes of a stored automation, which stay when the person leaves the page.
import type { Automation } from '@tatami/sdk/client';
import { useDraft } from '../../data/drafts.ts';
import { draftOf, isSame, type Draft } from './rule/rule.ts';

export interface Edit {
  /** Rule that the edit began with. */
  readonly base: Draft;
  /** Version of the automation that had it. */
  readonly version: number;
  /** Rule with the changes. */
  readonly draft: Draft;
}

export interface Editing {
  /** Null without changes. */
  readonly edit: Edit | null;
  /** @param automation stored one, with which a first change begins */
  change(automation: Automation, draft: Draft): void;
  /** Continues with changes that the person made while the automation was saved. */
  continueFrom(saved: Automation, draft: Draft): void;
  /** Replaces the rule of an edit whose automation was deleted. */
  changeDeleted(draft: Draft): void;
  discard(): void;
}

export function useEdit(id: string): Editing {
  const [edit, store, forget] = useDraft<Edit | null>(`automation ${id}`, null);
  return {
    edit,
    change(automation, draft) {
      const { base, version } = edit ?? { base: draftOf(automation), version: automation.version };
      if (isSame(base, draft)) forget();
      else store({ base, version, draft });
    },
    continueFrom: (saved, draft) => store({ base: draftOf(saved), version: saved.version, draft }),
    changeDeleted: (draft) => edit && store({ ...edit, draft }),
    discard: () => forget(),
  };
}
